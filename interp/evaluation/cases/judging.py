"""Judges a run by its case: what is found for each thing that is expected.

The user's checks are among them, and rubrics, of which an agent says whether they are true.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from difflib import unified_diff
from functools import cache, partial
from importlib.resources import files
from itertools import zip_longest
from typing import Any, Final, TypeAlias, cast
from warnings import warn

from attrs import evolve, field, frozen

from gram import ArgumentError, Diagnostic, GramError, Pattern, dumps, loads_one
from gram.errors import expect
from gram.words import did_you_mean
from lenses_ext import Model, ProgramLike, agent_answer, view
from lenses_ext.schemas import same_json

from ...concurrency import waited_for
from ...errors import ConfigurationError, ValidationError, said_by
from ...execution import Observer
from ...json_text import Json, read_json, write_json
from ...machine import AgentResponse, ToolInvocation, call_text, contracts
from ...models import OFFLINE, LanguageModel
from ...programs import callable_in, models_of, the_agent
from ...running import BeginOptions, begin
from ...shown import shortened
from ...tools import is_from_outside, returned_unfinished
from .case import Case, ExpectedCall

Check: TypeAlias = Callable[..., Any]
"""A user's function that judges a response: ``check(response)`` or ``check(response, case)``.

What it returns counts as True or False; a text that is not empty says why the answer is no, and so
does an AssertionError. None is no answer: a check that forgets to return passes nothing."""

Checks: TypeAlias = Mapping[str, Check]


def require_checks(cases: Iterable[Case], checks: Checks) -> None:
    """Make sure that there is a function for every check that cases name, before they are run.

    Raises:
        ArgumentError: a check is no function, or a coroutine or generator function.
        ValidationError: there is no check of a name; ``faults`` has all of them, with places.
    """
    expect(checks, Mapping, "checks", by="judge")
    for name, check in checks.items():
        kind = returned_unfinished(check) if callable(check) else type(check).__name__
        if kind is not None:
            raise ArgumentError(f"check {name} must be a plain function, got {kind}")
    faults: list[Diagnostic] = []
    for case in cases:
        for column, name in case.named("checks"):
            if name not in checks:
                known = f"the checks are {', '.join(sorted(checks)) or 'none'}"
                hint = did_you_mean(name, checks) or known
                message = f"there is no check {name}"
                faults.append(case.fault("unknown-check", message, column, hint))
    if faults:
        raise ValidationError.of(faults)


def answer_of(
    name: str, check: Check, response: AgentResponse, case: Case
) -> tuple[bool | None, str]:
    """Whether a check says yes, and what is to be said of it; None where it does not answer."""
    try:
        answer = check(response, case) if takes_case(check) else check(response)
        is_yes = not isinstance(answer, str) and bool(answer)
    except AssertionError as error:
        return False, f"check {name} fails" + (f": {error}" if str(error) else "")
    except BaseException as error:  # user code may raise anything
        if is_from_outside(error):
            raise
        return None, f"check {name} raised {said_by(error)}"
    if answer is None:
        return None, f"check {name} returned None: return True or False"
    if isinstance(answer, str) and answer:
        return False, f"check {name} fails: {answer}"
    return is_yes, f"check {name} {'passes' if is_yes else 'fails'}"


def takes_case(function: Callable[..., Any]) -> bool:
    """Whether a check or a metric takes the case, too: in a second parameter."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    others = [each for each in parameters if each.kind in positional][1:]
    return any(each.default is each.empty or each.name == "case" for each in others)


@frozen
class Finding:
    """Whether an expectation holds.

    Attributes:
        holds: whether it does; None where that cannot be known, which passes nothing.
        said: what was found, in words.
        check: the name of the check that says so, or None.
    """

    holds: bool | None
    said: str
    check: str | None = None


