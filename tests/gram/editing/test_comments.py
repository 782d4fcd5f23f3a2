"""Comments stay with the patterns they were written for, whatever edits come in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest
from attrs import define
from hypothesis import given, settings, strategies as st

from gram import Document, Pattern, Subject, parse


@define(eq=False)
class Noted:
    """A pattern that is edited, with what is needed to follow it through the edits.

    Attributes:
        name: its identity.
        labels: its labels.
        properties: its properties.
        elements: its elements.
        note: what its comments say; None for a new pattern, which has none.
        read_as: the name, the properties and the names of the elements it was read with.
        read_elements: these elements.
        is_moved: whether it was moved to another list.
        is_unwrapped: whether its elements took its place.
    """

    name: str
    labels: frozenset[str]
    properties: dict[str, int]
    elements: list[Noted]
    note: str | None = None
    read_as: tuple[str, dict[str, int], list[str]] = ("", {}, [])
    read_elements: tuple[Noted, ...] = ()
    is_moved: bool = False
    is_unwrapped: bool = False

    @property
    def pattern(self) -> Pattern:
        elements = [element.pattern for element in self.elements]
        return Pattern(Subject(self.name, self.labels, self.properties), elements)

    @property
    def comments(self) -> set[str]:
        return {f"// {place} {self.note}" for place in ("above", "in", "after")}

    @property
    def is_known(self) -> bool:
        """Whether enough is left of it to tell it from a new pattern."""
        name, properties, elements = self.read_as
        changes = set(properties.items()) ^ set(self.properties.items())
        other_elements = set(elements) ^ {element.name for element in self.elements}
        if self.name == name and not self.is_moved:
            return True
        most = 0 if self.name != name and self.is_moved else 2
        return len(changes) + len(other_elements) <= most


class Story:
    """A document with comments at each of its patterns, and edits of it in a row."""

    def __init__(self, random: Random) -> None:
        self.random, self.count = random, 0
        self.patterns = [self.new(2) for _ in range(random.randint(1, 5))]
        self.text = "// file\n\n" + "\n".join(
            self.written(each, "", is_first=index == 0) for index, each in enumerate(self.patterns)
        )
        self.read = list(all_of(self.patterns))

    def new_name(self) -> str:
        self.count += 1
        return f"p{self.count}"

    def new(self, depth: int) -> Noted:
        name = self.new_name()
        labels = frozenset(self.random.sample(["Agent", "Tool"], self.random.randint(0, 1)))
        keys = self.random.sample(["description", "instruction", "model", "k"], 3)
        properties = {key: self.random.randrange(10**6) for key in keys}
        most = self.random.choice([0, 1, 3]) if depth else 0
        elements = [self.new(depth - 1) for _ in range(most)]
        return Noted(name, labels, properties, elements)

    def written(self, each: Noted, indent: str, *, is_first: bool = False) -> str:
        """Its text, with comments above it, inside it and at the end of its line."""
        each.note = each.name
        names = [element.name for element in each.elements]
        each.read_as = (each.name, dict(each.properties), names)
        each.read_elements = tuple(each.elements)
        head = f"{each.name}{''.join(':' + label for label in each.labels)}"
        entries = ", ".join(f"{key}: {value}" for key, value in each.properties.items())
        above = "" if is_first else f"{indent}// above {each.note}\n"
        opener = f"{above}{indent}[{head} {{ // in {each.note}\n{indent}  {entries}}}"
        if not each.elements:
            return f"{opener}] // after {each.note}"
        below = [self.written(element, indent + "  ") for element in each.elements]
        # a comma goes before the comment at the end of the line
        commas = [re.sub(r" (// after \S+)\Z", r", \1", text) for text in below[:-1]]
        inside = "\n".join([*commas, below[-1]])
        return f"{opener} |\n{inside}\n{indent}] // after {each.note}"

    # --- edits

    def edit(self) -> str:
        """Make one change; the name of it."""
        kinds = ("rename", "insert", "insert", "delete", "move", "wrap", "unwrap", "set")
        kind = self.random.choice(kinds)
        places = list(self.places())
        if kind != "insert":
            places = [(around, index) for around, index in places if index < len(around)]
        if not places:
            return "nothing"
        around, index = self.random.choice(places)
        getattr(self, kind)(around, index)
        return kind

    def places(self) -> Iterator[tuple[list[Noted], int]]:
        """Each place in each list, and the end of each."""
        for around in (self.patterns, *(each.elements for each in all_of(self.patterns))):
            yield from ((around, index) for index in range(len(around) + 1))

    def rename(self, around: list[Noted], index: int) -> None:
        around[index].name = self.new_name()

    def insert(self, around: list[Noted], index: int) -> None:
        around.insert(index, self.new(1))

    def delete(self, around: list[Noted], index: int) -> None:
        del around[index]

    def move(self, around: list[Noted], index: int) -> None:
        moved = around.pop(index)
        to, at = self.random.choice(list(self.places()))
        moved.is_moved = moved.is_moved or to is not around
        to.insert(at, moved)

    def wrap(self, around: list[Noted], index: int) -> None:
        around[index].is_moved = True
        around[index] = Noted(self.new_name(), frozenset(), {}, [around[index]])

    def unwrap(self, around: list[Noted], index: int) -> None:
        around[index : index + 1] = self.unwrapped(around[index])

    def unwrapped(self, each: Noted) -> list[Noted]:
        each.is_unwrapped = True
        for element in each.elements:
            element.is_moved = True
        return each.elements

    def set(self, around: list[Noted], index: int) -> None:
        key = self.random.choice(["description", "instruction", "model", "k"])
        around[index].properties[key] = self.random.randrange(10**6)

    def check(self, document: Document) -> None:
        """Raise unless the comments of a text are where the patterns that are left are."""
        text = document.text
        found = re.findall(r"// (?:above|in|after) \S+", text)
        left = [each for each in all_of(self.patterns) if each.note]
        gone = [each for each in self.read if each not in left]
        # what is unwrapped takes the place of its wrapper, and the comments there
        unwrapped = [each for each in gone if len(each.read_elements) == 1 or each.is_unwrapped]
        may_stay = {comment for each in [*left, *unwrapped] for comment in each.comments}
        needed = {comment for each in left if each.is_known for comment in each.comments}
        needed.discard(f"// above {self.read[0].note}")
        assert len(set(found)) == len(found)
        assert set(found) <= may_stay
        assert needed <= set(found)
        for path, each, outer in self.with_paths():
            if each.note and each.is_known:
                span, around = document.spans(path).pattern, document.spans(outer).pattern
                assert f"// in {each.note}\n" in text[slice(*span)]
                after = re.match(r",?(\s*// .*\n?)*", text[around.end :])
                assert after is not None
                assert f"// after {each.note}\n" in f"{text[span.end : around.end]}{after[0]}\n"
                if each is not self.read[0]:
                    above = re.search(r"(// .*\s*)*\Z", text[: around.start])
                    assert above is not None
                    assert f"// above {each.note}\n" in above[0] + text[around.start : span.start]

    def with_paths(self) -> Iterator[tuple[tuple[int, ...], Noted, tuple[int, ...]]]:
        """Each pattern with its path, and that of the outermost new one that is only around it."""
        pending = [((index,), each, (index,)) for index, each in enumerate(self.patterns)]
        while pending:
            path, each, outer = pending.pop()
            yield path, each, outer
            is_wrapper = each.note is None and len(each.elements) == 1
            for index, element in enumerate(each.elements):
                here = (*path, index)
                pending.append((here, element, outer if is_wrapper else here))


def all_of(patterns: list[Noted]) -> Iterator[Noted]:
    for each in patterns:
        yield each
        yield from all_of(each.elements)


@settings(max_examples=300)
@given(st.randoms(use_true_random=True), st.integers(1, 4))
def test_comments_stay_with_their_patterns(random: Random, length: int) -> None:
    story = Story(random)
    source = document = parse(story.text)

    for _ in range(length):
        story.edit()
        document = document.replace([each.pattern for each in story.patterns])

    story.check(document)
    assert document.rescued == ()
    assert document.text == source.replace(document.patterns).text


PROGRAM = """// file

