"""What the packages import is what they declare."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.import_statements import import_statements
from tests.paths import ROOT

OURS = {"gram", "lenses_ext", "interp", "tests", "benchmarks", "pytest_gram"}
NAMED_OTHERWISE = {"IPython": "ipython", "yaml": "pyyaml"}
HAS_NO_FILES = {"_typeshed"}  # type checkers bring it
IN_SOME_ENVIRONMENTS = {
    *("gguf", "xllamacpp"),  # a real server of models
    *("langchain_core", "llama_index", "pydantic_ai", "smolagents"),  # their tools are taken
}
"""What tests use where it is installed, and say so where it is not."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = dict(PROJECT["optional-dependencies"])
FOR_TESTS = EXTRAS.pop("test")
del EXTRAS["docs"]  # a program that makes pages, which nothing imports


def names(requirements: Iterable[str]) -> set[str]:
    """The distributions that requirements name, with those of an extra such as psycopg's pool."""
    found = set()
    for each in requirements:
        name, extras = re.findall(r"^([\w-]+)(?:\[([\w,-]+)\])?", each)[0]
        found.add(re.sub("^opentelemetry-.*", "opentelemetry", name))  # many, of one namespace
        found |= {f"{name}-{extra}" for extra in extras.split(",") if extra}
    return found


DECLARED = names(PROJECT["dependencies"]).union(*map(names, EXTRAS.values()))


def imported_by(folders: Iterable[str]) -> set[str]:
    """The modules of others that files import, or look for by name."""
    found = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            found |= {name.split(".")[0] for name in imports(path)}
    return found - OURS - HAS_NO_FILES - sys.stdlib_module_names


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports, in full."""
    for node, _ in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module and not node.level:
            yield node.module
    yield from re.findall(
        r"\b(?:import_module|find_spec|importorskip)\(\s*\"(\w[\w.]*)\"", path.read_text("utf-8")
    )


def distributions(modules: Iterable[str]) -> set[str]:
    """The distributions that modules come in, named as they are declared."""
    return {NAMED_OTHERWISE.get(module, module.replace("_", "-")) for module in modules}


def test_the_packages_declare_what_they_import_and_nothing_else() -> None:
    imported = distributions(imported_by(["gram", "lenses_ext", "interp"]))

    assert imported - {"pytest"} == DECLARED - {"psycopg-binary"}  # pytest loads our plugin


def test_tests_declare_what_they_import() -> None:
    imported = distributions(imported_by(["tests", "examples"]) - IN_SOME_ENVIRONMENTS)

    assert imported <= DECLARED | names(FOR_TESTS)


def test_tests_have_every_extra() -> None:
    assert names(FOR_TESTS) >= {f"gram-agents-{extra}" for extra in EXTRAS}
