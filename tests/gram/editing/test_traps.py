"""Edits that are easy to get wrong, each with the exact text it gives."""

import pytest

from gram import loads, parse

TRAPS = {
    # --- values
    "the last of two equal keys is the one that counts": (
        "({a: 1, a: 2})", "({a: 3})", "({a: 1, a: 3})"),
    "removing a key removes every occurrence": (
        "({a: 1, b: 3, a: 2})", "({b: 3})", "({b: 3})"),
    "a unit that looks hexadecimal stays a measurement": (
        "({a: -0xFF})", "({a: -0xFA})", "({a: -0xFA})"),
    "hexadecimal keeps its width and upper case": ("({a: 0x0F})", "({a: 10})", "({a: 0x0A})"),
    "hexadecimal keeps its lower case": ("({a: 0x0f})", "({a: 255})", "({a: 0xff})"),
    "octal stays octal": ("({a: 017})", "({a: 8})", "({a: 010})"),
    "a negative number has no hexadecimal": ("({a: 0x0F})", "({a: -1})", "({a: -1})"),
    "single quotes stay single": ("({a: 'x'})", '({a: "it\'s"})', "({a: 'it\\'s'})"),
    "backticks stay backticks": ("({a: `x`})", '({a: "`"})', "({a: `\\``})"),
    "another tag before the same kind of quotes": ("({a: t`x`})", "({a: u`y`})", "({a: u`y`})"),
    "a fence keeps its opening line and its indentation": (
        "({a: ```\nx\n  ```})", '({a: "y\\nz"})', "({a: ```\ny\nz\n  ```})"),
    "three backticks cannot stand in a fence": (
        "({a: ```\nx\n```})", '({a: "a```b\\nc"})', '({a: "a```b\\nc"})'),
    "the end of a fence adds no carriage return": (
        "({a: ```\r\nx\r\n```})\r\n", '({a: "y"})', "({a: ```\r\ny\n```})\r\n"),
    "a carriage return before the end of a fence is text": (
        "({a: ```\r\nx\r\n```})\r\n", '({a: "y\\r"})', "({a: ```\r\ny\r\n```})\r\n"),
    "two slashes in a string are no comment": (
        '({a: "x // y", b: 1})', '({a: "x // y"})', '({a: "x // y"})'),
    "a record with slashes in a string goes like any other": (
        '[x {a: "//"} | y]', "[x | y]", "[x | y]"),
    "an element of an array is added in its place": (
        "({a: [1, 0x02, 3]})", "({a: [1, 2, 4, 3]})", "({a: [1, 0x02, 4, 3]})"),
    "an emptied array stays": ("({a: [1]})", "({a: []})", "({a: []})"),
    "a map inside a map changes one value": (
        "({a: {b: {c: 0x01, d: 2}}})", "({a: {b: {c: 1, d: 3}}})", "({a: {b: {c: 0x01, d: 3}}})"),
    # --- names
    "symbols side by side would be one": (
        "@@`x y`@k(1) (b)", "@@x @k(1) (b)", "@@x @k(1) (b)"),
    "an identity of no characters stays": ("(`` {k: 1})", "({k: 2})", "(`` {k: 2})"),
    "an identity of no characters is renamed": ("(``)", "(a)", "(a)"),
    "a label of no characters stays": ("(a:``)", "(a:``:B)", "(a:``:B)"),
    "a key of no characters stays": ("({``: 1, k: 2})", '({"": 1, k: 3})', "({``: 1, k: 3})"),
    "a reference of no characters stays": ("[x | ``, b]", "[x | (), c]", "[x | ``, c]"),
    "a reference of no characters gains a name": ("[x | ``]", "[x | a]", "[x | a]"),
    "a new label follows the colons of the others": ("(a::B)", "(a:B:C)", "(a::B::C)"),
    "a label goes to its place among sorted ones": ("(a:A:C)", "(a:A:B:C)", "(a:A:B:C)"),
    "a new key stands in the sorted run at the end": (
        "({z: 1, a: 1, c: 1})", "({z: 1, a: 1, b: 1, c: 1})", "({z: 1, a: 1, b: 1, c: 1})"),
    # --- headers
    "a header pushed down becomes a node": (
        "{k: 0x0F}\n(b)", "(n) ({k: 15}) (b)", "(n)\n({k: 0x0F})\n(b)"),
    "a header that is named becomes a node": ("{k: 0x0F}", "(a {k: 15})", "(a {k: 0x0F})"),
    "a header that gains elements becomes a bracket": (
        "{k: 0x0F}", "[{k: 15} | a]", "[{k: 0x0F} | a]"),
    "an emptied header stays a header": ("{k: 1}\n(a)", "() (a)", "{}\n(a)"),
    # --- annotations
    "an item does not begin with a removed annotation's comment": (
        "@k(1) // c\n@j(2) (x)", "@j(2) (x)", "@j(2) (x)"),
    "a key that is no symbol makes a bracket of annotations": (
        "@k(0x0F) @j(`v`) (x)",
        '[{"odd key": 15, j: "v"} | (x)]',
        '[{j: `v`, "odd key": 15} | (x)]'),
    "annotations without any left are a bracket": ("@k(1) (x)", "[ | (x)]", "[ | (x)]"),
    "a bracket collects the comments of annotations": (
        "@k(1) // c\n@j(2) (x)",
        '[{k: 1, j: 2, "odd key": 3} | (x)]',
        '[{k: 1, j: 2, "odd key": 3} | (x) // c\n]'),
    "annotations with a name of no characters stay": ("@@`` (x)", "[ | (y)]", "@@`` (y)"),
    "annotations gain a name": ("@k(1) (x)", "@@a:L @k(1) (x)", "@@a:L @k(1) (x)"),
    "labels without a name keep the blanks before them": (
        "@@ : A @k(1) (x)", "@@:A @k(2) (x)", "@@ : A @k(2) (x)"),
    "annotations lose their name": ("@@a:L @k(1) (x)", "@@:L @k(1) (x)", "@@:L @k(1) (x)"),
    # --- paths
    "the same node twice is two nodes": ("(a)-->(a)", "(a)-->(b)", "(a)-->(b)"),
    "swapped ends turn the arrow": ("(a {k: 0x1})-->(b)", "(b)-->(a {k: 1})", "(a {k: 0x1})<--(b)"),
    "swapped ends of a line swap the nodes": (
        "(a {k: 0x1})--(b)", "(b)-->(a {k: 1})", "(b)--(a {k: 0x1})"),
    "a node renamed like the other keeps its comment": (
        "(a)-->(b // c\n)", "(a)-->(a)", "(a)-->(a // c\n)"),
    "an arrow gains a subject before its comment": (
        "(a)-// c\n->(b)", "(a)-[r]->(b)", "(a)-[r]// c\n->(b)"),
    "an arrow loses its subject and brackets": ("(a)-[r]->(b)", "(a)-->(b)", "(a)-->(b)"),
    "an arrow keeps its brackets for a comment": (
        "(a)-[r // c\n]->(b)", "(a)-->(b)", "(a)-[ // c\n]->(b)"),
    "a walk of one edge is no path": (
        "(a)==>(b)-->(c)",
        "[:Gram.Walk | (a)-->(b)]",
        "[:Gram.Walk | (a)==>(b)]"),
    "a walk whose hops part is a list of slices": (
        "(a)==>(b)~~>(c)",
        "[:Gram.Walk | (a)-->(b), (x)-->(y)]",
        "[:Gram.Walk | (a)==>(b), (x)~~>(y)]"),
    "a walk grows by a hop": (
        "(a)==>(b)<~~(c)", "(a)-->(b)<--(c)-->(d)", "(a)==>(b)<~~(c)-->(d)"),
    "an arrow that grows into a walk keeps its bytes": (
        "[w | a,  (a)==>(b {k: 0x1}), q]",
        "[w | a, (a)-->(b {k: 1})-->(c), q]",
        "[w | a,  (a)==>(b {k: 0x1})-->(c), q]"),
    "an arrow that grows at its start is a walk": (
        "[w | (a)<==(b), q]", "[w | (c)-->(b)-->(a), q]", "[w | (c)-->(b)==>(a), q]"),
    "of a key that is given twice the last changes, and so may the keys between": (
        "(a {j: 1, k: 2, j: 3})", "(a {j: 4, k: 5})", "(a {j: 1, k: 5, j: 4})"),
    "arrows that all grow are walks": (
        "[w |\n  (a)==>(b), // ab\n  (c {k: 0x1})-->(d) // cd\n]",
        "[w | (a)-->(b)-->(x), (y)-->(c {k: 1})-->(d)]",
        "[w |\n  (a)==>(b)-->(x), // ab\n  (y)-->(c {k: 0x1})-->(d) // cd\n]"),
    "arrows that are joined are one walk": (
        "[w | (a)==>(b), (b)~~>(c), q]", "[w | (a)-->(b)-->(c), q]", "[w | (a)==>(b)~~>(c), q]"),
    "a walk that gives one hop away and takes another is a walk": (
        "[w | (a)==>(b)~~>(c), (x)==>(y)]", "[w | (a)-->(b), (b)-->(c)-->(x)-->(y)]",
        "[w | (a)==>(b), (b)~~>(c)-->(x)==>(y)]"),
    "a walk loses its first hop": ("(a)-->(b)==>(c)~~>(d)", "(b)-->(c)-->(d)", "(b)==>(c)~~>(d)"),
    "an edge with a third end is a bracket": (
        "(a {k: 0x1})-[:R]->(b)", "[:R | (a {k: 1}), (b), (c)]", "[:R | (a {k: 0x1}), (b), c]"),
    # --- elements
    "a node with a comment gains elements": ("(a // c\n)", "[a | b]", "[a | b // c\n]"),
    "a reference that gains a label is a node": ("[x | a]", "[x | (a:L)]", "[x | (a:L)]"),
    "the comment after a comma belongs to what is before it": (
        "[x | a, // first\n b]", "[x | b]", "[x | b]"),
    "the comma goes before the comment of what was last": (
        "[x |\n  a // first\n]", "[x | a, b]", "[x |\n  a, // first\n  b\n]"),
    "what becomes last loses its comma, not its comment": (
        "[x |\n  a, // first\n  b\n]", "[x | a]", "[x |\n  a // first\n]"),
    "a comment before the comma of what becomes last stays": (
        "[x | a // c\n , b]", "[x | a]", "[x | a // c\n ]"),
    "equal neighbours: one goes": ("[x | a, a, a]", "[x | a, a]", "[x | a, a]"),
    "equal neighbours: the middle one changes": (
        "[x | a,  a,   a]", "[x | a, b, a]", "[x | a,  b,   a]"),
    "a new element stands on its own line as the others do": (
        "[x |\n  a\n]", "[x | a, b]", "[x |\n  a,\n  b\n]"),
    "an equal pattern elsewhere does not take the text of what is renamed around it": (
        '[a:A {k: "one two"} | (x::T {n: 0x0F}), (y)]',
        '[b:A {k: "one two"} | (x:T {n: 15}), (y)] (x:T {n: 15})',
        '[b:A {k: "one two"} | (x::T {n: 0x0F}), (y)]\n(x:T {n: 15})'),
    "an element moves with its comments": (
        "[x |\n  // about a\n  a, // one\n  b\n]",
        "[x | b, a]",
        "[x |\n  b,\n  // about a\n  a // one\n]"),
    "a removed element takes the comments above it, not those a blank line cuts off": (
        "[x |\n  // section\n\n  // about a\n  a,\n  b\n]",
        "[x | b]",
        "[x |\n  // section\n\n  b\n]"),
    "emptied elements take the bar": ("[x | a ]", "[x]", "[x]"),
    "an emptied record goes": ("(a {k: 1})", "(a)", "(a)"),
    "a record that was empty stays": ("(a {})", "(b)", "(b {})"),
    "an emptied record stays for a comment": ("({ // c\n k: 1})", "()", "({ // c\n})"),
    "what is wrapped keeps its text": (
        "[x {n: 0x0F} | a] // c", "[w | [x {n: 15} | a]]", "[w | [x {n: 0x0F} | a]] // c"),
    "what is unwrapped keeps its text": (
        "[w | [x {n: 0x0F} | a]] // c", "[x {n: 15} | a]", "[x {n: 0x0F} | a] // c"),
    "a node that left its path is not in it too": (
        "(b // 1\n)-->(c)", "(b) (b {j: 1})-->(d)", "(b // 1\n)\n[ | (b {j: 1}), d]"),
    "what is wrapped beside its equal keeps its own text": (
        "[r | (a // 1\n), (a // 2\n)]", "[r | a, [w | a]]", "[r | (a // 1\n), [w | (a // 2\n)]]"),
    "what is like another takes no text of it": (
        "[r | [a:L | (x // 1\n)]]", "[r | [a:L | x], [b:L | x]]",
        "[r | [a:L | (x // 1\n)], [b:L | x]]"),
    "of two that may be the one that is gone, neither is": (
        "[r | (a {k: 1}) // a\n]",
        "[r | (n {k: 2}), (b {k: 1})]",
        "[r | (n {k: 2}), (b {k: 1})\n]"),
    "what moves to another list brings its comments": (
        "[r |\n  // above\n  (a {k: 1}), // after\n  b\n]\n[s]",
        "[r | b] [s | (a {k: 1})]",
        "[r |\n  b\n]\n[s |\n// above\n(a {k: 1}) // after\n]"),
    "a definition that becomes a reference leaves its comments": (
        "[r |\n  (u:L // in\n  ) // after\n]", "[r | u]", "[r |\n  // in\n  u // after\n]"),
    "what is wrapped keeps its text, dead values too": (
        "{k: {a: 1}, k: 2}", "[w | ({k: 2})]", "[w | ({k: {a: 1}, k: 2})]"),
    "elements spliced into their parent's place keep their text": (
        "[x | [y | (a {k: 0x1}), b], c]",
        "[x | (a {k: 1}), b, c]",
        "[x | (a {k: 0x1}), b, c]"),
    "two nodes joined by an edge keep their text": (
        "(a // 1\n) (b {k: 0x1})", "(a)-->(b {k: 1})", "(a // 1\n)-->(b {k: 0x1})"),
    # --- the top level
    "a comment at the end of a file belongs to the item on its line": (
        "(a) // c", "(a) (b)", "(a) // c\n(b)"),
    "a new item stands before the comments at the end": (
        "(a) // a\n// end", "(a) (b)", "(a) // a\n(b)\n// end"),
    "the first comments of a file stay": (
        "// licence\n\n// about a\n(a) // c\n(b)\n", "(b)", "// licence\n\n// about a\n(b)\n"),
    "a new first item stands after the comments about the file": (
        "// licence\n\n(a)\n", "(n) (a)", "// licence\n\n(n)\n(a)\n"),
    "a new first item stands above the comments of the old one": (
        "// licence\n\n// about a\n(a)\n", "(n) (a)",
        "// licence\n\n(n)\n// about a\n(a)\n"),
    "a new first item of a file stands above the comments of the old one": (
        "// about a\r\n(a)\r\n", "(n) (a)", "(n)\r\n// about a\r\n(a)\r\n"),
    "a first item that moves takes the comments above it along": (
        "// file\n\n// about a\n(a) // a\n// about b\n(b)\n", "(b) (a)",
        "// file\n\n// about b\n(b)\n// about a\n(a) // a\n"),
    "a removed item takes the comments above it": (
        "(a)\n\n// about b\n(b) // b\n\n(c)\n", "(a) (c)", "(a)\n\n(c)\n"),
    "line breaks are those of the file": (
        "\ufeff(a) // a\r\n// end", "(a) (b)", "\ufeff(a) // a\r\n(b)\r\n// end"),
    "a byte order mark stays first": ("\ufeff(a)", "(n) (a)", "\ufeff(n)\n(a)"),
    "a file of comments gains an item": ("// c\n", "(a)", "// c\n(a)\n"),
    "a file of one unfinished comment gains an item": ("// c", "(a)", "// c\n(a)"),
    "items side by side can be swapped": ("(a)(b)", "(b) (a)", "(b)\n(a)"),
    "a part of a path that looks like a pattern around it does not become it": (
        "()[|[{j:1}|(a)-[{k:0}]-()--(),``],``][{j:g}|``,[|()]]",
        "() [| [{j: 2} | (a)-[{k: 0}]-()--(), ``], ``] [{j:g}|``,[|()]]",
        "()[|[{j:2}|(a)-[{k:0}]-()--(),``],``][{j:g}|``,[|()]]"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "trees", "new"), TRAPS.values(), ids=TRAPS.keys())
def test_trap(old: str, trees: str, new: str) -> None:
    document = parse(old)

    edited = document.replace(loads(trees))

    assert edited.text == new
    assert loads(edited.text) == loads(trees)
    assert edited.rescued == ()
    assert edited.replace(loads(old)).text == old


def test_additions_commute_in_any_order_of_keys() -> None:
    """Two additions give the same text whichever is made first."""
    document = parse("({z: 1, b: 2, d: 3})")

    both = document.replace(loads("({z: 1, b: 2, d: 3, a: 4, c: 5})")).text
    first_a = document.replace(loads("({z: 1, b: 2, d: 3, a: 4})"))
    first_c = document.replace(loads("({z: 1, b: 2, d: 3, c: 5})"))

    assert parse(first_a.text).replace(loads(both)).text == both
    assert parse(first_c.text).replace(loads(both)).text == both
