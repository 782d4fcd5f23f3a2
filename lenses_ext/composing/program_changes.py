"""What changed between two programs, in the words of the language; and merges, judged.

Definitions are matched where they are, then across scopes; what is left is new or gone. Those that
have a partner are compared part by part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
from attrs import field, frozen
from pyrsistent import PMap, PVector

from gram import Diagnostic, Document, Pattern, Subject, TreePath, is_reference, operations
from gram.comparing import Conflict, Merge, match, merge
from gram.errors import expect
from gram.trees import WHOLE, is_header
from gram.writing import abridged

from ..labels import TOOLS, is_answer, is_runnable, is_skill, is_tool, kind_of
from ..language import tool_spec_of
from ..names import FILE, Program, ProgramLike, Project, program_patterns
from ..rules import new_errors
from ..signatures import RESERVED, is_path, is_typed_path, parse_program, write_program
from ..workflows import edges_in
from .signature_changes import (
    Level,
    ProgramChange,
    ProgramChanges,
    Said,
    became,
    differing,
    shown,
    signature_changes,
    where_they_differ,
)

_WITH_SIGNATURE = ("agent", "workflow", "loop", "tool")
_DEFINED = (*_WITH_SIGNATURE, "type")
_BEHAVIOUR = frozenset(
    {"instruction", "description", "model", "settings", "skills", "max", "until", "once"}
)
_OF_SKILLS = frozenset({"description", "text"})
_LEVELS: tuple[Level, ...] = ("patch", "minor", "major")


def changes(old: ProgramLike, new: ProgramLike) -> ProgramChanges:
    """What changed between two programs, in the order of the text.

    Changes of order, and other ways to write the same, are among them: see `Said.is_detail`.
    Comments and layout are not.

    Args:
        old: a document, the patterns of one, or a pattern.
        new: the same.

    >>> from lenses_ext import parse_program
    >>> old = parse_program("[a:Agent {model: 'Ollama/x'} | (limit::Integer)==>(::String)]")
    >>> new = parse_program("[a:Agent {model: 'Ollama/y'} | (limit::Number)==>(::String)]")
    >>> for change in changes(old, new):
    ...     print(change.said.level, change)
    patch agent `a`: model Ollama/x → Ollama/y
    minor agent `a`: parameter `limit` type integer → number (wider)
    """
    patterns = (program_patterns(each, by="changes") for each in (old, new))
    return ProgramChanges(_Comparison(*patterns).changes())


def level_of(changes: Iterable[ProgramChange]) -> Level | None:
    """The greatest level of some changes; None when no meaning changes."""
    found = [_LEVELS.index(each.said.level) for each in changes if not each.said.is_detail]
    return _LEVELS[max(found)] if found else None


@frozen(order=True)
class _Part:
    """A pattern in its program: its path, what it is, and what is around it."""

    path: TreePath
    pattern: Pattern = field(eq=False)
    kind: str = field(eq=False)
    around: tuple[str, ...] = field(eq=False)

    @property
    def name(self) -> str:
        return self.pattern.value.identity

    @property
    def is_offered(self) -> bool:
        """Whether it is a definition that others may use; a type in an agent is the agent's own."""
        return self.kind in _DEFINED and not (self.kind == "type" and self.around)

    @property
    def what(self) -> tuple[str, ...]:
        """What it is called, from the outside in."""
        if self.kind == "header":
            return ("header",)
        if self.pattern.value == FILE:
            return self.around
        named = f"`{self.name}`" if self.name else abridged(self.pattern, 60)
        is_named_alone = self.kind in ("pattern", "reference")
        return (*self.around, named if is_named_alone else f"{self.kind} {named}")


