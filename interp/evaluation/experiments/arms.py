"""Arms: the programs, libraries, models, settings and edits that are compared."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias, Union, Unpack

from attrs import evolve, field, fields, frozen

from gram import ArgumentError, GramEncodeError, GramError, Pattern
from gram.errors import expect, expect_all
from lenses_ext import FocusError, Model, ProgramLike, ReadOnlyError, load_project
from lenses_ext.schemas import Match, same_json

from ...concurrency import call_in_thread, waited_for
from ...errors import ConfigurationError, ToolBindingError, ValidationError, said_by
from ...json_text import Json
from ...machine import ApprovalPolicy, Limits, State, answer_schema_of, limits_of
from ...models import OFFLINE, AnyModel, Dialect, LanguageModel, ScriptedModel, connect_model
from ...programs import models_of, the_agent
from ...running import Run, RunOptions, begin
from ...shown import short_repr
from ...tools import LibraryLike, Tool, ToolLibrary, bind_agent_tools, library_of
from ..cases import Case

Program: TypeAlias = Union[ProgramLike, str, "os.PathLike[str]"]
"""A program, or the path of its file."""

Library: TypeAlias = Union[LibraryLike, Callable[[], Any]]
"""Tools, or a function without parameters that makes them anew for each run.

What it makes may be a context manager that gives the tools, such as `mcp_library`: it is left when
the run has ended.
"""

ArmModel: TypeAlias = Union[str, Model, LanguageModel, Callable[[], LanguageModel], None]
"""A model, or a function without parameters that makes one for each run."""

Edit: TypeAlias = Callable[[Pattern], Pattern]
"""A change of an agent, such as ``agent_instruction.set("Be brief.")``."""


def _edits(given: Any) -> tuple[Edit, ...]:
    function: Any = Callable
    return expect_all((given,) if callable(given) else given, function, "edits", by="Arm")


@frozen(repr=False)
class Arm:
    """What is compared: a program, a library, a model, settings and edits, any of them.

    What an arm leaves out is that of the base that `ab` is given, if it is given one.

    Attributes:
        program: the program or the path of its file.
        tools: its tools; a function without parameters makes a fresh library for each run, which
            tools that remember something need. It may return a context manager that gives them.
        model: the model to ask instead of the program's.
        settings: settings of the model instead of those that the program has.
        edits: changes of the agent, made in their order.
        agent: the name of the agent in its program.
        base_url: where to ask for the model instead of its provider's own address.
        dialect: the dialect to speak to its server instead of its provider's.
        limits: how much each run may do.
        match: how closely tools have to match, see `bind_tool`.
        policy: which tools may run; a run that would have to ask has failed.
        check_results: whether the results of tools have to be of their declared types.
    """

    program: Program | None = None
    tools: Library | None = None
    model: ArmModel = None
    settings: Mapping[str, Any] | None = None
    edits: tuple[Edit, ...] = field(default=(), converter=_edits)
    agent: str | None = None
    base_url: str | None = None
    dialect: Dialect | None = None
    limits: Limits | None = field(default=None, converter=limits_of)
    match: Match | None = None
    policy: ApprovalPolicy | None = None
    check_results: bool | None = None

    def __repr__(self) -> str:
        given = ((each.name, getattr(self, each.name)) for each in fields(Arm))
        parts = (f"{name}={short_repr(value)}" for name, value in given if value not in (None, ()))
        return f"Arm({', '.join(parts)})"

    def over(self, base: Arm) -> Arm:
        """This arm with what it leaves out from another; the edits of both, the base's first."""
        left_out = [each.name for each in fields(Arm) if getattr(self, each.name) is None]
        parts = {name: getattr(base, name) for name in left_out}
        if self.program is not None:
            parts["agent"] = self.agent  # the base's agent is one of the base's program
        parts["settings"] = {**(base.settings or {}), **(self.settings or {})} or None
        parts["edits"] = (*base.edits, *self.edits)
        return evolve(self, **parts)


@frozen
class ReadyArm:
    """An arm that can run: its program is read and changed, its tools bind, its model is known.

    Each run gets a library as this one.
    """

    name: str
    arm: Arm
    agent: Pattern
    library: ToolLibrary

    @property
    def model(self) -> Model:
        """The name of the model that is asked; of several agents, that of the first."""
        given = self.arm.model
        if isinstance(given, Model | str):
            return given if isinstance(given, Model) else Model.parse(given)
        return next(iter(models_of(self.agent)), OFFLINE)  # a workflow of tools asks none

    @property
    def where(self) -> RunOptions:
        """Where its model is asked, and how."""
        return {"base_url": self.arm.base_url, "dialect": self.arm.dialect}

    def begin(self, case: Case, library: ToolLibrary, **options: Unpack[RunOptions]) -> Run:
        """Begin a run of a case, with a library, and a model of its own if none is named."""
        own = ("settings", "limits", "policy", "check_results")
        chosen: Any = {name: getattr(self.arm, name) for name in own}
        chosen |= {"match": self.arm.match or "full"}
        if "model" not in options:
            chosen |= {"model": self.fresh_model(), **self.where}
        chosen |= options
        return begin(self.agent, case.given_to(self.agent), library, case.after, **chosen)

    def take_up(self, state: State, library: ToolLibrary, **options: Unpack[RunOptions]) -> Run:
        """Go on with a run from a state, which keeps what the arm has chosen for it."""
        model = self.fresh_model()
        kept: RunOptions = {**self.where, "match": self.arm.match or "full", **options}
        if not isinstance(model, str | Model):
            kept["model"] = model
        return Run(state, library, **kept)

    def fresh_model(self) -> LanguageModel | Model | str | None:
        """The model for one run."""
        given = self.arm.model
        if callable(given) and not callable(getattr(given, "complete", None)):
            given = _called(given, "model")
        return given  # type: ignore[return-value]  # what makes a model was called above


