"""How an agent goes on: what it does with a reply of its model, and with the answers to its calls.

Each function takes what the run shares, the frame of the agent and an event, and returns both as
they are then, with what is new to do. An agent or workflow that is called begins in a frame of its
own; what that gives is the answer to the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from attrs import evolve
from pyrsistent import pmap

from gram import Pattern
from gram.words import counted

from ..errors import ProtocolError
from ..json_text import JsonText, write_json
from .calls import answered, checked_call, refusal
from .contracts import correction, read_answer
from .effects import Ask, CallFailed, CallTool, Decided, ModelReplied, ToolReturned
from .messages import AssistantRole, FunctionRole, Message, ToolCall, ToolInvocation, UserRole
from .requests import (
    Offers,
    answer_schema_of,
    ask_model,
    definition,
    going_on,
    input_of,
    is_text_answer,
    last_speaker,
    length_of,
    offers_of,
    problem_of,
    settings_of,
    summarised_before,
    with_summary,
)
from .run_context import Limits, RunContext
from .state import AgentFrame, AgentTaken, Begin, CallAnswered, Outcome, Status

HANDED_OVER: Final = "the conversation is handed over"
"""What a call says that has handed the conversation over, with the name of who goes on."""


def is_handover(message: Message) -> bool:
    """Whether a message tells a model that it goes on with a conversation."""
    return isinstance(message.role, FunctionRole) and message.content.startswith(HANDED_OVER)


_NOT_RUN = "not run: a reply that hands the conversation over calls nothing else"


def begin_agent(run: RunContext, begin: Begin) -> AgentTaken:
    """Begin with what the user, or whoever calls the agent, says."""
    frame, ask = going_on(run, first_frame(run, begin))
    return run, frame, (ask,)


def first_frame(run: RunContext, begin: Begin) -> AgentFrame:
    """The frame of an agent that begins.

    A conversation that was handed over before goes on with who spoke last.
    """
    agent = last_speaker(run.program, begin.pattern, begin.context)
    given = begin.given
    text = given if isinstance(given, str) else write_json(given)
    context = begin.context.append(Message(UserRole, text, attachments=begin.attachments))
    shortens = "compactAt" in settings_of(run, agent)
    summarised = summarised_before(begin.context) if shortens else 0
    return AgentFrame(agent, context, begin.call, summarised=summarised)


def agent_outcome(frame: AgentFrame) -> Outcome | None:
    """How an agent inside another frame has ended; None while it goes on."""
    if frame.status is Status.DONE:
        reply = frame.context[-1]
        if reply.refused:
            return Outcome(None, f"refused: {reply.content}", calls=frame.calls_made)
        is_text = is_text_answer(frame.pattern)
        said = write_json(reply.content) if is_text else JsonText.read(reply.content)
        return Outcome(said, None, frame.context, frame.calls_made)
    if frame.status is Status.UNUSABLE:
        error = f"its answer is not what it declares: {frame.stopped}"
        return Outcome(None, error, calls=frame.calls_made)
    if frame.status is Status.FAILED:
        return Outcome(None, frame.stopped, calls=frame.calls_made)
    return None


# --- the model has replied


def model_replied(run: RunContext, frame: AgentFrame, event: ModelReplied) -> AgentTaken:
    """Take what the model says: it calls tools, or that is the answer."""
    if event.at != frame.at:
        raise ProtocolError(f"{event!r} is at the wrong position: expected {frame.at}")
    run = _counted(run, event)
    if frame.summarising:
        return _summarised(run, frame, event)
    message = event.message
    offers = offers_of(run.program, frame.pattern)
    if offers.hands_over and message.role == AssistantRole:
        message = message.said_by(frame.name)
    frame = evolve(
        frame,
        context=frame.context.append(message),
        calls=message.tool_calls,
        truncated=event.truncated,
        status=Status.DONE,  # unless it calls tools, or is no answer
    )
    if (total := event.usage.total_tokens) is not None:
        frame = evolve(frame, length=total, counted=len(frame.context))
    run = run.spent(event.usage, [call.name for call in frame.calls])
    return call_tools(run, frame, offers) if frame.calls else _finished(run, frame)


def _counted(run: RunContext, event: ModelReplied) -> RunContext:
    """The run with what a reply cost, and with the models that could not be asked for it."""
    if event.cost:
        run = evolve(run, cost=run.cost + event.cost)
    if event.model is not None:
        passed = run.passed.union(model for model, _ in event.tried) - {event.model}
        run = evolve(run, passed=passed)
    return run


def _summarised(run: RunContext, frame: AgentFrame, event: ModelReplied) -> AgentTaken:
    """Take the summary of a conversation, and go on; one that fails is asked for once more."""
    run = run.spent(event.usage, ())
    problem = problem_of(frame, event.message, truncated=event.truncated)
    if problem is None:
        frame = with_summary(frame, event.message.content.strip())
    elif frame.failures:
        limit = (
            f"{counted(length_of(frame), 'token')} of conversation, and {problem} twice: raise "
            "contextWindow, or begin a new conversation (setting: compactAt)"
        )
        return _at_limit(run, evolve(frame, summarising=0, failures=0), limit, is_own=False)
    else:
        frame = evolve(frame, failures=1)
    frame = evolve(frame, turn=frame.turn + 1, summaries=frame.summaries + 1)
    return run, frame, (ask_model(run, frame),)


def _finished(run: RunContext, frame: AgentFrame) -> AgentTaken:
    """The reply is the answer: done, unless it is not of the type that the agent declares."""
    reply = frame.context[-1]
    schema = None if reply.refused else answer_schema_of(frame.pattern)
    if schema is None:
        return run, frame, ()
    answer, problem = read_answer(schema, reply.content)
    if not problem:
        if answer != reply.content:
            context = frame.context[:-1].append(evolve(reply, content=answer))
            frame = evolve(frame, context=context)
        return run, frame, ()
    if frame.truncated:
        problem = f"the reply was cut off at its length limit\n{problem}"
    if frame.corrected:
        return run, evolve(frame, status=Status.UNUSABLE, stopped=problem), ()
    context = frame.context.append(correction(schema, problem))
    status = Status.AWAITING_MODEL
    frame = evolve(frame, status=status, turn=frame.turn + 1, context=context, corrected=True)
    frame, ask = going_on(run, frame)
    return run, frame, (ask,)


def call_tools(run: RunContext, frame: AgentFrame, offers: Offers) -> AgentTaken:
    """Ask for the calls of the last reply; those that cannot be run are answered at once."""
    rounds = _rounds_reached(run.limits, frame)
    if limit := frame.stopped or rounds or run.limit or run.limit_reached():
        return _at_limit(run, frame, limit, is_own=limit is rounds)
    refused: list[ToolInvocation] = []
    begun: list[CallTool | Ask] = []
    handover = None if offers.are_tools else _handover(offers, frame)
    for index, call in enumerate(frame.calls):
        if handover is None or index == handover:
            each = checked_call(run, frame, offers, index, call)
        else:
            each = refusal(frame, index, _NOT_RUN)
        if isinstance(each, ToolInvocation):
            refused.append(each)
        else:
            begun.append(each)
    frame = evolve(frame, status=Status.AWAITING_TOOLS)
    for each in begun:
        frame = frame.with_part(each.at, each)
    run, frame, new = _with_answers(run, frame, refused)
    if handover is not None and begun and isinstance(begun[0], CallTool):
        run, frame, more = allowed(run, frame, begun[0])
        return run, frame, (*new, *more)
    return run, frame, (*new, *(_new(offers, each) for each in begun))


def _rounds_reached(limits: Limits, frame: AgentFrame) -> str | None:
    """The limit of an agent's own rounds, if it has been reached."""
    # turns that asked for another answer, or for summaries, have no calls
    rounds = frame.turn - frame.corrected - frame.summaries
    if rounds < limits.iterations:
        return None
    return f"{counted(limits.iterations, 'round')} of tool calls (limit: iterations)"


