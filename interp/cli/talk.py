"""A conversation with an agent, for ``gram run`` and ``gram chat``, and where it is kept."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import ClassVar, Final, TypeVar

from attrs import define

from gram import GramError, Pattern
from gram.documents import WatchedFiles
from lenses_ext import Model, agent_name, view

from .. import machine
from ..errors import AgentError, ConfigurationError, RunTakenError, StoreError
from ..execution import Folded, Note, RunLog, named_model
from ..files import File
from ..history import stores
from ..history.records import context_after, has_nothing_begun
from ..history.stores import Address, KeptConversation, RunStore, open_store
from ..machine import AgentResponse, Event, Given, State, Status
from ..models import call_in_text, connect_model
from ..programs import fallbacks_of, models_of, the_agent, tools_in
from ..running import begin
from ..tools import Tool, bind_agent_tools
from .failures import shown
from .inputs.files import STDIN, read_program
from .inputs.options import RunningOptions, TalkOptions
from .inputs.project import record_of_project
from .inputs.record_option import LARGEST, OLDEST, expect_no_run, named_record, own_store
from .process import uninterrupted
from .telemetry import telemetry
from .terminal.answers import JsonAnswers, Terminal
from .terminal.console import forbid, note, tell

T = TypeVar("T")


@define
class Kept:
    """What a conversation is kept in.

    Attributes:
        is_habit: whether nobody has named the address.
    """

    address: Address
    conversation: KeptConversation
    is_habit: bool

    def log(self) -> RunLog | None:
        """What the next turn is recorded in; None where a habit cannot be kept."""
        if not self.is_habit:
            return self.conversation.log()
        try:
            return _HabitLog(self.conversation.log())
        except RunTakenError:
            raise
        except (StoreError, OSError) as error:
            _warn(error)
            return None

    def named(self, run: str) -> str:
        """How commands name one of its runs."""
        if self.is_habit:
            return run
        return str(Address(str(self.address), run if self.address.is_store else ""))


def kept_in(
    options: TalkOptions, program: str | None, agent: str, *, is_anew: bool = False
) -> Kept | None:
    """Where a conversation is kept, as the options of a command say; None if nowhere.

    Args:
        is_anew: whether another conversation begins, whatever -c says.
    """
    is_last = options.goes_on and not is_anew
    goes_on = is_last or options.conversation is not None
    is_typed = all(each is not None and each.isatty() for each in (sys.stdin, sys.stdout))
    record = options.record or named_record()
    is_off = record is None and not goes_on and (not is_typed or record_of_project() is False)
    if options.no_record or is_off:
        return None
    is_habit = record is None
    try:
        address = Address.of(record or str(own_store()))
        if not address.is_store:
            return Kept(address, _of_file(address, options), is_habit)
        expect_no_run(address)
        if is_habit:
            tidy(own_store())
        new = f"{agent}-{os.urandom(4).hex()}"
        name = options.conversation or (True if is_last else new)
        return Kept(address, stores.open_conversation(address.place, name, program), is_habit)
    except (StoreError, OSError) as error:
        if not is_habit or goes_on:
            raise
        _warn(error)
        return None


def _warn(error: Exception) -> None:
    why = str(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        why = f"{error.filename}: {error.strerror}"
    tell([("warning", "warning"), (f": nothing more is kept of this conversation: {why}", "")])


def _of_file(address: Address, options: TalkOptions) -> KeptConversation:
    path = Path(address.place)
    forbid(options.conversation, f"--conversation is for stores, and {address} is a file: write -c")
    forbid(address.run, f"{address} is one turn: write {path}, which is gone on with by -c")
    is_there = path.is_symlink() or path.is_file()  # what is no file is refused below
    if not options.goes_on and is_there and not has_nothing_begun(path):
        reason = "exists already; a run is recorded in a new file\n  hint: -c goes on with it"
        raise FileExistsError(errno.EEXIST, reason, str(path))
    return stores.open_conversation(path, True, None)


def tidy(path: Path) -> None:
    """Remove what is old, or too much, from what is kept by habit."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open_store(path) as store:
        before = datetime.now(UTC) - OLDEST
        store.prune(before, status=(*stores.ENDED, "stopped", "waiting", "limited"))
        store.prune_conversations(before)
        if _used(store) > LARGEST:
            for old in reversed([*store.conversations()]):
                with suppress(RunTakenError):
                    old.remove(datetime.now(UTC))
                if _used(store) <= LARGEST:
                    return


def _used(store: RunStore) -> int:
    """The bytes of a store in a file."""
    told = ("page_count", "freelist_count", "page_size")
    pages, free, size = (store.ready().execute(f"PRAGMA {each}")[0][0] for each in told)
    return int((pages - free) * size)


