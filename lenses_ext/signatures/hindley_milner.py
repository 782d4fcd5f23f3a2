"""Reads the text form of a signature, ``(name: Text, age: Maybe Int) --> IO Text``."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from gram import Fault, Source, Span

from .errors import SignatureError
from .type_names import ANY, basic, haskell_type, unknown_type
from .values import Parameter, Type, TypeSignature

_MAX_LEVELS = 100
_TOKEN = re.compile(r"\s*(-->|==>|~~>|[A-Za-z_][\w.@]*|`[^`\n]*`|\S|$)", re.ASCII)
_SKIPPED = re.compile(
    r"```[^`]*(?:`{1,2}(?!`)[^`]*)*```"
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\\n]|\\.)*`|//[^\n]*'
)
_ARROW = re.compile(r"\s*(?:-->|==>|~~>)\s*")


def is_hindley_milner(text: str) -> bool:
    """Whether a signature is in the text form: no node after its first arrow, or a comma between
    its first parentheses.

    >>> is_hindley_milner("(name: Text) --> IO Text")
    True
    >>> is_hindley_milner("(name: Text)==>(::String)")
    False
    """
    opening = len(text) - len(text.lstrip())
    if not text.startswith("(", opening):
        return False
    level, at = 0, opening
    while at < len(text):
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
            continue
        char = text[at]
        level += (char in "([{") - (char in ")]}")
        at += 1
        if char == "," and level == 1:
            return True
        if level == 0:
            break
    arrow = _ARROW.match(text, at)
    return arrow is not None and not text.startswith("(", arrow.end()) and arrow.end() < len(text)


def parse_hindley_milner(text: str) -> TypeSignature:
    """The signature that a text in this form says.

    Raises:
        SignatureError: it is not of this form, with the place where it stops to be; or it names
            parameters twice or not at all.

    >>> parse_hindley_milner("(age: Maybe Int) --> IO Text").parameters[0].optional
    True
    """
    parser = _Parser(text)
    signature = parser.signature()
    if parser.faults:
        raise SignatureError(parser.faults)
    return signature


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        return bool(self.text) and (self.text[0].isalpha() or self.text[0] in "_`")


class _Parser:
    """Recursive descent, one method for each rule."""

    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.faults: list[Fault] = []
        self._tokens = [_Token(m[1], m.start(1), m.end(1)) for m in _TOKEN.finditer(text)]
        self._at = 0
        self._level = 0
        self._owner = "the return type"

    # signature = "(" [parameter {"," parameter}] ")" arrow ["IO"] type
    def signature(self) -> TypeSignature:
        self._take("(")
        parameters = self._members("parameter", ")")
        if self._token.text not in ("-->", "==>", "~~>"):
            self._stop("-->")
        self._at += 1
        if self._token.text == "IO":
            self._at += 1
        self._owner = "the return type"
        returns, optional = self._maybe()
        if self._token.text:
            self._stop("the end of the text")
        return TypeSignature(
            parameters, Parameter(None, _or_null(returns) if optional else returns)
        )

    # member = name ":" type
    def _members(self, role: str, closer: str) -> tuple[Parameter, ...]:
        members: list[Parameter] = []
        first: dict[str, _Token] = {}
        while self._token.text != closer:
            name = self._token
            if not (name.is_name and self._tokens[self._at + 1].text.startswith(":")):
                members.append(self._nameless(role, len(members) + 1))
            else:
                self._at += 1
                while self._token.text == ":":
                    self._at += 1
                spelled = name.text.strip("`")
                self._owner = f'{role} "{spelled}"'
                type, optional = self._maybe()
                members.append(Parameter(spelled, type, True if optional else None))
                self._once(role, spelled, name, first)
            if self._token.text == ",":
                self._at += 1
                if self._token.text == closer:
                    self._stop(f"a {role}")
            elif self._token.text != closer:
                self._stop(f'"," or "{closer}"')
        self._take(closer)
        return tuple(members)

    def _nameless(self, role: str, index: int) -> Parameter:
        start = self._token
        type, optional = self._maybe()
        written = self.source.text[start.start : self._tokens[self._at - 1].end]
        self._tell(
            "no-name",
            f"{role} {index} has a type ({written}) but no name: "
            f'write (name::{written}) or (::{written} {{paramName:"…"}})',
            start,
        )
        return Parameter(f"{role} {index}", type, True if optional else None)

    def _once(self, role: str, spelled: str, name: _Token, first: dict[str, _Token]) -> None:
        if spelled in first:
            places = f"{self._place(first[spelled])} and {self._place(name)}"
            self._tell(f"duplicate-{role}", f'{role} "{spelled}" is given twice ({places})', name)
        first.setdefault(spelled, name)

    # type = "Maybe" atom | atom
    def _maybe(self) -> tuple[Type, bool]:
        """A type, and whether it stands after ``Maybe``."""
        if self._token.text != "Maybe":
            return self._atom()
        self._at += 1
        return self._atom()[0], True

    # atom = basic | "[" type "]" | "{" [member {"," member}] "}" | "(" type ")"
    def _atom(self) -> tuple[Type, bool]:
        self._level += 1
        if self._level > _MAX_LEVELS:
            self._stop(f"at most {_MAX_LEVELS} levels of nesting")
        token, optional = self._token, False
        self._at += 1
        match token.text:
            case "[":
                type = self._array()
            case "{":
                type = Type(frozenset({"Object"}), members=self._members("field", "}"))
            case "(":
                type, optional = self._maybe()
                self._take(")")
            case "IO":
                self._at -= 1
                self._tell("haskell-type", self._haskell(token), token)
                self._at += 1
                type, optional = self._atom()
            case _ if token.is_name:
                type = self._named(token)
            case _:
                self._at -= 1
                self._stop("a type")
        self._level -= 1
        return type, optional

    def _array(self) -> Type:
        item, optional = self._maybe()
        self._take("]")
        if optional:
            item = _or_null(item)
        if _is_name(item):
            (label,) = item.labels
            return Type(frozenset({"Array"}), element_type=label)
        return Type(frozenset({"Array"}), members=(Parameter(None, item),))

    def _named(self, token: _Token) -> Type:
        name = token.text.strip("`")
        if basic(name) is None and name != ANY:
            self._tell("unknown-type", unknown_type(name, self._owner), token)
            name = ANY
        return Type(frozenset({name}))

    def _haskell(self, token: _Token) -> str:
        argument = self._tokens[min(self._at + 1, len(self._tokens) - 1)].text
        return haskell_type(f"IO {argument}") or ""

    # --- tokens and faults

    @property
    def _token(self) -> _Token:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _take(self, text: str) -> None:
        if self._token.text != text:
            self._stop(f'"{text}"')
        self._at += 1

    def _stop(self, expected: str) -> NoReturn:
        """End reading: nothing after this place can be understood."""
        found = f'"{self._token.text}"' if self._token.text else "end of the text"
        message = (
            f"type signature is not valid: expected {expected}, "
            f"found {found} at {self._place(self._token)}"
        )
        self._tell("not-gram", message, self._token)
        raise SignatureError(self.faults)

    def _tell(self, code: str, message: str, token: _Token) -> None:
        span = Span(token.start, token.end)
        self.faults.append(Fault(code, "error", message, (), span, None, self.source))

    def _place(self, token: _Token) -> str:
        return self.source.line_and_column(token.start)


def _is_name(type: Type) -> bool:
    """Whether a type is said by its label alone."""
    return type == Type(type.labels) and len(type.labels) == 1


def _or_null(type: Type) -> Type:
    """Either a type or null."""
    if _is_name(type):
        return Type(frozenset({"AnyOf"}), of=(*type.labels, "Null"))
    null = Type(frozenset({"Null"}))
    return Type(frozenset({"AnyOf"}), members=(Parameter(None, type), Parameter(None, null)))
