"""Types that contain themselves: defined once under ``$defs``, referred to by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ToolError
from ..json_text import Json
from .scalar_forms import TypeForm


class Definitions:
    """The definitions of one schema, collected while it is made.

    Attributes:
        schemas: the schemas of the defined types, by name.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, Json] = {}
        self._open: list[Any] = []  # the types being made, outermost first
        self._names: dict[int, tuple[Any, str]] = {}  # by id, with the type to keep the id taken
        self._readers: dict[str, Callable[[Json], Any]] = {}

    def form(self, hint: Any, name: str, make: Callable[[], TypeForm]) -> TypeForm:
        """The form of a type that may contain itself: a reference if it does.

        Args:
            hint: the type.
            name: what it is called; numbered when another is called the same.
            make: makes its form, and asks for that of the same type when it contains it.
        """
        if id(hint) not in self._names and any(hint is each for each in self._open):
            self._names[id(hint)] = (hint, self._free(name))
        if id(hint) in self._names:
            return self._reference(hint)
        self._open.append(hint)
        form = make()
        self._open.pop()
        if id(hint) not in self._names:
            return form
        _, defined = self._names[id(hint)]
        self.schemas[defined] = form.schema
        self._readers[defined] = form.read
        return self._reference(hint)

    def add(self, name: str, schema: Json) -> None:
        """Take over a definition that was made elsewhere under this name.

        Raises:
            ToolError: another type has the name.
        """
        if self._all().get(name, schema) != schema:
            raise ToolError(f'two different types are named "{name}"; rename one')
        self.schemas[name] = schema

    def rooted(self, schema: dict[str, Json]) -> dict[str, Json]:
        """A schema as one that stands alone. A type still being made allows anything."""
        definitions = self._all()
        return {**schema, "$defs": definitions} if definitions else schema

    def _all(self) -> dict[str, Json]:
        return {**{name: {} for _, name in self._names.values()}, **self.schemas}

    def _free(self, name: str) -> str:
        taken = self._all()
        numbered = (f"{name}{number}" for number in range(2, len(taken) + 3))
        return next(each for each in (name, *numbered) if each not in taken)

    def _reference(self, hint: Any) -> TypeForm:
        _, name = self._names[id(hint)]
        return TypeForm({"$ref": f"#/$defs/{name}"}, lambda value: self._readers[name](value))