@frozen
class Seen:
    """A run as it is judged.

    Attributes:
        case: its case.
        response: its response.
        checks: the user's functions by name.
        seconds: how long it took, or None if that is not known.
        cost: what it cost in US dollars, or None if that is not known.
        verdicts: what a judge says of it, by rubric.
    """

    case: Case
    response: AgentResponse
    checks: Checks = field(factory=dict)
    seconds: float | None = None
    cost: float | None = None
    verdicts: Mapping[str, Finding] = field(factory=dict)

    @property
    def is_text(self) -> bool:
        """Whether the answer is a text, and no data."""
        return self.response.is_text or not self.response.is_typed

    def value(self) -> Json:
        """The answer as data.

        Raises:
            ValueError: it is not JSON.
        """
        return self.response.content if self.response.is_text else read_json(self.response.content)


def _shown(text: str) -> str:
    return write_json(shortened(" ".join(text.split()), 80))


def _expected(wanted: Json, seen: Seen) -> Iterator[Finding]:
    content = seen.response.content
    if isinstance(wanted, str) and seen.is_text:
        is_near = wanted.split() == content.split()
        likeness = " (only blanks or line breaks differ)" if is_near else ""
        found = Finding(True, f"the answer is {_shown(content)}")
        yield found if content == wanted else _unlike("answer is", wanted, content, likeness)
        return
    try:
        value = read_json(content)
    except ValueError:
        yield Finding(False, f"the answer is not JSON: {content}")
        return
    meant = wanted  # a text may be the JSON of a value that is no text, as a cell of CSV is
    if isinstance(wanted, str) and not isinstance(value, str):
        with suppress(ValueError):
            meant = read_json(wanted)
    if same_json(value, meant):
        yield Finding(True, f"the answer is {shortened(write_json(value), 80)}")
    else:
        yield _unlike("answer is", write_json(wanted), write_json(value))


def _contains(texts: tuple[str, ...], seen: Seen) -> Iterator[Finding]:
    content = seen.response.content
    for text in texts:
        holds = text in content
        how = "contains" if holds else "does not contain"
        yield Finding(holds, f"the answer {how} {_shown(text)}: {_shown(content)}")


def _matches(patterns: tuple[str, ...], seen: Seen) -> Iterator[Finding]:
    content = seen.response.content.encode(errors="replace").decode()  # no lone surrogates
    for pattern in patterns:
        holds = contracts.accepts({"pattern": pattern}, content, {})
        how = "matches" if holds else "does not match"
        yield Finding(holds, f"the answer {how} {pattern}: {_shown(content)}")


def _json(wanted: Mapping[str, Json], seen: Seen) -> Iterator[Finding]:
    try:
        value = seen.value()
    except ValueError:
        yield Finding(False, f"the answer is not JSON: {_shown(seen.response.content)}")
        return
    for key, part in wanted.items():
        is_key = isinstance(value, dict) and key in value
        if not is_key and not _PATH.fullmatch(key.removeprefix("$")):
            yield Finding(None, f"{_below('$', key)} is no path, and no key of the answer")
            continue
        difference = _difference({key: part}, value, "$")
        said = difference or f"{_below('$', key)} is {shortened(write_json(part), 80)}"
        yield Finding(difference is None, said)


def _below(path: str, key: str) -> str:
    return f"{path}{key}" if key.startswith("[") else f"{path}.{key.removeprefix('$.')}"


_STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
_PATH: Final = re.compile(rf"(?:{_STEP.pattern})*")


def _difference(wanted: Json, value: Json, path: str) -> str | None:
    """In what a value differs first from a part of one that is wanted; None if it has it."""
    if isinstance(wanted, Mapping) and isinstance(value, dict | list if wanted else dict):
        for key, part in wanted.items():
            below = _below(path, key)
            try:
                inner = _at(value, key)
            except LookupError:
                return f"{below} is missing, expected {shortened(write_json(part), 80)}"
            if told := _difference(part, inner, below):
                return told
        return None
    if isinstance(wanted, list | tuple) and isinstance(value, list) and len(wanted) == len(value):
        parts = enumerate(zip(wanted, value, strict=True))
        told_each = (_difference(part, inner, f"{path}[{n}]") for n, (part, inner) in parts)
        return next((each for each in told_each if each), None)
    if same_json(value, wanted):
        return None
    texts = (shortened(write_json(each), 80) for each in (value, wanted))
    return "{} is {}, expected {}".format(path, *texts)


