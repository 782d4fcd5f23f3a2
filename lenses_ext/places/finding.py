"""Where places are found in a program: by a path, by a condition, or by a pattern with holes.

The vocabulary of the language says which words may follow an agent or a tool; after anything, the
key of a property may follow.

Conditions beside a path say which of several places are meant::

    model = "OpenAI/x" and temperature != 0

A comparison has a path, which begins where the value is; what is compared is a value in gram, and a
bare word is a text. ``and`` binds more than ``or``.

A pattern with holes is found as the language reads it. References are followed, and labels that are
read as the same are the same: ``Tool`` and ``ToolSpecification``, ``Text`` and ``String``. In a
signature, parameters are found in any order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeAlias

from pyrsistent import PMap

from gram import Pattern, Symbol, TreePath, is_reference, loads_one, origin
from gram.comparing import AsWritten, Bound, find_matches, rewrite as rewritten
from gram.errors import expect
from gram.trees import WHOLE, exact, pattern_at, walk
from gram.words import did_you_mean

from .. import language
from ..errors import FocusError, PartError, ProgramError
from ..labels import TOOL, TOOLS, is_agent, is_runnable, is_tool
from ..names import D, Program, ProgramLike, program_of, tool_with_types, with_patterns
from ..optics import Getter, Traversal, Vocabulary, any_property, computed, optic_name, view
from ..signatures import basic, is_typed_path
from .place import ANY, Kind, PathError, Place, gram_value, read_path, write_path

_NAMED = {Kind.PATTERN, Kind.PARAMETER}
"""What ``*`` leads to; parts and properties are named one by one."""

_LISTS: Final = {"tools": Kind.TOOLS, "nodes": Kind.NODES, "arrows": Kind.ARROWS}
"""The words that lead to several elements."""

_HINTS: Final[Mapping[str, str]] = {
    "parameters": "they are written in the signature: gram set FILE {place}.signature '…'",
    "tools": "gram add FILE {place}.tools '[…]'",
    "nodes": "gram add FILE {place}.nodes '[…]'",
    "arrows": "gram add FILE {place}.arrows '(a)-->(b)'",
    "schema": "it follows from the signature: gram set FILE {place}.signature '…'",
}


_DOCUMENT = Place((), Kind.DOCUMENT, ())


def find_places(program: ProgramLike, path: str, *, own: bool = False) -> tuple[Place, ...]:
    """The places in a program that a path leads to, in the order of the text.

    Of a project, a path leads to what its other files define, too; ``*`` at the beginning stands
    for what the first file defines.

    Args:
        program: the program.
        path: the path.
        own: whether it begins with what the first file of a project defines.

    Raises:
        PathError: it is not a path, or leads nowhere; the message has the nearest names.
    """
    words = read_path(path)
    defined = program_of(program, by="find_places")
    document = _Document(defined, own=own or words[0] == ANY)
    document.expect_one_file(words[0], path)
    places: list[Place] = [_DOCUMENT]
    for count, word in enumerate(words):
        found: list[Place] = []
        for place in places:
            if word == ANY:
                below = document.below(place).values()
                found.extend(child for child in below if child.kind in _NAMED)
            else:
                here = (child for name, child in document.leads(place) if name == word)
                found.extend(islice(here, 1))
        if not found:
            known = {name: None for place in places for name in document.below(place)}
            inside = document.inside(places, word)
            lacks = "it has no parts" if document.are_defined(places) else "it is not defined"
            raise PathError(_nowhere(path, words[:count], word, known, inside, lacks), path)
        places = found
    return tuple(places)


def new_property(program: ProgramLike, place: Place, key: str) -> Place:
    """The place of a property that a pattern, parameter or map does not have yet.

    Raises:
        PathError: it has it, or cannot have one, or the key is a word that means something else
            there, so that no path would lead to the property.
    """
    document = _Document(program_of(program, by="new_property"))
    patterns = document.patterns
    path = write_path((*place.words, key))
    new = document.below(place).get(key) or _property(place, key)
    is_map = place.kind is Kind.PROPERTY and isinstance(place.get(patterns), PMap | None)
    if not is_map and place.kind not in _NAMED:
        word = "parameters" if place.kind is Kind.PARAMETERS else ""
        hint = _HINTS.get(word, "use gram set").format(place=write_path(place.words[:-1]))
        reason = f"{place.path} has no properties to add to: {hint}"
    elif new.kind is not Kind.PROPERTY:
        hint = _HINTS.get(key, "use gram set").format(place=place.path)
        reason = f"`{key}` of {place.path} is a part of it, not a property; {hint}"
    elif new.get(patterns) is not None:
        reason = f"{path} is there already: use gram set"
    else:
        return new
    raise PathError(reason, path)


def completions(program: ProgramLike, begun: str) -> list[str]:
    """The paths that go on from one that is begun, by one word."""
    document = _Document(program_of(program, by="completions"))
    words = begun.split(".")[:-1]  # a name with a dot is not completed
    try:
        places = find_places(program, ".".join(words)) if words else (_DOCUMENT,)
    except PathError:
        return []
    kinds = {name: to.kind for place in places for name, to in document.below(place).items()}
    names = [ANY, *kinds] if _NAMED.intersection(kinds.values()) else [*kinds]
    paths = (".".join([*words, write_path([name])]) for name in names)
    return [path for path in paths if path.startswith(begun)]


class _Document:
    """Finds the words that may follow a place, and where they lead."""

    def __init__(self, program: Program, *, own: bool = False) -> None:
        self._program = program
        self._own = own
        self.patterns = program.patterns

    def expect_one_file(self, word: str, path: str) -> None:
        """Refuse a first word that two files define, of which the first file sees none before."""
        files = self._program.files
        if len(files.imports) == 1:
            return
        order = {WHOLE: 0, **dict.fromkeys(files.seen_from(WHOLE), 1)}
        found = [each for name, each in self._top() if name == word]
        nearest = min((order.get(files.scope_of(each.tree_path), 2) for each in found), default=0)
        scopes = {files.scope_of(each.tree_path): each for each in found}
        near = {at: each for at, each in scopes.items() if order.get(at, 2) == nearest}
        places = {at: str(origin(each.pattern(self.patterns))) for at, each in near.items()}
        if len(places) > 1:
            said = " and ".join(places.values())
            raise PathError(f"`{word}` is defined at {said}: name the file that is meant", path)

    def are_defined(self, places: Iterable[Place]) -> bool:
        """Whether none of these is an element that is a mere name, which means nothing."""
        inner = (each.pattern(self.patterns) for each in places if each.tree_path[1:])
        return not any(map(is_reference, inner))

    def below(self, place: Place) -> dict[str, Place]:
        """The words that may follow, each with the first place it leads to."""
        words: dict[str, Place] = {}
        for word, each in self.leads(place):
            words.setdefault(word, each)
        return words

    def inside(self, places: Iterable[Place], word: str) -> Place | None:
        """The first tool or node of this name in what may follow."""
        for below in chain.from_iterable(self.below(place).values() for place in places):
            if below.kind in (Kind.TOOLS, Kind.NODES):
                found = self.below(below).get(word)
            else:
                found = self.inside([below], word) if len(below.words) == 1 else None
            if found is not None:
                return found
        return None

    def leads(self, place: Place) -> Iterator[tuple[str, Place]]:
        """The words that may follow and where they lead; of a word given twice the first counts."""
        match place.kind:
            case Kind.DOCUMENT:
                return self._top()
            case Kind.PATTERN:
                return self._in_pattern(place)
            case Kind.TOOLS:
                return self._named(place, is_tool)
            case Kind.NODES:
                return chain(self._named(place, language.is_node), self._named_in_arrows(place))
            case Kind.ARROWS:
                return self._arrows(place)
            case Kind.PARAMETERS:
                names = language.parameter_names(place.pattern(self.patterns))
                lenses = ((name, language.parameter(name)) for name in names)
                return ((name, _part(place, name, it, Kind.PARAMETER)) for name, it in lenses)
            case Kind.PARAMETER | Kind.PROPERTY:
                found = place.get(self.patterns)
                if isinstance(found, Pattern):
                    found = {*found.value.properties, "default", "description"}
                keys = sorted(found) if isinstance(found, PMap | set) else []
                return ((key, _property(place, key)) for key in keys)
            case _:
                return iter(())

    def _top(self) -> Iterator[tuple[str, Place]]:
        """The agents and workflows at any depth, the tools outside them, and what else has a name
        at the top."""
        around: set[TreePath] = set()
        for path, pattern in walk(self.patterns):
            name = pattern.value.identity
            if self._own and self._program.files.scope_of(path) != WHOLE:
                continue
            is_seen = self._program.is_top(path[:-1])
            if is_runnable(pattern):
                around.add(path)
                is_seen = True
            elif is_tool(pattern):
                is_seen = around.isdisjoint(path[:depth] for depth in range(1, len(path)))
            if name and is_seen:
                yield name, Place((name,), Kind.PATTERN, path)

    def _in_pattern(self, place: Place) -> Iterator[tuple[str, Place]]:
        """The parts of an agent or tool, then the properties."""
        pattern = place.pattern(self.patterns)
        properties = pattern.value.properties
        if is_runnable(pattern) or is_tool(pattern):
            yield "schema", _part(place, "schema", self._schema(place.tree_path))
        if is_runnable(pattern):
            known = language.AGENTS if is_agent(pattern) else language.WORKFLOW_PARTS
            yield from _parts(place, known, properties)
        elif is_tool(pattern):
            lens = language.tool_parameters
            yield "parameters", _part(place, "parameters", lens, Kind.PARAMETERS)
            yield from _parts(place, language.TOOL_SPECS, properties)
        yield from ((key, _property(place, key)) for key in sorted(properties))

    def _named(
        self, place: Place, is_one: Callable[[Pattern], bool]
    ) -> Iterator[tuple[str, Place]]:
        """The tools of an agent, or the nodes of a workflow.

        One that is used by its bare name is found where it is defined.
        """
        around = place.pattern(self.patterns)
        for index, element in enumerate(around.elements):
            name, here = element.value.identity, (*place.tree_path, index)
            words = (*place.words, name)
            if is_reference(element):
                is_seen = place.tree_path in self._program.runnables
                known = self._program.meant(name, place.tree_path) if is_seen else ()
                meant = next((each for each in known if is_one(each.pattern)), None)
                if meant is not None:
                    yield name, Place(words, Kind.PATTERN, meant.path, reference=here)
                elif not known:  # it means nothing, and can be replaced or removed
                    yield name, Place(words, Kind.PATTERN, here)
            elif is_one(element) and name:
                yield name, Place(words, Kind.PATTERN, here)

    def _named_in_arrows(self, place: Place) -> Iterator[tuple[str, Place]]:
        """The nodes of a workflow that only its arrows name, where they are defined."""
        workflow = self._program.runnables.get(place.tree_path)
        for end, name, _ in workflow.names_in_arrows if workflow else ():
            for meant in self._program.meant(name, place.tree_path)[:1]:
                words = (*place.words, name)
                yield name, Place(words, Kind.PATTERN, meant.path, reference=end)

    def _arrows(self, place: Place) -> Iterator[tuple[str, Place]]:
        """The paths of arrows, by their numbers."""
        elements = enumerate(place.pattern(self.patterns).elements)
        places = [(*place.tree_path, index) for index, each in elements if language.is_arrows(each)]
        for number, path in enumerate(places, 1):
            yield str(number), Place((*place.words, str(number)), Kind.PATTERN, path)

    def _schema(self, path: TreePath) -> Getter[Pattern, Any]:
        """The getter of the schema of a tool, or of an agent or workflow as the tool that it is.

        It may use types that are defined around it.
        """
        known = self._program.named.get(path)

        def schema(pattern: Pattern) -> Any:
            try:
                whole = pattern if known is None else tool_with_types(self._program, known)
            except ProgramError as error:
                raise PartError(error.faults[0].message, error.faults[0].hint) from None
            return view(language.tool_spec_schema, language.tool_spec_of(whole))

        return computed(optic_name(language.tool_spec_schema), schema)


def _parts(
    place: Place, vocabulary: Vocabulary, properties: Mapping[str, Any]
) -> Iterator[tuple[str, Place]]:
    """The words of a vocabulary, and its properties."""
    for word, lens in vocabulary.words.items():
        kind = _LISTS.get(word, Kind.PART)
        yield word, _part(place, word, lens, kind)
    for key, lens in vocabulary.properties.items():
        if not isinstance(properties.get(key), PMap):  # of a map, each entry can be reached
            yield key, _property(place, key, lens)


def _part(place: Place, word: str, lens: Getter[Pattern, Any], kind: Kind = Kind.PART) -> Place:
    inside = (*place.inside, word)
    return Place((*place.words, word), kind, place.tree_path, lens, inside)


def _property(place: Place, key: str, lens: Getter[Pattern, Any] | None = None) -> Place:
    """A property of the pattern or parameter at a place, or an entry of the map it is."""
    keys, inside = (*place.keys, key), (*place.inside, key)
    if lens is None:
        lens = any_property(*keys)
        if len(inside) > len(keys):
            lens = language.parameter(inside[1]) & lens
    return Place((*place.words, key), Kind.PROPERTY, place.tree_path, lens, inside, keys)


def _nowhere(
    path: str,
    before: Sequence[str],
    word: str,
    known: Iterable[str],
    inside: Place | None,
    lacks: str,
) -> str:
    where = f"`{write_path(before)}`" if before else "the document"
    if word == ANY:
        return f"`{path}` leads nowhere: {where} has no parts that * could stand for"
    known = tuple(known)
    has = f"it has: {', '.join(known)}" if known else lacks
    hint = f"did you mean {inside.path}?" if inside else did_you_mean(word, known) or has
    return f"`{path}` leads nowhere: {where} has no `{word}`; {hint}"


_COMPARISON: Final = re.compile(
    r"\s*((?:`(?:[^`\\]|\\.)+`|[^\s=!`])+)\s*(=|!=)\s*"
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s\"']+)(?:\s+(and|or)\b|\s*\Z)"
)


Comparison: TypeAlias = tuple[tuple[str, ...], bool, Any]
"""The words of a path, whether the value there has to be another one or must not be, and that."""

Condition: TypeAlias = tuple[tuple[Comparison, ...], ...]
"""Groups of comparisons: all of one have to hold."""


def holds(condition: Condition, program: ProgramLike, place: Place) -> bool:
    """Whether a condition holds at a place of a program; of several values, one is enough."""
    words = place.words if place.kind in _NAMED else place.words[:-1]
    patterns = program_of(program, by="holds").patterns

    def is_so(comparison: Comparison) -> bool:
        path, is_equal, wanted = comparison
        try:
            found = find_places(program, write_path((*words, *path)))
            values = [there.get(patterns) for there in found]
        except (PathError, FocusError):
            values = []
        return any(_same(value, wanted) for value in values) == is_equal

    return any(all(map(is_so, group)) for group in condition)


def read_condition(text: str) -> Condition:
    """Read a condition.

    Raises:
        PathError: it is not a condition.

    >>> len(read_condition("model = 'OpenAI/x' and temperature != 0 or name = desk"))
    2
    """
    groups: list[list[Comparison]] = [[]]
    at = 0
    while True:
        found = _COMPARISON.match(text, at)
        if found is None:
            hint = """write PATH = VALUE or PATH != VALUE, joined by "and" and "or\""""
            raise PathError(f"{text!r} is no condition at character {at + 1}: {hint}", text)
        path, sign, value, joined = found.groups()
        groups[-1].append((read_path(path), sign == "=", gram_value(value)))
        at = found.end()
        if not joined:
            return tuple(map(tuple, groups))
        if joined == "or":
            groups.append([])


def _same(found: Any, value: Any) -> bool:
    if isinstance(found, tuple) and any(isinstance(each, language.Model) for each in found):
        return any(str(each) == value for each in found)
    if isinstance(found, Symbol | language.Model):
        found = str(found)
    return exact(found) == exact(value)


# --- patterns with holes


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
        if holder != path[:-1] and not language.is_arrows(
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

    return language.traversal_at("each_match", paths, "Each pattern that a query finds.")


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
