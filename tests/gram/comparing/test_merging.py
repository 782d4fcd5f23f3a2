"""Merges of texts: the laws, over generated edits; what merges, and what is a conflict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Literal

import attrs
import pytest
from hypothesis import given, strategies as st

from gram import GramDecodeError, GramEncodeError, Pattern, Subject, loads, parse
from gram.comparing import merge
from gram.reading.lexer import comments, tokens
from tests.by_day import given_few
from tests.gram.strategies import TextMaker, TreeEditor, gram_texts
from tests.gram.texts import ACCEPTED, table

Trees = tuple[Pattern, ...]
randoms = st.randoms(use_true_random=True)
SIDES: list[Literal["base", "ours", "theirs"]] = ["base", "ours", "theirs"]


def edited(text: str, random: Random) -> str:
    """A text after one or two random edits that people may make."""
    document = parse(text)
    for _ in range(random.randint(1, 2)):
        with suppress(GramEncodeError):  # past the depth limit
            document = document.replace(TreeEditor(random).edit(document.patterns))
    return document.text


def commented(text: str, random: Random, comment: str) -> str:
    """A text with a comment put between two tokens."""
    starts = [token.start for token in tokens(text)]
    at = random.choice(starts)
    return f"{text[:at]} // {comment}\n{text[at:]}"


def comments_of(text: str) -> set[str]:
    """What comments say; two at the end of one line are one."""
    found = [text[slice(*each)] for each in comments(text, 0, len(text))]
    return {word.strip() for comment in found for word in comment.split("//")}


# --- laws


@given_few(gram_texts(), randoms)
def test_a_side_that_changed_nothing_gives_the_other_byte_for_byte(
    text: str, random: Random
) -> None:
    other = commented(edited(text, random), random, "new")
    assert merge(text, text, other).text() == other
    assert merge(text, other, text).text() == other
    assert merge(text, other, other).text() == other


@given_few(gram_texts() | st.sampled_from([*ACCEPTED.values()]), randoms)
def test_what_is_merged_can_be_read_and_so_can_each_side_of_every_conflict(
    text: str, random: Random
) -> None:
    ours, theirs = edited(text, random), edited(text, random)
    merged = merge(text, ours, theirs)
    for side in SIDES:
        loads(merged.taking(side))


@given(gram_texts(), randoms)
def test_the_comments_of_both_sides_survive_where_nothing_is_removed(
    text: str, random: Random
) -> None:
    editor = TreeEditor(random)
    try:
        ours = parse(text).replace(editor.edit(loads(text))).text
    except GramEncodeError:
        ours = text
    if editor.removes:
        ours = text
    ours, theirs = commented(ours, random, "ours"), commented(text, random, "theirs")

    merged = merge(text, ours, theirs)

    found = comments_of(merged.taking("ours")) | comments_of(merged.taking("theirs"))
    before, we, they = map(comments_of, (text, ours, theirs))
    assert found >= (we & they) | (we - before) | (they - before)


# --- the trees, beside those of an oracle that knows nothing of texts

Change = Callable[[Trees], Trees]


class NamedTexts(TextMaker):
    """Writes documents in which no identity is given twice."""

    def identity(self) -> str:
        self.names = getattr(self, "names", 0) + 1
        return f"n{self.names}"


def at(name: str, change: Callable[[Pattern], Trees]) -> Change:
    """Changes the patterns of a name, wherever they are."""

    def changed(trees: Trees) -> Trees:
        found: list[Pattern] = []
        for tree in trees:
            below = attrs.evolve(tree, elements=changed(tree.elements))
            found += change(below) if tree.value.identity == name else (below,)
        return tuple(found)

    return changed


def removed(tree: Pattern) -> Trees:
    return ()


def some_change(trees: Trees, random: Random, mark: str) -> tuple[bool, Change]:
    """A change, and whether it removes something."""
    names: list[str] = []
    inside = [*trees]
    for tree in inside:
        names += [tree.value.identity] * bool(tree.value.identity)
        inside += tree.elements
    if not names:
        return False, lambda trees: (*trees, Pattern(Subject(f"new{mark}")))
    name, key = random.choice(names), random.choice("kji")
    new = Pattern(Subject(f"new{mark}{random.randrange(1000)}"))

    def with_value(value: Callable[[Subject], Subject]) -> Callable[[Pattern], Trees]:
        return lambda tree: (attrs.evolve(tree, value=value(tree.value)),)

    def labelled(old: Subject) -> Subject:
        return Subject(old.identity, old.labels | {mark}, old.properties)

    def given_value(old: Subject) -> Subject:
        return Subject(old.identity, old.labels, old.properties.set(key, mark))

    kinds: list[Callable[[Pattern], Trees]] = [
        with_value(labelled),
        with_value(given_value),
        removed,
        lambda tree: (tree, new),
        lambda tree: (attrs.evolve(tree, elements=(*tree.elements, new)),),
    ]
    kind = random.choice(kinds)
    return kind is removed, at(name, kind)


def in_any_order(trees: Trees) -> object:
    """Trees in a form in which the order of elements does not matter."""
    return sorted(repr((tree.value, in_any_order(tree.elements))) for tree in trees)


@given_few(randoms)
def test_a_merge_without_conflicts_has_the_changes_of_both_sides(random: Random) -> None:
    text = NamedTexts(random).document()
    base = loads(text)
    changes = [some_change(base, random, mark) for mark in ("OURS", "THEIRS")]
    texts = [parse(text).replace(change(base)).text for _, change in changes]
    # what is put beside something that the other side removes stays
    wanted = base
    for _, change in sorted(changes, key=lambda each: each[0]):
        wanted = change(wanted)

    merged, other = merge(text, *texts), merge(text, *texts[::-1])

    assert bool(merged.conflicts) == bool(other.conflicts)
    if not merged.conflicts:
        assert in_any_order(loads(merged.text())) == in_any_order(wanted)
        assert in_any_order(loads(other.text())) == in_any_order(loads(merged.text()))


# --- what merges, and what is a conflict

DESK: str = table("merges")["text"]
MERGING: dict[str, list[list[list[str]]]] = table("merges")["merging"]


def replaced(*pairs: Sequence[str]) -> str:
    text = DESK
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(("ours", "theirs"), MERGING.values(), ids=MERGING)
def test_changes_of_two_places_merge_as_if_one_had_made_both(
    ours: list[list[str]], theirs: list[list[str]]
) -> None:
    merged = merge(DESK, replaced(*ours), replaced(*theirs))
    assert not merged.conflicts
    assert merged.text() == replaced(*ours, *theirs)


def test_imports_that_both_sides_begin_are_one_list() -> None:
    ours, theirs = (f'{{imports: ["{each}"]}}\n(a)' for each in "xy")
    assert merge("(a)", ours, theirs).text() == '{imports: ["x", "y"]}\n(a)'
    ours, theirs = (each.replace("imports", "kind: 1, imports") for each in (ours, theirs))
    assert merge("(a)", ours, theirs.replace("1", "2")).conflicts
    assert merge("(a)", "(a {k: [1]})", "(a {k: [2]})").conflicts  # which is no header


def test_what_both_sides_put_in_is_kept_ours_first_and_equal_things_once() -> None:
    base, ours, theirs = "[x | a, b]", "[x | a, o, same, b]", "[x | a, t, same, b, u]"
    assert merge(base, ours, theirs).text() == "[x | a, o, t, same, b, u]"
    assert merge("(a)", "(a {k: 1})", "(a {j: 2})").text() == "(a {k: 1, j: 2})"
    assert (
        merge("", "// ours\n(a)\n", "// theirs\n(b)\n").text() == "// ours\n(a)\n// theirs\n(b)\n"
    )
    arrows = [f"(a)-[r {{x: {x}, y: {y}}}]->(b)" for x, y in ("11", "21", "13", "23")]
    assert merge(*arrows[:3]).text() == arrows[3]
    # a new layout is no conflict
    assert merge("(a {x:1,y:2})", "(a {x: 1, y: 2})", "(a {x:1,y:3})").text() == "(a {x: 1, y: 3})"
    assert merge("(a {x: 0xFF})", "(a {x: 255})", "(a {x: 0xFE})").text() == "(a {x: 0xFE})"
    with pytest.raises(GramDecodeError):
        merge("(a)", "(a", "(b)")


def test_the_ends_of_a_path_merge_and_its_middle_is_a_conflict() -> None:
    base = "(a)-->(b)"
    assert merge(base, "(x)-->(a)-->(b)", "(a)-->(b)-->(y)").text() == "(x)-->(a)-->(b)-->(y)"
    assert merge(base, "(new)-->(b)", "(a)-->(other)").text() == "(new)-->(other)"
    assert merge(base, "(a)-->(x)-->(b)", "(a)-->(y)-->(b)").conflicts
    assert merge(base, "(a)-->(x)-->(b)", "(a)-[:WHEN]->(b)").conflicts
    both = merge(base, "(a)-->(x)-->(b)", "(a)-->(y)-->(b)", is_list=lambda path: True)
    assert both.text() == "(a)-->(x)-->(y)-->(b)"


def test_a_conflict_is_between_the_markers_of_git_around_the_smallest_construct() -> None:
    merged = merge(DESK, replaced(("OpenAI/x", "A/y")), replaced(("OpenAI/x", "B/z")))

    (conflict,) = merged.conflicts
    desk, key = conflict.within
    assert isinstance(desk, Pattern)
    assert (desk.value.identity, key) == ("desk", "model")
    marked = """\
