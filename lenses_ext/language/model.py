"""The model of an agent: its provider and name, and its settings.

A setting that is not there is never sent, so the provider's own default holds. The names are those
of the notation everywhere, in programs, in Python and on the command line; what a provider calls
them is in `interp.models`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeGuard

from attrs import evolve, field, frozen
from pyrsistent import PMap, PVector, pmap

from gram import GramEncodeError, Symbol, Value, freeze, write_value
from gram.errors import expect
from gram.trees import exact
from gram.words import did_you_mean

from ..errors import PartError
from ..schemas import to_json_value


@frozen
class Model:
    """A model as a program names it, ``provider/name``.

    Args:
        provider: who serves it; without a ``/``.
        name: the provider's own name for it, slashes allowed.

    Raises:
        ArgumentError: a part is not a string.
        GramEncodeError: a part is empty, or the provider has a slash.

    >>> str(Model("OpenRouter", "qwen/qwen3"))
    'OpenRouter/qwen/qwen3'
    """

    provider: str = field()
    name: str = field()

    def __attrs_post_init__(self) -> None:
        expect(self.provider, str, "provider", by="Model")
        expect(self.name, str, "name", by="Model")
        for part in (self.provider, self.name):
            if not part.strip():
                raise GramEncodeError("a model is written provider/name, both non-empty")
        if "/" in self.provider:
            raise GramEncodeError(f"a provider has no slash: {self.provider!r}")

    @classmethod
    def parse(cls, text: str) -> Model:
        """The model that a text names, split at the first ``/``.

        Raises:
            GramEncodeError: there is no ``/``, or nothing before or after it.

        >>> Model.parse("OpenAI/gpt-5.6-luna")
        Model(provider='OpenAI', name='gpt-5.6-luna')
        """
        expect(text, str, "text", by="Model.parse")
        provider, slash, name = text.partition("/")
        if not slash:
            example = f"OpenAI/{text.strip() or 'gpt-5.6-luna'}"
            message = f"{text!r} names no provider: write provider/name, such as {example}"
            raise GramEncodeError(message)
        return cls(provider, name)

    def _lens_setattr(self, name: str, value: str) -> Model:
        return evolve(self, **{name: value})

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


class SettingError(PartError, ValueError):
    """A setting that does not exist, or a value that it cannot have.

    Attributes:
        key: the setting.
        reason: what is wrong with it.
        hint: how to mend it, or None.
    """

    def __init__(self, key: str, reason: str, hint: str | None = None) -> None:
        super().__init__(reason, hint)
        self.args = key, reason, hint
        self.key = key


class Setting(NamedTuple):
    """What a setting may be.

    Attributes:
        allowed: the values that it takes, in words.
        allows: whether it takes a value.
    """

    allowed: str
    allows: Callable[[Value], bool]


def _number(lower: float, upper: float) -> Setting:
    allowed = f"a number from {lower:g} to {upper:g}"
    return Setting(allowed, lambda value: _is_number(value) and lower <= value <= upper)


def _one_of(*words: str) -> Setting:
    return Setting(f"one of {', '.join(words)}", lambda value: value in words)


def _is_number(value: Value) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Value) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Value) -> bool:
    return _is_integer(value) and value >= 1


def _is_text(value: Value) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_several(value: Value) -> bool:
    several = value if isinstance(value, PVector) else [value]
    return len(several) > 0 and all(map(_is_text, several))


_OURS: Final = frozenset({
    "model", "messages", "tools", "functions", "stream", "stream_options", "response_format",
    "input", "instructions", "text", "store", "include", "previous_response_id", "conversation",
})  # fmt: skip
"""Fields of a request that the interpreter writes and depends on."""


SETTINGS: Final[Mapping[str, Setting]] = {
    "compactAt": Setting("a share of the context window, above 0 and below 1",
                         lambda value: _is_number(value) and 0 < value < 1),
    "compactBy": Setting("the name of an agent", _is_text),
    "contextWindow": Setting("a whole number of tokens from 1", _is_count),
    "extraBody": Setting("a map of fields of the request's JSON",
                         lambda value: isinstance(value, PMap) and _OURS.isdisjoint(value)),
    "frequencyPenalty": _number(-2, 2),
    "maxTokens": Setting("a whole number from 1", _is_count),
    "parallelToolCalls": Setting("true or false", lambda value: isinstance(value, bool)),
    "presencePenalty": _number(-2, 2),
    "reasoningEffort": _one_of("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "reasoningSummary": _one_of("auto", "concise", "detailed"),
    "seed": Setting("a whole number", _is_integer),
    "stop": Setting("a string, or an array of strings", _is_text_or_several),
    "strictTools": _one_of("off", "auto", "on"),
    "temperature": _number(0, 2),
    "toolChoice": Setting("auto, none, required, or the name of a tool", _is_text),
    "topP": _number(0, 1),
    "verbosity": _one_of("low", "medium", "high"),
}  # fmt: skip
"""Every setting and what it may be. A new one is a row here, and its name in `interp.models`.

