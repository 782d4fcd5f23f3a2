"""The frame of a page: one self-contained file of HTML that loads nothing and runs one script.

Its content security policy names the hashes of its own style and script, so that whatever were to
get into it could neither run nor reach the network.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from gram.display import Content, Markup, element


def page(title: str, *body: Content) -> str:
    """A page of HTML with the style of our reports, readable on phones, in dark and light.

    Rows of the class ``entry`` can be searched where the body has ``input[type=search]``.

    Args:
        title: what the window and the first heading say.
        body: what is below the heading; text is escaped, see `gram.display.element`.

    Raises:
        ArgumentError: the title is not a text, or a part of the body is neither text nor markup.

    >>> "<h1>a &lt; b</h1>" in page("a < b", "text")
    True
    """
    style, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        _policy(policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", style),
    )
    main = element("main", element("header", element("h1", title)), *body)
    whole = element("html", head, element("body", main, element("script", script)), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _policy(policy: str) -> Markup:
    return element("meta", **{"http-equiv": "Content-Security-Policy", "content": policy})


@cache
def _part(name: str) -> Markup:
    return Markup(Path(__file__).with_name(name).read_text("utf-8"))


def _hash(part: str) -> str:
    return f"sha256-{b64encode(sha256(part.encode()).digest()).decode()}"