class _HabitLog:
    """A log that nobody asked for: where it cannot be written, that is told, and the run goes on.

    Its methods are those of `RunLog`.
    """

    blocks: ClassVar[bool] = True

    def __init__(self, log: RunLog) -> None:
        self._log: RunLog | None = log
        self.has_begun = False
        self.name = log.name

    def begin(self, state: State, tools: Iterable[Tool]) -> None:
        self.has_begun = True
        self._tried(lambda log: log.begin(state, tools))

    @contextmanager
    def held(self, standing: Callable[[], State] | None = None) -> Iterator[tuple[Event, ...]]:
        holding = ExitStack()
        try:
            yield self._tried(lambda log: holding.enter_context(log.held(standing))) or ()
        finally:
            self._tried(lambda _: holding.close())

    def append(self, folded: Folded) -> None:
        self._tried(lambda log: log.append(folded))

    def note(self, note: Note) -> None:
        self._tried(lambda log: log.note(note))

    def _tried(self, write: Callable[[RunLog], T]) -> T | None:
        if self._log is None:
            return None
        try:
            return write(self._log)
        except RunTakenError:
            raise
        except (StoreError, OSError) as error:
            self._log = None
            _warn(error)
            return None


TAKEN: Final = (RunTakenError, BlockingIOError)
"""What is raised where somebody else goes on with a run, or records in its file."""


def how_to_resume(run: str, state: State, options: RunningOptions) -> str:
    """What to tell of a run that is kept, and did not end well."""
    if state.status in (Status.FAILED, Status.UNUSABLE):
        return f"the run is kept: gram trace {quote(run)} shows it"
    told = f"the run is kept: gram resume {quote(run)}{options.words_to_resume} goes on"
    if state.status is Status.LIMITED:
        is_window = "(setting: compactAt)" in (state.stopped or "")
        told += f", with {'--set contextWindow=NUMBER' if is_window else 'a higher --limit'}"
    return f"{told}; --approve all or --approve none answers what it asks" if state.asks else told


def tell_doubts(answer: AgentResponse, agent: Pattern) -> None:
    """Tell what a user has to know of an answer."""
    if answer.refused:
        tell("the model refused: its text is not an answer of the agent")
    if answer.truncated:
        tell("the answer was cut off at its length limit or at the end of the context")
    if answer.unfinished:
        tell("a loop was out of rounds: the answer is what its last round gave")
    if name := call_in_text(tools_in(agent), answer.content):
        tell(f"the model wrote a call of {name} as text: does its server support tools?")


