"""Each check finds what its rule says, at the exact place; no document makes a check fail."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given

from gram import Diagnostic, GramDecodeError, Pattern, Subject, apply_fixes, check, loads, parse
from gram.checks import CHECKS, Check, Reading, syntax_fault
from gram.trees import Scope
from tests.by_day import given_few
from tests.gram.strategies import forests, gram_texts
from tests.gram.test_tree_sitter import is_excused, oracle_accepts
from tests.gram.texts import ACCEPTED, table


def scope_of(pattern: Pattern) -> Scope:
    if "Record" in pattern.value.labels:
        return "private"
    return "own" if "Tool" in pattern.value.labels else "around"


def found(text: str, code: str) -> list[str]:
    """The places of the faults of one code, each with a few characters of what stands there."""
    document = parse(text)
    faults = check(document, kinds=["rule"], scopes=scope_of)
    return [
        f"{fault.span.start}:{text[slice(*fault.span)]}"
        for fault in faults
        if fault.code == code and fault.span
    ]


@pytest.mark.parametrize(("code", "text", "places"), table("checks")["found"])
def test_a_check_finds_what_its_rule_says(code: str, text: str, places: list[str]) -> None:
    assert found(text, code) == places


def test_messages_name_both_places() -> None:
    text = "(a:P)\n(a:Q {k: 1})\n[r | a, b]\n[r | b, a]\n"
    rows = [row for row in CHECKS if row.code.endswith("definition")]
    assert len({row.code for row in CHECKS}) == len(CHECKS)
    assert all(row.summary.endswith(".") for row in CHECKS)
    assert [str(fault) for fault in check(parse(text, "x.gram"), checks=rows)] == [
        "x.gram:2:2: error[duplicate-definition] `a` is defined at 1:2 with other labels and "
        "properties",
        "x.gram:4:2: error[inconsistent-definition] `r` is a relationship from `a` to `b` at 3:2, "
        "but a relationship from `b` to `a` here",
    ]


def test_faults_have_a_path_and_those_of_what_was_read_a_place() -> None:
    text = "(a:P) (a:Q)\n(b {k: 1, k: 2})\n[team | sayHelo] (sayHello)"
    made = [Pattern(Subject("a", {"P"})), Pattern(Subject("a", {"Q"}))]
    (fault,) = check(made)
    *_, dangling = check(parse(text))

    assert check(loads(text)) == check(parse(text))
    assert fault.span is None
    assert str(fault) == (
        "1.identity: error[duplicate-definition] `a` is defined at 0 with other labels"
    )
    assert (dangling.code, dangling.severity) == ("dangling-reference", "warning")
    assert (dangling.hint, dangling.path) == ("did you mean sayHello?", (3, 0, "identity"))
    with pytest.raises(GramDecodeError) as error:
        parse("(a", "x.gram")
    assert str(syntax_fault(error.value)).startswith("x.gram:1:3: error[syntax] ")


def test_a_row_supersedes_others_at_the_same_pattern_only() -> None:
    def named_a(reading: Reading) -> Iterator[Diagnostic]:
        """A pattern must not be called `a`."""
        for each in reading.occurrences[1:]:
            if each.name == "a":
                yield Diagnostic.found("no pattern is called `a`", each.path)

    row = Check("no-a", "error", named_a, supersedes=["duplicate-definition"])
    text = "(a:P) (a:Q) (b:P) (b:Q)"

    assert [(fault.code, fault.lineno, fault.colno) for fault in check(parse(text))] == [
        ("duplicate-definition", 1, 8),
        ("duplicate-definition", 1, 20),
    ]
    assert [fault.code for fault in check(parse(text), checks=(row, *CHECKS))] == [
        "no-a",
        "duplicate-definition",
    ]


def test_only_patterns_within_the_paths_are_judged() -> None:
    document = parse("[x | (a:P)] [y | (a:Q)] (a:R)")
    assert [fault.path for fault in check(document, within=[(1,)])] == [(1, 0, "identity")]


@pytest.mark.parametrize(("text", "mended"), table("checks")["mended"])
def test_a_fix_removes_what_does_not_count(text: str, mended: str) -> None:
    document = parse(text)
    assert apply_fixes(document, check(document)) == mended
    assert apply_fixes(document, check(parse(text))) == text, "these are faults of another text"


@given(gram_texts())
def test_spans_lie_in_the_text_and_fixes_keep_trees_and_comments(text: str) -> None:
    document = parse(text)
    faults = check(
        document, scopes=lambda pattern: "own" if pattern.value.labels else "around", kinds=["rule"]
    )

    assert all(
        fault.span and 0 <= fault.span.start <= fault.span.end <= len(text) for fault in faults
    )
    assert [fault.span for fault in faults] == sorted(fault.span for fault in faults if fault.span)

    mended = apply_fixes(document, faults)
    left = check(parse(mended))

    assert loads(mended) == document.patterns
    assert re.findall(r"// \d+", mended) == re.findall(r"// \d+", text)
    assert not [
        fault for fault in left if fault.fix and apply_fixes(parse(mended), [fault]) == mended
    ]


@given_few(forests())
def test_no_tree_makes_a_check_fail(trees: tuple[Pattern, ...]) -> None:
    assert all(fault.span is None for fault in check(trees, scopes=scope_of))


def test_what_only_this_grammar_reads_is_not_portable() -> None:
    texts = {name: text for name, text in ACCEPTED.items() if not is_excused(text)}
    for name, text in texts.items():
        codes = {fault.code for fault in check(parse(text))}
        assert ("not-portable" in codes) == (not oracle_accepts(text)), name
