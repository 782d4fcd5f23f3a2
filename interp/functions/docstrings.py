"""Docstrings as the model needs them: what a function does, and what each parameter means."""

from __future__ import annotations

import inspect

from attrs import field, frozen


@frozen
class Documentation:
    """What a docstring says.

    Attributes:
        description: the text before the sections (arguments, results, errors, examples).
        parameters: the description of each parameter or attribute it describes.
    """

    description: str = ""
    parameters: dict[str, str] = field(factory=dict)


def read_docstring(text: object) -> Documentation:
    """A docstring in the Google, NumPy or Sphinx style, told apart by its sections.

    Doctests are for developers, so they are left out wherever they stand. A ``__doc__`` that is
    no text, as some objects have, says nothing.

    >>> read_docstring('''Weather of a city.
    ...
    ... Args:
    ...     city: where
    ... ''')
    Documentation(description='Weather of a city.', parameters={'city': 'where'})
    """
    import docstring_parser  # only programs that make tools of functions need it

    text = _without_doctests(inspect.cleandoc(text if isinstance(text, str) else ""))
    try:
        found = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return Documentation(text.strip())
    return Documentation(
        (found.description or "").strip(),
        {each.arg_name: each.description.strip() for each in found.params if each.description},
    )


def _without_doctests(text: str) -> str:
    """The text without examples: from a ``>>>`` to the next blank line."""
    kept, inside = [], False
    for line in text.splitlines():
        inside = bool(line.strip()) and (inside or line.lstrip().startswith(">>>"))
        if not inside:
            kept.append(line)
    return "\n".join(kept)
