"""Documents of OpenAPI: what is read, and what is said of all else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gram.extras import install
from interp import ConfigurationError, openapi_library

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


def test_yaml_may_begin_as_json_does_and_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{openapi: 3.0.3, servers: [{url: 'http://h'}], paths: {}}")
    shared = json.dumps({"openapi": "3.0.3", "servers": [{"url": "http://h"}], "paths": {}})
    (tmp_path / "a.json").write_text(shared)

    assert openapi_library(tmp_path / "a.json") == openapi_library(tmp_path / "a.yaml")


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
        ({"swagger": "2.0"}, "found swagger: '2.0'\n  hint: Swagger 2 is converted"),
        ({"asyncapi": "3.0.0"}, "found an object with asyncapi"),
        ({}, "found an object with nothing"),
        ({"name": "x", "version": "1"}, "found an object with name, version"),
        ({"openapi": 3.0}, "found openapi: 3.0\n"),
        ({"openapi": "4.0.0"}, "up to 3.2, found openapi: '4.0.0'"),
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
        ("[1]", "found list\n"),
        ("", "found NoneType\n"),
        ('{"openapi": "3.1.0",}', "pets.json: not JSON: "),
        ("openapi: 3.1.0\n paths:", "pets.json: not YAML: line 2, column 7: "),
        (
            "<!DOCTYPE html><p>Not found",
            "or up to 3.2, found str",
        ),
    ],
)
def test_files_of_something_else_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pets.json").write_text(text)

    with pytest.raises(ConfigurationError) as error:
        openapi_library(tmp_path / "pets.json")

    assert said in str(error.value)
