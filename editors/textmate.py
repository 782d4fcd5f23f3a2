#!/usr/bin/env python3
"""Writes the TextMate grammar of gram, made from the terminals of ``gram/grammar.lark``.

VS Code reads it, and whatever else reads TextMate grammars. Run it after a change of the grammar:

    .venv/bin/python editors/textmate.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gram.grammar import terminal

FILE = Path(__file__).with_name("vscode") / "syntaxes" / "gram.tmLanguage.json"
EMBEDDED = {
    "json": "source.json",
    "markdown": "text.html.markdown",
    "md": "text.html.markdown",
    "python": "source.python",
    "sql": "source.sql",
    "yaml": "source.yaml",
}
"""The tags of fences whose text is shown in a language of its own."""

SYMBOL, UNIT, TAG = (terminal(name).pattern for name in ("SYMBOL", "UNIT", "TAG"))
BACKTICK, DOUBLE, SINGLE = (terminal(name).pattern for name in ("BACKTICK", "DOUBLE", "SINGLE"))
NAME = f"(?:{SYMBOL}|{BACKTICK})"
KEY = f"(?:{SYMBOL}|{BACKTICK}|{DOUBLE})"
IDENTITY = f"(?:{NAME}|{terminal('INTEGER').pattern})"

ARROW = r"<[-=~]{1,2}>?|[-=~]{1,2}>|--|==|~~|[-=~](?=\[)|(?<=\])[-=~]"


def rule(pattern: str, scope: str | None = None, **captures: str) -> dict[str, Any]:
    """A rule for text on one line.

    Args:
        pattern: the regular expression.
        scope: what all of it is.
        captures: what its groups are: ``g1`` is the first.
    """
    made: dict[str, Any] = {"match": pattern}
    if scope:
        made["name"] = f"{scope}.gram"
    if captures:
        made["captures"] = {key[1:]: {"name": f"{each}.gram"} for key, each in captures.items()}
    return made


def between(opened: str, closed: str, mark: str, *includes: str) -> dict[str, Any]:
    """A rule for text between two brackets, on any number of lines."""
    punctuation = {"0": {"name": f"punctuation.section.{mark}.gram"}}
    return {
        "begin": opened,
        "end": closed,
        "beginCaptures": punctuation,
        "endCaptures": punctuation,
        "patterns": [{"include": f"#{each}"} for each in includes],
    }


def fence(tag: str, content: str, *, embedded: str | None = None) -> dict[str, Any]:
    """A rule for a fenced string, whose text may be shown in a language of its own."""
    made: dict[str, Any] = {
        "name": "string.quoted.fence.gram",
        "begin": rf"(```)[ \t]*({tag})[ \t]*$",
        "end": "```",
        "beginCaptures": {
            "1": {"name": "punctuation.definition.string.begin.gram"},
            "2": {"name": "entity.name.tag.gram"},
        },
        "endCaptures": {"0": {"name": "punctuation.definition.string.end.gram"}},
    }
    if embedded:
        made["contentName"] = content
        made["patterns"] = [{"include": embedded}]
    return made


def quoted(pattern: str, kind: str) -> dict[str, Any]:
    """A rule for a string on one line, with its escapes."""
    made = rule(pattern, f"string.quoted.{kind}")
    made["captures"] = {
        "0": {"patterns": [rule(r"\\[\"'`\\/bfnrt]", "constant.character.escape")]},
    }
    return made


def grammar() -> dict[str, Any]:
    """The whole grammar, as VS Code reads it."""
    number = "constant.numeric"
    subject = ("comments", "record", "labels", "annotations", "arrows", "patterns", "names")
    value = ("comments", "record", "array", "fences", "strings", "numbers", "words")
    numbers = ("HEXADECIMAL", "DECIMAL", "OCTAL", "INTEGER")
    repository: dict[str, Any] = {
        "comments": rule(terminal("COMMENT").pattern, "comment.line.double-slash"),
        "annotations": {
            "patterns": [
                rule("@@", "punctuation.definition.annotation"),
                {
                    "begin": rf"(@)({SYMBOL})\s*(\()",
                    "end": r"\)",
                    "beginCaptures": {
                        "1": {"name": "punctuation.definition.annotation.gram"},
                        "2": {"name": "entity.other.attribute-name.gram"},
                    },
                    "patterns": [{"include": f"#{each}"} for each in value],
                },
            ]
        },
        "patterns": {
            "patterns": [
                between(r"\[", r"\]", "brackets", *subject),
                between(r"\(", r"\)", "parens", *subject),
            ]
        },
        "arrows": rule(
            r"<[-=~]{1,2}>?|[-=~]{1,2}>|--|==|~~|[-=~](?=\[)|(?<=\])[-=~]", "keyword.operator"
        ),
        "labels": {
            "patterns": [
                rule(
                    r"(::?)\s*(WHEN|OTHERWISE|EACH|HANDOFF)(?![0-9A-Za-z_.\-@])",
                    g1="punctuation.separator",
                    g2="keyword.control",
                ),
                rule(rf"(::?)\s*({NAME})", g1="punctuation.separator", g2="entity.name.type"),
            ]
        },
        "names": {
            "patterns": [
                rule(r"\|", "punctuation.separator"),
                rule(",", "punctuation.separator"),
                rule(IDENTITY, "entity.name.function"),
            ]
        },
        "record": between(r"\{", r"\}", "braces", "comments", "keys", *value[1:]),
        "keys": rule(rf"({KEY})\s*(::?)", g1="variable.other.property", g2="punctuation.separator"),
        "array": between(r"\[", r"\]", "brackets", *value),
        "fences": {
            "patterns": [
                *(
                    fence(tag, f"meta.embedded.block.{tag}.gram", embedded=scope)
                    for tag, scope in EMBEDDED.items()
                ),
                fence(f"(?:{TAG})?", ""),
            ]
        },
        "strings": {
            "patterns": [
                rule(rf"({SYMBOL})(?=`)", "entity.name.tag"),
                quoted(DOUBLE, "double"),
                quoted(SINGLE, "single"),
                quoted(BACKTICK, "other"),
            ]
        },
        "numbers": {
            "patterns": [
                rule(
                    rf"({terminal('MEASUREMENT').pattern.removesuffix(UNIT)})({UNIT})(?![\w.@-])",
                    g1=number,
                    g2="keyword.other.unit",
                ),
                *(rule(terminal(name).pattern, number) for name in numbers),
                rule(r"\.\.\.?", "keyword.operator.range"),
            ]
        },
        "words": {
            "patterns": [
                rule(terminal("TRUE").pattern, "constant.language"),
                rule(terminal("FALSE").pattern, "constant.language"),
                rule(SYMBOL, "constant.other.symbol"),
                rule(",", "punctuation.separator"),
            ]
        },
    }
    top = ("comments", "annotations", "record", "labels", "arrows", "patterns", "names")
    return {
        "information_for_contributors": "made by editors/textmate.py: change that file",
        "name": "gram",
        "scopeName": "source.gram",
        "fileTypes": ["gram"],
        "patterns": [{"include": f"#{each}"} for each in top],
        "repository": repository,
    }


def text() -> str:
    """The file's text."""
    return json.dumps(grammar(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