def ready(name: str, arm: Arm, cases: Iterable[Case]) -> ReadyArm:
    """Make an arm ready to run, or say what is wrong with it; nothing runs.

    Raises:
        OSError, GramDecodeError: the file of its program cannot be read.
        ValidationError: its program is not valid, or neither it nor the cases name one.
        ToolBindingError: its tools do not bind.
        ConfigurationError: its model cannot be asked.
    """
    with _naming(name), contextlib.ExitStack() as opened:
        agent, library = agent_of(arm, cases), _entered(arm.tools, opened)
        bind_agent_tools(agent, library, match=arm.match or "full")
        made = ReadyArm(name, arm, agent, library)
        model = made.fresh_model()
        for each in [model] if model else models_of(agent):
            if isinstance(each, str | Model):
                each = connect_model(each, base_url=arm.base_url, dialect=arm.dialect)
            elif not callable(getattr(each, "complete", None)):
                raise ConfigurationError(f"{each!r} is not a model: it has no complete(request)")
            waited_for(AnyModel(each).prepare)  # or the seconds of the first run would have it
        for case in cases:  # an input may not fit, as settings and options may not
            made.begin(case, library, model=ScriptedModel(()))
        return made


def declared_answer(arms: Iterable[ReadyArm]) -> Mapping[str, Json]:
    """The schema of the answer that the agents of arms declare; it measures all arms alike.

    Raises:
        ConfigurationError: no agent declares a type of its answer, or two declare different ones.
    """
    found = (answer_schema_of(each.agent) for each in arms)
    declared: list[Mapping[str, Json]] = [each for each in found if each]
    if not declared or not all(same_json(each, declared[0]) for each in declared):
        what = "the agents declare different answers" if declared else "no agent declares a type"
        how = "name a schema, as a file FILE.json or with matches_schema in Python"
        raise ConfigurationError(f"the metric schema: {what}; {how}")
    return declared[0]


@contextlib.asynccontextmanager
async def fresh_library(given: Library | None) -> AsyncIterator[ToolLibrary]:
    """A library for one run; inside, what has to be entered is."""
    opened = contextlib.ExitStack()  # in a thread: what is entered may wait for our loop
    try:
        yield await call_in_thread(partial(_entered, given, opened))
    finally:
        await call_in_thread(opened.close)


def _called(make: Callable[[], Any], what: str) -> Any:
    """What a function of the user makes."""
    try:
        return make()
    except GramError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigurationError(f"making the {what} failed: {said_by(error)}") from error


def _entered(given: Library | None, opened: contextlib.ExitStack) -> ToolLibrary:
    """The library for a run; a context manager is left when ``opened`` is closed."""
    if isinstance(given, contextlib.AbstractContextManager):
        raise ConfigurationError(
            "a library that is entered is made anew for each run: write tools=lambda: …"
        )
    made: Any = given
    if callable(given) and not isinstance(given, Tool):
        made = _called(given, "tools")
    if isinstance(made, contextlib.AbstractContextManager):
        made = opened.enter_context(made)
    return library_of(made, by="ab")


def agent_of(arm: Arm, cases: Iterable[Case]) -> Pattern:
    """The agent of an arm, with its edits.

    Raises:
        OSError, GramDecodeError: the file of its program cannot be read.
        ValidationError: its program is not valid, or it has none; or an edit fails.
        ConfigurationError: an edit fails.
    """
    program, name = arm.program, arm.agent
    if program is None:
        named = {(each.program, each.agent) for each in cases}
        if len(named) != 1 or (found := named.pop())[0] is None:
            raise ValidationError("there is no program: neither the arm nor the cases name one")
        program, name = found[0], name or found[1]
    if isinstance(program, str | os.PathLike):
        program = load_project(program)
    agent = the_agent(program, name, by="ab")
    for edit in arm.edits:
        try:
            agent = edit(agent)
        except GramError as error:
            said = error.in_words if isinstance(error, FocusError | ReadOnlyError) else error
            raise ValidationError(f"an edit failed: {said}") from error
        except (Exception, SystemExit) as error:
            raise ConfigurationError(f"an edit failed: {said_by(error)}") from error
        if not isinstance(agent, Pattern):
            kind = type(agent).__name__
            raise ConfigurationError(f"an edit must return the changed agent, it returned {kind}")
    return the_agent(agent, by="ab") if arm.edits else agent


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    """Errors that are raised inside say which arm they are about."""
    try:
        yield
    except ToolBindingError as error:
        raise ToolBindingError(f"arm {name}: {each}" for each in error.problems) from None
    except ValidationError as error:
        raise ValidationError(f"arm {name}: {error}", error.faults) from None
    except (ConfigurationError, GramEncodeError, ArgumentError) as error:
        raise ConfigurationError(f"arm {name}: {error}") from error.__cause__


def read_arms(arms: Mapping[str, Arm | Program], base: Arm | None) -> dict[str, Arm]:
    """The arms, complete: what each leaves out is the base's.

    Raises:
        ArgumentError: an arm is of the wrong type, or a name is empty.
    """
    expect(arms, Mapping, "arms", by="ab")
    expect(base, (Arm, type(None)), "base", by="ab")
    found = {}
    for name, given in arms.items():
        expect(name, str, "the name of an arm", by="ab")
        if not name.strip():
            raise ArgumentError("ab: the name of an arm is empty")
        arm = given if isinstance(given, Arm) else Arm(given)
        found[name] = arm.over(base) if base else arm
    if not found:
        raise ArgumentError("ab: there are no arms")
    return found