class _Comparison:
    """Pairs the parts of two programs, and says what changed in each pair."""

    def __init__(self, old: tuple[Pattern, ...], new: tuple[Pattern, ...]) -> None:
        self._old, self._new = Program(old), Program(new)
        self._same_types = _types(self._old) == _types(self._new)
        self._pairs: list[tuple[_Part, _Part]] = []
        self._gone: set[_Part] = set()
        self._come: set[_Part] = set()
        self._moved: set[_Part] = set()
        self._found: list[tuple[TreePath, ProgramChange]] = []

    def changes(self) -> list[ProgramChange]:
        """All changes, by their place in the new program, or in the old where they are gone."""
        self._pair_lists(self._parts(self._old), self._parts(self._new))
        for kind in _DEFINED:
            self._pair_across(kind)
        self._pair_headers()
        for part in self._gone:
            self._add(part, Said("is removed", "major" if part.is_offered else "patch"))
        for part in self._come:
            self._add(part, Said("is new", "minor" if part.is_offered else "patch"))
        renamed = {old.name: new.name for old, new in self._pairs if old.kind in _DEFINED}
        for old, new in self._pairs:
            if old.name != new.name:
                is_inner = old.kind == "type" and not old.is_offered
                level: Level = "major" if old.is_offered else "patch"
                said = Said(f"renamed `{new.name}`", level, old.kind == "tool", is_detail=is_inner)
                self._add(old, said, new.path)
            for said in self._own_changes(old, new, renamed):
                self._add(new, said)
        self._add_other_spellings()
        self._found.sort(key=lambda found: (found[0], found[1].said.is_detail))
        return [change for _, change in self._found]

    def _add_other_spellings(self) -> None:
        told = {path[:size] for path, _ in self._found for size in range(len(path) + 1)}
        for old, new in reversed(self._pairs):  # what is inside comes first
            if old.pattern != new.pattern and not told & {old.path, new.path}:
                self._add(new, Said("is written in another way", is_detail=True))
                told |= {new.path[:size] for size in range(len(new.path))}

    def _add(self, part: _Part, said: Said, path: TreePath | None = None) -> None:
        change = ProgramChange(part.what, said, part.pattern)
        self._found.append((part.path if path is None else path, change))

    # --- pairs

    def _parts(self, program: Program, of: _Part | None = None) -> list[_Part]:
        """The parts of a program, or those in a part, that are compared one by one."""
        path, around = (of.path, of.what) if of else ((), ())
        is_scope = of is not None and is_runnable(of.pattern)
        if of and of.kind in ("tool", "type"):
            return []
        found = []
        for index, each in enumerate(of.pattern.elements if of else program.patterns):
            here = (*path, index)
            is_type = is_scope and bool(each.value.labels & RESERVED)
            is_own = is_type and not each.value.identity  # keywords of its parameters, its result
            if is_own or (is_scope and (is_path(each) or is_answer(each))):
                continue
            if here in program.named:
                kind = kind_of(each)
            elif is_type or (not path and each.value.identity in program.types_in(WHOLE)):
                kind = "type"
            elif here == (0,) and is_header(each):
                kind = "header"
            else:
                kind = "reference" if is_scope and is_reference(each) else "pattern"
            found.append(_Part(here, each, kind, around))
        return found

    def _pair_lists(self, old: list[_Part], new: list[_Part]) -> None:
        found = match([each.pattern for each in old], [each.pattern for each in new])
        gone, come = [old[at] for at in found.removed], [new[at] for at in found.added]
        for pair in found.pairs:
            one, other = old[pair[0]], new[pair[1]]
            if one.kind == other.kind != "reference":
                self._pair(one, other)
            elif one.kind != other.kind:
                gone.append(one)
                come.append(other)
            if pair in found.moved:
                self._add(other, Said("is at another place in the order", is_detail=True))
        self._gone.update(each for each in gone if each.kind != "reference")
        self._come.update(each for each in come if each.kind != "reference")

    def _pair_across(self, kind: str) -> None:
        """Pair the definitions of a kind that have no partner where they are."""
        sides = (self._gone, self._come)
        gone, come = (sorted(part for part in parts if part.kind == kind) for parts in sides)
        found = match([each.pattern for each in gone], [each.pattern for each in come])
        for one, other in ((gone[at], come[to]) for at, to in found.pairs):
            self._gone.remove(one)
            self._come.remove(other)
            self._moved.add(other)
            self._pair(one, other)

    def _pair_headers(self) -> None:
        """Pair a header that is new or gone with an empty one: what it says is new or gone."""
        for parts in (self._gone, self._come):
            for part in [each for each in parts if each.kind == "header"]:
                parts.remove(part)
                empty = attrs.evolve(part, pattern=Pattern())
                self._pair(*((part, empty) if parts is self._gone else (empty, part)))

    def _pair(self, old: _Part, new: _Part) -> None:
        if old.pattern == new.pattern and self._same_types and not old.around + new.around:
            return
        self._pairs.append((old, new))
        self._pair_lists(self._parts(self._old, old), self._parts(self._new, new))

    # --- what changed in a pair

    def _own_changes(self, old: _Part, new: _Part, renamed: Mapping[str, str]) -> Iterator[Said]:
        if new in self._moved:
            yield Said(f"is defined {f'in {new.around[-1]}' if new.around else 'at the top'} now")
        if new.kind == "type":
            subjects = (attrs.evolve(each.pattern.value, identity=new.name) for each in (old, new))
            parts = zip(subjects, (old, new), strict=True)
            texts = [write_program(Pattern(value, each.pattern.elements)) for value, each in parts]
            if texts[0] != texts[1]:
                text = " → ".join(where_they_differ(*texts))
                yield Said(f"{text} (what that breaks is said of what uses it)", behaves=True)
            return
        read_as = TOOLS if is_tool(new.pattern) else frozenset()
        labels = (sorted(each.pattern.value.labels - read_as) for each in (old, new))
        yield from _members("label", *([f"`{label}`" for label in some] for some in labels))
        yield from _properties(old, new)
        if new.kind in _WITH_SIGNATURE:
            sides = (self._old, old), (self._new, new)
            specs = [tool_spec_of(it.whole(it.named[part.path])) for it, part in sides]
            for said in signature_changes(*specs) if specs[0].elements != specs[1].elements else ():
                yield said if new.kind == "tool" else said._replace(unbinds=False)
        if is_runnable(new.pattern):
            yield from self._uses(old, new, renamed)
            before = (_arrow(edge, renamed) for _, edge in edges_in(old.pattern))
            after = (_arrow(edge, {}) for _, edge in edges_in(new.pattern))
            yield from _members("arrow", before, after, behaves=True)

    def _uses(self, old: _Part, new: _Part, renamed: Mapping[str, str]) -> Iterator[Said]:
        """The names of tools and agents that one has among its elements, and the other has not.

        Definitions that are new or removed are told by themselves.
        """
        parts = self._parts(self._old, old), self._parts(self._new, new)
        nodes = [[each for each in side if each.kind != "pattern"] for side in parts]
        before = {renamed.get(part.name, part.name): part for part in nodes[0]}
        after = {part.name: part for part in nodes[1]}
        is_agent = new.kind == "agent"
        for name in sorted(after.keys() - before.keys()):
            if after[name] not in self._come:
                yield Said(f"uses `{name}` now", "minor" if is_agent else "patch", behaves=True)
        for name in sorted(before.keys() - after.keys()):
            if before[name] not in self._gone:
                yield Said(f"uses `{name}` no more", "major" if is_agent else "patch", behaves=True)


