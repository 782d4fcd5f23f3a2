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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
from attrs import frozen

from gram import Source, write_atomically
from gram.display import visible
from gram.words import did_you_mean
from lenses_ext.rules import Level

from ...errors import ConfigurationError
from ...models import Provider, added, is_known, problems_of_levels, provider_of
from ...secrets import without_userinfo
from ..terminal.console import NoTerminal, ask_user, state_folder, tell

_KEYS: Final = ("tools", "record", "lint", "providers")
_TABLE: Final = re.compile(r"^\s*\[\s*tool\s*\.\s*gram\b", re.M)


@frozen
class ProjectFile:
    """A project file that was read.

    Attributes:
        digest: what its content is known by.
        tools: the files of tools, as ``--tools`` takes them.
        record: the address that runs are kept at; False for none, None where nothing is said.
        levels: how much findings matter, by their codes: ``error``, ``warning``, ``info``, ``off``.
    """

    path: Path
    digest: str
    tools: tuple[str, ...]
    record: str | bool | None
    levels: Mapping[str, Level]
    providers: tuple[Provider, ...]

    @property
    def yes(self) -> Path:
        """The file that is there once the user has said yes to this content."""
        return state_folder() / "trusted" / self.digest

    def wishes(self) -> str:
        """What has to be trusted: code to run, servers to ask, a place to write to; "" if none."""
        lines = [f"run the code in {name}" for name in self.tools]
        for each in self.providers:
            key = f" with the key in {each.key_variable}"
            lines.append(f"ask models of {each.name} at {without_userinfo(each.base_url)}{key}")
        if isinstance(self.record, str):
            lines.append(f"keep runs in {without_userinfo(self.record)}")
        return "".join(f"\n  {visible(line)}" for line in lines)


def find_project() -> ProjectFile | None:
    """The project of the current folder, or None outside of a project."""
    here = Path.cwd().resolve()
    above = (here, *here.parents)
    top = next((each for each in above if (each / ".git").exists()), here)
    folders = above[: above.index(top) + 1]
    read = (_read(each / name) for each in folders for name in ("gram.toml", "pyproject.toml"))
    return next((found for found in read if found), None)


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
        content = path.read_bytes()
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

    def place(key: str) -> str:
        """Where a key is written: file:line:col."""
        name = rf"[\"']?{re.escape(key)}[\"']?\s*"
        found = re.search(rf"(?m)^[^#\n]*?(?<![\w-])({name}(=|\.|\]))", text)
        if found is None:
            return shown
        line, column = Source(text).position(found.start(1))
        return f"{shown}:{line}:{column}"

    def inside(name: str) -> str:
        return os.path.relpath(path.parent / name)

    for key, said in _problems(table):
        raise ConfigurationError(f"{place(key)}: {said}")
    tools, record = table.get("tools", []), table.get("record")
    rows = table.get("providers", {}).items()
    return ProjectFile(
        path,
        hashlib.sha256(os.fsencode(path.resolve()) + b"\0" + content).hexdigest(),
        tuple(map(inside, [tools] if isinstance(tools, str) else tools)),
        inside(record) if record and "://" not in record else record,
        table.get("lint", {}),
        tuple(provider_of(place(name), name, row) for name, row in rows),
    )


def _problems(table: Any) -> Iterator[tuple[str, str]]:
    """What is wrong in a project file: the key, and the problem in words."""
    if not isinstance(table, dict):
        yield "gram", "tool.gram must be a table"
        return
    for key in table:
        if key not in _KEYS:
            hint = did_you_mean(key, _KEYS) or f"there are {', '.join(_KEYS)}"
            yield key, f'there is no "{key}"; {hint}'
    tools, record = table.get("tools", []), table.get("record", False)
    names = [tools] if isinstance(tools, str) else tools
    if not isinstance(names, list) or not all(isinstance(one, str) and one for one in names):
        yield "tools", "tools must be a list of texts"
    if record is not False and not (isinstance(record, str) and record):
        yield "record", "record must be the address that runs are kept at, or false"
    lint, providers = table.get("lint", {}), table.get("providers", {})
    if not isinstance(lint, dict):
        yield "lint", 'lint must be a table, such as {unused-tool = "off"}'
    yield from problems_of_levels(lint)
    if not isinstance(providers, dict):
        yield "providers", "providers must be tables: write [providers.NAME]"
    for name in filter(is_known, providers):
        yield name, f"{name} is a known provider, and a project can only add new ones"


def _has_yes(project: ProjectFile) -> bool:
    with suppress(OSError):
        return project.yes.is_file()
    return False


def is_trusted(project: ProjectFile, *, is_told: bool) -> bool:
    """Whether the user has said yes to a project, now or before; the answer is kept."""
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
        kept = project.yes
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(kept, f"{project.path}\n")
    return True


def _use(context: click.Context, _: click.Parameter, is_told: bool) -> None:
    project = None if context.resilient_parsing else find_project()
    if project and project.wishes() and is_trusted(project, is_told=is_told):
        context.with_resource(added(project.providers))
        context.meta[__name__] = project


def tools_of_project(
    context: click.Context, _: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """The tools that were given, or else those of the project."""
    project: ProjectFile | None = context.meta.get(__name__)
    return given or (project.tools if project else ())


def record_of_project() -> str | bool | None:
    """Where the project of the command keeps runs; False for nowhere, None if it says nothing.

    Commands that only read, such as ``gram trace``, ask nobody; they keep to a yes of before.
    """
    context = click.get_current_context(silent=True)
    project: ProjectFile | None = context.meta.get(__name__) if context else None
    if project:
        return project.record
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
