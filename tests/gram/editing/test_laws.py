"""The laws of lossless edits, over generated documents and over known texts."""

import pickle
import re
from collections import Counter
from typing import Any

import attrs
import pytest
from hypothesis import assume, given, strategies as st

import gram
from gram import Document, GramEncodeError, Pattern, Span, Subject, loads, parse, pattern_at, walk
from gram.writing import Spelling
from tests.by_day import given_few
from tests.gram.strategies import TreeEditor, forests, gram_texts, tree_editors, values
from tests.gram.texts import ACCEPTED, table


def edited(editor: TreeEditor, trees: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """The trees after one change; a change past the depth limit is no change."""
    try:
        return editor.edit(trees)
    except GramEncodeError:
        return trees


def with_value(
    trees: tuple[Pattern, ...], path: tuple[int, ...], value: Subject
) -> tuple[Pattern, ...]:
    """The trees with another subject at a path."""
    return gram.replace_at(trees, path, [attrs.evolve(pattern_at(trees, path), value=value)])


# --- laws 1 and 2: what is written is what was asked for, and can be undone


STYLES = [
    lambda _, path=path: Spelling(separator="::", family="~", bracketed=True, path=path)
    for path in (True, False, None)
]


@given_few(
    gram_texts() | st.sampled_from([*ACCEPTED.values()]),
    tree_editors(),
    st.none() | st.sampled_from(STYLES),
)
def test_edits_read_back_in_every_style_say_what_they_changed_and_can_be_undone(
    text: str, editor: TreeEditor, style: Any
) -> None:
    document = parse(text, style=style)
    wanted = document.patterns
    assert document.replace(wanted) is document.replace(iter(loads(text))) is document

    for _ in range(3):
        wanted = edited(editor, wanted)
        document = document.replace(wanted)

        assert document.patterns == wanted == loads(document.text)
        assert document.rescued == ()
        assert document.replace(tuple(wanted)) is document
        assert document.header == parse(document.text).header
        assert tuple(item.pattern for item in document.items) == wanted
        at, rebuilt = 0, ""
        for edit in document.changes:
            assert text[slice(*edit.before)] == edit.old
            assert document.text[slice(*edit.after)] == edit.new
            assert edit.old != edit.new
            rebuilt += text[at : edit.before.start] + edit.new
            at = edit.before.end
        assert rebuilt + text[at:] == document.text
    assert document.replace(loads(text)).text == text


@given(gram_texts(), tree_editors())
def test_an_edit_names_every_pattern_that_is_not_as_it_was(text: str, editor: TreeEditor) -> None:
    document = parse(text)
    edit = document.replace(edited(editor, document.patterns))
    changed = edit.changed_since(document)
    known = {each.came_from: each for _, each in walk(document.patterns)}
    put_in = {each.path for each in changed if each.old is None}
    named = {each.path for each in changed}

    for path, pattern in walk(edit.patterns):
        if not put_in.isdisjoint(path[:length] for length in range(1, len(path) + 1)):
            continue
        old = known[pattern.came_from]
        is_other = old.value != pattern.value or len(old.elements) != len(pattern.elements)
        assert path in named or not is_other
    for each in changed:
        assert each.old is None or each.old is known[each.old.came_from]


ARROWS = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=2, max_size=4).map(
        lambda names: "-->".join(f"({name})" for name in names)
    ),
    min_size=1,
    max_size=4,
)


@given(ARROWS, ARROWS)
def test_arrows_are_written_as_arrows_with_the_comments_of_those_that_stay(
    old: list[str], new: list[str]
) -> None:
    lines = [f"  {arrow.replace('--', '==')}, // {n}" for n, arrow in enumerate(old)]
    document = parse("\n".join(["[w |", *lines, "  last", "]"]))
    (wanted,) = loads(f"[w | {', '.join([*new, 'last'])}]")
    document = document.replace((wanted,))
    assert document.patterns == (wanted,)
    assert "Gram.Walk" not in document.text
    for n, arrow in enumerate(old):
        assert arrow not in new or f"// {n}" in document.text or old.count(arrow) > 1


