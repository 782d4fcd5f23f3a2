"""A conversation with an agent at the command line, for ``gram run`` and ``gram chat``."""

from __future__ import annotations

import logging
from contextlib import ExitStack

from gram import GramError, Pattern
from lenses_ext import agent_tool_specs, view

from ..errors import ToolBindingError
from ..execution import RunOptions, begin
from ..machine import State, Status, interrupted_context
from ..messages import AgentResponse, ConversationContext, empty_context
from ..models import call_in_text
from ..programs import the_agent
from ..records import Session, session
from ..tools import bind_agent_tools
from .failures import shown
from .inputs import read_document, read_libraries
from .json_answers import JsonAnswers
from .options import TalkOptions
from .output import is_verbose, tell
from .process import uninterrupted
from .spending import Spending
from .terminal import Terminal


class Talk:
    """One conversation with an agent, saved to the session file if there is one.

    Args:
        file: the program; ``-`` is standard input.
        options: the options of the command.
        as_json: print answers as JSON.
        is_streaming: print words as they come, even to a pipe.

    Attributes:
        agent: the agent.
        library: its tools.
        context: the conversation so far.

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
        as_json: bool = False,
        is_streaming: bool = False,
    ) -> None:
        if options.debug or is_verbose():
            show_logs(logging.DEBUG if options.debug else logging.WARNING)
        self.agent: Pattern = the_agent(read_document(file), options.agent, by="run")
        self.library = read_libraries(options.tools)
        try:
            bind_agent_tools(self.agent, self.library, match=options.match)
        except ToolBindingError as error:
            if options.tools:
                raise
            hint = "hint: these are the built-in tools; use --tools FILE.py for your own"
            raise ToolBindingError([*error.problems, hint]) from None
        self._spending = Spending(options.base_url)
        self._options = options
        self._terminal = (
            JsonAnswers(is_streaming=is_streaming, session=options.session)
            if as_json
            else Terminal(is_debugging=options.debug, is_streaming=is_streaming)
        )
        self._held = ExitStack()
        self._session: Session | None = None
        if options.session:
            self._session = self._held.enter_context(session(options.session))
        self.context = self._session.context if self._session else empty_context

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()
        if self._options.usage or is_verbose():
            self.tell_usage()

    def say(self, message: str) -> AgentResponse:
        """Send a message to the agent, print the answer and save the conversation.

        If the turn fails, the conversation does not change, except that tool calls are kept, so
        that they are not made again. The errors are those of `run`.
        """
        if self._session:
            self._session.check_unchanged()
        run_options: RunOptions = {
            **self._options.of_run,
            "approve": self._terminal.ask,
            "observe": self._spending.count,
        }
        begun = begin(self.agent, message, self.library, self.context, **run_options)
        try:
            response = self._terminal.show_answer(begun, lambda done: self.keep(done.context))
        except BaseException as failure:
            with uninterrupted():
                self._terminal.end_line()  # so that the error starts on a new line
                self._keep_what_was_done(begun.state)
                if isinstance(failure, GramError | OSError):
                    self._terminal.show_failure(begun.state, failure)
            raise
        if response.refused:
            tell("the model refused: its text is not an answer of the agent")
        if response.truncated:
            tell("the answer was cut off at its length limit or at the end of the context")
        if name := call_in_text(view(agent_tool_specs, self.agent), response.content):
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

    def _keep_what_was_done(self, state: State) -> None:
        """Keep an answer that has come, or what tools did in a turn that failed.

        The failure itself is told later.
        """
        is_done = state.status is Status.DONE
        if state.context is self.context or not (is_done or state.invocations or state.calls):
            return
        try:
            self.keep(interrupted_context(state))
        except OSError as failure:
            tell(shown(failure))
        else:
            if not is_done:
                tell("the tool calls of this turn stay in the conversation")


class _Handler(logging.Handler):
    """Shows what is logged as notes are shown: safe for a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        tell(self.format(record))


def show_logs(level: int) -> None:
    """Show the log of requests and tool calls on standard error; it contains no keys."""
    handler = _Handler()
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logger = logging.getLogger("interp")
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
