"""What changed between two programs, in words, and what it means for whom."""

import pytest
from hypothesis import given, strategies as st

from gram import loads
from lenses_ext import parse_program
from lenses_ext.composing import ProgramChange, changes, level_of
from lenses_ext.strategies import programs
from tests.gram.strategies import TreeEditor, gram_texts, tree_editors
from tests.gram.texts import ACCEPTED


def marked(change: ProgramChange) -> str:
    """A change with what it means before it: its level, ``f`` for functions, ``b``, ``d``."""
    said = change.said
    flags = {"f": said.unbinds, "b": said.behaves, "d": said.is_detail}
    return f"{said.level}{''.join(each for each, is_set in flags.items() if is_set)} {change}"


def told(old: str, new: str) -> list[str]:
    """The changes between two texts."""
    return [marked(each) for each in changes(parse_program(old), parse_program(new))]


PARAMETERS = [
    # the parameters before and after, what is told of the tool `t`
    ("(n::Integer {default: 10})", "(n::Integer {default: 20})",
     ["majorf parameter `n` default 10 → 20 (callers that leave it out are affected)"]),
    ("(n::Integer {optional: true})", "(n::Integer {optional: true, default: 2})",
     ["minor parameter `n` default none → 2 (callers that leave it out are affected)"]),
    ("(n::Integer)", "(n::Number)", ["minorf parameter `n` type integer → number (wider)"]),
    ("(n::Any)", "(n::Number)", ["major parameter `n` type anything → number (narrower)"]),
    ("(n::Any)", "(n::Any {optional: true})", ["minorf parameter `n` is optional now"]),
    ("(n::Number)", "(n::Integer)", ["major parameter `n` type number → integer (narrower)"]),
    ("(n::Number)", "(n::String)", ["majorf parameter `n` type number → string"]),
    ("(n::Number)", "(n::Number {minimum: 1})",
     ["major parameter `n` minimum none → 1 (narrower)"]),
    ("(n::Number)", "(n::Number)==>(m::Number {optional: true})", ["minorf parameter `m` is new"]),
    ("(n::Number)", "(n::Number)==>(m::Number {default: 3})",
     ["minorf parameter `m` is new (default 3)"]),
    ("(n::Number)", "(n::Number)==>(m::Text)", ["majorf parameter `m` is new and required"]),
    ("(n::Number)==>(m::Text)", "(n::Number)", ["majorf parameter `m` is removed"]),
    ("(n::Number)", "(n::Number {optional: true})", ["minorf parameter `n` is optional now"]),
    ("(n::Number)", "(n::Number {default: 3})",
     ["minorf parameter `n` is optional (default 3) now"]),
    ("(n::Number {default: 3})", "(n::Number)", ["major parameter `n` is required now"]),
    ("(n::Number)", "(m::Number)", ["majorf parameter `n` renamed `m`"]),
    ("(n::Number)==>(m::Text)", "(m::Text)==>(n::Number)",
     ["patchd order of parameters is m, n"]),
    ('(n::Text {description: "A."})', '(n::Text {description: "B."})',
     ['patchfb parameter `n` description "A." → "B."']),
    ("(n::Text)", "(n::String)", ["patchd is written in another way"]),
    ('(n::Text {enum: ["a", "b"]})', '(n::Text {enum: ["a", "b", "c"]})',
     ['minorf parameter `n` enum ["a","b"] → ["a","b","c"] (wider)']),
    ("(n::Array {elementType: Integer})", "(n::Array {elementType: Number})",
     ['minorf parameter `n` items {"type":"integer"} → {"type":"number"} (wider)']),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), PARAMETERS)
def test_changes_of_parameters_are_judged_for_callers_and_for_functions(
    old: str, new: str, expected: list[str]
) -> None:
    tool = '[t:ToolSpecification {{description: "D."}} | {}==>(::String)]'

    said = told(tool.format(old), tool.format(new))

    assert [each.replace("tool `t`: ", "").replace("tool `t` ", "") for each in said] == expected