The ranges and words are those of OpenAI's API reference.
"""


def setting_problems(values: Mapping[str, Value]) -> Iterator[SettingError]:
    """What is wrong with settings, in the order of their names."""
    for key in sorted(values):
        value = values[key]
        if key not in SETTINGS:
            meant = key.replace("_", "").lower()  # by ``max_tokens`` or ``TOPP``
            alike = next((name for name in SETTINGS if name.lower() == meant), key)
            hint = did_you_mean(alike, SETTINGS) or f"the settings are {', '.join(SETTINGS)}"
            yield SettingError(key, f'there is no setting "{key}"', hint)
        elif not SETTINGS[key].allows(value):
            mend = "write it in quotes" if isinstance(value, Symbol) else None
            found = f"{key} is {SETTINGS[key].allowed}, found {write_value(value)}"
            yield SettingError(key, found, mend)


def _checked(values: object) -> PMap[str, Value]:
    if isinstance(values, Settings):
        return values.values_by_name
    expect(values, Mapping, "values", by="Settings")
    try:
        frozen_values = freeze(values, "settings")
    except GramEncodeError as error:
        raise SettingError("", str(error)) from None
    assert isinstance(frozen_values, PMap)
    for problem in setting_problems(frozen_values):
        raise problem
    return frozen_values


@frozen(repr=False)
class Settings(Mapping[str, Value]):
    """Settings by name, immutable and valid.

    Raises:
        SettingError: one of them does not exist, or has a value it cannot have.

    >>> Settings({"temperature": 0.2}).with_changes({"temperature": None, "maxTokens": 500})
    Settings({'maxTokens': 500})
    """

    values_by_name: PMap[str, Value] = field(
        factory=pmap, converter=_checked, eq=exact, alias="values"
    )

    def with_changes(self, changes: Mapping[str, Any]) -> Settings:
        """These settings with some set to others; None leaves a setting out.

        Raises:
            SettingError: a change is not valid.
        """
        expect(changes, Mapping, "changes", by="with_changes")
        kept = {key: value for key, value in self.items() if key not in changes}
        given = {key: value for key, value in changes.items() if value is not None}
        for key in changes:
            if key not in SETTINGS:
                given.setdefault(key, "")  # refused even where it is only left out
        return Settings({**kept, **given}) if changes else self

    def as_json(self) -> dict[str, Any]:
        """The settings as plain JSON values, in the order of their names."""
        return {key: to_json_value(self[key]) for key in self}

    def __getitem__(self, key: str) -> Value:
        return self.values_by_name[key]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.values_by_name))

    def __len__(self) -> int:
        return len(self.values_by_name)

    def __repr__(self) -> str:
        return f"Settings({self.as_json()!r})"
