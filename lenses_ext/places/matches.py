"""Where a pattern with holes is found in a program, as the language reads it, and replaced.

References are followed, and labels that are read as the same are the same: ``Tool`` and
``ToolSpecification``, ``Text`` and ``String``. In a signature, parameters are found in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from gram import Pattern, TreePath, is_reference, loads_one, pattern_at
from gram.comparing import AsWritten, Bound, find_matches, rewrite as rewritten
from gram.errors import expect
from gram.trees import WHOLE

from ..labels import TOOL, TOOLS
from ..language import is_arrows, traversal_at
from ..names import D, Program, ProgramLike, program_of, with_patterns
from ..optics import Traversal
from ..signatures import basic, is_typed_path
from .place import Kind, Place


class Match(NamedTuple):
    """A pattern was found.

    Attributes:
        place: where: it can be looked at, changed and removed as any `Place`.
        bindings: what the holes match, by their names: names (str), values and elements.
    """

    place: Place
    bindings: Mapping[str, Bound]


class AsMeant(AsWritten):
    """The patterns of a program, as the language reads them."""

    def __init__(self, program: Program, may_begin: Callable[[TreePath], bool]) -> None:
        super().__init__(program.patterns, may_begin)
        self._program = program

    def label(self, label: str) -> str:
        """One name for all labels that are read as the same."""
        return TOOL if label in TOOLS else basic(label) or label

    def meant(self, path: TreePath) -> TreePath:
        """Where that is defined which an element is, or refers to; of an arrow's end, too."""
        element = pattern_at(self.patterns, path)
        if not is_reference(element):
            return path
        holders = (path[: len(path) - steps] for steps in (1, 2, 3))
        holder = next((each for each in holders if each in self._program.runnables), None)
        if holder is None:
            return path
        if holder != path[:-1] and not is_arrows(
            pattern_at(self.patterns, path[: len(holder) + 1])
        ):
            return path
        meant = self._program.meant(element.value.identity, holder)
        return meant[0].path if meant else path

    def is_signature(self, path: Pattern) -> bool:
        """Whether a path is a signature, whose last node is typed and unnamed."""
        return is_typed_path(path)


def query(
    pattern: str | Pattern, within: ProgramLike, *, as_written: bool = False, own: bool = False
) -> Iterator[Match]:
    """Where a pattern with holes is found in a program, in the order of the text.

    A hole is an identity, a label, a key or a symbol value that begins with ``_`` (``__x`` means
    ``_x``): ``_`` is anything, and a name is the same wherever it is. A hole alone among
    elements is one element. What is left out does not matter, and elements are found in any order;
    a path keeps its direction, and is found in consecutive hops of a longer one.

    Args:
        pattern: what is looked for, in gram or read already.
        within: the program.
        as_written: follow no reference, and tell labels apart that are read as the same.
        own: of a project, search its first file alone.

    Raises:
        GramDecodeError: the pattern is not one pattern in gram.
        QueryError: it can be found in too many ways at one place.

    >>> from gram import loads
    >>> team = loads('[a:Agent {model: "A/b"} | t] [t:Tool {description: "Adds."}]')
    >>> for match in query("[_a:Agent | [:ToolSpecification {description: _d}]]", team):
    ...     print(match.place.tree_path, dict(match.bindings))
    (0,) {'_a': 'a', '_d': 'Adds.'}
    """
    wanted = _pattern(pattern, "pattern", "query")
    reading = _read(within, "query", as_written, own)
    for each in find_matches(wanted, reading):
        name = pattern_at(reading.patterns, each.path).value.identity
        words = (name,) if name else ()
        yield Match(Place(words, Kind.PATTERN, each.path), each.bindings)


def each_match(
    pattern: str | Pattern, *, as_written: bool = False
) -> Traversal[tuple[Pattern, ...], Pattern]:
    """The traversal onto the patterns of a program that `query` finds.

    >>> from gram import dumps, loads
    >>> from lenses_ext import agent_model, over
    >>> team = loads('(a:Agent {model: "A/b"}) (b:Agent {model: "C/d"})')
    >>> on_a = each_match('(:Agent {model: "A/b"})')
    >>> print(dumps(over(on_a & agent_model, lambda _: "E/f", team)))
    (a:Agent {model: "E/f"})
    (b:Agent {model: "C/d"})
    """

    def paths(patterns: tuple[Pattern, ...]) -> dict[TreePath, Pattern]:
        found = query(pattern, patterns, as_written=as_written)
        places = {each.place.tree_path for each in found}
        return {path: pattern_at(patterns, path) for path in sorted(places)}

    return traversal_at("each_match", paths, "Each pattern that a query finds.")


def rewrite(
    pattern: str | Pattern,
    new: str | Pattern,
    within: D,
    *,
    as_written: bool = False,
    own: bool = False,
) -> D:
    """A program with another pattern wherever `query` finds one.

    What ``pattern`` names and ``new`` does not is removed, what neither names stays. A part of
    ``new`` is that of the same name or hole in ``pattern``, else the one in its place. A tool that
    an agent refers to is changed where it is defined.

    Args:
        pattern: what is looked for.
        new: what takes its place; its holes take what they match in ``pattern``.
        within: the program: a document or project, of which every other byte stays, or patterns.
        as_written: see `query`.
        own: see `query`.

    Raises:
        GramDecodeError: one of the two is not one pattern in gram.
        QueryError: ``new`` has a hole of its own, or two matches change one thing in two ways.

    >>> from gram import parse
    >>> team = parse('(a:Agent {model: "A/b", top: 1}) // the first')
    >>> rewrite('(_a:Agent {model: "A/b"})', '(_a:Agent {model: "C/d"})', team).text
    '(a:Agent {model: "C/d", top: 1}) // the first'
    """
    old, wanted = _pattern(pattern, "pattern", "rewrite"), _pattern(new, "new", "rewrite")
    return with_patterns(within, rewritten(old, wanted, _read(within, "rewrite", as_written, own)))


def _pattern(given: str | Pattern, name: str, by: str) -> Pattern:
    expect(given, (str, Pattern), name, by=by)
    return loads_one(given) if isinstance(given, str) else given


def _read(given: ProgramLike, by: str, as_written: bool, own: bool) -> AsWritten:
    program = program_of(given, by=by)

    def may_begin(path: TreePath) -> bool:
        scope = program.files.scope_of(path)
        return scope != path and not (own and scope != WHOLE)

    return AsWritten(program.patterns, may_begin) if as_written else AsMeant(program, may_begin)