@given(gram_texts(), forests() | gram_texts().map(loads))
def test_any_trees_can_replace_any_others(text: str, wanted: tuple[Pattern, ...]) -> None:
    document = parse(text).replace(wanted)
    assert loads(document.text) == wanted
    assert document.rescued == ()


# --- law 3: no other byte is touched, no comment is lost


@given(gram_texts(), st.data())
def test_changing_a_subject_touches_only_its_construct(text: str, data: st.DataObject) -> None:
    document = parse(text)
    assume(document.patterns)
    path = data.draw(st.sampled_from([path for path, _ in walk(document.patterns)]))
    editor = data.draw(tree_editors())
    subject = editor.subject_change()(pattern_at(document.patterns, path).value)
    changed = document.replace(with_value(document.patterns, path, subject))
    around = smallest_rewritten(document, path)
    for edit in changed.changes:
        assert around.start <= edit.before.start <= edit.before.end <= around.end


def smallest_rewritten(document: Document, path: tuple[int, ...]) -> Span:
    """The span of the pattern, or of the path it stands in as a node or hop."""
    for length in range(1, len(path)):
        span = document.spans(path[:length]).pattern
        if document.text[span.start] == "(":
            return span
    return document.spans(path).pattern


@given(gram_texts(), st.data())
def test_removing_an_item_loses_only_the_comments_that_belong_to_it(
    text: str, data: st.DataObject
) -> None:
    document = parse(text)
    assume(document.patterns)
    index = data.draw(st.integers(0, len(document.patterns) - 1))
    trees = document.patterns
    # one like its neighbour might be taken for it
    assume(all(tree != trees[index] for at, tree in enumerate(trees) if at != index))

    changed = document.replace((*trees[:index], *trees[index + 1 :]))

    start = document.items[index - 1].end if index else document.items[0].start
    end = document.items[index].end
    after = (
        text[end:].split("\n")[0]
        if index + 1 == len(trees)
        else text[end : document.items[index + 1].start].split("\n")[0]
    )
    belongs = text[start:end] + after
    assert not comments(text) - comments(changed.text) - comments(belongs)
    assert not comments(text[: document.items[0].start]) - comments(changed.text)


def comments(text: str) -> Counter[str]:
    return Counter(re.findall(r"// \d+", text))


@given(gram_texts(), tree_editors())
def test_an_edit_that_removes_nothing_loses_no_comment_and_none_comes_twice(
    text: str, editor: TreeEditor
) -> None:
    """No text is used for two patterns, except a node of two hops when a walk breaks."""
    document = parse(text)
    has_walks = any("Gram.Walk" in each.value.labels for _, each in walk(document.patterns))
    wanted = document.patterns
    for _ in range(3):
        wanted = edited(editor, wanted)
        found = comments(document.replace(wanted).text)
        assert editor.removes or not comments(text) - found
        assert has_walks or not found - comments(text)


# --- law 4: setting a property


@given(gram_texts(), values(), st.data())
def test_setting_a_property_replaces_exactly_its_value(
    text: str, value: object, data: st.DataObject
) -> None:
    document = parse(text)
    targets = [
        path
        for path, _ in walk(document.patterns)
        if pattern_at(document.patterns, path).value.properties
        and not stands_in_walk(document, path)
    ]
    assume(targets)
    path = data.draw(st.sampled_from(targets))
    subject = pattern_at(document.patterns, path).value
    key = data.draw(st.sampled_from(sorted(subject.properties)))
    wanted = Subject(subject.identity, subject.labels, subject.properties.set(key, value))
    assume(wanted != subject)

    changed = document.replace(with_value(document.patterns, path, wanted)).text

    span = document.spans(path).values[key]
    assert changed.startswith(text[: span.start])
    assert changed.endswith(text[span.end :])
    spelled = changed[span.start : len(changed) - (len(text) - span.end)]
    (read,) = loads(f"({{k: {spelled}}})")
    assert read == Pattern(Subject(properties={"k": value}))