def _handover(offers: Offers, frame: AgentFrame) -> int | None:
    """The index of the call that hands the conversation over, the only one that is run then."""
    for index, call in enumerate(frame.calls):
        offer = offers.named(call.name)
        if offer is not None and offer.use == "handover":
            return index
    return None


def _at_limit(run: RunContext, frame: AgentFrame, limit: str, *, is_own: bool) -> AgentTaken:
    """Stop, fail where only this agent is to stop, or ask for an answer without tools."""
    answers = run.limits.on_limit == "answer" and frame.is_under_an_agent
    if frame.call and (is_own or answers):
        return run, evolve(frame, status=Status.FAILED, stopped=f"stopped after {limit}"), ()
    if not answers or frame.stopped:
        frame = evolve(frame, status=Status.LIMITED, stopped=limit)
        return evolve(run, limit=run.limit or limit), frame, ()
    error = f"not run: the run has reached {limit}; answer with what you have"
    refused = [refusal(frame, index, error) for index in range(len(frame.calls))]
    return _with_answers(run, evolve(frame, stopped=limit), refused)


def resumed(run: RunContext, frame: AgentFrame) -> AgentTaken:
    """Go on where a limit was reached."""
    if frame.status is not Status.LIMITED:
        return run, frame, ()
    return call_tools(run, evolve(frame, stopped=None), offers_of(run.program, frame.pattern))