[desk:Agent { // the desk
<<<<<<< HEAD
  model: "A/y", // cheap
||||||| 1a2b
  model: "OpenAI/x", // cheap
=======
  model: "B/z", // cheap
>>>>>>> main
  instruction: ```
"""
    text = merged.text("HEAD", "main", "1a2b")
    assert text == DESK.replace(DESK[DESK.index("[desk") : DESK.index("    Help.")], marked)


def test_what_one_side_removes_and_the_other_changes_is_a_conflict() -> None:
    first = merge("[x | a, (b)]", "[x | (b)]", "[x | (a {k: 1}), (b)]")
    last = merge("[x | a, (b)]", "[x | a]", "[x | a, (b {k: 1})]")
    assert first.text() == "[x |\n<<<<<<< ours\n=======\n(a {k: 1}),\n>>>>>>> theirs\n (b)]"
    assert last.text() == "[x | a\n<<<<<<< ours\n=======\n, (b {k: 1})\n>>>>>>> theirs\n]"
    assert merge("[x | a] (b)", "(b)", "[x | a // new\n] (b)").conflicts


def test_a_side_with_other_line_breaks_gives_them_to_the_merge() -> None:
    windows = replaced(("OpenAI/x", "A/y")).replace("\n", "\r\n")
    merged = merge(DESK, windows, replaced(('"Pay"', '"Pay back"')))
    wanted = replaced(("OpenAI/x", "A/y"), ('"Pay"', '"Pay back"'))
    assert merged.text() == wanted.replace("\n", "\r\n")
    assert merge("(a)", "(a) (o)", "(a)\n(t)").text() == "(a) (o)\n(t)"