def _at(value: Json, path: str) -> Json:
    """What a value has at a key, or else at a path such as ``items[0].price``."""
    if isinstance(value, dict) and path in value:
        return value[path]
    steps = path.removeprefix("$")
    if not _PATH.fullmatch(steps):
        raise KeyError(path)
    for name, index in _STEP.findall(steps):
        if not isinstance(value, list if index else dict):
            raise KeyError(path)
        value = value[int(index) if index else name]
    return value


def _schema(schema: Mapping[str, Json], seen: Seen) -> Iterator[Finding]:
    try:
        contracts.check(schema, seen.value())
    except ValidationError as error:
        yield Finding(False, f"the answer does not fit the schema: {error}")
    except ValueError:
        yield Finding(False, f"the answer is not JSON: {_shown(seen.response.content)}")
    else:
        yield Finding(True, "the answer fits the schema")


def _calls(wanted: tuple[ExpectedCall, ...], seen: Seen) -> Iterator[Finding]:
    made = seen.response.tools_used
    if len(made) == len(wanted) and all(map(_is_call, wanted, made)):
        yield Finding(True, "the calls are the expected")
        return
    # A call with any arguments is shown as it was made where it fits, so that nothing differs.
    shown = [
        _written(call) if call and each and _is_call(each, call) else str(each)
        for each, call in zip_longest(wanted, made)
        if each
    ]
    sides = ("\n".join(each) or "(no calls)" for each in (shown, map(_written, made)))
    yield _unlike("calls are", *sides)


def _is_call(wanted: ExpectedCall, made: ToolInvocation) -> bool:
    if wanted.name != made.tool_name:
        return False
    return wanted.arguments is None or same_json(made.args_text.value, wanted.arguments)


def _written(call: ToolInvocation) -> str:
    return call_text(call.tool_name, call.args_text)


def _judged(rubrics: tuple[str, ...], seen: Seen) -> Iterator[Finding]:
    for each in rubrics:
        yield seen.verdicts.get(each) or Finding(None, f"{each!r} is not judged: there is no judge")


def _none_of(unwanted: Mapping[str, Any], seen: Seen) -> Iterator[Finding]:
    """That none of several expectations holds."""
    for name, value in unwanted.items():
        for each in value if name == "calls" else ():
            made = [call for call in seen.response.tools_used if _is_call(each, call)]
            said = f"{_written(made[0])} was called" if made else f"{each} was not called"
            yield Finding(not made, said)
        for each in () if name == "calls" else FINDERS[name](value, seen):
            yield evolve(each, holds=None if each.holds is None else not each.holds)


def _at_most(what: str, measure: Callable[[Seen], float | None]) -> Find:
    def find(most: float, seen: Seen) -> Iterator[Finding]:
        value = measure(seen)
        found = "not known" if value is None else f"{value:.6g}"
        said = f"{what}: {found}, at most {most:.6g} expected"
        yield Finding(None if value is None else value <= most, said)

    return find


def _checks(names: tuple[str, ...], seen: Seen) -> Iterator[Finding]:
    for name in names:
        yield Finding(*answer_of(name, seen.checks[name], seen.response, seen.case), name)


Find = Callable[[Any, Seen], Iterator[Finding]]

FINDERS: Final[Mapping[str, Find]] = {
    "expected": _expected,
    "contains": _contains,
    "matches": _matches,
    "json": _json,
    "schema": _schema,
    "calls": _calls,
    "judge": _judged,
    "not": _none_of,
    "max_seconds": _at_most("seconds", lambda seen: seen.seconds),
    "max_tokens": _at_most("tokens", lambda seen: seen.response.usage.total_tokens),
    "max_cost": _at_most("cost in US dollars", lambda seen: seen.cost),
    "max_calls": _at_most("calls", lambda seen: len(seen.response.tools_used)),
    "checks": _checks,
}
"""What is found for each of `READERS`; several findings where an expectation names several."""


def _unlike(what: str, wanted: str, found: str, how: str = "") -> Finding:
    """A finding that shows both sides, ``-`` what was expected and ``+`` what came."""
    lines = list(unified_diff(wanted.split("\n"), found.split("\n"), n=3, lineterm=""))[2:]
    sides = [each for each in lines if not each.startswith("@@")]
    return Finding(False, "\n".join([f"the {what} not the expected{how}:", *sides]))