def stands_in_walk(document: Document, path: tuple[int, ...]) -> bool:
    """Whether the pattern may be a node that two hops share."""
    if len(path) < 3:
        return False
    return document.text[document.spans(path[:-2]).pattern.start] == "("


# --- law 5: no history


@given_few(gram_texts(), tree_editors())
def test_the_text_does_not_depend_on_the_edits_in_between(text: str, editor: TreeEditor) -> None:
    document = chained = parse(text)
    for _ in range(2):
        chained = chained.replace(edited(editor, chained.patterns))
    known = [each.came_from for _, each in walk(chained.patterns)]
    assume(all(place and place[0] is document.source for place in known))
    assert chained.text == document.replace(chained.patterns).text


COMMENT = re.compile(r"// \d+")
COPIES = table("copies")
TEXT: str = COPIES["text"]
COPY: str = COPIES["copy"]


def test_a_copy_has_the_text_of_what_it_came_from_without_comments() -> None:
    document = parse(TEXT)
    assert document.replace([*document.patterns] * 2).text == f"{TEXT}{COPY}\n"
    other = parse("// mine\n(x)\n")
    edited = other.replace([*other.patterns, *loads(TEXT)])
    assert edited.text == f"// mine\n(x)\n{COPY}\n"
    pickled = pickle.loads(pickle.dumps(loads("(a {k: 0x0F})")[0]))  # which is no copy
    assert parse("").replace([pickled]).text == "(a {k: 15})"


def test_a_changed_copy_keeps_the_spelling_of_the_rest() -> None:
    (read,) = loads(TEXT)
    subject = attrs.evolve(read.value, identity="z", properties=read.value.properties.set("k", 16))
    changed = attrs.evolve(read, value=subject, elements=(*read.elements, Pattern()))
    text = parse("(x:X)").replace([changed]).text
    (label,) = loads("(a:A {k: 0x0F})")
    other = attrs.evolve(label, value=Subject("b", {"B"}, {"k": 16}))
    assert parse("(x:X)").replace([other]).text == "(b:B {k: 0x10})"
    expected = COPY.replace("[a", "[z").replace("0x0F", "0x10").replace("  )\n", "  ),\n  ()\n")
    assert text == expected


@pytest.mark.parametrize(("text", "top", "inside"), COPIES["placed"])
def test_a_copy_is_written_in_a_form_that_its_place_allows(
    text: str, top: str, inside: str
) -> None:
    document, copies = parse("(x)"), loads(text)
    (x,) = document.patterns
    assert document.replace([x, *copies]).text == top
    assert document.replace([attrs.evolve(x, elements=copies)]).text == inside


@given(gram_texts(), gram_texts(), st.data())
def test_copies_of_any_pattern_read_back_and_bring_no_comment(
    text: str, other: str, data: st.DataObject
) -> None:
    document = parse(text)
    read = [each for _, each in walk(parse(other).patterns)] or [Pattern()]
    copy = data.draw(st.sampled_from(read))
    if data.draw(st.booleans()):
        copy = attrs.evolve(copy, value=attrs.evolve(copy.value, identity="copy"))
    edited = document.replace([*document.patterns, copy])
    assert edited.rescued == ()
    assert loads(edited.text) == edited.patterns == (*document.patterns, copy)
    assert sorted(COMMENT.findall(edited.text)) == sorted(COMMENT.findall(text))


# --- edits that are easy to get wrong, each with the exact text it gives


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["name"]) for case in table("edits")["case"]]
)
def test_trap(case: dict[str, str]) -> None:
    edited = parse(case["old"]).replace(loads(case["trees"]))
    assert edited.text == case["new"]
    assert loads(edited.text) == loads(case["trees"])
    assert edited.rescued == ()
    assert edited.replace(loads(case["old"])).text == case["old"]
