"""The project file: what the commands in a folder use without being told each time.

It is ``gram.toml``, or ``[tool.gram]`` in ``pyproject.toml``, in the current folder or in one above
it up to that of the repository:

.. code-block:: toml

    tools = ["tools.py"]                          # as --tools
    record = "runs.db"                            # as --record
    lint = {unused-tool = "off"}                  # how much a finding matters: see `gram lint`

    [providers.Groq]                              # a new provider of models
    base_url = "https://api.groq.com/openai/v1"
    key = "GROQ_API_KEY"

A folder may come from anybody. So tools, providers and a record address are used only after the
user has said yes to this content of the file, or with ``--trust``. The answer is kept in the user's
own folder for state.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
from attrs import field, frozen

from gram import write_atomically
from gram.display import visible
from gram.words import did_you_mean
from lenses_ext.rules import Level

from ...errors import ConfigurationError
from ...models import (
    Provider,
    added,
    in_variable_name,
    is_known,
    problems_of_levels,
    provider_of,
)
from ...secrets import without_userinfo
from ..terminal.asking import NoTerminal, ask_user, state_folder
from ..terminal.output import tell

_KEYS: Final = ("tools", "record", "lint", "providers")
_MOST_BYTES: Final = 1_000_000
_TABLE: Final = re.compile(r"^\s*\[\s*tool\s*\.\s*gram\b", re.M)


@frozen
class ProjectFile:
    """A project file that was read.

    Attributes:
        path: the file.
        digest: what its content is known by.
        tools: the files of tools, as ``--tools`` takes them.
        record: the address that runs are kept at; False for none, None where nothing is said.
        levels: how much findings matter, by their codes: ``error``, ``warning``, ``info``, ``off``.
        providers: the new providers.
    """

    path: Path
    digest: str
    tools: tuple[str, ...] = ()
    record: str | bool | None = None
    levels: Mapping[str, Level] = field(factory=dict)
    providers: tuple[Provider, ...] = field(default=())

    @property
    def needs_trust(self) -> bool:
        """Whether it names code to run, servers to ask or a place to write to."""
        return bool(self.tools or self.record or self.providers)

    def wishes(self) -> str:
        """What it names, to ask the user about."""
        lines = [f"run the code in {name}" for name in self.tools]
        for each in self.providers:
            key = f" with the key in {each.key or f'{in_variable_name(each.name)}_API_KEY'}"
            lines.append(f"ask models of {each.name} at {without_userinfo(each.base_url)}{key}")
        if isinstance(self.record, str):
            lines.append(f"keep runs in {without_userinfo(self.record)}")
        return "".join(f"\n  {visible(line)}" for line in lines)


def find_project(start: Path | None = None) -> ProjectFile | None:
    """The project of a folder, by default of the current one; None if there is none.

    Raises:
        ConfigurationError: its file cannot be used; the message has its place.
    """
    here = (start or Path.cwd()).resolve()
    above = (here, *here.parents)
    top = next((each for each in above if (each / ".git").exists()), here)
    for folder in above[: above.index(top) + 1]:
        for name in ("gram.toml", "pyproject.toml"):
            found = _read(folder / name)
            if found is not None:
                return found
    return None


def project_levels() -> Mapping[str, Level]:
    """How much findings matter in the project of the current folder, by their codes."""
    project = find_project()
    return project.levels if project else {}


def _read(path: Path) -> ProjectFile | None:
    if not path.exists():
        return None
    shown = os.path.relpath(path)
    try:
        if not path.is_file():
            raise ConfigurationError(f"{shown} is not a file")
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ConfigurationError(f"{shown} has more than {_MOST_BYTES:,} bytes")
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{shown} cannot be read: {error}") from None
    is_ours = path.name == "gram.toml"
    if not is_ours and not _TABLE.search(text):
        return None
    import tomllib  # imported late: most folders have no such file

    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{shown}: not TOML: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{shown}: its values are nested too deeply") from None
    if not is_ours:
        table = table.get("tool", {}).get("gram", {})
    digest = hashlib.sha256(os.fsencode(path.resolve()) + b"\0" + content).hexdigest()
    return _Reader(path, shown, text).project(table, digest)


@frozen
class _Reader:
    """Reads the table of a project file, and says where it is wrong."""

    path: Path
    shown: str
    text: str

    def project(self, table: Any, digest: str) -> ProjectFile:
        """The project that a table describes."""
        if not isinstance(table, dict):
            raise self.fault("gram", "tool.gram must be a table")
        for key in table:
            if key not in _KEYS:
                hint = did_you_mean(key, _KEYS) or f"there are {', '.join(_KEYS)}"
                raise self.fault(key, f'there is no "{key}"; {hint}')
        folder = self.path.parent
        tools = tuple(self._inside(folder, each) for each in self.texts("tools", table))
        record = table.get("record")
        is_address = isinstance(record, str) and record
        if record is not None and record is not False and not is_address:
            raise self.fault("record", "record must be the address that runs are kept at, or false")
        if record and "://" not in record:
            record = self._inside(folder, record)
        lint = table.get("lint", {})
        if not isinstance(lint, dict):
            raise self.fault("lint", 'lint must be a table, such as {unused-tool = "off"}')
        for code, problem in problems_of_levels(lint):
            raise self.fault(code, problem)
        return ProjectFile(self.path, digest, tools, record, lint, self.providers(table))

    def providers(self, table: Mapping[str, Any]) -> tuple[Provider, ...]:
        """The new providers."""
        rows = table.get("providers", {})
        if not isinstance(rows, dict):
            raise self.fault("providers", "providers must be tables: write [providers.NAME]")
        for name in filter(is_known, rows):
            said = f"{name} is a known provider, and a project can only add new ones"
            raise self.fault(name, said)
        return tuple(provider_of(self.place(name), name, row) for name, row in rows.items())

    def texts(self, key: str, table: Mapping[str, Any]) -> list[str]:
        """The texts of a key: one, or a list."""
        values = table.get(key, [])
        values = [values] if isinstance(values, str) else values
        if not isinstance(values, list) or not all(isinstance(one, str) and one for one in values):
            raise self.fault(key, f"{key} must be a list of texts")
        return values

    def fault(self, key: str, said: str) -> ConfigurationError:
        """What is wrong with a key, with its place."""
        return ConfigurationError(f"{self.place(key)}: {said}")

    def place(self, key: str) -> str:
        """Where a key is written: file:line:col."""
        name = rf"[\"']?{re.escape(key)}[\"']?\s*"
        found = re.search(rf"(?m)^[^#\n]*?(?<![\w-])({name}(=|\.|\]))", self.text)
        if found is None:
            return self.shown
        before = self.text[: found.start(1)]
        return f"{self.shown}:{before.count(chr(10)) + 1}:{len(before.rpartition(chr(10))[2]) + 1}"

    @staticmethod
    def _inside(folder: Path, name: str) -> str:
        return os.path.relpath(folder / name)


def _record_of_yes(project: ProjectFile) -> Path:
    """The file that is there once the user has said yes to this content."""
    return state_folder() / "trusted" / project.digest


def _has_yes(project: ProjectFile) -> bool:
    with suppress(OSError):
        return _record_of_yes(project).is_file()
    return False


def is_trusted(project: ProjectFile, *, is_told: bool) -> bool:
    """Whether the user has said yes to a project, now or before; the answer is kept.

    Args:
        project: the project.
        is_told: ``--trust`` was given.
    """
    if _has_yes(project):
        return True
    if not is_told:
        name = visible(os.path.relpath(project.path))
        try:
            said = ask_user(f"{name} in this folder would{project.wishes()}\nUse it? [y/N] ")
        except NoTerminal:
            tell(f"gram: {name} is not used, since nobody has said yes to it: --trust does")
            return False
        if said.strip().lower() not in ("y", "yes"):
            tell(f"gram: {name} is not used")
            return False
    with suppress(OSError):  # without a folder for state, the question comes again
        kept = _record_of_yes(project)
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(kept, f"{project.path}\n")
    return True


def _use(context: click.Context, _: click.Parameter, is_told: bool) -> None:
    """Take what a project offers, before the other options are read."""
    if context.resilient_parsing or (project := find_project()) is None:
        return
    if not project.needs_trust or not is_trusted(project, is_told=is_told):
        return
    context.with_resource(added(project.providers))
    context.meta[__name__] = project


def used_project(context: click.Context) -> ProjectFile | None:
    """The project that a command uses: one that the user has said yes to."""
    found: ProjectFile | None = context.meta.get(__name__)
    return found


def tools_of_project(
    context: click.Context, _: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """The tools that were given, or else those of the project."""
    project = used_project(context)
    return given or (project.tools if project else ())


def record_of_project() -> str | bool | None:
    """Where the project of the command keeps runs; False for nowhere, None if it says nothing.

    Commands that only read, such as ``gram trace``, ask nobody; they keep to a yes of before.
    """
    context = click.get_current_context(silent=True)
    if context and (used := used_project(context)):
        return used.record
    project = find_project()
    if project and (project.record is False or _has_yes(project)):  # to keep nothing needs no yes
        return project.record
    return None


def trust_option() -> click.Option:
    """The option that says yes to a project; it reads the project's file in any case."""
    return click.Option(
        ["--trust"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_use,
        help="Use what gram.toml of this folder names, without asking.",
    )