# --- what was called has begun, or has answered


def called_by(run: RunContext, frame: AgentFrame, call: CallTool | Ask) -> Pattern:
    """What a call is of: a tool, an agent or a workflow."""
    return offers_of(run.program, frame.pattern).by_name[call.name].pattern


def inner_ended(run: RunContext, frame: AgentFrame, call: CallTool, outcome: Outcome) -> AgentTaken:
    """Take what an agent or workflow gave that was called: the answer to the call."""
    if outcome.said is None:
        return with_answer(run, frame, call, CallFailed(call.at, outcome.error or "failed"))
    return with_answer(run, frame, call, ToolReturned(call.at, outcome.said))


def with_answer(
    run: RunContext,
    frame: AgentFrame,
    call: CallTool | Ask,
    event: ToolReturned | CallFailed | Decided,
) -> AgentTaken:
    """Take what a tool gave, how it failed, or that it is denied: the model is told."""
    return _with_answers(
        run, frame, [answered(run, frame, called_by(run, frame, call), call, event)]
    )


def allowed(run: RunContext, frame: AgentFrame, call: CallTool) -> AgentTaken:
    """Begin a call that is allowed."""
    offers = offers_of(run.program, frame.pattern)
    offer = offers.by_name[call.name]
    if offer.use != "handover":
        return run, frame.with_part(call.at, call), (_new(offers, call),)
    said = write_json(f'{HANDED_OVER} to "{offer.name}"')
    args = JsonText.read(call.arguments)
    made = ToolInvocation(call.name, args, said, agent_name=frame.name, at=call.at)
    return _with_answers(run, frame, [made], definition(run.program, offer.name))


def _new(offers: Offers, call: CallTool | Ask) -> CallTool | Ask | Begin:
    """What is to be done for a call: of a tool, of an agent, or to ask about it first."""
    offer = offers.by_name[call.name]
    if isinstance(call, Ask) or offer.use != "inside":
        return call
    return Begin(offer.pattern, input_of(offer.pattern, call.args), call=call)


def _with_answers(
    run: RunContext,
    frame: AgentFrame,
    made: Iterable[ToolInvocation],
    speaker: Pattern | None = None,
) -> AgentTaken:
    """Keep the answers to some calls; when all of the turn have one, the model is told them."""
    answers, waiting = frame.answers, frame.waiting
    for each in made:
        answers, waiting = answers.set(int(each.at[-1]), each), waiting.discard(each.at)
    happened = [CallAnswered(each.at, each) for each in made]
    frame = evolve(frame, answers=answers, waiting=waiting)
    if waiting:
        return run, frame, tuple(happened)
    frame = evolve(
        frame,
        pattern=speaker or frame.pattern,
        status=Status.AWAITING_MODEL,
        turn=frame.turn + 1,
        context=frame.context.extend(tuple(told(frame.calls, answers))),
        calls=(),
        answers=pmap(),
        invocations=frame.invocations.extend(answers[index] for index in sorted(answers)),
    )
    frame, ask = going_on(run, frame)
    return run, frame, (*happened, ask)


def told(calls: tuple[ToolCall, ...], answers: Mapping[int, ToolInvocation]) -> Iterator[Message]:
    """The messages that tell a model how its calls were answered, in the order of the calls."""
    for index, call in enumerate(calls):
        answer = answers[index]
        role, said = FunctionRole(answer.tool_name), _answer_text(answer)
        yield Message(role, said, call_id=call.id, attachments=answer.files)


def _answer_text(invocation: ToolInvocation) -> str:
    """What the model is told: a text as it is, other results as JSON, an error after its word."""
    if invocation.error is not None:
        return f"error: {invocation.error}"
    text = invocation.result_text
    assert text is not None
    result: str = text.value if text.startswith('"') else str(text)
    return result
