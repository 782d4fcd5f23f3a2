"""Gram in colour, and what is shown of it: HTML, SVG, notebooks, rich."""

from .highlighting import (
    highlighted,
    html_of,
    notebook_form as notebook_form,
    rich_text as rich_text,
)
from .markup import (
    Content as Content,
    Markup as Markup,
    element as element,
    markup_of as markup_of,
    visible as visible,
)
