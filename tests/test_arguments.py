"""Every public function and method, called with whatever, lets no error escape but ours.

The test walks the fronts, so a new public name is covered without a line here.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from enum import Enum
from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import strategies as st

import gram
import interp
import lenses_ext
from gram import GramError, operations
from interp import machine, running
from lenses_ext import laws, optics

FRONTS: tuple[ModuleType, ...] = (gram, operations, lenses_ext, optics, laws, interp)
CALLS = 150
"""How many calls of each function are tried."""

DOCUMENT = gram.parse(
    '[a:Agent {instruction: "Hi.", model: "Offline/rehearsal"} | t]'
    ' [t:ToolSpecification {description: "d"} | (p::Text)==>(::String)]',
    "file.gram",
)
AGENT = lenses_ext.resolve(DOCUMENT, "a")
SPEC = DOCUMENT.patterns[1]
TOOL = interp.create_tool("t", "d", {"type": "object"}, lambda arguments: "done")
LIBRARY = interp.ToolLibrary.of(TOOL)
CONTEXT = interp.ConversationContext()
STATE = machine.start(AGENT, "Hello.")[0]
CALL = interp.ToolInvocation("t", {}, "done")


def anything(*_: object, **__: object) -> None:
    """A function that takes whatever it is given and gives None, which is seldom wanted."""


VALUES: tuple[Any, ...] = (
    *(None, 5, -1, 0, 1.5, True, "x", "t", "a", "a.name", "merge", "full", "A/b", b"x", "x\0"),
    *((), [], {}, set(), object(), [None], (None,), [object()], {1: 2}, ["t"], (0,), (0, 0)),
    *("(p::Text)==>(::String)", {"type": "object"}, {"p": "x"}, {"t": TOOL}),
    *(anything, gram.Pattern, Path("no file"), gram.Symbol("x"), gram.Range(1, 2)),
    *(gram.Pattern(), gram.Subject("a"), AGENT, SPEC, [AGENT, SPEC], DOCUMENT.patterns, DOCUMENT),
    *(gram.Source("(a)"), gram.Span(0, 1), gram.check(DOCUMENT), gram.graph_of(DOCUMENT)),
    *(lenses_ext.agent_name, lenses_ext.tool_spec_schema, lenses_ext.each_agent),
    *(lenses_ext.as_agent, lenses_ext.Model("A", "b"), lenses_ext.Settings({"seed": 1})),
    *(lenses_ext.find_places(DOCUMENT.patterns, "a.name")[0], st.just(AGENT)),
    *(lenses_ext.parse_type_signature("(p::Text)==>(::String)"), TOOL, LIBRARY, STATE, CONTEXT),
    *(interp.Limits(), interp.Usage(1, 1), interp.allow_all, interp.ScriptedModel(["x"])),
    *(interp.AgentResponse("x", (CALL,), CONTEXT, interp.Usage()), CALL, machine.Resumed()),
    *(interp.ToolCall("id", "t", "{}"), machine.pending(STATE)[0]),
)
"""Right values of every kind that people pass, each of them wrong for most parameters."""

OTHERS = {
    "gram.trees.operations.expect": "refuses for the others",
    "interp.load_ipython_extension": "IPython calls it",
    "gram.freeze": "calls itself for each value, with the depth",
    "lenses_ext.optics.any_property": "our own code calls it",
    "lenses_ext.optics.with_elements": "our own code calls it",
}
"""What is not called here, and why."""


def is_ours(value: object) -> bool:
    """Whether it is defined in one of the packages."""
    return getattr(value, "__module__", "").split(".")[0] in ("gram", "lenses_ext", "interp")


def is_callable(value: object) -> bool:
    """Whether it is a function of ours, or a class that people make objects of."""
    if isinstance(value, type):
        is_protocol = getattr(value, "_is_protocol", False) or inspect.isabstract(value)
        return (
            is_ours(value)
            and not is_protocol
            and not issubclass(value, (BaseException, Enum, dict, str))
        )
    return inspect.isfunction(value) and is_ours(value)


def methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of a class, bound to it or to the values above that are of it."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        if name.startswith("_"):
            continue
        if isinstance(found, classmethod | staticmethod):
            if is_ours(found.__func__):
                yield name, getattr(kind, name)
        elif inspect.isfunction(found) and is_ours(found):
            yield from (
                (f"().{name}", getattr(each, name)) for each in VALUES if type(each) is kind
            )


def public() -> dict[str, Callable[..., Any]]:
    """Every public function, class and method by its name."""
    found: dict[str, Callable[..., Any]] = {}
    known: set[object] = set()
    for front in FRONTS:
        for name in dir(front):
            value = getattr(front, name)
            if name.startswith("_") or not is_callable(value) or value in known:
                continue
            known.add(value)
            full = f"{front.__name__}.{name}"
            found[full] = value
            if isinstance(value, type):
                found.update((f"{full}.{method}", call) for method, call in methods(value))
    return {name: call for name, call in found.items() if name not in OTHERS}


PUBLIC = public()


def arguments(call: Callable[..., Any], random: Random) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that a call could be given, if it were not for their types."""
    values: list[Any] = []
    named: dict[str, Any] = {}
    may_stop = False
    for name, each in inspect.signature(call).parameters.items():
        if each.kind is each.VAR_KEYWORD:
            options = (
                running.RunOptions.__annotations__ if "Options" in str(each.annotation) else ()
            )
            named |= {one: random.choice(VALUES) for one in options if random.random() < 0.1}
        elif each.kind is each.VAR_POSITIONAL:
            values += random.sample(VALUES, random.randrange(3))
        elif each.kind is each.KEYWORD_ONLY:
            if each.default is each.empty or random.random() < 0.3:
                named[name] = random.choice(VALUES)
        elif not may_stop:
            may_stop = each.default is not each.empty and random.random() < 0.5
            if not may_stop:
                values.append(random.choice(VALUES))
    return values, named


def finish(result: Any) -> None:
    """Run what was begun: iterators, generators and coroutines do nothing before."""

    async def to_the_end(results: AsyncIterator[Any]) -> None:
        async for _ in results:
            pass

    if inspect.iscoroutine(result):
        asyncio.run(result)
    elif isinstance(result, AsyncIterator):
        asyncio.run(to_the_end(result))
    elif isinstance(result, Iterator):
        list(islice(result, 20))


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
@pytest.mark.parametrize("name", PUBLIC)
def test_only_our_errors_escape(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, random = PUBLIC[name], Random(name)
    parameters = inspect.signature(call).parameters.values()
    needed = [each.kind for each in parameters if each.default is each.empty]
    takes_one = needed == [inspect.Parameter.POSITIONAL_OR_KEYWORD]
    tries = [([each], {}) for each in VALUES] if takes_one else []
    tries += [arguments(call, random) for _ in range(CALLS if parameters else 1)]
    leaks = set()
    for values, named in tries:
        try:
            finish(call(*values, **named))
        except (GramError, OSError):
            pass
        except Exception as error:  # noqa: BLE001  # any other error is what the test looks for
            leaks.add(f"{values!r:.300} {named!r:.100}: {type(error).__name__}: {error}")

    assert leaks == set()
