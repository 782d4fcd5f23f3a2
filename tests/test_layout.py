"""The architecture, as imports: which package may know which, and what is loaded when.

import-linter's contracts say the order of the rooms, in as many lines, but neither that a room is
imported through its front alone, nor what has to be loaded later.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.import_statements import import_statements
from tests.paths import ROOT

MAY_IMPORT = {
    "gram": {"gram"},
    "lenses_ext": {"gram", "lenses_ext"},
    "interp": {"gram", "lenses_ext", "interp"},
}
FLOORS = {
    "gram": [
        "trees", "reading", "editing", "documents", "checks", "comparing", "display",
    ],
    "lenses_ext": [
        "optics", "schemas", "signatures", "language", "names", "rules", "composing", "places",
        "drawings",
    ],
    "interp": [
        "concurrency", "machine", "models", "tools", "execution", "history", "running", "workers",
        "views", "evaluation", "serving", "exchange", "cli",
    ],
}  # fmt: skip
"""The rooms of each package from the ground up: a room imports from those below it alone."""
FILES = [
    path
    for package in MAY_IMPORT
    for path in sorted((ROOT / package).rglob("*.py"))
    if path.name != "pytest_gram.py"  # a module of its own, which pytest loads
]


@cache
def imports(path: Path, *, for_types: bool = True) -> tuple[str, ...]:
    """Every module that a file imports, anywhere in it; relative imports in full.

    Args:
        path: the file.
        for_types: those that only type checkers see, too.
    """
    package = path.relative_to(ROOT).parent.parts
    found: list[str] = []
    for node, is_for_types in import_statements(path):
        if is_for_types and not for_types:
            continue
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        else:
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            named = () if path.name == "__init__.py" else offered_by(base)
            found += (
                base if alias.name in named else f"{base}.{alias.name}" for alias in node.names
            )
    return tuple(found)


@cache
def offered_by(package: str) -> set[str]:
    """The names that a package's front imports; none for what is not ours or no package."""
    front = ROOT / package.replace(".", "/") / "__init__.py"
    if not front.exists():
        return set()
    return {
        alias.asname or alias.name
        for node in ast.parse(front.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_the_rooms_are_listed_for_readers_in_the_same_order() -> None:
    listed = re.findall(r"^\| `(\w+/\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)

    assert listed == [f"{package}/{room}" for package in FLOORS for room in FLOORS[package]]


def test_packages_import_one_way_and_only_what_is_public() -> None:
    wrong = []
    for path in FILES:
        package = path.relative_to(ROOT).parts[0]
        others = set(MAY_IMPORT) - {package}
        for name in imports(path):
            above = name.split(".")[0]
            module = module_of(name)
            is_public = file_of(module).name == "__init__.py" or module.count(".") == 1
            if above in others and not (above in MAY_IMPORT[package] and is_public):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")

    assert not wrong, "\n".join(wrong)


def room_of(path: Path) -> str | None:
    """The room a file is in, or None when it stands beside the rooms of its package."""
    inside = path.relative_to(ROOT).parts[1:-1]
    return inside[0] if inside else None


@cache
def module_of(name: str) -> str:
    """The module that an imported name is, or is in."""
    while name and not file_of(name).exists():
        name = name.rpartition(".")[0]
    return name


@cache
def file_of(module: str) -> Path:
    """The file that holds a module."""
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def test_every_room_has_a_floor() -> None:
    for package, floors in FLOORS.items():
        rooms = {
            path.name for path in (ROOT / package).iterdir() if (path / "__init__.py").exists()
        }

        assert rooms == set(floors)


def test_rooms_import_downwards_and_from_each_other_s_fronts() -> None:
    wrong = []
    for path in FILES:
        package, here = path.relative_to(ROOT).parts[0], room_of(path)
        floors = FLOORS[package]
        for name in imports(path, for_types=False):
            module = module_of(name)
            parts = module.split(".")
            if here is None or parts[0] != package or len(parts) < 2 or parts[1] not in floors:
                continue
            is_below = floors.index(parts[1]) < floors.index(here)
            is_front = file_of(module).name == "__init__.py"
            if parts[1] != here and not (is_below and is_front):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")

    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_through_others() -> None:
    needs = {
        module_name(path): {module_of(name) for name in imports(path, for_types=False)}
        - {module_name(path)}
        for path in FILES
        if path.name != "__init__.py"
    }
    sorter = TopologicalSorter({module: uses & set(needs) for module, uses in needs.items()})

    sorter.prepare()  # raises CycleError, which names the modules


def module_name(path: Path) -> str:
    """The name a file is imported under."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def importers(module: str) -> list[str]:
    """The files that import a module."""
    return [
        str(path.relative_to(ROOT))
        for path in FILES
        if any(name == module or name.startswith(f"{module}.") for name in imports(path))
    ]


def test_what_is_confined_stays_confined() -> None:
    assert importers("lenses") == ["lenses_ext/optics/typed.py"]
    assert importers("openai") == ["interp/models/http_client.py"]
    assert {path.rpartition("/")[0] for path in importers("mcp")} == {
        "interp/serving",
        "interp/tools/mcp",
    }
    assert {path.rpartition("/")[0] for path in importers("httpx2")} == {
        "interp/models",
        "interp/tools/mcp",
        "interp/tools/openapi",
    }
    assert importers("h11") == []
    assert importers("aiohttp") == ["interp/models/http_client.py"]
    assert importers("prompt_toolkit") == ["interp/cli/terminal/prompting.py"]
    assert importers("lark") == ["gram/grammar.py"]


@cache
def needed_by(module: str) -> list[Path]:
    """The files of interp that are loaded with a module of it, itself first."""
    found = [file_of(module)]
    for path in found:
        for name in imports(path, for_types=False):
            if name.split(".")[0] == "interp" and (one := file_of(module_of(name))) not in found:
                found.append(one)
    return found


IMPURE = {"openai", "asyncio", "time", "random", "logging", "os", "socket", "threading"}
READS_KEYS = file_of("interp.secrets")
"""Our errors show themselves without keys, which are read from the environment."""
READS_FILES = file_of("interp.files")
"""What a user attaches is read when the user makes it, before the machine has it."""


def test_what_the_machine_needs_is_followed_through_all_files() -> None:
    names = {module_name(path).removeprefix("interp.") for path in needed_by("interp.machine")}

    assert {"machine.fold", "machine.state", "machine.contracts.schema_forms", "json_text"} <= names
    assert not {name for name in names if name.startswith(("execution", "models", "tools"))}


def test_the_machine_does_no_io() -> None:
    found = {
        module_name(path): sorted(
            {name.split(".")[0] for name in imports(path, for_types=False)} & IMPURE
        )
        for path in needed_by("interp.machine")
        if path not in (READS_KEYS, READS_FILES)
    }

    assert {module: names for module, names in found.items() if names} == {}


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
    modules = {name for name in seen if isinstance(getattr(offered, name), ModuleType)}
    assert modules == ({"operations"} if package == "gram" else set())  # it has map, filter, …


def test_what_pages_import_from_rooms_is_exported_for_type_checkers() -> None:
    """A strict checker of a user takes what is defined there, or imported as itself."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    statement = re.compile(
        r"^(?:>>> )?from ((?:gram|lenses_ext|interp)\.[\w.]+) import ([\w, ]+)$", re.M
    )
    hidden = {
        f"{module}.{name}"
        for page in pages
        for module, names in statement.findall(page.read_text("utf-8"))
        for node in ast.parse(file_of(module).read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        for name in names.split(", ")
        if name == (alias.asname or alias.name) and not alias.asname
    }

    assert not hidden


def test_what_tells_a_checker_to_be_silent_says_why() -> None:
    silent = re.compile(r"(type: ignore|noqa)(\[[\w, -]+\]|: [A-Z]+\d+(, [A-Z]+\d+)*)?(?!.*  # \w)")
    folders = (*MAY_IMPORT, "tests", "examples", "benchmarks")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if silent.search(line) and path != Path(__file__)
    ]

    assert found == []


def test_a_part_and_a_library_are_loaded_when_they_are_asked_for() -> None:
    code = "import gram, lenses_ext, interp, sys; print(*sys.modules); interp.run"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )

    loaded = set(done.stdout.split())
    at_once = {"gram.fronts", "gram.showing", "interp.shown"}
    assert {name for name in loaded if name.split(".")[0] in MAY_IMPORT} == {*MAY_IMPORT, *at_once}
    unwanted = {"openai", "httpx", "httpx2", "lark", "jsonschema_rs", "pydantic"}
    unwanted |= {"mcp", "prompt_toolkit", "genai_prices", "rich", "numpy", "scipy"}
    assert not loaded & unwanted