def _types(program: Program) -> list[list[Pattern]]:
    return [[each.pattern for each in same] for same in program.types_in(WHOLE).values()]


def _members(
    what: str, old: Iterable[str], new: Iterable[str], *, behaves: bool = False
) -> Iterator[Said]:
    """What is no more among several, and what is new."""
    before, after = Counter(old), Counter(new)
    yield from (Said(f"{what} {it} is removed", behaves=behaves) for it in before - after)
    yield from (Said(f"{what} {it} is new", behaves=behaves) for it in after - before)


def _properties(old: _Part, new: _Part) -> Iterator[Said]:
    before, after = (each.pattern.value.properties for each in (old, new))
    for key in differing(before, after):
        values = before.get(key), after.get(key)
        behaves = new.kind in _WITH_SIGNATURE and key in _BEHAVIOUR
        behaves |= is_skill(new.pattern) and key in _OF_SKILLS
        word = key if behaves or new.kind == "header" else f"property `{key}`"
        if word == "settings":
            one, other = (each if isinstance(each, PMap) else {} for each in values)
            for each in differing(one, other):
                text = f"setting `{each}` {became(one.get(each), other.get(each))}"
                yield Said(text, behaves=behaves)
        elif word == "imports":
            files = (each if isinstance(each, PVector) else () for each in values)
            yield from _members("import", *(map(shown, some) for some in files))
        elif word == "model":
            yield Said(f"model {' → '.join(map(_models, values))}", behaves=behaves)
        else:
            unbinds = new.kind == "tool" and key == "description"
            yield Said(f"{word} {became(*values)}", unbinds=unbinds, behaves=behaves)


def _models(value: Any) -> str:
    models = value if isinstance(value, PVector) else (value,)
    return " then ".join(each if isinstance(each, str) else shown(each) for each in models)


