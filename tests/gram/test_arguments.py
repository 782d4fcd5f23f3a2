"""Every public function refuses a wrong type of argument in one way."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gram
from gram import ArgumentError, Pattern, parse

PATTERN = parse("[a:A {k: 1} | (b)]").patterns[0]
EDGE = parse("(a)-->(b)").patterns[0]
DOCUMENT = parse("(a {k: 1, k: 2})")
FAULTS = gram.check(DOCUMENT)

VALID: dict[str, tuple[Any, ...]] = {
    "apply_fixes": (DOCUMENT, FAULTS),
    "check": (DOCUMENT,),
    "dumps": (PATTERN,),
    "format_text": ("(a)", None),
    "from_json": (gram.to_json(PATTERN),),
    "graph_of": (DOCUMENT,),
    "highlighted": ("(a)",),
    "is_edge": (PATTERN,),
    "is_reference": (PATTERN,),
    "loads": ("(a)",),
    "loads_one": ("(a)",),
    "only_errors": (FAULTS,),
    "origin": (PATTERN,),
    "parse": ("(a)", None),
    "pattern_at": ((PATTERN,), (0, 0)),
    "read_in_pieces": (gram.Source("(a)"),),
    "reconcile": ((PATTERN,), "merge"),
    "replace_at": ((PATTERN,), (0, 0), (PATTERN,)),
    "syntax_errors": ("(a)", None),
    "to_json": (PATTERN,),
    "to_networkx": (DOCUMENT,),
    "walk": (PATTERN,),
    "walk_up": (PATTERN,),
    "write_pattern": (PATTERN,),
    "write_value": (1,),
}
"""Arguments that each function takes."""

OTHERS = {
    "freeze": "refuses values without a notation by their path",
    "html_of": "refuses by the name of highlighted, which it calls",
    "json_schema": "takes nothing",
    "load_file": "see the files below",
    "parse_file": "see the files below",
    "dump_file": "see the files below",
    "write_atomically": "opens files",
}
"""Public functions that are not called with wrong types here, and why."""


def public_functions() -> set[str]:
    """The names of the public face that are functions."""
    return {name for name in dir(gram) if inspect.isfunction(getattr(gram, name))}


def test_every_public_function_is_called() -> None:
    assert public_functions() == VALID.keys() | OTHERS.keys()


def called(function: Callable[..., Any], arguments: list[Any]) -> object:
    """The result; an iterator is run to its end."""
    result = function(*arguments)
    return list(result) if isinstance(result, Iterator) else result


@pytest.mark.parametrize("name", VALID)
def test_valid_arguments_are_taken(name: str) -> None:
    called(getattr(gram, name), list(VALID[name]))


@pytest.mark.parametrize("name", VALID)
def test_an_object_of_no_use_is_an_argument_error(name: str) -> None:
    arguments = list(VALID[name])
    arguments[0] = object()
    with pytest.raises(ArgumentError, match=f"^{name}: .* got object$"):
        called(getattr(gram, name), arguments)


@pytest.mark.parametrize(
    "use", [gram.load_file, gram.parse_file, lambda file: gram.dump_file(PATTERN, file)]
)
@pytest.mark.parametrize("wrong", [None, 5, 1.5, b"x", [5], Pattern], ids=str)
def test_an_argument_that_is_not_a_file_is_refused(
    use: Callable[[object], object], wrong: object
) -> None:
    with pytest.raises(ArgumentError, match="file must be a str or a path or a file, got "):
        use(wrong)


OPTIONAL: dict[str, Callable[[Any], object]] = {
    "dumps, style": lambda wrong: gram.dumps(PATTERN, style=wrong),
    "write_pattern, style": lambda wrong: gram.write_pattern(PATTERN, style=wrong),
    "write_pattern, within": lambda wrong: gram.write_pattern(PATTERN, within=wrong),
    "check, checks": lambda wrong: gram.check(DOCUMENT, checks=wrong),
    "check, scopes": lambda wrong: gram.check(DOCUMENT, scopes=wrong),
    "check, kinds": lambda wrong: gram.check(DOCUMENT, kinds=wrong),
    "check, within": lambda wrong: gram.check(DOCUMENT, within=wrong),
    "graph_of, scopes": lambda wrong: gram.graph_of(DOCUMENT, scopes=wrong),
    "Document": gram.Document,
    "write_atomically, path": lambda wrong: gram.write_atomically(wrong, ""),
    "write_atomically, text": lambda wrong: gram.write_atomically(Path("no such/file"), wrong),
}
"""Uses of the arguments that the tables above leave out."""


@pytest.mark.parametrize("use", OPTIONAL.values(), ids=OPTIONAL)
def test_other_arguments_of_no_use_are_argument_errors(use: Callable[[Any], object]) -> None:
    with pytest.raises(ArgumentError, match=r"got object$"):
        use(object())
