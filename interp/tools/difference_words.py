"""How a tool differs from its specification, in words of the program."""

from __future__ import annotations

from itertools import pairwise

from lenses_ext.schemas import Difference

_NONE = "has none"


def difference_in_words(difference: Difference, who: str, *, result: bool = False) -> str:
    """A difference as people read it who know the program and the function, and no schemas.

    Args:
        difference: what differs.
        who: what implements the tool: ``function`` or ``server``.
        result: whether it is a difference between results.

    >>> needs = Difference(("properties", "n"), "has none", "required")
    >>> difference_in_words(needs, "function")
    'the function needs `n`, which the program does not declare'
    >>> other = Difference(("properties", "n", "default"), "10", "20")
    >>> difference_in_words(other, "function")
    'default of `n`: spec 10, implementation 20'
    """
    spec, implementation = difference.spec, difference.implementation
    *above, last = difference.path or ("",)
    is_field = bool(above) and above[-1] == "properties"
    name = called(difference.path, result=result)
    if is_field and not result and implementation == "required":
        says = "does not declare" if spec == _NONE else "makes optional"
        return f"the {who} needs {name}, which the program {says}"
    if is_field and result and spec == "required":
        says = "never" if implementation == _NONE else "not always"
        return f"the {who} {says} returns {name}, which the program declares"
    if is_field and implementation == _NONE:
        return f"the {who} does not take {name}, which the program declares"
    if is_field or not difference.path:
        return f"{name}: spec {spec}, implementation {implementation}"
    whole = called(tuple(above), result=result)
    return f"{last} of {whole}: spec {spec}, implementation {implementation}"


def called(path: tuple[str | int, ...], *, result: bool = False) -> str:
    """The part of the arguments or the result that a path in their schema is about.

    >>> called(("properties", "at", "properties", "lat")), called(("properties", "xs", "items"))
    ('`at.lat`', 'the items of `xs`')
    >>> called((), result=True)
    'the result'
    """
    *above, last = path or ("",)
    if last in ("items", "additionalProperties"):
        part = "items" if last == "items" else "other fields"
        return f"the {part} of {called(tuple(above), result=result)}"
    names = [str(name) for at, name in pairwise(path) if at == "properties"]
    if not names:
        return "the result" if result else "the arguments"
    return f"`{'.'.join(names)}`" + (" of the result" if result else "")
