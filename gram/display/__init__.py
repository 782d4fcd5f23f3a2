"""Gram in colour, and what is shown of it: HTML, SVG, notebooks, rich."""

from .highlighting import highlighted, html_of, notebook_form, rich_text
from .markup import Content, Markup, element, markup_of, visible
