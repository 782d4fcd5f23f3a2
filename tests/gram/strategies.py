"""Strategies for texts in gram notation and for edits of trees, beside those of the package."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import attrs
from hypothesis import strategies as st
from pyrsistent import PMap, PVector

from gram import Measurement, Pattern, Range, Subject, Symbol, TaggedString, loads
from gram.strategies import (
    names as names,
    numbers as numbers,
    patterns as patterns,
    subjects as subjects,
    symbols as symbols,
    texts as texts,
    values as values,
)

# --- texts in gram notation
IDENTITIES = ["a", "b", "c", "", "", "x y", "7", "-7", "true"]
LABELS = ["A", "B", "REL", "odd label"]
KEYS = ["k", "j", "i", "odd key"]
SPELLINGS = [
    *("1", "2", "-0", "0x0F", "0xff", "017", "-0xFF", "2.50", "-0.0", "5kg", "2.5kg", "0xFg"),
    *("1..3", "1...", "...2kg", "0x1F..017", "-1.5...", "true", "false", "word", "trueish"),
    *("a.b-c@d", "'it'", "'it\\'s'", '"s"', '"\\"\\/\\b"', "`back`", "``", "tag`x`", "md `x`"),
    *("[]", "{}", '"' + "long " * 9 + '"'),
]
SPELLINGS_WITH_SLASHES = ['"a // b"', "tag `// y`", "'//'"]
BLANKS = ["", "", " ", " ", "\n", "\n  ", "\t", "\f\v"]


class TextMaker:
    """Writes documents in every spelling: odd blanks, and numbered comments in every gap.

    Few names are used, so that they collide.

    Args:
        random: chooses.
        comments: whether there are comments, and ``//`` in strings.
    """

    def __init__(self, random: Random, *, comments: bool = True) -> None:
        self.random = random
        self.line_break = random.choice(["\n", "\n", "\n", "\r\n"])
        self.density = random.choice([0.0, 0.1, 0.4]) if comments else 0.0
        self.spellings = SPELLINGS + SPELLINGS_WITH_SLASHES * comments
        self.comments = comments
        self.count = 0

    def document(self) -> str:
        """A text with up to four patterns, perhaps after a header."""
        items = self.some(self.item, 0, 4)
        if self.chance(0.25):
            items.insert(0, self.record())
        bom = "\ufeff" if self.chance(0.1) else ""
        end = self.comment() if self.comments and self.chance(0.1) else ""
        return bom + self.gap() + self.gap().join(items) + self.gap() + end

    # --- what is between tokens

    def comment(self) -> str:
        self.count += 1
        return f"// {self.count}"

    def gap(self) -> str:
        """Blanks, perhaps with a comment; often nothing."""
        if not self.chance(self.density):
            return self.blanks()
        before = self.random.choice(["", " ", "\n", "\n\n  "]).replace("\n", self.line_break)
        lines = self.line_break * self.random.randint(1, 2)
        return before + self.comment() + lines + self.random.choice(["", "  "])

    def blanks(self) -> str:
        return self.random.choice(BLANKS).replace("\n", self.line_break)

    def spaced(self, *parts: str) -> str:
        """Parts with a gap between each two."""
        text = parts[0]
        for part in parts[1:]:
            text += self.gap() + part
        return text

    def listed(self, parts: list[str]) -> str:
        """Parts with commas between them and gaps around each."""
        return ",".join(self.spaced("", part, "") for part in parts) or self.gap()

    # --- choices

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def some(self, make: Callable[[], str], least: int, most: int) -> list[str]:
        return [make() for _ in range(self.random.randint(least, most))]

    # --- patterns

    def item(self) -> str:
        """A pattern at the top level."""
        if self.chance(0.25):
            return self.annotated()
        return self.bracket(2) if self.chance(0.5) else self.path()

    def annotated(self) -> str:
        def annotation() -> str:
            key, value = self.random.choice(["k", "j", "i"]), self.value(1)
            return self.spaced("@", key, "(", value, ")")

        parts = self.some(annotation, 0, 3)
        if not parts or self.chance(0.4):
            named = self.chance(0.6)
            name = self.identity() if named else ""
            labels = self.labels() if self.chance(0.5) or not named else ""
            parts.insert(0, self.spaced("@@", name + labels))
        parts.append(self.bracket(1) if self.chance(0.5) else self.path())
        # blanks, because `@@a` and `@k` side by side are one symbol
        return (" " + self.gap()).join(parts)

    def bracket(self, depth: int) -> str:
        inside = self.spaced("", self.subject(), "")
        if depth and self.chance(0.8):
            elements = self.some(lambda: self.element(depth - 1), 1, 4)
            return f"[{inside}|{self.listed(elements)}]"
        return f"[{inside}]"

    def element(self, depth: int) -> str:
        if self.chance(0.4):
            return self.identity()
        return self.bracket(depth) if self.chance(0.35) else self.path()

    def path(self) -> str:
        parts = [self.node()]
        for _ in range(self.random.choice([0, 0, 0, 1, 1, 2, 3])):
            parts += [self.arrow(), self.node()]
        return self.spaced(*parts)

    def node(self) -> str:
        return self.spaced("(", self.subject(), ")")

    def arrow(self) -> str:
        line = self.random.choice("--=~")
        tail, head = self.random.choice([("", ">"), ("", ">"), ("<", ""), ("<", ">"), ("", "")])
        subject = ["[", self.subject(), "]"] if self.chance(0.5) else []
        return self.spaced(f"{tail}{line}", *subject, f"{line}{head}")

    # --- subjects and values

    def subject(self) -> str:
        parts = [
            *([self.identity()] if self.chance(0.6) else []),
            *([self.labels()] if self.chance(0.3) else []),
            *([self.record()] if self.chance(0.35) else []),
        ]
        return self.spaced(*parts) if parts else ""

    def identity(self) -> str:
        name = self.random.choice(IDENTITIES)
        return name if name and " " not in name and self.chance(0.9) else f"`{name}`"

    def labels(self) -> str:
        def label() -> str:
            name = self.random.choice(LABELS)
            quoted = f"`{name}`" if " " in name or self.chance(0.1) else name
            return self.spaced(self.random.choice([":", "::"]), quoted)

        return self.spaced(*self.some(label, 1, 2))

    def record(self) -> str:
        entries = self.some(lambda: self.entry(2, self.random.choice([":", "::"])), 0, 3)
        return "{" + self.listed(entries) + "}"

    def entry(self, depth: int, colon: str = ":") -> str:
        key = self.random.choice(KEYS)
        quotes = self.random.choice('"`') if " " in key or self.chance(0.2) else ""
        return self.spaced(f"{quotes}{key}{quotes}", colon, self.value(depth))

    def value(self, depth: int) -> str:
        if depth and self.chance(0.12):
            return f"[{self.listed(self.some(lambda: self.value(depth - 1), 0, 3))}]"
        if depth and self.chance(0.12):
            return "{" + self.listed(self.some(lambda: self.entry(depth - 1), 0, 2)) + "}"
        return self.fence() if self.chance(0.08) else self.random.choice(self.spellings)

    def fence(self) -> str:
        line, slashes = self.line_break, "// no comment" if self.comments else ""
        end = self.random.choice(["", line, f"{line}   "])
        return f"```{self.random.choice(['', 'md', ' md '])}{line}{slashes}{line}`x`.{end}```"


@st.composite
def gram_texts(draw: st.DrawFn, *, comments: bool = True) -> str:
    """Documents in every spelling, with odd blanks and numbered comments.

    One random seed makes a document: drawing each of its choices would cost ten times as much,
    and shrinks little.
    """
    return TextMaker(draw(st.randoms(use_true_random=True)), comments=comments).document()


@st.composite
def spoilt_texts(draw: st.DrawFn, *, comments: bool = True) -> str:
    """Documents with a few pieces cut out, doubled or replaced by a token."""
    text = draw(gram_texts(comments=comments))
    for _ in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 3)))
        piece = draw(st.just("") | tokens() | st.just(text[start:end] * 2))
        text = text[:start] + piece + text[end:]
    return text


@cache
def tokens() -> st.SearchStrategy[str]:
    """Tokens of every kind, and some that only look like one."""
    return st.sampled_from(
        [
            *"()[]{}|,:@=<>-~.",
            *("::", "@@", "..", "...", "-->", "<--", "--", "==>", "<~~", "-[", "]->", "=[", "]=>"),
            *("a", "b", "a.b-c@d", "_", "A", "true", "false", "trueish", "null", "Gram.Walk"),
            *("0", "-1", "42", "007", "08", "0x1F", "0xFg", "-0xFF", "0x", "1.5", "-0.0", "5kg"),
            *("2.5kg", "1..2", "1...", "...2", "1.", ".5", "1e5", "0o7"),
            *('"s"', '"it\'s"', "'s'", "`s s`", '"\\n"', '"\\q"', '"', "'", "`", "``", '""'),
            *("d`1`", "```\nx\n```", "```md\n# x\n```", "```x```", "```", "// c\n", "//", "/"),
            *(" ", "\n", "\r", "\t", "\f", "\v", "\u00a0", "\u2028", "\ufeff", "\0", "é", "“", "#"),
        ]
    )


@cache
def token_texts() -> st.SearchStrategy[str]:
    """Tokens in any order."""
    return st.lists(tokens(), max_size=15).map("".join)


@cache
def any_texts() -> st.SearchStrategy[str]:
    """Texts of any characters, lone surrogates included."""
    return st.text(st.characters(exclude_categories=[]), max_size=30)


# --- edits of trees


class TreeEditor:
    """Edits trees as programs do: one change at a time, anywhere.

    ``removes`` says whether a change took something away.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.removes = False

    def edit(self, trees: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        """The trees after one change."""
        if trees and self.random.random() < 0.1:
            return self.renamed(trees)
        return self.edited_list(trees)

    def renamed(self, trees: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        """All patterns of a name changed alike."""
        name = self.random.choice(IDENTITIES)
        change = self.subject_change()

        def changed(tree: Pattern) -> Pattern:
            value = change(tree.value) if tree.value.identity == name else tree.value
            return attrs.evolve(tree, value=value, elements=map(changed, tree.elements))

        return tuple(map(changed, trees))

    def edited_list(self, trees: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        kind = self.random.random()
        index = self.random.randrange(len(trees) + 1)
        if kind < 0.2 or not trees:
            return (*trees[:index], self.new_pattern(), *trees[index:])
        index = self.random.randrange(len(trees))
        before, tree, after = trees[:index], trees[index], trees[index + 1 :]
        if kind < 0.3:
            self.removes = True
            return (*before, *after)
        if kind < 0.4:
            rest = [*before, *after]
            rest.insert(self.random.randrange(len(rest) + 1), tree)
            return tuple(rest)
        if kind < 0.45:
            return (*before, Pattern(Subject("w"), (tree,)), *after)
        if kind < 0.5:
            self.removes = True
            return (*before, *tree.elements, *after)
        if kind < 0.55:
            self.removes = True
            return (*before, self.new_pattern(), *after)
        if kind < 0.58:
            return trees[::-1]
        return (*before, self.edited(tree), *after)

    def edited(self, tree: Pattern) -> Pattern:
        if self.random.random() < 0.5:
            return attrs.evolve(tree, elements=self.edited_list(tree.elements))
        return attrs.evolve(tree, value=self.subject_change()(tree.value))

    def subject_change(self) -> Callable[[Subject], Subject]:
        kind = self.random.random()
        name = self.random.choice([*IDENTITIES, "new", "true"])
        label = self.random.choice([*LABELS, "NEW"])
        key, value = self.random.choice([*KEYS, "new", "true"]), self.new_value()
        if kind < 0.2:
            self.removes = self.removes or not name
            return lambda old: Subject(name, old.labels, old.properties)
        if kind < 0.4:
            return lambda old: Subject(old.identity, old.labels | {label}, old.properties)
        if kind < 0.5:
            self.removes = True
            return lambda old: Subject(old.identity, old.labels - {label}, old.properties)
        if kind < 0.6:
            self.removes = True
            return lambda old: Subject(old.identity, old.labels, old.properties.discard(key))

        def set_property(old: Subject) -> Subject:
            if isinstance(old.properties.get(key), PMap | PVector):
                self.removes = True  # with the comments inside
            return Subject(old.identity, old.labels, old.properties.set(key, value))

        return set_property

    def new_value(self) -> Any:
        texts = ["it", "a\nb", "it's", "```"]
        plain = [1, 2, 300, 2.5, True, *texts, Symbol("word"), [], [1], {"k": 1}]
        odd = [Measurement(2, "kg"), Range(1, 3), TaggedString("tag", "z"), [1, 2, 3], {"k": [2]}]
        return self.random.choice([*plain, *odd])

    def new_pattern(self) -> Pattern:
        text = TextMaker(self.random, comments=False)
        return self.random.choice(loads(text.item()))


@cache
def tree_editors() -> st.SearchStrategy[TreeEditor]:
    """Editors that make random changes."""
    return st.randoms(use_true_random=True).map(TreeEditor)


@cache
def forests() -> st.SearchStrategy[tuple[Pattern, ...]]:
    """The patterns of a document."""
    return st.lists(patterns(), max_size=4).map(tuple)
