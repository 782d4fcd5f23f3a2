"""Markup that is built of elements: no text in it becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

from hypothesis import given, strategies as st

from gram.display import Markup, element, markup_of

HOSTILE = [
    "</p><script>alert(1)</script>", '"><b', "'", "&lt;", "\x00", "\u202e", "]]>", "<!--", "\ud800",
]  # fmt: skip
any_text = st.text(st.characters(exclude_categories=())) | st.sampled_from(HOSTILE)


HOSTILE = [
    '"] --> evil["', "`", "end", "--&gt;", "</script><script>alert(1)</script>", "a\nb", "]]>",
    "\\", '\\"', "\\N", "&amp;", "#quot;", "1. one", "- a", "_x_", "**b**", "fa:fa-car", "<!--",
    "\u202egnirts", "שלום", "👩‍💻", "%%{init: {}}%%", "\x00\x1b[2J", "x" * 5000, "{{x}}", "&lt;",
    "</pre></details></main>", '" onload="alert(1)', "<style>*{display:none}</style>",
]  # fmt: skip
"""Texts that mean something to those who show them."""


class Reader(HTMLParser):
    """Reads the tags and the text of HTML, as a browser does."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(any_text, any_text)
def test_text_stays_text_in_content_and_attributes(content: str, attribute: str) -> None:
    made = element("p", content, element("b"), title=attribute)
    read = Reader(made)
    made.encode()
    assert [tag for tag, _ in read.tags] == ["p", "b"]
    assert set(read.tags[0][1]) == {"title"}
    assert Reader(markup_of(content)).text == read.text
    assert bool(read.text) == bool(content)
    assert [each.tag for each in ElementTree.fromstring(made).iter()] == ["p", "b"]  # it is XML


def test_markup_in_markup_is_not_escaped_again() -> None:
    assert element("p", [element("b", "<"), None, "&"]) == "<p><b>&lt;</b>&amp;</p>"
    assert isinstance(markup_of("a"), Markup)
