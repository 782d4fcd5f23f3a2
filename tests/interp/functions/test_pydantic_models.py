"""Pydantic models as the types of parameters and results."""

from __future__ import annotations

import datetime
import subprocess
import sys
from typing import Optional

import pydantic
import pytest

from interp.errors import ToolError
from interp.functions.function_tools import tool
from interp.functions.type_forms import TypeForms


class Address(pydantic.BaseModel):
    street_name: str
    title: str = pydantic.Field("home", title="What it is called")


class Person(pydantic.BaseModel):
    """A person."""

    name: str = pydantic.Field(description="full name", min_length=1)
    born: Optional[datetime.date] = None  # noqa: UP045  # the older spelling is read, too
    address: Optional[Address] = None  # noqa: UP045  # the older spelling is read, too


class Node(pydantic.BaseModel):
    next: Optional[Node] = None  # noqa: UP045  # the older spelling is read, too


def test_a_model_gives_its_own_schema_without_made_up_titles() -> None:
    forms = TypeForms()

    assert forms.of(Person).schema == {
        "type": "object",
        "description": "A person.",
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "full name"},
            "born": {
                "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                "default": None,
            },
            "address": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}], "default": None},
        },
        "required": ["name"],
    }
    assert forms.definitions.schemas == {
        "Address": {
            "type": "object",
            "properties": {
                "street_name": {"type": "string"},
                "title": {"type": "string", "title": "What it is called", "default": "home"},
            },
            "required": ["street_name"],
        }
    }


def test_a_model_is_read_and_written_by_its_own_rules() -> None:
    @tool
    def older(person: Person, since: Person | None = None) -> Person:
        """Makes a person older."""
        assert person.born is not None
        assert since is None
        return person.model_copy(update={"born": person.born.replace(year=1990)})

    result = older(person={"name": "Ann", "born": "2000-02-03"})

    assert result == {"name": "Ann", "born": "1990-02-03", "address": None}


def test_a_model_that_contains_itself_is_defined_once() -> None:
    @tool
    def depth(node: Node, other: list[Node]) -> int:
        """How deep it is."""
        return 0 if node.next is None else 1

    assert depth.schema["properties"] == {
        "node": {"$ref": "#/$defs/Node"},
        "other": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    }
    assert depth(node={"next": {}}, other=[]) == 1


def test_two_definitions_of_one_name_are_refused() -> None:
    other = pydantic.create_model("Address", zip=(int, ...))
    holder = pydantic.create_model("Holder", address=(other, ...))
    forms = TypeForms()
    forms.of(Person)

    with pytest.raises(ToolError) as error:
        forms.of(holder)

    assert str(error.value) == 'two different types are named "Address"; rename one'


def test_a_model_without_a_schema_is_refused() -> None:
    class Opaque(pydantic.BaseModel, arbitrary_types_allowed=True):
        thing: type(subprocess)  # type: ignore[valid-type]  # wrong on purpose

    with pytest.raises(ToolError, match=r"^pydantic has no schema for Opaque: "):
        TypeForms().of(Opaque)


def test_tools_without_models_do_not_import_pydantic() -> None:
    program = (
        "import sys\n"
        "from interp.functions.function_tools import tool\n"
        "def f(x: int | None = None) -> list[str]: ...\n"
        "tool(f)\n"
        "assert 'pydantic' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True)
