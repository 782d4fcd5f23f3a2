"""A Python function becomes a tool."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, strategies as st

import gram
from gram import ArgumentError
from interp import ToolLibrary
from interp.errors import ToolError, ValidationError
from interp.json_text import Json
from interp.machine.contracts.values import validate_tool_args
from interp.tools import bind_tool, invoke_tool
from interp.tools.from_functions.function_tools import tool, tool_spec_from_function
from interp.tools.implementation import Tool, ToolContext, providing
from lenses_ext import write_program

HERE = Path(__file__).relative_to(Path.cwd())


class Unit(Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


@dataclass
class City:
    name: str
    country: str = "Norway"


def weather(city: City, unit: Unit = Unit.CELSIUS, days: int | None = None) -> list[str]:
    """The weather of a city.

    Looks a few days ahead.

    Args:
        city: where
        days: how far ahead
    """
    return [f"{city.name}, {city.country} in {unit.name} for {days} days"]


def call(made: Tool, **arguments: Json) -> Any:
    """Call a tool as a run does: validated, with defaults."""
    return made.invoke(validate_tool_args(made.schema, arguments))


def test_a_record_that_is_returned_has_all_its_fields() -> None:
    """Its defaults say what may be left out of an argument, not of a result."""

    def largest(near: City) -> City:
        """The largest city near another."""
        return near

    made = tool(largest)
    specification = gram.loads_one("""[largest:Tool {description: "The largest city near another."}
        | (near::City)==>(::Whole), [Whole:Object | (name::String), (country::String)],
        [City:Object | (name::String), (country::String {default: "Norway"})]]""")

    assert made.result_schema is not None
    assert made.result_schema["required"] == ["name", "country"]
    assert bind_tool(specification, ToolLibrary.of(made)) == made


def test_name_docstring_and_hints_become_name_description_and_schema() -> None:
    made = tool(weather)

    assert made.name == "weather"
    assert made.description == "The weather of a city.\n\nLooks a few days ahead."
    fields = {"name": {"type": "string"}, "country": {"type": "string", "default": "Norway"}}
    city = {"type": "object", "properties": fields, "required": ["name"], "description": "where"}
    assert made.schema == {
        "type": "object",
        "properties": {
            "city": city,
            "unit": {"type": "string", "enum": ["celsius", "kelvin"], "default": "celsius"},
            "days": {"type": ["integer", "null"], "description": "how far ahead", "default": None},
        },
        "required": ["city"],
    }
    assert list(made.schema["properties"]) == ["city", "unit", "days"]
    assert made.result_schema == {"type": "array", "items": {"type": "string"}}
    assert tool(functools.partial(weather)).place == made.place
    assert made.place == f"{HERE}:{weather.__code__.co_firstlineno}"


def test_arguments_arrive_as_what_the_hints_ask_for() -> None:
    made, oslo = tool(weather), {"name": "Oslo"}

    assert call(made, city=oslo, unit="kelvin", days=2.0) == ["Oslo, Norway in KELVIN for 2 days"]
    assert call(made, city=oslo) == ["Oslo, Norway in CELSIUS for None days"]
    assert made(city=City("Oslo"), unit=Unit.KELVIN) == ["Oslo, Norway in KELVIN for None days"]
    with pytest.raises(ValidationError, match=r'^unknown "town"; known: city, days, unit$'):
        call(made, city=oslo, town=1)


def test_a_decorator_without_and_with_arguments() -> None:
    @tool
    def first() -> None:
        """The first."""

    @tool(name="other", description="Another.")
    def second() -> None:
        """The second."""

    assert (first.name, first.description) == ("first", "The first.")
    assert (second.name, second.description) == ("other", "Another.")
    assert first.schema == {"type": "object", "properties": {}, "required": []}
    assert first.result_schema == {"type": "null"}
    assert first() is None


def test_the_result_of_a_function_that_returns_an_awaitable_is_what_it_awaits() -> None:
    def later() -> Awaitable[Unit]:
        return asyncio.sleep(0, Unit.KELVIN)

    made = tool(later)

    assert made.result_schema == {"type": "string", "enum": ["celsius", "kelvin"]}
    assert invoke_tool(made, {}) == "kelvin"


class Counter:
    """Counts."""

    def __init__(self, step: int) -> None:
        self.step = step

    def add(self, n: int) -> int:
        """Adds steps.

        :param n: to what
        """
        return n + self.step

    @classmethod
    def zero(cls, n: int) -> int:
        return 0 * n

    @staticmethod
    def twice(n: int) -> int:
        return 2 * n

    def __call__(self, n: int) -> int:
        return n - self.step


def test_methods_and_objects_that_can_be_called_are_functions_too() -> None:
    add, zero, twice = tool(Counter(3).add), tool(Counter.zero), tool(Counter.twice)
    counter = tool(Counter(3))

    assert (add.name, add.description, add(n=1)) == ("add", "Adds steps.", 4)
    assert add.schema["properties"] == {"n": {"type": "integer", "description": "to what"}}
    assert (zero.name, zero(n=1), twice.name, twice(n=1)) == ("zero", 0, "twice", 2)
    assert (counter.name, counter.description, counter(n=1)) == ("Counter", "Counts.", -2)


def test_what_a_partial_binds_is_hidden_from_the_model() -> None:
    def send(to: str, text: str, *, key: str, urgent: bool = False) -> str:
        """Sends a text."""
        return f"{to} {text} {key} {urgent}"

    made = tool(functools.partial(send, "Ann", key="secret"))

    assert (made.name, made.description) == ("send", "Sends a text.")
    assert list(made.schema["properties"]) == ["text", "urgent"]
    assert "secret" not in repr(made.schema)
    assert made(text="hi") == "Ann hi secret False"


def test_a_decorated_function_keeps_the_hints_of_what_it_wraps() -> None:
    def shouted(function: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> str:
            return function(*args, **kwargs).upper()

        return wrapper

    @tool
    @shouted
    def greet(name: str) -> str:
        """Greets."""
        return f"hello {name}"

    @tool
    @functools.lru_cache
    def cached(n: int) -> int:
        """Kept."""
        return n

    assert greet(name="Ann") == "HELLO ANN"
    assert greet.schema["properties"] == {"name": {"type": "string"}}
    assert (cached.description, cached(n=1)) == ("Kept.", 1)


def test_positional_only_parameters_are_passed_by_position() -> None:
    def power(base: int, exponent: int = 2, /, *, modulus: int = 100) -> int:
        return int(base**exponent) % modulus

    made = tool(power)

    assert made(base=3) == 9
    assert made(base=3, exponent=3, modulus=10) == 7


def test_a_context_is_hidden_from_the_model_and_has_to_be_provided() -> None:
    def who(context: ToolContext, greeting: str, maybe: ToolContext | None = None) -> str:
        return f"{greeting} {context.agent_name} {maybe is context}"

    made = tool(who)

    assert list(made.schema["properties"]) == ["greeting"]
    with providing(ToolContext("greeter", "who")):
        assert made(greeting="hi") == "hi greeter True"
    said = (
        r'^tool "who" needs a ToolContext as "context", .*; call it inside `with interp.tools.prov'
    )
    with pytest.raises(ToolError, match=said):
        made(greeting="hi")


def test_a_none_default_of_a_type_without_null_means_no_value() -> None:
    def search(limit: int = None) -> bool:  # type: ignore[assignment]  # noqa: RUF013  # wrong on purpose
        return limit is None

    made = tool(search)

    assert made.schema["properties"] == {"limit": {"type": "integer", "default": None}}
    assert call(made, limit=None) is True


# Functions that cannot be tools, each with what the error says after the place and the name.
def _no_hint(n):  # type: ignore[no-untyped-def]  # a function without hints is what is tested
    pass


def _many(*numbers: int) -> None:
    pass


def _named(**options: int) -> None:
    pass


def _unknown(x: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821  # wrong on purpose
    pass


def _broken(x: 1 / 0) -> None:  # type: ignore[valid-type]  # wrong on purpose
    pass


def _wrong_default(n: int = "1") -> None:  # type: ignore[assignment]  # wrong on purpose
    pass


def _odd_default(n: float = float("inf")) -> None:
    pass


def _enum_default(unit: Literal["c", "f"] = "k") -> None:  # type: ignore[assignment]  # wrong on purpose
    pass


def _stream() -> Iterator[int]:
    yield 1


KNOWN = (
    "use str, int, float, bool, list, dict, Literal, an Enum, a record class, Any or a type that "
    "pydantic can write as JSON"
)

REFUSED: list[tuple[Callable[..., Any], str]] = [
    (_no_hint, 'parameter "n" has no type hint; annotate it, as in n: str'),
    (_many, "*numbers gives the model no parameter names; write out each parameter"),
    (_named, "**options gives the model no parameter names; write out each parameter"),
    (_unknown, 'the name "Missing" in its type hints is not known to its module; '
     "define or import it at the top of the file"),
    (_broken, "its type hints cannot be evaluated: division by zero"),
    (_wrong_default,
     'parameter "n": its default \'1\' does not fit its type: $: "1" is not of type "integer"'),
    (_odd_default, 'parameter "n": its default inf is not a JSON value'),
    (_enum_default, "parameter \"unit\": its default 'k' does not fit its type: "
     '$: "k" is not one of "c" or "f"'),
    (_stream, f"its result: collections.abc.Iterator[int] has no JSON form; {KNOWN}"),
    (Counter.add, '"self" is bound to nothing yet; use tool(instance.method)'),
    (lambda: None, "a lambda has no name; give one, tool(…, name=…)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "message"), REFUSED, ids=[each.__name__ for each, _ in REFUSED]
)
def test_the_error_for_a_function_that_cannot_be_a_tool_has_its_place(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(ToolError) as error:
        tool(function)

    place = f"{HERE}:{function.__code__.co_firstlineno}"
    assert str(error.value) == f'{place}: tool "{function.__name__}": {message}'


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (City, 'tool "City": it is a class; make the tool of a function that calls it'),
        (len, 'tool "len": parameter "obj" has no type hint; annotate it, as in obj: str'),
        (iter, 'tool "iter": Python does not know its parameters; wrap it in a function'),
        (tool(Counter.twice), 'tool "twice": it is a tool already'),
    ],
)
def test_what_cannot_be_called_by_name_is_refused(thing: Any, message: str) -> None:
    with pytest.raises(ToolError, match=f"{message}$"):
        tool(thing)
    with pytest.raises(ToolError, match=r"a tool needs a name, found ''$"):
        tool(weather, name="")


HINTS = [int, str, float, bool, list[int], Unit, City, int | None, bytes, dict[int, str], Any, 3]
DEFAULTS = [1, "a", None, 2.5, [1], Unit.KELVIN, City("Oslo"), object(), b"x", {"a": 1}]


@given(st.sampled_from(HINTS), st.sampled_from(DEFAULTS))
def test_a_default_is_passed_unchanged_or_the_definition_fails(hint: Any, default: Any) -> None:
    def given_back(x: Any = default) -> bool:
        return bool(x == default)

    given_back.__annotations__["x"] = hint
    try:
        made = tool(given_back)
    except ToolError:
        return

    assert call(made) is True


def test_a_default_stays_what_it_is_and_is_whole_again_in_the_next_call() -> None:
    def join(words: Sequence[str] = ()) -> str:
        return f"{words!r}"

    def collect(word: str, words: list[str] = []) -> list[str]:  # noqa: B006  # a default that calls share is what is tested
        words.append(word)
        return words

    joins, collects = tool(join), tool(collect)

    assert joins.schema["properties"]["words"]["default"] == []
    assert (call(joins), call(joins, words=["a"])) == ("()", "['a']")
    assert (call(collects, word="a"), call(collects, word="b")) == (["a"], ["b"])


def test_a_function_writes_its_specification() -> None:
    def greet(name: str = "world") -> str:
        """Greets a person."""
        return f"hello {name}"

    head = '[greet:ToolSpecification {description: "Greets a person."} |'
    expected = f'{head} (name::String {{default: "world"}})==>(::String)]'
    assert " ".join(write_program(tool_spec_from_function(greet)).split()) == expected
    once = write_program(tool_spec_from_function(tool(greet, once=True)))
    assert '"Greets a person.", once: true}' in once


def test_a_tool_that_is_called_with_the_wrong_arguments_says_so() -> None:
    @tool
    def function(n: int) -> int:
        """Works."""
        return n

    calls: dict[str, tuple[Any, Any]] = {
        "takes 1 argument, 2 given": ((1, 2), {}), "got n twice": ((1,), {"n": 1}),
        "needs n": ((), {}),
    }  # fmt: skip
    for message, (values, names) in calls.items():
        with pytest.raises(ArgumentError, match=message):
            function(*values, **names)