class Talk:
    """One conversation with an agent, kept where the options say.

    Args:
        is_chat: whether a message that fails does not end it.
        is_streaming: print words as they come, even to a pipe.
        reloads: take the program as it is changed, from the next message on.

    Attributes:
        chosen: the model to ask from now on, in place of the program's.
        attached: the files that go along with the next message.
        spending: what was used so far.
    """

    def __init__(
        self,
        file: str,
        options: TalkOptions,
        *,
        is_chat: bool = False,
        as_json: bool = False,
        is_streaming: bool = False,
        reloads: bool = False,
    ) -> None:
        options.show_logs()
        self._options, self._is_chat = options, is_chat
        self._file, self._given_tools = file, options.library()
        files = self._read()
        self._watched = WatchedFiles(files) if reloads else None
        self._is_refused = False
        self.chosen: Model | None = None
        self._tell_of_fallbacks()
        self._program = None if file == STDIN else file
        self._kept = kept_in(options, self._program, view(agent_name, self.agent))
        self.terminal = (JsonAnswers if as_json else Terminal)(
            is_debugging=options.debug,
            is_streaming=is_streaming,
            is_kept=self._kept is not None,
            shows_reasoning=not options.no_reasoning,
            conversation=self.name,
        )
        self.context = self._kept.conversation.context if self._kept else machine.empty_context
        self._unanswered: Given | None = None
        self.attached: tuple[File, ...] = ()
        self._is_anew = False

    def __enter__(self) -> Talk:
        self._held = ExitStack()
        self._telemetry = self._held.enter_context(telemetry())
        self.spending = self._held.enter_context(self._options.spending())
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _read(self) -> list[Path]:
        """Take the program as its files say it now, if it can be run; gives these files."""
        project, options, file = read_program(self._file), self._options, self._file
        agent = the_agent(project, options.agent, by="run")
        library = options.made_up_tools(agent, self._given_tools, file) | self._given_tools
        with options.hinting(file):
            bind_agent_tools(agent, library, match=options.match)
        self.agent, self._library = agent, library
        return [*project.documents, *project.skill_files]

    def _read_if_changed(self) -> None:
        """Take a program that was changed, or tell why it is not taken."""
        if self._watched is None or not (self._watched.have_changed() or self._is_refused):
            return
        self._is_refused = True  # it is told again until it is mended
        try:
            self._watched.expect_regular()
            self._watched.are(self._read())
        except (GramError, OSError) as error:
            tell(f"the changed program is not taken: {shown(error)}")
        else:
            self._is_refused = False
            note("the changed program is taken")

    @property
    def name(self) -> str | None:
        """The name of the conversation, if it is kept."""
        return self._kept.conversation.name if self._kept else None

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that are asked; none while a script answers."""
        if self.chosen:
            return (self.chosen,)
        if self._options.script:
            return ()
        named = self._options.named_model
        return (Model.parse(named),) if named else models_of(self.agent)

    def check_model(self, model: Model) -> None:
        """Connect to a model, to find what is wrong with its name."""
        connect_model(model, base_url=self._options.base_url, dialect=self._options.dialect)

    def _tell_of_fallbacks(self) -> None:
        """Tell of fallbacks that cannot be asked; the run begins all the same."""
        given = (named_model(each) for each in self._options.fallback)
        for model in dict.fromkeys((*fallbacks_of(self.agent), *filter(None, given))):
            try:
                self.check_model(model)
            except ConfigurationError as error:
                tell(f"the fallback {model} cannot be asked: {error}")

    def say(self, message: Given) -> AgentResponse:
        """Send a message to the agent, or call it with arguments; print the answer and keep it.

        If the turn fails, the conversation does not change, except that tool calls are kept, so
        that they are not made again. The errors are those of `run`.
        """
        self._read_if_changed()
        if self.attached and isinstance(message, str):
            message, self.attached = [message, *self.attached], ()
        before = self.context
        try:
            return self._say(message)
        finally:
            self._unanswered = message if self.context == before else None

    def take_back(self) -> None:
        """Take the last turn out of the conversation, where it left something there."""
        if self._unanswered is not None:
            self._unanswered = None
        elif (at := self._last_turn()) is not None:
            self.context = self.context[:at]
            if self._kept:
                self._kept.conversation.cut(self.context)

    @property
    def last_message(self) -> Given | None:
        """What was said last, answered or not; None if there is nothing."""
        if self._unanswered is not None or (at := self._last_turn()) is None:
            return self._unanswered
        last = self.context[at]
        return [last.content, *last.attachments] if last.attachments else last.content

    def _last_turn(self) -> int | None:
        """Where in the conversation the last turn begins."""
        said = (
            at
            for at, each in enumerate(self.context)
            if each.role == machine.UserRole and not machine.is_correction(each)
        )
        return max(said, default=None)

    def begin_anew(self) -> None:
        """Begin an empty conversation; what is kept of the old one stays until the next message."""
        self.context, self._unanswered = machine.empty_context, None
        self.attached, self._is_anew = (), True

    def _log(self) -> RunLog | None:
        """What the next turn is recorded in, if it is kept."""
        if self._kept and self._is_anew:
            self._is_anew = False
            if self._options.conversation is not None or not self._kept.address.is_store:
                self._kept.conversation.cut(machine.empty_context)  # its place is named
            else:
                agent = view(agent_name, self.agent)
                self._kept = kept_in(self._options, self._program, agent, is_anew=True)
        return self._kept.log() if self._kept else None

    def _say(self, message: Given) -> AgentResponse:
        options = self._options.of_new_run
        if self.chosen:
            options["model"] = self.chosen
        options["policy"] = self._options.policy(self._library)
        options["telemetry"] = self._telemetry
        options["approve"] = self.terminal.ask
        options["observe"] = self.spending.count
        options["record"] = self._log()
        begun = begin(self.agent, message, self._library, self.context, **options)
        if self._kept and self._kept.address.is_store and not self._kept.is_habit:
            note(f"run {begun.state.run_id} of {self._kept.address}")
        try:
            response = self.terminal.show_answer(begun)
        except BaseException as failure:  # it is told what is kept, then it is raised again
            with uninterrupted():
                self.terminal.end_line()  # so that the error starts on a new line
                self._tell_what_is_kept(begun.state, failure)
            raise
        finally:
            self.context = context_after(begun.state)
        tell_doubts(response, self.agent)
        return response

    def _tell_what_is_kept(self, state: State, failure: BaseException) -> None:
        """Tell what stays of a turn that failed, and how it can be gone on with."""
        is_open = state.status is not Status.DONE
        is_changed = context_after(state) != self.context
        if is_open and is_changed and (self._kept or self._is_chat):
            tell("the tool calls of this turn stay in the conversation")
        if isinstance(failure, GramError | OSError):
            self.terminal.show_failure(state, failure)
        step = machine.path_of_names(state, failure.at) if isinstance(failure, AgentError) else ()
        if len(step) > 1:
            tell(f"{'/'.join(step)} failed")
        is_known = self._kept is not None and (is_changed or not self._kept.is_habit)
        if self._kept and is_open and is_known and not isinstance(failure, TAKEN):
            tell(how_to_resume(self._kept.named(state.run_id), state, self._options))