AGENT = '[desk:Agent {{instruction: "Help.", model: "OpenAI/x"{}}} | {}]'
TOOL = '[{}:ToolSpecification {{description: "{} by words."}} | (q::Text)==>(::{})]'
SEARCH = TOOL.format("search", "Searches", "String")
REFUND = TOOL.format("refund", "Pays", "Null")
FIND = SEARCH.replace("search", "find")
PROGRAMS = [
    # the words of the language
    (AGENT.format("", SEARCH), AGENT.format("", SEARCH).replace("/x", "/y"),
     ["patchb agent `desk`: model OpenAI/x → OpenAI/y"]),
    (AGENT.format("", SEARCH), AGENT.format("", SEARCH).replace("Help.", "Be kind."),
     ['patchb agent `desk`: instruction "Help." → "Be kind."']),
    (AGENT.format(", settings: {temperature: 0.2}", SEARCH),
     AGENT.format(", settings: {temperature: 0.7, seed: 1}", SEARCH),
     ["patchb agent `desk`: setting `seed` none → 1",
      "patchb agent `desk`: setting `temperature` 0.2 → 0.7"]),
    (AGENT.format("", SEARCH), AGENT.format("", f"{SEARCH}, {REFUND}"),
     ["minor agent `desk`: tool `refund` is new"]),
    (AGENT.format("", SEARCH), AGENT.format("", "(x)").replace("| (x)", ""),
     ["major agent `desk`: tool `search` is removed"]),
    (AGENT.format("", SEARCH), AGENT.format("", SEARCH.replace("search:", "find:")),
     ["majorf agent `desk`: tool `search` renamed `find`"]),
    (AGENT.format("", SEARCH), AGENT.format("", SEARCH).replace("desk", "help"),
     ["major agent `desk` renamed `help`"]),
    (AGENT.format("", SEARCH), AGENT.format("", SEARCH.replace("Searches", "Looks")),
     ['patchfb agent `desk`: tool `search`: description "Searches by words." → "Looks by words."']),
    (AGENT.format("", SEARCH), AGENT.format("", SEARCH.replace("::String", "::Integer")),
     ["majorf agent `desk`: tool `search`: returns string → integer"]),
    (SEARCH, SEARCH.replace("::String", "::Any"),
     ["major tool `search`: returns string → anything"]),
    (SEARCH.replace("::String", "::Any"), SEARCH,
     ["minor tool `search`: returns anything → string"]),
    # shared, and used by name
    (AGENT.format("", SEARCH), AGENT.format("", "search") + SEARCH,
     ["patchd agent `desk` is written in another way",
      "patch tool `search` is defined at the top now"]),
    (AGENT.format("", "search") + SEARCH, AGENT.format("", "").replace(" | ", "") + SEARCH,
     ["majorb agent `desk` uses `search` no more"]),
    (AGENT.format("", "").replace(" | ", "") + SEARCH, AGENT.format("", "search") + SEARCH,
     ["minorb agent `desk` uses `search` now"]),
    (AGENT.format("", "search") + SEARCH, AGENT.format("", "find") + FIND,
     ["patchd agent `desk` is written in another way", "majorf tool `search` renamed `find`"]),
    (AGENT.format("", SEARCH) + AGENT.format("", "x").replace("desk", "b"),
     AGENT.format("", "x") + AGENT.format("", SEARCH + ", x").replace("desk", "b"),
     ["minorb agent `desk` uses `x` now", "majorb agent `desk` uses `search` no more",
      "minorb agent `b` uses `search` now",
      "patch agent `b`: tool `search` is defined in agent `b` now"]),
    (AGENT.format("", "t, u"), AGENT.format("", "u, t"),
     ["patchd agent `desk`: `u` is at another place in the order"]),
    # signatures and answers of agents
    (AGENT.format("", "(a::Text)==>(::String)"), AGENT.format("", "(a::Text)==>(::Integer)"),
     ["major agent `desk`: returns string → integer"]),
    (AGENT.format("", "[:Answer:Object | (n::String)]"),
     AGENT.format("", "[:Answer:Object | (n::String), (m::String)]"),
     ["minor agent `desk`: returns another type, at $.properties.m"]),
    # types: the type itself, and all that use it
    (SEARCH.replace("::String", "::Hit") + "[Hit:Object | (name::String)]",
     SEARCH.replace("::String", "::Hit") + "[Hit:Object | (title::String)]",
     ["majorf tool `search`: returns another type, at $.properties.name",
      "patchb type `Hit`: [Hit:Object | (name:String)] → [Hit:Object | (title:String)] "
      "(what that breaks is said of what uses it)"]),
    (SEARCH.replace("::String", "::Hit") + "[Hit:Object | (name::String)]",
     SEARCH.replace("::String", "::Found") + "[Found:Object | (name::String)]",
     ["patchd tool `search` is written in another way", "major type `Hit` renamed `Found`"]),
    (SEARCH.replace("q::Text", "q::Node") + "[Node:Type:Object | (next::Node {optional: true})]",
     SEARCH.replace("q::Text", "q::Node") + "[Node:Type:Object | (next::Node)]",
     ["major tool `search`: parameter `q` another type, at $.properties.q.properties.next",
      "patchb type `Node`: [Node:Object:Type | (next:Node {optional: true})] → "
      "[Node:Object:Type | (next:Node)] (what that breaks is said of what uses it)"]),
    # workflows
    ("[w:Workflow | a, b, (a)-->(b)]", '[w:Workflow | a, b, (a)-[:WHEN {is: "x"}]->(b)]',
     ["patchb workflow `w`: arrow (a)-->(b) is removed",
      'patchb workflow `w`: arrow (a)-[:WHEN {is: "x"}]->(b) is new']),
    ("[w:Workflow | a, (a)-->()]" + AGENT.format("", SEARCH).replace("desk", "a"),
     "[w:Workflow | b, (b)-->()]" + AGENT.format("", SEARCH).replace("desk", "b"),
     ["patchd workflow `w` is written in another way", "major agent `a` renamed `b`"]),
    ("[w:Loop {max: 2} | a]", "[w:Loop {max: 3} | a]", ["patchb loop `w`: max 2 → 3"]),
    # headers, and what is plain data
    ('{imports: ["a.gram", "b.gram"]}', '{imports: ["b.gram", "c.gram"]}',
     ['patch header: import "a.gram" is removed', 'patch header: import "c.gram" is new']),
    ("(a:Person {age: 3})", "(a:Human {age: 4})",
     ["patch `a`: label `Person` is removed", "patch `a`: label `Human` is new",
      "patch `a`: property `age` 3 → 4"]),
    ("(a)-->(b)", "(a)-->(b) (c)-->(d)", ["patch (c)-->(d) is new"]),
    ("(a) (b)", "(b) (a)", ["patchd `b` is at another place in the order"]),
    (SEARCH, SEARCH.replace("ToolSpecification", "Tool"),
     ["patchd tool `search` is written in another way"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), PROGRAMS)
def test_changes_are_told_in_the_words_of_the_language(
    old: str, new: str, expected: list[str]
) -> None:
    assert told(old, new) == expected
    assert told(new, new) == []


def test_a_signature_whose_types_are_elsewhere_is_told_as_text_and_may_break_callers() -> None:
    old, new = (SEARCH.replace("String", name) for name in ("Hit", "Place"))

    assert told(old, new) == [
        'majorf tool `search`: signature "(q::Text)==>(::Hit)" → "(q::Text)==>(::Place)" '
        "(one of them has no meaning by itself, so it may break callers)"
    ]


def test_long_texts_are_cut_to_what_differs() -> None:
    words = " ".join(f"word{n}" for n in range(99))
    old, new = (AGENT.format("", SEARCH).replace("Help.", each) for each in (words, words[:-3]))

    (said,) = told(old, new)

    assert said.endswith('"… word95 word96 word97 word98" → "… word95 word96 word97 wor"')


def test_the_level_of_a_program_is_the_greatest_and_order_has_none() -> None:
    programs = [
        parse_program(text) for text in ("(a) (b)", "(b) (a)", "(a) (b) (t:Tool)", "(a) (b)")
    ]

    assert level_of(changes(programs[0], programs[0])) is None
    assert level_of(changes(programs[0], programs[1])) is None
    assert level_of(changes(programs[0], programs[2])) == "minor"
    assert level_of(changes(programs[2], programs[3])) == "major"
    assert len(changes((), programs[2])) == 3


REAL = st.sampled_from(sorted(ACCEPTED)).map(lambda name: loads(ACCEPTED[name]))


@given(programs() | gram_texts().map(loads) | REAL, tree_editors())
def test_no_change_of_a_tree_is_silent(old: tuple[object, ...], editor: TreeEditor) -> None:
    new = editor.edit(editor.edit(old))  # type: ignore[arg-type]  # patterns

    assert bool(changes(old, new)) == (old != new)  # type: ignore[arg-type]  # patterns


def test_a_notebook_shows_changes_as_a_table_and_never_takes_them_as_html() -> None:
    old, new = ('[a:Agent {instruction: "x"}]', '[a:Agent {instruction: "<b>y</b>"}]')
    form = changes(parse_program(old), parse_program(new))._repr_mimebundle_()
    none = changes(parse_program(old), parse_program(old))._repr_mimebundle_()

    assert form["text/plain"].startswith("patch agent `a`: ")
    assert "&lt;b&gt;" in form["text/html"]
    assert none["text/plain"] == "nothing has changed"