// above a
[a:Agent {instruction: "Help the users.", model: "A/b"} | // in a
  // above t
  [t:Tool {description: "Gets it."} | (x:Text)-->(:Text)], // after t
  // above s
  s, // after s
  // above u
  [u:Tool {description: "Puts it."} | (x:Number)-->(:Text)] // after u
] // after a
// above s
[s:Tool {description: "Shows it."} | (x:Any)-->(:Text)] // after s
"""


@pytest.mark.parametrize(
    "edits",
    [
        (("[t:", "[get:"), ('description: "Gets it."', ""), ("[a:", "[b:")),
        (("[t:", "[get:"), ("[u:", "[put:"), ("[a:", "[b:")),
        (("[a:", "[b:"), ("[t:", "[get:"), ("{instruction", '{description: "One.", instruction')),
        (("[s:", "[show:"), (" s,", " show,"), ("[a:", "[b:"), ("A/b", "A/c")),
        (("// above a", "[n:Agent {model: 'A/b'} | (n:Tool)]"), ("[a:", "[b:"), ("[t:", "[get:")),
        (("[a:", "[b:"), ("Help the users.", "Be kind to all."), ("[t:", "[get:")),
        (
            ('[s:Tool {description: "Shows it."}', "[s:Tool"),
            (" s,", " [s:Tool | (x:Any)-->(:Text)],"),
            ("\n[s:Tool | (x:Any)-->(:Text)]", ""),
        ),
    ],
    ids=lambda edits: " ".join(new for _, new in edits),
)
def test_what_is_renamed_and_changed_keeps_its_comments(edits: tuple[tuple[str, str], ...]) -> None:
    wanted = PROGRAM
    for old, new in edits:
        assert old in wanted
        wanted = wanted.replace(old, new, 1)

    edited = parse(PROGRAM).replace(parse(wanted).patterns).text

    assert sorted(re.findall("//.*", edited)) == sorted(re.findall("//.*", PROGRAM))
    assert re.search(r"// above a\n\[[ab]:", edited)
    assert re.search(r"\] // after a\n", edited)
