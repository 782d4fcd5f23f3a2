"""Lenses, getters, traversals and prisms: their kinds and their makers."""

from .parts import (
    TEXT,
    Codec,
    Vocabulary as Vocabulary,
    any_property,
    each_of,
    elements_with,
    expect_definition,
    identity,
    text,
    with_elements,
)
from .typed import (
    Getter,
    Lens,
    Prism,
    Settable,
    Traversal,
    computed,
    lens_of as lens_of,
    optic_name,
    traversal_of,
)
from .using import collect, over, preview, put, view