@cache
def built_in_judge() -> Pattern:
    """The judge that is built in; another model has to be named for it."""
    return loads_one(files(__package__).joinpath("judge.gram").read_text("utf-8"))


def judge_of(program: ProgramLike) -> Pattern:
    """The agent of a program that judges; it declares the type of its verdict."""
    is_named = isinstance(program, str) and re.fullmatch(r"[\w.-]+/\S+", program)
    if is_named and not str(program).endswith(".gram"):
        raise ArgumentError(f"judge: {program!r} is no program; a model is given as model=")
    agent = the_agent(program, by="judge")
    if view(agent_answer, agent) is None:
        raise ConfigurationError(
            "a judge must declare the type of its answer, such as (:Answer:Boolean)"
        )
    return agent


def question_of(case: Case, **told: Json) -> str:
    """What a judge is told of a run of a case, as JSON."""
    told = {"input": case.input, **told}
    return write_json(told | ({"expected": case.expected} if case.has_expected else {}))


def verdict_in(value: Json) -> tuple[Json, str | None]:
    """The score that a judge gave, and its reason."""
    if not isinstance(value, dict):
        return value, None
    reason = value.get("reason")
    return value.get("score"), reason if isinstance(reason, str) and reason else None


@frozen
class RubricJudge:
    """An agent that judges the rubrics of cases, each in a run of its own.

    It is told the input, the calls, the answer, what is expected and the rubric, as JSON. Its
    answer is true or false, or an object with a ``score`` that is, and a ``reason``.

    Attributes:
        program: the judge; the built-in one by default.
        model: the model to ask instead of its own; a rehearsal, as that of the built-in judge,
            judges nothing.
        options: other keywords of its runs, see `interp.run`.

    Raises:
        ConfigurationError: the program does not declare the type of its answer.
    """

    program: Pattern = field(factory=built_in_judge, converter=judge_of)
    model: str | Model | LanguageModel | None = None
    options: Mapping[str, Any] = field(factory=dict)

    def for_agent(self, agent: Pattern) -> RubricJudge:
        """The same judge; the built-in one without a model asks the agent's."""
        models = () if self.model or self.program is not built_in_judge() else models_of(agent)
        return evolve(self, model=models[0]) if models else self

    def check(self) -> None:
        """Find what would break off its runs, before there are any.

        Raises:
            ConfigurationError: a model cannot be asked.
            ToolBindingError: the program has tools, and a judge has none.
        """
        if not self.is_rehearsed:
            begin(self.program, "a first rubric", **self._chosen)

    @property
    def is_rehearsed(self) -> bool:
        """Whether no model is asked, so that nothing can be said."""
        return str(self.model or next(iter(models_of(self.program)), None)) == str(OFFLINE)

    @property
    def text(self) -> str:
        """A text that differs for different judges."""
        is_named = isinstance(self.model, str | Model | None)
        return f"{dumps(self.program)}\0{self.model if is_named else type(self.model).__name__}"

    def watched_by(self, observe: Observer | None) -> RubricJudge:
        """The same judge, whose runs somebody observes."""
        return evolve(self, options={**self.options, "observe": observe})

    @property
    def _chosen(self) -> BeginOptions:
        return cast(BeginOptions, {**self.options, "model": self.model})

    async def verdicts(
        self,
        case: Case,
        response: AgentResponse,
        recorded: Callable[[int, BeginOptions], AbstractContextManager[BeginOptions]] | None = None,
    ) -> dict[str, Finding]:
        """What the judge finds, by rubric.

        With ``recorded``, its run for the rubric of a number has the options that this gives.
        """
        rubrics, found = dict.fromkeys(case.rubrics), {}
        if self.is_rehearsed:
            why = "a rehearsal judges no rubric; --judge-model names a model"
            return {each: Finding(None, f"{each!r} is not judged: {why}") for each in rubrics}
        for number, rubric in enumerate(rubrics):
            calls = [call_text(each.tool_name, each.args_text) for each in response.tools_used]
            told = question_of(case, calls=calls, answer=response.content, rubric=rubric)
            held = recorded(number, self._chosen) if recorded else nullcontext(self._chosen)
            try:
                with held as options:
                    said = await begin(self.program, told, **options).afinish()
                    value, reason = verdict_in(said.value)
            except (GramError, OSError) as error:
                found[rubric] = Finding(None, f"the judge of {rubric!r} failed: {said_by(error)}")
                continue
            if isinstance(value, bool):
                words = f"the judge says {'yes' if value else 'no'} to {rubric!r}"
                found[rubric] = Finding(value, f"{words}: {reason}" if reason else words)
            else:
                words = f"the judge of {rubric!r} said neither yes nor no: {value!r}"
                found[rubric] = Finding(None, words)
        return found