def _arrow(edge: Pattern, renamed: Mapping[str, str]) -> str:
    """An arrow as text, with the new names of what was renamed."""

    def with_new_name(subject: Subject) -> Subject:
        labels = {renamed.get(label, label) for label in subject.labels}
        name = renamed.get(subject.identity, subject.identity)
        return attrs.evolve(subject, identity=name, labels=labels)

    return write_program(operations.map(with_new_name, edge))


_LONG = 60
_MOST_CHANGES = 3


@frozen
class MergeFault:
    """An error of a merged program that neither side has.

    Attributes:
        fault: the error.
        ours, theirs: what each side changed in what the error is about, in words.
    """

    fault: Diagnostic
    ours: Sequence[str]
    theirs: Sequence[str]


@frozen
class ProgramMerge:
    """What a merge of programs gave.

    Attributes:
        merge: the text and its conflicts.
        faults: what fits in the text and not in the program. Where there are conflicts, only what
            is wrong whichever side of them is taken.
    """

    merge: Merge
    faults: tuple[MergeFault, ...]


def merge_programs(
    base: str, ours: str, theirs: str, *, filename: str | None = None
) -> ProgramMerge:
    """Merge what two sides made of a program, and judge what they made together.

    Args:
        base: the text before.
        ours: what we made of it.
        theirs: what they made of it.
        filename: the name that faults cite.

    Raises:
        GramDecodeError: one of the texts is not gram.

    >>> base = "[a:Agent | s] [s:Tool {description: 'd'} | (::Text)]"
    >>> renamed, used = base.replace("s]", "f]").replace("[s", "[f"), f"{base} [b:Agent | s]"
    >>> (found,) = merge_programs(base, renamed, used).faults
    >>> found.fault.message
    '"s" is not defined: no tool or agent of this name is visible here'
    >>> *found.ours, *found.theirs
    ('tool `s` renamed `f`', 'agent `b` is new')
    """
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        expect(text, str, name, by="merge_programs")
    expect(filename, (str, type(None)), "filename", by="merge_programs")
    merged = merge(base, ours, theirs, is_list=is_typed_path)
    before, we, they = (parse_program(text) for text in (base, ours, theirs))
    found = judge_merge(before, we, they, parse_program(merged.taking("ours"), filename))
    if found and merged.conflicts:
        other = judge_merge(before, we, they, parse_program(merged.taking("theirs"), filename))
        always = {each.fault.message for each in other}
        found = tuple(each for each in found if each.fault.message in always)
    return ProgramMerge(merged, found)


_Side: TypeAlias = Document | Project


def judge_merge(base: _Side, ours: _Side, theirs: _Side, merged: _Side) -> tuple[MergeFault, ...]:
    """The errors of a merged program that neither side has, with the changes that meet in each."""
    if not (new := new_errors(ours, merged)):
        return ()
    known = new_errors(theirs, merged)
    sides = [changes(base, side) for side in (ours, theirs)]
    found = []
    for fault in (each for each in new if each in known):
        names, below = {*re.findall(r'"([^"]+)"', fault.message)}, merged.patterns
        for step in fault.tree_path:
            names.add(below[step].value.identity)
            below = below[step].elements
        said = ([str(each) for each in side if not each.said.is_detail] for side in sides)
        named = ([it for it in side if names & {*re.findall("`([^`]+)`", it)}] for side in said)
        found.append(MergeFault(fault, *(side[:_MOST_CHANGES] for side in named)))
    return tuple(found)


def conflict_in_words(conflict: Conflict, ours: str = "ours", theirs: str = "theirs") -> str:
    """What both sides did at a place, for people to read.

    Args:
        conflict: the conflict.
        ours, theirs: what the sides are called.
    """
    if not conflict.within:
        return f"what {ours} and {theirs} made of the text does not go together"
    steps = (_called(each) if isinstance(each, Pattern) else each for each in conflict.within)
    what = ": ".join(steps)
    base, we, they = (_short(text) for text in conflict.parts)
    if not we:
        return f"{what} is removed ({ours}) and changed ({theirs})"
    if not they:
        return f"{what} is changed ({ours}) and removed ({theirs})"
    if not base:
        return f"{what} is added in two ways: {we} ({ours}), {they} ({theirs})"
    return f"{what} is changed in two ways: {base} → {we} ({ours}), → {they} ({theirs})"


def _called(pattern: Pattern) -> str:
    name = pattern.value.identity
    if name and (is_runnable(pattern) or is_tool(pattern)):
        return f"{kind_of(pattern)} `{name}`"
    return f"`{name}`" if name else abridged(pattern, _LONG)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
