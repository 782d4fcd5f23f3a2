"""How an agent goes on: what it does with a reply of its model, and with the answers to its calls.

An agent or workflow that is called begins in a frame of its own; what that gives is the answer to
the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Self

from attrs import evolve
from pyrsistent import PMap, pmap

from gram import Pattern
from gram.words import counted
from lenses_ext import tool_spec_schema, view

from ..errors import ProtocolError, ValidationError
from ..json_text import Json, JsonText, json_or_text, write_json
from . import requests
from .contracts import schema_forms, values
from .effects import Ask, At, CallFailed, CallTool, ModelReplied, ToolReturned
from .frame_step import FrameStep, ToolFinished, checked
from .messages import AssistantRole, FunctionRole, Message, ToolCall, ToolInvocation, UserRole
from .run_context import RunContext
from .state import AgentFrame, Begin, Outcome, Status

HANDED_OVER: Final = "the conversation is handed over"
"""What a call says that has handed the conversation over, with the name of who goes on."""


def is_handover(message: Message) -> bool:
    """Whether a message tells a model that it goes on with a conversation."""
    return isinstance(message.role, FunctionRole) and message.content.startswith(HANDED_OVER)


_NOT_RUN = "not run: a reply that hands the conversation over calls nothing else"

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"

_DEEPEST = 32
"""How many parts the place of a frame has at most: 16 agents that call each other."""

_TOO_DEEP = "agents call each other more than 16 deep: not run"


class AgentStep(FrameStep[AgentFrame]):
    """One step of an agent's frame."""

    @classmethod
    def begun(cls, run: RunContext, begin: Begin) -> Self:
        """Begin with what the user, or whoever calls the agent, says.

        A conversation that was handed over before goes on with who spoke last.
        """
        agent = requests.last_speaker(run.program, begin.pattern, begin.context)
        text = begin.given if isinstance(begin.given, str) else write_json(begin.given)
        context = begin.context.append(Message(UserRole, text, attachments=begin.attachments))
        shortens = "compactAt" in requests.settings_of(run, agent)
        summarised = requests.summarised_before(begin.context) if shortens else 0
        step = cls(run, AgentFrame(agent, context, begin.call, summarised=summarised))
        step._ask()
        return step

    def outcome(self) -> Outcome:
        """How the agent has ended."""
        frame, reply = self.frame, self.frame.context[-1]
        if frame.status is Status.DONE and not reply.refused:
            is_text = requests.is_text_answer(frame.pattern)
            said = write_json(reply.content) if is_text else JsonText.read(reply.content)
            return Outcome(said, None, frame.context, frame.calls_made)
        error = frame.stopped
        if frame.status is Status.DONE:
            error = f"refused: {reply.content}"
        elif frame.status is Status.UNUSABLE:
            error = f"its answer is not what it declares: {error}"
        return Outcome(None, error, calls=frame.calls_made)

    @property
    def _offers(self) -> requests.Offers:
        return requests.offers_of(self.run.program, self.frame.pattern)

    def _ask(self) -> None:
        """Ask the model: for a summary, where the conversation is too long."""
        settings = requests.settings_of(self.run, self.frame.pattern)
        if (summarising := requests.to_summarise(self.frame, settings)) != self.frame.summarising:
            self.change(summarising=summarising)
        self.new.append(requests.ask_model(self.run, self.frame))

    # --- the model has replied

    def model_replied(self, event: ModelReplied) -> None:
        """Take what the model says: it calls tools, or that is the answer."""
        frame, run = self.frame, self.run
        if event.at != frame.at:
            raise ProtocolError(f"{event!r} is at the wrong position: expected {frame.at}")
        if event.cost:
            run = evolve(run, cost=run.cost + event.cost)
        if event.model is not None:  # those that could not be asked come last from now on
            passed = run.passed.union(model for model, _ in event.tried) - {event.model}
            run = evolve(run, passed=passed)
        message = event.message
        calls = () if frame.summarising else message.tool_calls
        self.run = run.spent(event.usage, [call.name for call in calls])
        if frame.summarising:
            self._summarised(event)
            return
        if message.role == AssistantRole and self._offers.hands_over:
            message = evolve(message, speaker=frame.name)
        context, total = frame.context.append(message), event.usage.total_tokens
        self.change(
            context=context,
            calls=calls,
            truncated=event.truncated,
            status=Status.DONE,  # unless it calls tools, or is no answer
            length=frame.length if total is None else total,
            counted=frame.counted if total is None else len(context),
        )
        if calls:
            self._call_tools()
        else:
            self._finish(message)

    def _summarised(self, event: ModelReplied) -> None:
        """Take the summary of a conversation, and go on; one that fails is asked for once more."""
        frame = self.frame
        problem = requests.problem_of(frame, event.message, truncated=event.truncated)
        if problem is None:
            self.frame = requests.with_summary(frame, event.message.content.strip())
        elif frame.failures:
            self.change(summarising=0, failures=0)
            tokens = counted(requests.length_of(self.frame), "token")
            self._stop_at(
                f"{tokens} of conversation, as two summaries failed: {problem}; raise "
                "contextWindow, or begin a new conversation (setting: compactAt)"
            )
            return
        else:
            self.change(failures=1)
        self.change(turn=frame.turn + 1, summaries=frame.summaries + 1)
        self.new.append(requests.ask_model(self.run, self.frame))

    def _finish(self, reply: Message) -> None:
        """The reply is the answer, unless it is not of the type that the agent declares."""
        frame = self.frame
        schema = None if reply.refused else requests.answer_schema_of(frame.pattern)
        if schema is None:
            return
        answer, problem = values.read_answer(schema, reply.content)
        if not problem:
            if answer != reply.content:
                self.change(context=frame.context[:-1].append(evolve(reply, content=answer)))
            return
        if frame.truncated:
            problem = f"the reply was cut off at its length limit\n{problem}"
        if frame.corrected:
            self.change(status=Status.UNUSABLE, stopped=problem)
            return
        context = frame.context.append(values.correction(schema, problem))
        status = Status.AWAITING_MODEL
        self.change(status=status, turn=frame.turn + 1, context=context, corrected=True)
        self._ask()

    def _call_tools(self) -> None:
        """Ask for the calls of the last reply; those that cannot be run are answered at once."""
        frame, offers = self.frame, self._offers
        # turns that asked for another answer, or for summaries, have no calls
        rounds, most = frame.turn - frame.corrected - frame.summaries, self.run.limits.iterations
        if rounds >= most and not frame.stopped:
            limit = f"{counted(most, 'round')} of tool calls (limit: iterations)"
            self._stop_at(limit, is_own=True)
            return
        if shared := frame.stopped or self.run.limit or self.run.limit_reached():
            self._stop_at(shared)
            return
        # a call that hands the conversation over is the only one that is run then
        found = (offers.named(call.name) for call in frame.calls)
        uses = [offer.use if offer else None for offer in found]
        handover = uses.index("handover") if "handover" in uses else None
        made = [self._checked(index, call, handover) for index, call in enumerate(frame.calls)]
        refused = [each for each in made if isinstance(each, ToolInvocation)]
        begun = [each for each in made if not isinstance(each, ToolInvocation)]
        waiting: PMap[At, Any] = pmap({each.at: each for each in begun})
        self.change(status=Status.AWAITING_TOOLS, waiting=waiting)
        if refused or not begun:
            self._take(refused)
        for part in begun:
            self.begin(part)

    def _checked(
        self, index: int, call: ToolCall, handover: int | None
    ) -> CallTool | Ask | ToolInvocation:
        """The effect of a call, or the invocation that tells the model what is wrong with it.

        The call of a skill has its answer in the program: nobody is asked, and nothing is run.
        Where one call of the reply hands the conversation over, no other is run.
        """
        frame = self.frame
        if handover not in (None, index):
            return refusal(frame, index, _NOT_RUN)
        if frame.truncated:
            return refusal(frame, index, _CUT_OFF)
        offer = self._offers.named(call.name)
        if offer is None:
            known = ", ".join(sorted(self._offers.by_wire_name)) or "none"
            error = f'there is no tool "{call.name}"; the tools are: {known}'
            return refusal(frame, index, error)
        name, tool, at = offer.name, offer.spec, (*frame.at, index)
        about: dict[str, Any] = {"agent_name": frame.name, "at": at}
        args: Json = call.arguments
        try:
            args = given = values.read_arguments(name, call.arguments)
            settings = requests.settings_of(self.run, frame.pattern)
            if settings.get("strictTools", "off") != "off" and schema_forms.has_strict_form(tool):
                args = given = schema_forms.without_stand_ins(view(tool_spec_schema, tool), given)
            args = checked(name, values.parameters_of(tool), given)
            if offer.use == "skill":
                text = write_json(offer.pattern.value.properties["text"])
                return ToolInvocation(name, args, text, **about)
            if offer.use == "inside" and len(frame.place) > _DEEPEST:
                raise ValidationError(_TOO_DEEP)
            return self.allowed(at, name, args, tool)
        except ValidationError as error:
            return ToolInvocation(name, args, error=error.message, **about)

    def _stop_at(self, limit: str, *, is_own: bool = False) -> None:
        """Stop, fail where only this agent is to stop, or ask for an answer without tools."""
        frame, run = self.frame, self.run
        answers = run.limits.on_limit == "answer" and frame.is_under_an_agent
        if frame.call and (is_own or answers):
            self.change(status=Status.FAILED, stopped=f"stopped after {limit}")
        elif not answers or frame.stopped:
            self.change(status=Status.LIMITED, stopped=limit)
            self.run = evolve(run, limit=run.limit or limit)
        else:
            self.change(stopped=limit)
            error = f"not run: the run has reached {limit}; answer with what you have"
            self._take(refusal(frame, index, error) for index in range(len(frame.calls)))

    def go_on(self) -> None:
        """Go on where a limit was reached."""
        if self.frame.status is Status.LIMITED:
            self.change(stopped=None)
            self._call_tools()

    # --- what was called has begun, or has answered

    def called_by(self, call: CallTool | Ask) -> Pattern:
        """What a call is of: a tool, an agent or a workflow."""
        return self._offers.by_name[call.name].pattern

    def inner_ended(self, call: CallTool, outcome: Outcome) -> None:
        """Take what an agent or workflow gave that was called: the answer to the call."""
        if outcome.said is None:
            self.answer(call, CallFailed(call.at, outcome.error or "failed"))
        else:
            self.answer(call, ToolReturned(call.at, outcome.said))

    def begin(self, call: CallTool | Ask) -> None:
        """Begin a call: of a tool, of an agent, or to ask about it; or hand over."""
        offer = self._offers.by_name[call.name]
        if isinstance(call, Ask) or offer.use == "tool":
            self.new.append(call)
        elif offer.use == "inside":
            given = requests.input_of(offer.pattern, call.args)
            self.new.append(Begin(offer.pattern, given, call=call))
        else:
            said = write_json(f'{HANDED_OVER} to "{offer.name}"')
            args, by = JsonText.read(call.arguments), self.frame.name
            made = ToolInvocation(call.name, args, said, agent_name=by, at=call.at)
            self._take([made], speaker=requests.definition(self.run.program, offer.name))

    def take_answer(self, call: CallTool | Ask, made: ToolInvocation) -> None:
        """Take a call with its answer; the model is told when all of the turn have one."""
        self._take([made])

    def _take(self, made: Iterable[ToolInvocation], speaker: Pattern | None = None) -> None:
        frame = self.frame
        answers, waiting = frame.answers, frame.waiting
        for each in made:
            answers, waiting = answers.set(int(each.at[-1]), each), waiting.discard(each.at)
            self.new.append(ToolFinished(each.at, each))
        if waiting:
            self.change(answers=answers, waiting=waiting)
            return
        self.change(
            pattern=speaker or frame.pattern,
            status=Status.AWAITING_MODEL,
            turn=frame.turn + 1,
            context=frame.context.extend(tuple(told(frame.calls, answers))),
            calls=(),
            waiting=waiting,
            answers=pmap(),
            invocations=frame.invocations.extend(answers[index] for index in sorted(answers)),
        )
        self._ask()


def refusal(frame: AgentFrame, index: int, error: str) -> ToolInvocation:
    """A call of the last reply that is not run, as the model wrote it."""
    call, at = frame.calls[index], (*frame.at, index)
    args = json_or_text(call.arguments)
    return ToolInvocation(call.name, args, error=error, agent_name=frame.name, at=at)


def told(calls: tuple[ToolCall, ...], answers: Mapping[int, ToolInvocation]) -> Iterator[Message]:
    """The messages that tell a model how its calls were answered, in the order of the calls."""
    for index, call in enumerate(calls):
        answer = answers[index]
        said, text = f"error: {answer.error}", answer.result_text
        if text is not None:  # a text as it is, other results as JSON
            said = text.value if text.startswith('"') else str(text)
        role = FunctionRole(answer.tool_name)
        yield Message(role, said, call_id=call.id, attachments=answer.files)
