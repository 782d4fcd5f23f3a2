"""Values as texts: how one that somebody types or proposes is read for a place."""

from __future__ import annotations

from gram import GramDecodeError, Pattern, Symbol, Value, loads, parse as parse_gram

from ..language import Model


def read_value(text: str, old: object) -> Pattern | Value | tuple[Pattern, ...]:
    """Read the text of a value: a plain string, or any other value in gram notation.

    Args:
        text: the text.
        old: the value that it replaces, or None. If it is a string or a model, the text is taken
            literally.

    Raises:
        GramDecodeError: a pattern is replaced, and the text is not a pattern.
    """
    if isinstance(old, str | Model):
        return text
    if isinstance(old, Pattern):
        return read_pattern(text)
    value = _gram_value(text)
    if isinstance(old, tuple) and value == text:
        return _patterns(text)
    return value


def read_pattern(text: str, name: str = "VALUE") -> Pattern:
    """Read one pattern in gram notation.

    Args:
        text: the text.
        name: what messages call it.

    Raises:
        GramDecodeError: the text is not gram, or not exactly one pattern.
    """
    found = parse_gram(text, name).patterns
    if len(found) != 1:
        raise GramDecodeError(f"expected one pattern, found {len(found)}", text, 0, filename=name)
    return found[0]


def _patterns(text: str) -> tuple[Pattern, ...] | str:
    """Read patterns in gram notation; a text that is empty or not gram is returned unchanged."""
    try:
        return loads(text) or text
    except GramDecodeError:
        return text


def _gram_value(text: str) -> Value:
    """Read a value in gram notation; a bare word, or a text that is no value, is a string."""
    try:
        document = parse_gram(f"{{value: {text}\n}}")
    except GramDecodeError:
        return text
    span = document.spans([0]).values["value"]
    if len(document.patterns) > 1 or document.text[slice(*span)] != text.strip():
        return text  # it is more than one value
    value = document.patterns[0].value.properties["value"]
    return value if not isinstance(value, Symbol) else text
