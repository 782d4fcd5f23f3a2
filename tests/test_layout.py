"""The architecture, as imports: which package may know which, and what is loaded when."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.paths import ROOT

MAY_IMPORT = {
    "gram": {"gram"},
    "lenses_ext": {"gram", "lenses_ext"},
    "interp": {"gram", "lenses_ext", "interp"},
}
FILES = [path for package in MAY_IMPORT for path in sorted((ROOT / package).rglob("*.py"))]


def imports(path: Path, *, for_types: bool = True) -> Iterator[str]:
    """Every module that a file imports, anywhere in it; relative imports in full.

    Args:
        path: the file.
        for_types: those that only type checkers see, too.
    """
    package = path.relative_to(ROOT).parent.parts
    for node in nodes(ast.parse(path.read_text(encoding="utf-8")), for_types):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def nodes(tree: ast.AST, for_types: bool) -> Iterator[ast.AST]:
    """A tree and all in it, with or without what stands below ``if TYPE_CHECKING``."""
    yield tree
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING" and not for_types:
        below: list[Any] = list(tree.orelse)
    else:
        below = list(ast.iter_child_nodes(tree))
    for child in below:
        yield from nodes(child, for_types)


def test_there_are_files_to_look_at() -> None:
    assert len(FILES) > 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    ours = {name.split(".")[0] for name in imports(path)} & set(MAY_IMPORT)

    assert ours <= MAY_IMPORT[package]
    if path.parent.name != "cli":
        assert not any(name.startswith("interp.cli") for name in imports(path))


def importers(module: str) -> list[str]:
    """The files that import a module."""
    return [
        str(path.relative_to(ROOT))
        for path in FILES
        if any(name == module or name.startswith(f"{module}.") for name in imports(path))
    ]


def test_what_is_confined_stays_confined() -> None:
    assert importers("lenses") == ["lenses_ext/optics.py"]
    assert importers("openai") == ["interp/openai_model.py"]
    assert importers("tenacity") == ["interp/retries.py"]
    assert importers("lark") == ["gram/grammar.py"]


def needed_by(module: str) -> list[Path]:
    """The files of interp that are loaded with a module of it, itself first."""
    found = [ROOT / "interp" / f"{module}.py"]
    for path in found:
        for name in imports(path, for_types=False):
            above, _, last = name.rpartition(".")
            if above.split(".")[0] == "interp":
                one = ROOT / above.replace(".", "/") / f"{last}.py"
                found += [one] if one.exists() and one not in found else []
    return found


IMPURE = {"openai", "asyncio", "time", "random", "logging", "os", "socket", "threading"}
PURE = list(
    dict.fromkeys(path for name in ("machine", "chunks", "wire") for path in needed_by(name))
)


def test_what_the_machine_needs_is_followed_through_all_files() -> None:
    names = {path.stem for path in needed_by("machine")}

    assert {"machine", "state", "forms", "approval", "call_checks", "limits", "answers"} <= names
    assert "strict_tools" in names  # through call_checks
    assert not names & {"drivers", "runs", "performing", "openai_model"}


@pytest.mark.parametrize("path", PURE, ids=lambda path: path.stem)
def test_the_machine_does_no_io(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path, for_types=False)} & IMPURE


def test_importing_the_packages_loads_no_network_library() -> None:
    code = "import gram, lenses_ext, interp, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    loaded = set(done.stdout.split())

    unwanted = {"openai", "httpx", "httpx2", "lark", "jsonschema_rs", "pydantic", "tenacity"}
    assert not loaded & unwanted


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_every_name_that_type_checkers_see_is_there(package: str) -> None:
    offered = import_module(package)
    seen = {
        alias.name
        for node in ast.walk(ast.parse((ROOT / package / "__init__.pyi").read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert set(offered.__all__) == seen
    assert {name for name in seen if isinstance(getattr(offered, name), ModuleType)} == set()


def test_a_part_is_loaded_when_it_is_asked_for() -> None:
    code = "import gram, lenses_ext, interp, sys; print(*sys.modules); interp.run"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )

    assert {name for name in done.stdout.split() if name.split(".")[0] in MAY_IMPORT} == set(
        MAY_IMPORT
    )
