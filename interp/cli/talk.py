"""A conversation with an agent at the command line: what ``gram run`` and ``gram chat`` share."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from gram import Pattern
from gram.faults import errors
from gram.files import resolved
from lenses_ext import validate_agent_pattern

from ..binding import bind_agent_tools
from ..conversation_files import load_context, save_context
from ..drivers import begin
from ..effects import CallFailed, CallTool, Effect, Event, ModelReplied, ToolReturned
from ..errors import ToolBindingError, ValidationError
from ..library import ToolLibrary
from ..messages import AgentResponse, ConversationContext, Usage, empty_context
from ..programs import choose_agent
from .inputs import read_document, read_libraries
from .options import TalkOptions
from .terminal import POLICIES, ask_person, call_text, shown_answer, tell


class Talk:
    """One conversation: it goes on with every message, and is kept where a session asks for it.

    Attributes:
        agent: the program.
        library: its tools.
        context: what was said so far.
        usage: the tokens used so far, those of turns that failed too.

    Raises:
        OSError, GramDecodeError, ValidationError: the program or the session cannot be used.
        ToolBindingError: the tools do not implement the program's.
        ConfigurationError: a file of tools cannot be used.
    """

    def __init__(self, file: str, options: TalkOptions) -> None:
        if options.debug:
            show_logs()
        self.agent: Pattern = choose_agent(read_document(file).patterns, options.agent)
        self.library = read_libraries(options.tools) if options.tools else _built_in()
        if faults := errors(validate_agent_pattern(self.agent)):
            raise ValidationError.of(faults)
        try:
            bind_agent_tools(self.agent, self.library, match=options.match)
        except ToolBindingError as error:
            if options.tools:
                raise
            hint = "hint: these are the built-in tools; bring your own with --tools FILE.py"
            raise ToolBindingError([*error.problems, hint]) from None
        self.context = _conversation_in(options.session)
        self.usage = Usage()
        self._options = options

    def say(self, message: str) -> AgentResponse:
        """Say something to the agent; print its answer and keep the conversation.

        What goes wrong leaves the conversation as it was; the errors are those of `run`.
        """
        options = self._options
        begun = begin(
            self.agent,
            message,
            self.library,
            self.context,
            model=options.model,
            base_url=options.base_url,
            settings=options.settings,
            limits=options.limits,
            match=options.match,
            policy=POLICIES[options.approve],
            approve=ask_person,
            observe=self._observe,
        )
        response = shown_answer(begun)
        if response.refused:
            tell("the model refused; what it says is no answer of the agent")
        self.context = response.context
        if options.session:
            save_context(options.session, self.context)
        return response

    def tell_usage(self) -> None:
        """Tell the tokens used so far, on standard error."""
        tell(
            f"{self.usage.input_tokens} input and {self.usage.output_tokens} output tokens, "
            f"{self.usage.total_tokens} in all"
        )

    def _observe(self, effect: Effect, event: Event) -> None:
        if isinstance(event, ModelReplied):
            self.usage = self.usage + event.usage
        if isinstance(effect, CallTool):
            _show_call(effect, event)


def show_logs() -> None:
    """Show what is said to models and tools on standard error; it is logged without keys."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logger = logging.getLogger("interp")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False


def _conversation_in(session: str | None) -> ConversationContext:
    """What a session's file holds; one that is not there yet, or empty, begins a conversation."""
    if session is None:
        return empty_context
    path = Path(session)
    if not resolved(path).parent.is_dir():  # better told now than after an answer was paid for
        raise FileNotFoundError(2, "No such directory", str(path.parent))
    return load_context(path) if path.exists() and path.stat().st_size else empty_context


def _built_in() -> ToolLibrary:
    from ..hello_world import hello_world_tool_library

    return hello_world_tool_library


def _show_call(call: CallTool, event: Event) -> None:
    """A tool call on one line of standard error."""
    outcome = ""
    if isinstance(event, ToolReturned):
        outcome = event.result
    elif isinstance(event, CallFailed):
        outcome = f"error: {event.error}"
    tell(f"{call_text(call)} -> {outcome}")
