"""What a repository of agents takes from here: hooks for commits, and a workflow for reviews."""

from __future__ import annotations

import re
import shlex
from typing import Any

import click
import pytest
import yaml

from interp.cli.commands.table import Commands
from tests.paths import ROOT

WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / "editors/github/gram.yml").read_text("utf-8"))
HOOKS: list[dict[str, str]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
STEPS = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
LINES = [
    line.strip()
    for text in [*(step.get("run", "") for step in STEPS), *(hook["entry"] for hook in HOOKS)]
    for line in text.splitlines()
    if line.strip().startswith("gram ")
]


@pytest.mark.parametrize("line", LINES)
def test_each_command_is_one_that_there_is_with_these_options(line: str) -> None:
    words = shlex.split(re.split(r"[|>]", line)[0])[1:]
    table = Commands("gram")
    context = click.Context(table)
    command = table.get_command(context, words[0])

    assert command is not None
    command.make_context(words[0], [*words[1:], "a.gram"], parent=context, resilient_parsing=True)


def test_the_workflow_puts_no_text_of_others_into_a_command() -> None:
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []


def test_each_job_has_the_least_rights_and_the_one_that_writes_reads_no_files() -> None:
    rights = {name: job["permissions"] for name, job in WORKFLOW["jobs"].items()}
    used = [step.get("uses", "") for step in WORKFLOW["jobs"]["comment"]["steps"]]

    assert WORKFLOW["permissions"] == {}
    assert rights == {"check": {"contents": "read"}, "comment": {"pull-requests": "write"}}
    assert not any(each.startswith("actions/checkout") for each in used)
    assert "pull_request_target" not in WORKFLOW[True]  # YAML reads the key `on` as true


def test_there_is_a_hook_for_each_command_that_judges_or_lays_out_files() -> None:
    assert [hook["id"] for hook in HOOKS] == ["gram-check", "gram-fmt", "gram-lint"]
    assert {hook["files"] for hook in HOOKS} == {r"\.gram$"}
