"""A conversation with an agent at the command line, for ``gram run`` and ``gram chat``."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import NamedTuple

from gram import GramError, Pattern
from lenses_ext import Model

from ..errors import ConfigurationError, ValidationError
from ..execution import Spending, named_model
from ..files import File
from ..history.records import Session, session
from ..history.stores import context_of
from ..json_text import write_json
from ..machine import (
    AgentResponse,
    ConversationContext,
    Given,
    State,
    Status,
    ToolInvocation,
    UserRole,
    empty_context,
    interrupted_context,
    parts_of,
)
from ..models import call_in_text, connect_model
from ..programs import fallbacks_of, models_of, the_agent, tools_in
from ..running import BeginOptions, begin
from ..tools import bind_agent_tools
from .failures import shown
from .inputs.options import TalkOptions
from .inputs.reading import hint_at_tools, read_document
from .inputs.store_option import shown_address
from .process import uninterrupted
from .telemetry import telemetry
from .terminal.answers import Terminal
from .terminal.json_answers import JsonAnswers
from .terminal.log_lines import show_logs
from .terminal.output import is_verbose, note, tell
from .unfinished_turn import UnfinishedTurn, how_to_resume, may_go_on


class Said(NamedTuple):
    """What was said to an agent.

    Attributes:
        text: the message, or the arguments as JSON.
        files: what is attached to it.
    """

    text: str
    files: tuple[File, ...] = ()

    @property
    def given(self) -> Given:
        """The same, to say it again."""
        return [self.text, *self.files] if self.files else self.text

    @classmethod
    def of(cls, given: Given) -> Said:
        """What an agent is given, as it is kept."""
        said, files = parts_of(given)
        return cls(said if isinstance(said, str) else write_json(dict(said)), files)


class Talk:
    """One conversation with an agent, saved to the session file if there is one.

    Args:
        file: the program; ``-`` is standard input.
        options: the options of the command.
        is_chat: a message that fails does not end it.
        as_json: print answers as JSON.
        is_streaming: print words as they come, even to a pipe.
        record: the file that the run is recorded in, or None.
        store: the address of the store that the runs are recorded in, or None.
        conversation: the name of the conversation in the store, or None.

    Attributes:
        conversation: the name of the conversation in the store, or None.
        agent: the agent.
        library: its tools.
        options: the options of the command.
        context: the conversation so far.
        attached: the files that go along with the next message.

    Raises:
        OSError, GramDecodeError, ValidationError: the program or the session cannot be used.
        ToolBindingError: the tools of the program do not bind.
        ConfigurationError: a file of tools cannot be used.
    """

    def __init__(
        self,
        file: str,
        options: TalkOptions,
        *,
        is_chat: bool = False,
        as_json: bool = False,
        is_streaming: bool = False,
        record: str | None = None,
        store: str | None = None,
        conversation: str | None = None,
    ) -> None:
        if options.debug or is_verbose():
            show_logs(logging.DEBUG if options.debug else logging.WARNING)
        self.agent: Pattern = the_agent(read_document(file), options.agent, by="run")
        self.library = options.library()
        with hint_at_tools(options.named_tools, options.mcp, file):
            bind_agent_tools(self.agent, self.library, match=options.match)
        self._spending = Spending()
        self.options = options
        self._tell_of_fallbacks()
        self._record, self._store, self._is_chat = record, store, is_chat
        shown = {
            "is_streaming": is_streaming,
            "is_kept": record is not None or store is not None,
            "shows_reasoning": not options.no_reasoning,
        }
        self._terminal = (
            JsonAnswers(session=options.session, **shown)
            if as_json
            else Terminal(is_debugging=options.debug, **shown)
        )
        self._chosen: Model | None = None
        self._held = ExitStack()
        self._telemetry = self._held.enter_context(telemetry())
        self._session: Session | None = None
        self._turn: UnfinishedTurn | None = None
        if options.session:
            self._session = self._held.enter_context(session(options.session))
            self._turn = UnfinishedTurn(options.session, self._session)
        self.conversation = conversation
        self.context = self._session.context if self._session else empty_context
        if store is not None and conversation is not None:
            self.context = context_of(store, conversation)
        self._turns: list[tuple[ConversationContext, Said]] = []
        self._unanswered: Said | None = None
        self.attached: tuple[File, ...] = ()

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()
        if self.options.usage or is_verbose():
            self.tell_usage()

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that are asked: the one chosen last, or else the program's."""
        named = self.options.of_new_run.get("model")
        given = Model.parse(named) if isinstance(named, str) else None
        chosen = self._chosen or given
        return (chosen,) if chosen else models_of(self.agent)

    @property
    def model_names(self) -> str:
        """Their names, to show."""
        return ", ".join(map(str, self.models))

    def use_model(self, model: Model) -> None:
        """Ask another model from now on.

        Raises:
            ConfigurationError: its provider is unknown, or its key is missing.
        """
        self.check_model(model)
        self._chosen = model

    def check_model(self, model: Model) -> None:
        """Connect to a model, to find what is wrong with its name.

        Raises:
            ConfigurationError: its provider is unknown, or its key is missing.
        """
        connect_model(model, base_url=self.options.base_url, dialect=self.options.dialect)

    def _tell_of_fallbacks(self) -> None:
        """Tell of fallbacks that cannot be asked; the run begins all the same."""
        given = (named_model(each) for each in self.options.fallback)
        for model in dict.fromkeys((*fallbacks_of(self.agent), *filter(None, given))):
            try:
                self.check_model(model)
            except ConfigurationError as error:
                tell(f"the fallback {model} cannot be asked: {error}")

    @property
    def calls(self) -> list[ToolInvocation]:
        """The tool calls of the last turn."""
        return self._terminal.calls

    def say(self, message: Given) -> AgentResponse:
        """Send a message to the agent, or call it with arguments; print the answer and save it.

        If the turn fails, the conversation does not change, except that tool calls are kept, so
        that they are not made again. The errors are those of `run`.
        """
        if self._session:
            self._session.check_unchanged()
        if self.attached and isinstance(message, str):
            message, self.attached = [message, *self.attached], ()
        before = self.context
        try:
            return self._say(message)
        finally:
            said = Said.of(message)
            self._unanswered = said if self.context is before else None
            if self.context is not before:
                self._turns.append((before, said))

    @property
    def last_message(self) -> str | None:
        """The text that was said last, answered or not."""
        if self._unanswered is not None:
            return self._unanswered.text
        said = [each.content for each in self.context if each.role == UserRole]
        return self._turns[-1][1].text if self._turns else said[-1] if said else None

    def take_back(self) -> Said | None:
        """Take the last turn out of the conversation; returns its message, None if there is none.

        A turn that failed and left nothing in the conversation counts as one.
        """
        message, self._unanswered = self._unanswered, None
        if message is not None:
            return message
        self._expect_own_conversation()
        if self._turns:
            before, message = self._turns.pop()
        else:  # the conversation comes from a file
            said = [index for index, each in enumerate(self.context) if each.role == UserRole]
            if not said:
                return None
            last = self.context[said[-1]]
            before, message = self.context[: said[-1]], Said(last.content, last.attachments)
        self.keep(before)
        return message

    def begin_anew(self) -> None:
        """Begin an empty conversation; the session keeps the old one until the next answer."""
        self._expect_own_conversation()
        self.context, self._turns, self._unanswered = empty_context, [], None
        self.attached = ()

    def _expect_own_conversation(self) -> None:
        if self.conversation is not None:
            raise ValidationError(
                "a conversation of a store only grows\n"
                "  hint: begin another with --conversation NAME"
            )

    def _say(self, message: Given) -> AgentResponse:
        run_options: BeginOptions = {
            **self.options.of_new_run,
            "model": self._chosen or self.options.of_new_run.get("model"),
            "policy": self.options.policy(self.library),
            "telemetry": self._telemetry,
            "approve": self._terminal.ask,
            "observe": self._spending.count,
            "record": self._record or (self._turn.file() if self._turn else None),
        }
        context = self.context
        if self._store:
            run_options["store"] = self._store
        if self.conversation:
            run_options["conversation"], context = self.conversation, empty_context
        begun = begin(self.agent, message, self.library, context, **run_options)
        if self._store:
            note(f"run {begun.state.run_id} of {shown_address(self._store)}")
        try:
            response = self._terminal.show_answer(begun, self._keep_answer)
        except BaseException as failure:  # what tools did is saved, then it is raised again
            with uninterrupted():
                self._terminal.end_line()  # so that the error starts on a new line
                self._keep_what_was_done(begun.state)
                if isinstance(failure, GramError | OSError):
                    self._terminal.show_failure(begun.state, failure)
                if kept := self._kept_file(begun.state):
                    tell(how_to_resume(kept, begun.state, self.options))
                elif self._store and may_go_on(begun.state, failure):
                    store = shown_address(self._store)
                    tell(how_to_resume("", begun.state, self.options, store=store))
            raise
        if response.refused:
            tell("the model refused: its text is not an answer of the agent")
        if response.truncated:
            tell("the answer was cut off at its length limit or at the end of the context")
        if response.unfinished:
            tell("a loop was out of rounds: the answer is what its last round gave")
        if name := call_in_text(tools_in(self.agent), response.content):
            tell(f"the model wrote a call of {name} as text: does its server support tools?")
        return response

    def tell_usage(self) -> None:
        """Print the tokens used so far and what they cost, on standard error."""
        tell(self._spending.text())

    def keep(self, context: ConversationContext) -> None:
        """Set the conversation, and save it if there is a session."""
        with uninterrupted():
            self.context = context
            if self._session:
                self._session.save(context)

    def _forget_turn(self) -> None:
        if self._turn:
            self._turn.forget()

    def _kept_file(self, state: State) -> str | None:
        """The file of a run that failed and can be gone on with."""
        if self._record:
            return None if state.status is Status.DONE else self._record
        return str(self._turn.path) if self._turn and self._turn.path.exists() else None

    def _keep_answer(self, response: AgentResponse) -> None:
        self.keep(response.context)
        self._forget_turn()

    def _keep_what_was_done(self, state: State) -> None:
        """Keep an answer that has come, or what tools did in a turn that failed.

        The failure itself is told later.
        """
        is_done = state.status is Status.DONE
        is_nothing_done = not state.invocations and len(state.asks) == len(state.calls)
        if state.context is self.context or self.conversation is not None:
            return  # nothing was done, or the run of the store has it
        if is_nothing_done and not is_done:
            self._forget_turn()
            return
        try:
            self.keep(interrupted_context(state))
        except OSError as failure:
            tell(shown(failure))
        else:
            if is_done or self._is_chat:
                self._forget_turn()
            if not is_done and (self._session or self._is_chat):
                tell("the tool calls of this turn stay in the conversation")