@frozen
class Failure:
    """Something in which a run is not what its case expects.

    Attributes:
        part: what was compared: the name of the expectation, such as ``calls``.
        message: what is different.
        check: the name of the check that failed, or None.
    """

    part: str
    message: str
    check: str | None = None

    def __str__(self) -> str:
        return self.message


def judge(
    case: Case,
    response: AgentResponse,
    checks: Checks = {},  # noqa: B006  # it is only read
    *,
    by: RubricJudge | None = None,
    seconds: float | None = None,
    cost: float | None = None,
) -> tuple[Failure, ...]:
    """In what a response is not as its case expects; empty if it passes.

    See `Case` for all that may be expected. What is not known, such as a cost, does not pass.

    - ``expected``: a text is compared character by character. Where the agent declares a type of
      answer, or another JSON value is expected, the answer is compared as data: the order of keys
      does not matter, and 1 is 1.0.
    - ``matches``: searched in linear time, without look-around and back-references.
    - ``json``: a key is one of the answer, or a path such as ``items[0].price``; an object has at
      least these keys, an array these items.
    - ``calls``: all calls, in this order, failed ones too. A name stands for a call with any
      arguments; arguments are compared as data and whole, defaults included.

    Args:
        case: the case.
        response: the response to its input.
        checks: the user's functions by name.
        by: the judge of rubrics.
        seconds: how long the run took, if that is known.
        cost: what it cost in US dollars, if that is known.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ValidationError: there is no check of a name, see `require_checks`.
        ConfigurationError: the case has a rubric, and there is no judge.

    Warns:
        UserWarning: the case expects nothing, so that any answer passes.
    """
    expect(case, Case, "case", by="judge")
    expect(response, AgentResponse, "response", by="judge")
    if case.expects_nothing:
        warn(f"any answer passes case {case.name}: it expects nothing", stacklevel=2)
    require_checks([case], checks)
    seen = Seen(case, response, checks, seconds, cost)
    if case.rubrics:
        if by is None:
            raise ConfigurationError(f"case {case.name} has a rubric: judge(…, by=RubricJudge())")
        seen = evolve(seen, verdicts=waited_for(partial(by.verdicts, case, response)))
    return failures_of(seen)


def failures_of(seen: Seen) -> tuple[Failure, ...]:
    """In what a run is not what its case expects; what cannot be known is a failure."""
    failures = [
        Failure(name, each.said, each.check)
        for name, wanted in seen.case.expectations.items()
        for each in FINDERS[name](wanted, seen)
        if not each.holds
    ]
    return tuple({each.message: each for each in reversed(failures)}.values())[::-1]


def require_tools(cases: Iterable[tuple[Case, Sequence[Pattern]]]) -> None:
    """Make sure that every tool that cases name can be called, before they are run.

    Args:
        cases: the cases, each with the programs that it is run with; one has to have the tool.

    Raises:
        ValidationError: no program has a tool; ``faults`` has all of them, with places.
    """
    faults: list[Diagnostic] = []
    for case, programs in cases:
        known = dict.fromkeys(name for each in programs for name in callable_in(each))
        for column, name in dict.fromkeys((c, each.name) for c, each in case.named("calls")):
            if name not in known:
                tools = f"the tools are {', '.join(known)}" if known else "there are no tools"
                hint = did_you_mean(name, known) or tools
                agents = " or ".join(dict.fromkeys(each.value.identity for each in programs))
                message = f"no tool of {agents} is named {name}"
                faults.append(case.fault("unknown-tool", message, column, hint))
    if faults:
        raise ValidationError.of(faults)
