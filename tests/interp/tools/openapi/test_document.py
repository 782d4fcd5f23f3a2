"""Documents of OpenAPI: what is read, and what is said of all else."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import GramError
from gram.extras import install
from interp import ConfigurationError, openapi_library
from tests.interp.tools.openapi.test_openapi_library import document

PETS = """
openapi: 3.1.0
info: {title: Pets, version: 2020-01-01}
servers: [{url: "https://pets.example"}]
paths:
  /pets:
    get:
      operationId: listPets
      responses: {200: {description: All}}
"""


@pytest.mark.parametrize("name", ["pets.yaml", "pets.YML", "pets", "pets.json"])
def test_yaml_is_known_by_what_is_in_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(PETS)

    assert [*openapi_library(tmp_path / name)] == ["listPets"]


def test_without_pyyaml_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "pets.yaml").write_text(PETS)
    code = (
        "import sys, importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'yaml' else found(name, *more)\n"
        "from interp import openapi_library; openapi_library('pets.yaml')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert "pets.yaml: YAML needs the package pyyaml" in done.stderr
    assert install("openapi") in done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"swagger": "2.0"}, r'found {"swagger":"2.0"}\n  hint: Swagger 2 is converted'),
        ({"asyncapi": "3.0.0"}, 'found {"asyncapi":"3.0.0"}$'),
        ({}, "found {}"),
        ({"openapi": 3.0}, 'found {"openapi":3.0}'),
        ({"openapi": "4.0.0"}, 'up to 3.2, found {"openapi":"4.0.0"}'),
        ({"openapi": "3.1.0", "paths": 5}, r"\$.paths: expected an object, found int"),
        ({"openapi": "3.1.0", "x": object()}, "not JSON"),
    ],
)
def test_what_is_no_document_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        openapi_library(given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "found [1]"),
        ("", "found null"),
        ('{"openapi": "3.1.0",}', "pets.json: not JSON: "),
        ("openapi: 3.1.0\n paths:", "pets.json: not YAML: line 2, column 7: "),
        ("<!DOCTYPE html><p>Not found", 'or up to 3.2, found "<!DOCTYPE'),
    ],
)
def test_files_of_something_else_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pets.json").write_text(text)

    with pytest.raises(ConfigurationError, match=re.escape(said)):
        openapi_library(tmp_path / "pets.json")


PET = "#/components/schemas/Pet"
WRONG = [None, True, 0, -1.5, "", "x", "#", "#/paths", [], [1], [None], {}, {"$ref": "#"}, {"a": 1},
         {"$ref": 5}, {"$ref": PET}, "\x1b[2J", "{id}", {"type": "object"}]  # fmt: skip
WHOLE: Any = {**document("http://h", "3.1.0"), "security": [{"token": []}]}
FORM = {
    "schema": {"properties": {"a": {"type": "array"}}},
    "encoding": {"a": {"style": "deepObject", "explode": True}},
}
PARTS = {"schema": {"allOf": [{"properties": {"f": {"format": "binary"}}}]}}
ANSWER = {"application/json": {"schema": {"type": "array", "items": {}}}}
WHOLE["paths"]["/form"] = {
    "post": {
        "requestBody": {"content": {"application/x-www-form-urlencoded": FORM}},
        "responses": {"200": {"content": ANSWER}, "204": {"description": "-"}},
    },
    "put": {"requestBody": {"content": {"multipart/form-data": PARTS}}},
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a value."""
    found = [path]
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(below, (*path, key))
    return found


@given(st.data())
def test_what_is_wrong_anywhere_is_an_error_of_ours(data: st.DataObject) -> None:
    changed = copy.deepcopy(WHOLE)
    if data.draw(st.booleans()):
        changed["openapi"] = "3.0.3"
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from(places(changed)[1:]))
        inside = changed
        for key in above:
            inside = inside[key]
        inside[last] = copy.deepcopy(data.draw(st.sampled_from(WRONG)))
    told: list[str] = []
    try:
        library = openapi_library(changed, tell=told.append)
    except GramError as error:
        told.append(str(error))
        library = openapi_library(WHOLE)
    assert all(each.startswith("the document: ") for each in told)
    assert not any("\x1b" in each for each in told)
    assert all(tool.schema["type"] == "object" for tool in library.values())


def chain(length: int, end: Any) -> dict[str, Any]:
    """Schemas of which each refers to the next."""
    schemas: dict[str, Any] = {
        f"s{at}": {"properties": {"next": {"$ref": f"#/components/schemas/s{at + 1}"}}}
        for at in range(length)
    }
    schemas[f"s{length}"] = end
    return schemas


def with_schema(schemas: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = document("http://h", "3.1.0")
    given["components"]["schemas"] |= schemas
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/s0"}}}}
    given["paths"]["/pets/{id}"]["put"]["requestBody"] = body
    return given


def test_a_long_chain_of_references_is_followed() -> None:
    tool = openapi_library(with_schema(chain(1500, {"type": "string"})))["pets_update"]

    assert len(tool.schema["$defs"]) == 1501


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"$ref": "other.yaml#/Pet"}, "'other.yaml#/Pet' is not in this document"),
        ({"$ref": "https://h.example/s.json"}, "is not in this document"),
        ({"$ref": "#/components/schemas/Nobody"}, "leads nowhere"),
    ],
)
def test_a_reference_that_leads_out_is_told(end: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        openapi_library(with_schema(chain(2, end)), operations=["pets_update"])
    given = document("http://h")
    given["components"]["parameters"]["Tags"] = {"$ref": "#/components/parameters/Tags"}

    with pytest.raises(ConfigurationError, match="its references lead in a circle"):
        openapi_library(given, operations=["pets_update"])


def test_long_names_stay_apart() -> None:
    given = document("http://h")
    for end in ("one", "two"):
        given["paths"][f"/{end}"] = {"get": {"operationId": "n" * 70 + end}}

    library = openapi_library(given)

    assert len(library) == 4
    assert max(map(len, library)) == 64
