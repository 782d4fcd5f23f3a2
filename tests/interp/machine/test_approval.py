"""Approval: nothing that is asked about is run without an answer."""

from __future__ import annotations

import asyncio
import pickle
import time
from typing import Any

import pytest
from hypothesis import given

import interp
from gram import dumps, loads_one
from interp import ApprovalNeeded, ApprovalPolicy, ApprovalRule, ScriptedModel, resume_run, tool
from interp.machine import Ask
from tests.interp.model_server import tool_calls
from tests.interp.strategies import approval_policies

AGENT = loads_one(
    """
    [a:Agent {instruction: "Help.", model: "OpenAI/x"} |
      [read:Tool {description: "Reads"} | (path::String)==>(::String)],
      [send:Tool {description: "Sends"} | (to::String)==>(::String)]]
    """
)
REPLY = tool_calls(
    ("a", "send", {"to": "ann@example.com"}),
    ("b", "read", {"path": "x"}),
    ("c", "send", {"to": "eve@elsewhere.com"}),
)
POLICY = ApprovalPolicy(
    [ApprovalRule("allow", "r*"), ApprovalRule("deny", "send", {"to": "*elsewhere*"})],
    otherwise="ask",
)


class Mail:
    """Tools that remember what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def library(self) -> interp.ToolLibrary:
        @tool
        def read(path: str) -> str:
            """Reads"""
            self.done.append(path)
            return "text"

        @tool
        def send(to: str) -> str:
            """Sends"""
            self.done.append(to)
            return "sent"

        return interp.ToolLibrary.of([read, send])


def by_run(mail: Mail, *replies: Any, **options: Any) -> Any:
    return interp.run(AGENT, "hi", mail.library(), model=ScriptedModel(replies), **options)


def by_arun(mail: Mail, *replies: Any, **options: Any) -> Any:
    model = ScriptedModel(replies)
    return asyncio.run(interp.arun(AGENT, "hi", mail.library(), model=model, **options))


either_driver = pytest.mark.parametrize("drive", [by_run, by_arun])


def test_the_first_rule_that_fits_decides() -> None:
    mail, asked = Mail(), []

    def approve(ask: Ask) -> bool:
        asked.append(ask.args)
        return True

    response = by_run(mail, REPLY, "Done.", policy=POLICY, approve=approve)

    assert asked == [{"to": "ann@example.com"}]
    assert sorted(mail.done) == ["ann@example.com", "x"]
    *allowed, denied = [each.error for each in response.tools_used]
    assert allowed == [None, None]
    assert denied == "denied, not run: the policy of this run forbids it"


@pytest.mark.parametrize(
    ("answer", "error"), [(False, "denied, not run"), ("not today", "denied, not run: not today")]
)
def test_a_denied_call_is_reported_to_the_model_and_the_run_goes_on(
    answer: Any, error: str
) -> None:
    mail = Mail()
    response = by_run(mail, REPLY, "Done.", policy=POLICY, approve=lambda ask: answer)
    assert mail.done == ["x"]
    assert response.tools_used[0].error == error
    assert response.content == "Done."


@either_driver
def test_without_an_answer_the_run_waits_and_is_taken_up_elsewhere(drive: Any) -> None:
    mail, later = Mail(), Mail()

    with pytest.raises(ApprovalNeeded, match=r'approval of send\(to: "ann@') as caught:
        drive(mail, REPLY, policy=POLICY)

    state = pickle.loads(pickle.dumps(caught.value.state))
    assert mail.done == ["x"]  # what needs no approval is done already
    assert [ask.args for ask in state.asks] == [{"to": "ann@example.com"}]

    with pytest.raises(ApprovalNeeded):
        resume_run(state, later.library(), model=ScriptedModel([]))
    assert later.done == []

    model = ScriptedModel(["Done."])
    response = resume_run(state, later.library(), model=model, approve=lambda ask: True)
    assert later.done == ["ann@example.com"]
    assert [each.tool_name for each in response.tools_used] == ["send", "read", "send"]


@pytest.mark.parametrize("allowed", [True, False])
def test_another_policy_decides_about_calls_that_wait(allowed: bool) -> None:
    mail, later = Mail(), Mail()
    with pytest.raises(ApprovalNeeded) as caught:
        by_run(mail, REPLY, policy=POLICY)
    state = caught.value.state
    assert state is not None

    response = resume_run(
        state, later.library(), model=ScriptedModel(["Done."]),
        policy=interp.allow_all if allowed else interp.deny_all,
    )  # fmt: skip

    assert response.content == "Done."
    assert later.done == (["ann@example.com"] if allowed else [])


@pytest.mark.parametrize("fails", [False, True])
def test_a_question_left_open_does_not_stop_tools_that_have_begun(fails: bool) -> None:
    mail, begun = Mail(), asyncio.Event()

    @tool
    async def read(path: str) -> str:
        """Reads"""
        mail.done.append(path)
        begun.set()
        await asyncio.sleep(0.05)
        return "text"

    async def approve(ask: Ask) -> None:
        await begun.wait()
        if fails:
            raise interp.ConfigurationError("nobody is there")

    library = interp.ToolLibrary.of([read, mail.library()["send"]])
    with pytest.raises((ApprovalNeeded, interp.ConfigurationError)) as caught:
        asyncio.run(
            interp.arun(
                AGENT, "hi", library, model=ScriptedModel([REPLY]), policy=POLICY, approve=approve
            )
        )

    state = caught.value.state
    assert state is not None
    model = ScriptedModel(["Done."])
    resume_run(state, mail.library(), model=model, approve=lambda ask: True)
    assert mail.done == ["x", "ann@example.com"]


@pytest.mark.parametrize("answer", [1, {"approved": False}, ["no"], object()])
def test_what_is_no_answer_approves_nothing(answer: Any) -> None:
    mail = Mail()
    with pytest.raises(
        interp.ConfigurationError, match="an approver answers True, False"
    ) as caught:
        by_run(mail, REPLY, policy=POLICY, approve=lambda ask: answer)
    assert "ann@example.com" not in mail.done
    assert caught.value.state is not None


def test_an_approver_alone_is_asked_about_everything() -> None:
    asked: list[str] = []
    by_run(Mail(), REPLY, "Done.", approve=lambda ask: asked.append(ask.name) or True)
    assert asked == ["send", "read", "send"]


def test_questions_come_one_at_a_time_while_tools_run() -> None:
    open_questions, most = 0, 0

    async def approve(ask: Ask) -> bool:
        nonlocal open_questions, most
        open_questions += 1
        most = max(most, open_questions)
        await asyncio.sleep(0.001)
        open_questions -= 1
        return True

    mail = Mail()
    by_arun(mail, REPLY, "Done.", policy=interp.ask_all, approve=approve)

    assert most == 1
    assert len(mail.done) == 3


def test_the_time_that_people_take_does_not_count() -> None:
    def approve(ask: Ask) -> bool:
        time.sleep(0.2)
        return True

    limits = interp.Limits(run_seconds=0.5)

    assert by_run(Mail(), REPLY, "Done.", approve=approve, limits=limits).content == "Done."


@given(approval_policies())
def test_a_policy_is_written_in_gram_and_read_back(policy: ApprovalPolicy) -> None:
    assert ApprovalPolicy.from_pattern(loads_one(dumps(policy.to_pattern()))) == policy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[:Policy]", "its label is not ApprovalPolicy"),
        ('[:ApprovalPolicy {otherwise: "no"}]', '"allow", "ask" or "deny", found \'no\''),
        ("[:ApprovalPolicy {else: 1}]", "unknown in an approval policy: else; known: otherwise"),
        ("[:ApprovalPolicy | (:Maybe)]", "is (:Allow), (:Ask) or (:Deny), found ['Maybe']"),
        ("[:ApprovalPolicy | (:Deny {tool: 1})]", "tool of a rule is a glob"),
        ("[:ApprovalPolicy | (:Deny {arguments: 1})]", "arguments of a rule are globs by name"),
        ("[:ApprovalPolicy | (:Deny {arguments: {a: 1}})]", "a rule has a glob for each"),
    ],
)
def test_what_is_no_policy_is_refused(text: str, message: str) -> None:
    with pytest.raises(interp.ValidationError) as caught:
        ApprovalPolicy.from_pattern(loads_one(text))
    assert message in str(caught.value)


def test_reaching_a_limit_does_not_approve_a_call() -> None:
    with pytest.raises(interp.LimitError):
        by_run(Mail(), REPLY, policy=interp.ask_all, limits=interp.Limits(tool_calls=1))
