"""The options of commands that run programs: which model, which tools, which limits."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from glob import escape
from shlex import quote
from typing import Any, Literal

import click
from attrs import fields

from gram.words import did_you_mean
from lenses_ext import SettingError, Settings
from lenses_ext.schemas import Match

from ...errors import ValidationError
from ...execution import OnToolError, Spending
from ...files import is_address
from ...json_text import json_or_text
from ...machine import ApprovalPolicy, ApprovalRule, Limits, allow_all, ask_all, deny_all
from ...models import ADDRESS_RULE, OFFLINE, Dialect, ScriptedModel, read_script
from ...running import BeginOptions, RunOptions
from ...tools import ToolLibrary
from ..completion.completing import complete_limit, complete_setting
from ..telemetry import show_logs
from ..terminal.console import expect_a_file, forbid, is_verbose, tell
from .declaring import Options, agent_option, model_option, option
from .libraries import ServerOptions, ToolOptions
from .record_option import record_option

POLICIES: Mapping[str, ApprovalPolicy] = {"ask": ask_all, "all": allow_all, "none": deny_all}
"""The values of ``--approve`` and their policies."""

base_url_option: Any = option("The address of the server to use.", "URL")

dialect_option: Any = option(
    "How to speak to the model's server: in the Responses API (responses) or in Chat Completions "
    "(tools; functions is its older form)."
)

fallback_option: Any = option(
    "Ask this model where the first cannot be reached, is overloaded or unknown.", "PROVIDER/NAME"
)

match_option: Any = option("How closely tools have to match their specifications.", default="full")
"""How closely tools have to match; see `interp.tools.bind_tool`."""


class ModelOptions(Options):
    """The options that say which model is asked."""

    offline: bool = option("Rehearse without a model, key or network.")
    model: str | None = model_option

    def __attrs_post_init__(self) -> None:
        forbid(self.offline and self.model, "--offline cannot be used together with --model")

    @property
    def named_model(self) -> str | None:
        """The model to ask instead of the program's."""
        return str(OFFLINE) if self.offline else self.model


class KeptRunOptions(ModelOptions):
    """The options that are kept with a run."""

    settings: Mapping[str, Any] = option(
        "A setting of the model, such as temperature=0.2; null removes a setting.",
        "NAME=VALUE",
        name="--set",
        converter=lambda texts: read_settings(texts),
        shell_complete=complete_setting,
    )
    limits: Mapping[str, Any] = option(
        "A limit of the run, such as iterations=3 or run_seconds=60.",
        "NAME=NUMBER",
        name="--limit",
        converter=lambda texts: read_limits(texts),
        shell_complete=complete_limit,
    )
    approve: Literal["ask", "all", "none"] | None = option(
        "Which tool calls may run: ask at the terminal about each, all (the default of a new run) "
        "or none."
    )


class ArmOptions(KeptRunOptions, ServerOptions):
    """The options of every command that runs programs."""

    base_url: str | None = base_url_option
    dialect: Dialect | None = dialect_option
    match: Match = match_option

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        why = "--offline uses no network, and --openapi calls servers"
        forbid(self.offline and self.openapi, why)
        if self.base_url is not None and not is_address(self.base_url):
            raise click.UsageError(f"--base-url {ADDRESS_RULE}")

    @property
    def asks_before_servers(self) -> bool:
        """Whether a rehearsal, which invents arguments, could call the tools of a server."""
        return self.offline and bool(self.mcp) and self.approve is None

    def expect_unattended(self) -> None:
        """Refuse what would ask a person, where nobody is there."""
        forbid(self.approve == "ask", "--approve ask: nobody is asked here; write all or none")
        why = "a rehearsal invents arguments, and --mcp runs a server: write --approve all or none"
        forbid(self.asks_before_servers, why)


