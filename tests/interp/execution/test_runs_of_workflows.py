"""Runs with agents and workflows in them: both pumps, failures, limits, resuming, observations."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import interp
from gram import parse
from interp import Limits, ModelError, Run, ScriptedModel, Tool, ToolLibrary, begin, load_run
from interp.machine import Request, Status
from lenses_ext import resolve

BRANCHES = parse(
    """
    [w:Workflow | [t:Tool {description: "Does"} | (x::String)==>(::String)], a, b,
      (t)-->(b), (a)-->(b)]
    (a:Agent {instruction: "a", model: "A/1"})
    (b:Agent {instruction: "b", model: "A/2"})
    """
)
SIDE_BY_SIDE = parse(
    """
    [w:Workflow | a, b, c]
    (a:Agent {instruction: "a", model: "A/1"})
    (b:Agent {instruction: "b", model: "A/2"})
    (c:Agent {instruction: "c", model: "A/3"})
    """
)
BOSS = parse(
    """
    [boss:Agent {instruction: "boss", model: "A/1"} | helper]
    [helper:Agent {description: "Helps", instruction: "helper", model: "A/2"} |
      [send:Tool {description: "Sends"} | (to::String)==>(::String)]]
    """
)


def finished(run: Run, *, later: bool) -> interp.AgentResponse:
    """Drive a run to its end by one of the two pumps."""
    return asyncio.run(run.afinish()) if later else run.finish()


def library(does: Callable[[str], str], name: str = "t", parameter: str = "x") -> ToolLibrary:
    """A library of one tool with one text."""
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}}
    return ToolLibrary.of(Tool(name, "Does", schema, lambda args: does(args[parameter])))


class Says:
    """A model that says what a function makes of a request, and counts."""

    def __init__(self, says: Callable[[Request], Any]) -> None:
        self._says, self.requests = says, list[Request]()

    def complete(self, request: Request) -> Any:
        """The reply."""
        self.requests.append(request)
        return self._says(request)


def call(name: str, arguments: str) -> interp.Message:
    """A reply that calls one tool."""
    return interp.Message(interp.AssistantRole, "", (interp.ToolCall("c", name, arguments),))


class NeverAnswers:
    """A model that is asked without blocking, and answers only when it is given up."""

    def __init__(self) -> None:
        self.given_up = 0

    def complete(self, request: Request) -> str:
        """Fail: it is asked without blocking."""
        raise AssertionError("asked by what blocks")

    async def acomplete(self, request: Request) -> str:
        """Wait for good."""
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up += 1
        return ""


def test_a_request_that_nobody_waits_for_any_more_is_given_up(tmp_path: Path) -> None:
    def broken(_: str) -> str:
        raise ValueError("broke")

    model, file = NeverAnswers(), tmp_path / "a.run.gram"
    begun = begin(BRANCHES, "x", library(broken), model=model, match="name", record=file)

    with pytest.raises(
        interp.WorkflowError, match='step "t" failed: tool "t" failed: ValueError: broke'
    ):
        finished(begun, later=True)

    assert model.given_up == 1
    assert load_run(file).state == begun.state
    assert "given up" in file.read_text(encoding="utf-8")


class AnswersWhenAsked(NeverAnswers):
    """A model that answers once a person has been asked something: with an error, or with words."""

    def __init__(self, is_asked: asyncio.Event, answer: str | ModelError) -> None:
        super().__init__()
        self._is_asked, self._answer = is_asked, answer

    def complete(self, request: Request) -> str:
        """The answer at once: what blocks asks nobody before all else is done."""
        if isinstance(self._answer, ModelError):
            raise self._answer
        return self._answer

    async def acomplete(self, request: Request) -> str:
        """The answer, later."""
        await self._is_asked.wait()
        return self.complete(request)


class Fails:
    """A model of which one refuses and the others cannot be asked, all in the same moment."""

    async def acomplete(self, request: Request) -> interp.Message:
        """The refusal."""
        if request.model.name != "1":
            raise ModelError("down")
        return interp.Message(interp.AssistantRole, "No.", refused=True)

    complete = acomplete


def test_asyncio_has_no_complaint_of_an_error_that_nobody_waits_for_any_more() -> None:
    complaints: list[dict[str, Any]] = []

    async def failed() -> None:
        told = asyncio.get_running_loop().set_exception_handler
        told(lambda _, complaint: complaints.append(complaint))
        with pytest.raises(interp.AgentError, match="refused"):
            await begin(SIDE_BY_SIDE, "Hi", model=Fails()).afinish()
        gc.collect()

    asyncio.run(failed())
    assert complaints == []


def test_a_question_that_nobody_waits_for_any_more_is_given_up() -> None:
    """A person is asked about one branch while another fails."""
    is_asked, gave_up = asyncio.Event(), list[bool]()

    async def asks(_: Any) -> bool:
        is_asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            gave_up.append(True)
        return True

    flow = resolve(
        parse(
            """
            [w:Workflow | [t:Tool {description: "Does"} | (x::String)==>(::String)], a,
              (t)-->(), (a)-->()]
            [a:Agent {instruction: "a", model: "A/1"} | (:Answer:Integer)]"""
        )
    )
    policy = interp.ApprovalPolicy([interp.ApprovalRule("ask", "w/t")])
    options: Any = {"model": AnswersWhenAsked(is_asked, "no number"), "match": "name"}
    begun = begin(flow, "x", library(str), policy=policy, approve=asks, **options)

    with pytest.raises(interp.WorkflowError, match='step "a" failed'):
        finished(begun, later=True)

    assert gave_up == [True]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("answer", "error"), [(ModelError("down"), ModelError), ("said", interp.LimitError)]
)
def test_what_stops_a_run_is_told_while_a_person_is_asked_and_the_question_stays_open(
    answer: str | ModelError, error: type[Exception], later: bool, tmp_path: Path
) -> None:
    is_asked = asyncio.Event()

    async def asks(_: Any) -> bool:
        is_asked.set()
        await asyncio.Event().wait()
        return True

    flow = resolve(
        parse(
            """
            [w:Workflow | [t:Tool {description: "Does"} | (x::String)==>(::String)],
              [u:Tool {description: "Does"} | (x::String)==>(::String)], a, c,
              (t)-->(c), (a)-->(u)-->(c)]
            (a:Agent {instruction: "a", model: "A/1"})
            (c:Agent {instruction: "c", model: "A/1"})"""
        )
    )
    policy = interp.ApprovalPolicy([interp.ApprovalRule("ask", "w/t")])
    does = ToolLibrary.of([*library(str).values(), *library(str, "u").values()])
    file = tmp_path / "a.run.gram"
    options: Any = {"model": AnswersWhenAsked(is_asked, answer), "match": "name", "policy": policy}
    limits = Limits(tool_calls=1)
    begun = begin(flow, "x", does, approve=asks, record=file, limits=limits, **options)

    with pytest.raises(error):
        finished(begun, later=later)

    assert [each.at for each in begun.state.asks] == [("t",)]
    state = load_run(file).state
    assert state == begun.state
    more: Any = {"model": ScriptedModel(["a", "c"]), "match": "name", "limits": Limits()}
    again = Run(state, does, approve=lambda _: True, **more)
    assert finished(again, later=later).content in ("a", "c")


DEEP = resolve(
    parse(
        """
        [boss:Agent {instruction: "boss", model: "A/1"} | rounds]
        [rounds:Loop {description: "Works", max: 2, until: {say: "good"}} | (x::Any)==>(::Any),
          [list:Tool {description: "Lists"} | (x::Any)==>(::Array {elementType: String})],
          (list)-[:EACH {at_once: 2}]->(worker)-->(say)]
        [worker:Agent {instruction: "worker", model: "A/1"} |
          [send:Tool {description: "Sends"} | (to::String)==>(::String)]]
        (say:Agent {instruction: "say", model: "A/1"})
        """
    ),
    "boss",
)


def deeply(request: Request) -> Any:
    """What the agents of `DEEP` say."""
    last = request.messages[-1]
    if request.instruction == "boss":
        return (
            call("rounds", '{"x": 1}') if last.role == interp.UserRole else f"boss: {last.content}"
        )
    if request.instruction == "worker":
        is_asked = last.role == interp.UserRole
        return call("send", f'{{"to": "{last.content}"}}') if is_asked else last.content
    return "good" if len(request.messages) > 1 else "again"


@pytest.mark.parametrize("later", [False, True])
def test_questions_inside_each_inside_a_loop_inside_an_agent_are_answered_one_by_one(
    later: bool, tmp_path: Path
) -> None:
    sent: list[str] = []
    listed = Tool("list", "Lists", {"type": "object"}, lambda _: ["ann", "bob", "eve"])
    sends = library(lambda to: sent.append(to) or f"sent to {to}", "send", "to")  # type: ignore[func-returns-value]  # None
    does = ToolLibrary.of([listed, *sends.values()])
    options: Any = {"model": Says(deeply), "match": "name"}
    policy = interp.ApprovalPolicy([interp.ApprovalRule("ask", "worker/send")])
    file = tmp_path / "a.run.gram"

    with pytest.raises(
        interp.ApprovalNeeded,
        match=r'ann"\) for boss/rounds/worker, send\(to: "bob"\) for boss/rounds/worker$',
    ):
        finished(begin(DEEP, "go", does, policy=policy, record=file, **options), later=later)
    asked = []
    while True:
        (first, *_) = load_run(file).state.asks
        asked.append(first.at)
        one: Any = {**options, "approve": lambda ask, at=first.at: True if ask.at == at else None}
        try:
            answer = interp.resume_run(file, does, **one)
        except interp.ApprovalNeeded:
            continue
        break

    assert asked == [(0, 0, n, "worker", item, 0, 0) for n in range(2) for item in range(3)]
    assert sent == ["ann", "bob", "eve"] * 2
    assert answer.content == "boss: good"
    assert load_run(file).state.status is Status.DONE


def test_what_a_policy_denies_inside_when_a_run_is_resumed_can_be_replayed(tmp_path: Path) -> None:
    file, does = tmp_path / "a.run.gram", library(str.upper, "send", "to")
    asking = interp.ApprovalPolicy([interp.ApprovalRule("ask", "send")])
    model = ScriptedModel([call("helper", '{"input": "go"}'), call("send", '{"to": "ann"}')])
    with pytest.raises(interp.ApprovalNeeded):
        begin(BOSS, "hi", does, model=model, match="name", policy=asking, record=file).finish()
    rest = ScriptedModel(["No.", "Done."])
    answer = interp.resume_run(file, does, model=rest, match="name", policy=interp.deny_all)

    again = begin(BOSS, "hi", does, handler=interp.recorded(file), match="name", policy=asking)

    assert again.finish() == answer


def test_what_is_said_inside_is_observed_with_its_position() -> None:
    replies = [call("helper", '{"input": "go"}'), "Sent.", "Done."]
    does = library(str.upper, "send", "to")
    seen = list(interp.stream(BOSS, "hi", does, model=ScriptedModel(replies), match="name"))
    said = [(each.at, each.text) for each in seen if isinstance(each, interp.TextDelta)]
    assert said == [((0, 0, 0), "Sent."), ((1,), "Done.")]
    assert not [each for each in seen if isinstance(each, interp.ToolStarted)]


def test_a_tool_is_told_which_agent_calls_it() -> None:
    told: list[interp.ToolContext] = []

    @interp.tool
    def send(to: str, context: interp.ToolContext) -> str:
        """Sends."""
        told.append(context)
        return to

    replies = [call("helper", '{"input": "go"}'), call("send", '{"to": "a"}'), "Sent.", "Done."]
    begun = begin(BOSS, "hi", ToolLibrary.of(send), model=ScriptedModel(replies), match="name")
    begun.finish()

    assert [(each.agent_name, len(each.conversation)) for each in told] == [("helper", 2)]
    assert told[0].key == f"{begun.state.run_id}/0/0/0/0"


def test_tools_of_agents_inside_are_bound_before_anything_runs() -> None:
    model = ScriptedModel([])
    with pytest.raises(Exception, match='tool "send" is not in the library'):
        begin(BOSS, "hi", model=model)
    assert model.requests == []


INSIDE = """
[helper:Agent {description: "Helps", instruction: "helper", model: "A/2"} | look]
[look:Tool {description: "Looks"} | ()==>(::Any)]
[items:Tool {description: "Lists"} | ()==>(::Array)]
(writer:Agent {description: "Writes", instruction: "writer", model: "A/2"})
"""
PLACES = {
    "an inner agent": '[boss:Agent {instruction: "boss", model: "A/1"} | helper]',
    "a branch": "[w:Workflow | helper, writer]",
    "a loop": '[w:Loop {max: 2, until: {writer: "never"}} | (helper)-->(writer)]',
    "an item of a list": "[w:Workflow | (items)-[:EACH {at_once: 2}]->(helper)]",
}
ENDS = {
    "an inner agent": "boss", "a branch": '{"helper":"helper","writer":"writer"}',
    "a loop": "writer", "an item of a list": '["helper","helper","helper"]',
}  # fmt: skip


def asks_much(request: Request) -> Any:
    """A reply of ten tokens: `helper` looks four times before it answers, `boss` calls it once."""
    said = [at for at, each in enumerate(request.messages) if each.role == interp.UserRole]
    asked = len(request.messages) - 1 - said[-1]
    calls = {"helper": ("look", "{}", 8), "boss": ("helper", '{"input": "go"}', 2)}
    name, arguments, most = calls.get(request.instruction, ("", "", 0))
    message: dict[str, Any] = {"role": "assistant", "content": request.instruction}
    if asked < most and request.tools:
        function = {"name": name, "arguments": arguments}
        message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


@pytest.mark.parametrize("on_limit", ["raise", "answer"])
@pytest.mark.parametrize(
    "limit",
    [{"tool_calls": 1}, {"calls_per_tool": 1}, {"tokens": 15}, {"input_tokens": 8}],
    ids=lambda limit: next(iter(limit)),
)
@pytest.mark.parametrize("place", PLACES)
def test_a_shared_limit_that_is_reached_anywhere_inside_can_be_raised(
    place: str, limit: dict[str, Any], on_limit: Any
) -> None:
    schema = {"type": "object", "properties": {}}
    library = ToolLibrary.of(
        Tool("look", "Looks", schema, lambda _: 1),
        Tool("items", "Lists", schema, lambda _: [1, 2, 3]),
    )
    options: Any = {"model": Says(asks_much), "match": "name"}
    limits = Limits(**limit, on_limit=on_limit)
    program = resolve(parse(PLACES[place] + INSIDE), "boss" if "boss" in PLACES[place] else "w")
    begun = begin(program, "x", library, limits=limits, **options)

    if on_limit == "answer" and place == "an inner agent":
        assert begun.finish().content == "boss"
        return
    with pytest.raises(interp.LimitError, match=next(iter(limit))):
        begun.finish()
    again = Run(begun.state, library, limits=Limits(), **options)

    assert again.finish().content == ENDS[place]


class Counts:
    """A model that says what it was given, later things sooner, and counts who waits at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def acomplete(self, request: Request) -> str:
        """The last message, after a while."""
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(7 - int(request.messages[-1].content) % 7):
            await asyncio.sleep(0)
        self.now -= 1
        return request.messages[-1].content

    def complete(self, request: Request) -> str:
        """The last message."""
        return request.messages[-1].content


@pytest.mark.parametrize(
    ("bound", "items", "most"),
    [("", 20, 8), (" {at_once: 1}", 5, 1), (" {at_once: 3}", 20, 3), (" {at_once: 50}", 20, 20)],
)
def test_no_more_items_than_allowed_are_worked_on_and_their_order_stays(
    bound: str, items: int, most: int
) -> None:
    program = parse(f"[w:Workflow | (items)-[:EACH{bound}]->(writer)] {INSIDE}")
    schema = {"type": "object", "properties": {}}
    library = ToolLibrary.of(Tool("items", "Lists", schema, lambda _: list(range(items))))
    model = Counts()

    answer = asyncio.run(
        begin(resolve(program, "w"), "x", library, model=model, match="name").afinish()
    )

    assert model.most == most
    assert answer.value == [str(each) for each in range(items)]
