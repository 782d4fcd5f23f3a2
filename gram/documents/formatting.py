"""One layout for every text, ``gram fmt``; and that of what an edit has put into one.

What is short is written on one line. What is long is broken from the outside in:

- A record or map that does not fit, or was several lines, has its properties one to a line,
  indented by 2, and its ``}`` on another line. So has an array that does not fit.
- A bracket that does not fit on one line has its elements one to a line, indented by 2 from the
  bracket. Its ``]`` is on another line, or directly after a single element that takes
  one line.
- A path that does not fit has each further hop on another line, indented by 2, the arrow
  first. When a node or arrow does not fit there either, the hops stay together and the records
  in them are broken.
- Annotations are on the line of their pattern when all of it is one line and was one; else each
  has a line above the pattern.
- A line has `WIDTH` columns. The closers, comma and ``|`` that end it may hang past them, so may
  a comment, and so does what cannot be broken: strings never are.

Every top-level pattern begins a line. A run of empty lines between patterns, properties or
elements becomes one; elsewhere there are none. A comment on a line of its own stays above what
it precedes, indented with it; one at the end of a line stays there (a comma or ``|`` goes before
it).

Only the layout changes. The order of keys, the kinds of arrows, ``:`` and ``::``, the spelling
of numbers, quotes and fences stay as written, so the trees and the comments stay the same, and a
text in this layout is not changed. A byte order mark stays; line breaks follow the first of the
text, except inside a fence, where they are content.

A group is a construct that is written on one line, or with each part on another line: a record,
a map, an array, a bracket with elements, a path, a pattern with its annotations. A joint is what
is before a token; a token that begins no part is set tight against the one before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, TypeAlias

from attrs import define

from ..diagnostics import Edit, with_edits
from ..errors import expect
from ..reading import Construct, Item, lexer, syntax, tokens
from ..source import BOM, Span
from ..trees import TreePath
from .document import Document, parse

INDENT = 2

Mode: TypeAlias = Literal["broken", "inner"]
"""``broken``: its parts on lines of their own. ``inner``: its parts follow one another, and the
groups inside decide for themselves."""

Role: TypeAlias = Literal["tight", "open", "between", "close", "hop", "part", "top"]


@define(eq=False)
class Group:
    """A construct that may be broken into lines.

    Attributes:
        end: the number of the token after its last.
        is_path: whether its parts are the hops of a path.
        keeps_lines: it was several lines and stays so, whether or not it fits on one.
        may_hug: whether its closer may be directly after the part before it.
        mode: how it is written, once that is decided; None while it may be one line.
        indent: the indentation of the line it begins on.
        inner: the indentation of what begins inside it now.
        opened_on: the number of the line that its first part begins on.
    """

    end: int
    is_path: bool = False
    keeps_lines: bool = False
    may_hug: bool = False
    mode: Mode | None = None
    indent: int = 0
    inner: int = 0
    opened_on: int = 0


@define(eq=False)
class Joint:
    """A token, and what is before it.

    Attributes:
        spelling: the text of the token.
        trivia: the blanks and comments before it.
        role: which part of a group the token begins.
        flat: what is written before it when the line is not broken.
        around: the group that may be broken before it, or None.
        begins: the group that begins with it, or None.
    """

    spelling: str
    trivia: lexer.Trivia
    role: Role = "tight"
    flat: str = ""
    around: Group | None = None
    begins: Group | None = None


class Layout:
    """The tokens of one top-level pattern, with the groups and joints.

    Args:
        text: the text that it is in.
        item: its construct.
        before: where the trivia before it begins.

    Attributes:
        joints: the tokens; trivia before a comma or bar count as after it.
    """

    def __init__(self, text: str, item: Item, before: int) -> None:
        self.joints: list[Joint] = []
        self._text, self._starts = text, list[int]()
        moved = ""
        for token in tokens(text, item.start, item.end):
            gap, spelling = moved + text[before : token.start], text[token.start : token.end]
            moved = gap if spelling in (",", "|") else ""
            self.joints.append(Joint(spelling, lexer.read_trivia("" if moved else gap)))
            self._starts.append(token.start)
            before = token.end
        self.joints.pop()  # the end
        pending: list[syntax.Extent] = [item]
        while pending:
            part = pending.pop()
            self._add(part)
            pending += part.children
        self._join(item, "top")

    def _add(self, part: syntax.Extent) -> None:
        """Note the group that a construct is, and its joints."""
        match part:
            case syntax.Record(entries=members) | syntax.Map(entries=members):
                for entry in members:
                    self._join(entry.value, flat=" ")
                self._list(part, members, "")
            case syntax.Array(items=items):
                self._list(part, items, "")
            case syntax.Bracket(bar=int(bar), elements=elements):
                self.joints[self._at(bar)].flat = " "
                self._list(part, elements, " ")
            case syntax.SubjectPart(record=syntax.Record() as record) if part.start < record.start:
                self._join(record, flat=" ")
            case syntax.Path(arrows=arrows):
                group = self._begin(part)
                for arrow in arrows:
                    self._join(arrow, "hop", "", group)
            case syntax.Annotated(annotations=annotations, body=body):
                group = self._begin(part)
                for each in (*annotations[part.identified is None :], body):
                    self._join(each, "part", " ", group)

    def _list(self, whole: syntax.Extent, members: Sequence[syntax.Extent], opening: str) -> None:
        """A group of members with commas between them, ``opening`` before the first."""
        if members:
            group = self._begin(whole)
            group.may_hug = isinstance(whole, syntax.Bracket) and len(members) == 1
            for member in members:
                self._join(member, "between", " ", group)
            self._join(members[0], "open", opening, group)
            closer = self.joints[group.end - 1]
            closer.role, closer.around = "close", group

    def _begin(self, whole: syntax.Extent) -> Group:
        """Begin a group; entries and annotations keep their lines if these are several."""
        end = self._at(whole.end)
        several = "\n" in self._text[whole.start : self._starts[end - 1]]
        keeps_lines = isinstance(whole, syntax.Record | syntax.Map | syntax.Annotated)
        group = Group(end, isinstance(whole, syntax.Path), keeps_lines and several)
        self.joints[self._at(whole.start)].begins = group
        return group

    def _join(
        self, part: syntax.Extent, role: Role = "tight", flat: str = "", around: Group | None = None
    ) -> None:
        joint = self.joints[self._at(part.start)]
        joint.role, joint.flat, joint.around = role, flat, around

    def _at(self, offset: int) -> int:
        """The number of the first token from an offset on."""
        return bisect_left(self._starts, offset)


WIDTH = 100

_CLOSERS = {")", "]", "}"}
_HANGING = {*_CLOSERS, ",", "|"}


def format_text(text: str, filename: str | None = None) -> str:
    """The text in the one layout: the same trees, the same comments.

    Args:
        text: gram notation.
        filename: the name that errors cite.

    Raises:
        GramDecodeError: the text is not gram.

    >>> print(format_text("[ a:Agent{model:'x'}|// why\\nb ]( c )"), end="")
    [a:Agent {model: 'x'} | // why
      b]
    (c)
    """
    expect(text, str, "text", by="format_text")
    return Formatter(parse(text, filename)).formatted()


class Formatter:
    """Writes one top-level pattern after another, so that little is held at a time.

    It goes over the tokens of a pattern once, and decides of each group how it is written where
    that begins.

    Args:
        document: what is written.
        indent: how far it is indented, as if it were part of something.
        breaks: the line break; by default that of the text.
    """

    def __init__(self, document: Document, indent: int = 0, breaks: str | None = None) -> None:
        self.document = document
        self.indent = indent
        self.written = [BOM] if document.text.startswith(BOM) else []
        self.line_break = breaks or lexer.line_break(document.text)
        self.column = 0
        self.begins_line = True
        self.line = 0
        self.open: list[Group] = []

    def formatted(self) -> str:
        """The whole text."""
        text = self.document.text
        before = lexer.text_start(text)
        for item in self.document.items:
            self.joints = Layout(text, item, before).joints
            self._write_tokens()
            before = item.end
        self._write_trivia(lexer.read_trivia(text[before:]), "top", 0)
        if self._has_text():
            self.written.append(self.line_break)
        return "".join(self.written)

    def _write_tokens(self) -> None:
        index = 0
        while index < len(self.joints):
            while self.open and self.open[-1].end <= index:
                self.open.pop()
            joint = self.joints[index]
            self._write_joint(joint)
            text, end = joint.spelling, index + 1
            if joint.begins and self._enter(joint.begins, index):
                end = joint.begins.end
                rest = self.joints[index + 1 : end]
                text += "".join([each.flat + each.spelling for each in rest])
            self._write(text)
            index = end
        self.open.clear()

    def _enter(self, group: Group, index: int) -> bool:
        """Whether a group that begins here fits on this line; one that does not is entered."""
        if not group.keeps_lines and self._fits(group, index):
            return True
        indent = self.open[-1].inner if self.open else self.indent
        group.indent = group.inner = self.column if self.begins_line else indent
        stays = group.is_path and not self._fits(group, index, by_hops=True)
        group.mode = "inner" if stays else "broken"
        self.open.append(group)
        return False

    def _fits(self, group: Group, first: int, *, by_hops: bool = False) -> bool:
        """Whether a group, all on one line from here, stays within the width.

        What follows it on the same line counts too, up to where the line can be broken.
        ``by_hops`` breaks the line before each arrow.
        """
        column = self.column
        for index in range(first, len(self.joints)):
            joint = self.joints[index]
            has_comment = index > first and bool(joint.trivia.comments)
            if index >= group.end:
                if has_comment or (joint.around is not None and joint.around.mode != "inner"):
                    return True  # the line may end before it
            elif (
                has_comment
                or "\n" in joint.spelling
                or (joint.begins is not None and joint.begins.keeps_lines)
            ):
                return False  # there is a line break anyway
            if by_hops and joint.around is group:
                column = group.indent + INDENT
            elif index > first:
                column += len(joint.flat)
            column += len(joint.spelling)
            if column > WIDTH and joint.spelling not in _HANGING:
                return False
        return True

    def _write_joint(self, joint: Joint) -> None:
        trivia, role, group = joint.trivia, joint.role, joint.around
        closes = joint.spelling in _CLOSERS
        broken = role == "top"
        indent = self.open[-1].inner if self.open else self.indent
        if group and group.mode == "broken":
            hugs = role == "close" and group.may_hug and self.line == group.opened_on
            broken = not hugs
            indent = group.inner = group.indent + (0 if role in ("close", "part") else INDENT)
        elif role != "top" and not closes:
            indent += INDENT
        self._write_trivia(trivia, role, indent + (INDENT if closes else 0))
        if broken or trivia.comments:
            may_be_blank = role in ("between", "top") or (role == "open" and trivia.comments)
            self._break_line(indent, blank=trivia.ends_blank and bool(may_be_blank))
        else:
            self._write(joint.flat)
        if role == "open" and group:
            group.opened_on = self.line

    def _write_trivia(self, trivia: lexer.Trivia, role: Role, indent: int) -> None:
        for number, comment in enumerate(trivia.comments):
            if comment.own_line or not self._has_text():
                blank = role in ("between", "top", "close") or (role == "open" and number > 0)
                self._break_line(indent, blank=comment.after_blank and blank)
            else:
                self._write(" ")
            self._write(comment.text)

    # --- text

    def _has_text(self) -> bool:
        return self.written not in ([], [BOM])

    def _write(self, text: str) -> None:
        self.written.append(text)
        breaks = text.count("\n")
        self.line += breaks
        self.column = len(text) - text.rindex("\n") - 1 if breaks else self.column + len(text)
        self.begins_line = False

    def _break_line(self, indent: int, *, blank: bool) -> None:
        if self._has_text():
            self.written.append(self.line_break * (2 if blank else 1))
            self.line += 1
        self.written.append(" " * indent)
        self.column = indent
        self.begins_line = True


_BLANKS: Final = " \t"


def format_changes(document: Document) -> str:
    """The text of an edited document, with new patterns that are too long broken into lines.

    Every pattern that `Document.replace` put in, and that does not fit on its line, is written as
    `format_text` would write it there. No other byte differs from ``document.text``, but for blanks
    before such a pattern.

    Args:
        document: what `Document.replace` gave; the text of any other stays as it is.

    >>> from gram import Pattern, loads_one, parse
    >>> document = parse("[a |   x ]")
    >>> (old,) = document.patterns
    >>> new = loads_one(f"[tool {{text: '{'x' * 75}'}} | (a)-->(b)]")
    >>> print(format_changes(document.replace([Pattern(old.value, (*old.elements, new))])))
    [a |   x,
      [tool {text: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'} |
        (a)-->(b)] ]
    """
    text = document.text
    added = [each.path for each in document.changed_since() if each.old is None]
    if not added:
        return text
    read = parse(text, document.filename)
    edits: list[Edit] = []
    for _, paths in groupby(enumerate(added), lambda each: (each[1][:-1], each[1][-1] - each[0])):
        edits += _broken(text, read.items, [path for _, path in paths])
    new = with_edits(text, edits)
    return new if parse(new).patterns == read.patterns else text


def _broken(text: str, items: Sequence[Item], paths: Sequence[TreePath]) -> Iterator[Edit]:
    """New patterns beside each other, each with the blanks before it where it begins a line."""
    breaks = lexer.line_break(text)
    around: Construct | None = None
    beside: Sequence[Construct] = items
    for index in paths[0][:-1]:
        around = beside[index]
        beside = around.elements
        if not isinstance(around, syntax.Bracket):
            return  # a path is not broken here
    new = beside[paths[0][-1] : paths[-1][-1] + 1]
    if all(_fits(text, each) for each in new):
        return
    line = text[text.rfind("\n", 0, around.start) + 1 :] if around else ""
    outside = len(line) - len(line.lstrip(_BLANKS))
    for each in new:
        before = len(text[: each.start].rstrip(_BLANKS))
        if before == 0 or text[before - 1] == "\n":
            start, indent, lead = each.start, each.start - before, ""
        else:
            indent = outside + INDENT if around else 0
            start, lead = before, breaks + " " * indent
        laid_out = text[each.start : each.end]
        if not isinstance(each, syntax.Reference):
            laid_out = Formatter(parse(laid_out), indent, breaks).formatted().strip()
        yield Edit(Span(start, each.end), lead + laid_out)
    is_all = around is not None and len(new) == len(around.elements)
    if is_all and text.startswith("]", new[-1].end) and (len(new) > 1 or "\n" in laid_out):
        yield Edit(Span(new[-1].end, new[-1].end), breaks + " " * outside)


def _fits(text: str, construct: Construct) -> bool:
    """Whether a construct is on one line, and that is not too long."""
    start = text.rfind("\n", 0, construct.start) + 1
    line = text[start : construct.end]
    return "\n" not in line and len(line) <= WIDTH