class RunningOptions(ArmOptions, ToolOptions):
    """The options of every command that runs an agent."""

    fallback: tuple[str, ...] = fallback_option
    script: str | None = option(
        "Answer with these replies instead of a model: a list, or one for each agent by its name.",
        "FILE.json",
    )
    on_tool_error: OnToolError = option(
        "What a failing tool leads to: the model is told (the default), or the run stops.",
        default="tell",
    )
    usage: bool = option("Print the tokens used and their price, on standard error.")
    debug: bool = option("Show requests and replies on standard error, without keys.")

    def __attrs_post_init__(self) -> None:
        given = [self.offline, self.script is not None, bool(self.model or self.base_url)]
        forbid(sum(given) > 1, "choose one of --offline, --script and --model (or --base-url)")
        super().__attrs_post_init__()
        _ = self.scripted  # what is wrong with it is told now

    @cached_property
    def scripted(self) -> ScriptedModel | None:
        """The model that answers with the script."""
        return read_script(self.script) if self.script is not None else None

    @property
    def words_to_resume(self) -> str:
        """The options that a run does not keep, as they are written again to go on with it."""
        words = ""
        several = ("tools", "mcp", "openapi")
        for name in (*several, "script", "base_url", "dialect", "match", "on_tool_error"):
            given = getattr(self, name)
            if given not in (None, "full", "tell"):
                values = given if name in several else (given,)
                words += "".join(f" --{name.replace('_', '-')} {quote(each)}" for each in values)
        return words

    def policy(self, library: ToolLibrary) -> ApprovalPolicy:
        """Which calls of these tools a new run may make.

        Without --approve all, but a rehearsal invents arguments: it asks before each call of a
        tool of a server.
        """
        if not self.asks_before_servers:
            return POLICIES[self.approve or "all"]
        names = [name for name, tool in library.items() if tool.server is not None]
        return ApprovalPolicy([ApprovalRule("ask", escape(name)) for name in names])

    def show_logs(self) -> None:
        """Show the log, as far as --debug and -v say."""
        if self.debug or is_verbose():
            show_logs(logging.DEBUG if self.debug else logging.WARNING)

    @contextmanager
    def spending(self) -> Iterator[Spending]:
        """Counts what is used; at the end it is told, with --usage or -v."""
        spending = Spending()
        try:
            yield spending
        finally:
            if self.usage or is_verbose():
                tell(spending.text())

    @property
    def of_new_run(self) -> BeginOptions:
        """The options of a run that begins."""
        options = self._of_every_run
        options["fallbacks"] = self.fallback
        options["policy"] = POLICIES[self.approve or "all"]
        return options

    @property
    def of_resumed_run(self) -> RunOptions:
        """The options of a run that goes on: what is not given stays as it was."""
        forbid(self.fallback, "--fallback is for a run that begins: --model asks another model")
        options = self._of_every_run
        if self.approve:
            options["policy"] = POLICIES[self.approve]
        return options

    @property
    def _of_every_run(self) -> BeginOptions:
        return {
            "model": self.scripted or self.named_model,
            "base_url": self.base_url,
            "dialect": self.dialect,
            "settings": self.settings or None,
            "limits": self.limits or None,
            "match": self.match,
            "on_tool_error": self.on_tool_error,
        }


class AnsweringOptions(RunningOptions):
    """The options of every command that shows the answer of a run."""

    no_reasoning: bool = option("Do not show the model's reasoning.")


class TalkOptions(AnsweringOptions):
    """The options of ``run`` and ``chat``: the agent and where the conversation is kept, too."""

    agent: str | None = agent_option
    record: str | None = record_option
    no_record: bool = option("Keep nothing of what is said.")
    goes_on: bool = option("Go on with the last conversation.", name="--continue -c")
    conversation: str | None = option("Go on with the conversation NAME, or begin it.", "NAME")

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        expect_a_file(self.record, "--record")
        forbid(self.conversation == "", "--conversation needs a name")
        either = "give -c for the last conversation, or --conversation NAME"
        forbid(self.goes_on and self.conversation, either)
        goes_on = self.goes_on or self.conversation
        forbid(self.no_record and goes_on, "--no-record keeps nothing that can be gone on with")


def read_settings(changes: tuple[str, ...]) -> dict[str, Any]:
    """Read settings from ``NAME=VALUE`` texts; a value that is not JSON is a string.

    >>> read_settings(("temperature=0.2", "stop=END", "seed=null"))
    {'temperature': 0.2, 'stop': 'END', 'seed': None}
    """
    settings = {name: json_or_text(text) for name, text in named_texts("--set", changes)}
    try:
        Settings().with_changes(settings)
    except SettingError as error:
        raise click.UsageError(f"--set: {error}") from None
    return settings


def read_limits(limits: tuple[str, ...]) -> dict[str, Any]:
    """Read limits from ``NAME=NUMBER`` texts; the times may be ``none``, which is no limit.

    >>> read_limits(("iterations=3", "run_seconds=none"))
    {'iterations': 3, 'run_seconds': None}
    """
    values: dict[str, Any] = {}
    names = [field.name for field in fields(Limits)]
    for name, text in named_texts("--limit", limits):
        if name not in names:
            hint = did_you_mean(name, names) or f"the limits are {', '.join(names)}"
            raise click.UsageError(f'--limit: there is no limit "{name}"; {hint}')
        values[name] = None if text in ("none", "None") else json_or_text(text)
    try:
        Limits(**values)
    except ValidationError as error:
        raise click.UsageError(f"--limit: {error}") from None
    return values


def named_texts(option: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names and texts of ``NAME=VALUE``."""
    for each in texts:
        name, equals, text = each.partition("=")
        forbid(not equals, f"{option} {each}: write NAME=VALUE")
        yield name.strip(), text
