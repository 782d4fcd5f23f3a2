"""Open Agent Spec: a file of it as a program, and a program as a file of it.

Both ways go through its own package, `pyagentspec`: it loads what is read, and loads what is
written before that is given. A file is data: nothing in it is run, and no address in it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from gram import GramDecodeError, format_text, only_errors
from gram.errors import expect
from gram.extras import install
from lenses_ext import validate_program, write_program
from lenses_ext.names import ProgramLike
from lenses_ext.schemas import read_yaml

from ..errors import ConfigurationError
from ..json_text import read_json
from ..programs import the_agent
from .properties import REFUSALS, NoCounterpartError, words_of

if TYPE_CHECKING:
    from pyagentspec import Component

_LEFT_OUT: Final = "left out"
"""The value of a secret that a file refers to; it is told of, and goes nowhere."""
_SECRETS: Final = (".api_key", ".key_file", ".cert_file", ".ca_file", ".sensitive_headers")


@frozen
class Loss:
    """Something without a counterpart.

    Attributes:
        path: where it is: names from the whole inward, ``desk.tools.search.once``.
        reason: what becomes of it, in words.
    """

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@frozen
class Exchanged:
    """What was made of a text or a program.

    Attributes:
        text: the text of the other side.
        losses: what it does not say, in the order in which it was met.
    """

    text: str
    losses: tuple[Loss, ...]


def from_agent_spec(text: str, filename: str = "<text>") -> Exchanged:
    """The program that an Agent Spec file says, as gram.

    A flow is a workflow only where it means the same; else its agents and tools are made alone.

    Args:
        text: the file, YAML or JSON.
        filename: its name, for messages.

    Raises:
        GramDecodeError: it is not YAML or JSON, or its own loader refuses it.
        NoCounterpartError: nothing can be made of it.
        ConfigurationError: the extra ``gram-agents[agentspec]`` is not installed.
    """
    expect(text, str, "text", by="from_agent_spec")
    _expect_package()
    from .reading import Reader

    losses: list[Loss] = []
    reader = Reader(lambda path, reason: losses.append(Loss(path, reason)))
    component = _load(text, filename)
    name = component.name or type(component).__name__
    try:
        reader.read(component, name)
    except NoCounterpartError as error:
        if not reader.made:
            raise
        path, _, reason = str(error).partition(": ")
        losses.append(Loss(path, reason))
    made = tuple(reader.made.values())
    for fault in only_errors(validate_program(made)):
        losses.append(Loss(name, f"the program has to be mended: {fault.message}"))
    return Exchanged(format_text(write_program(made)), tuple(dict.fromkeys(losses)))


def to_agent_spec(program: ProgramLike, agent: str | None = None) -> Exchanged:
    """An agent or workflow of a program, with what it uses, as an Agent Spec file, in YAML.

    Args:
        program: the program.
        agent: the agent or workflow; without it the only one, or the one that nothing refers to.

    Raises:
        ValidationError: there is none, or it has faults.
        NoCounterpartError: nothing can be made of it.
        ConfigurationError: the extra ``gram-agents[agentspec]`` is not installed.
    """
    _expect_package()
    from pyagentspec import AgentSpecDeserializer, AgentSpecSerializer

    from .writing import Writer

    root = the_agent(program, agent, by="to_agent_spec")
    losses: list[Loss] = []
    writer = Writer(root, lambda path, reason: losses.append(Loss(path, reason)))
    name = root.value.identity
    try:
        component = writer.written(root, name)
        text = AgentSpecSerializer().to_yaml(component)
        AgentSpecDeserializer().from_yaml(text)
    except REFUSALS as error:
        raise NoCounterpartError(f"{name}: its package refuses it: {words_of(error)}") from None
    return Exchanged(text.removesuffix("\n") + "\n", tuple(dict.fromkeys(losses)))


def _expect_package() -> None:
    if find_spec("pyagentspec") is None:
        raise ConfigurationError(f"Agent Spec needs the extra agentspec: {install('agentspec')}")


def _load(text: str, filename: str) -> Component:
    """What its own loader makes of a text; secrets are not in a file, and not asked for."""
    from pyagentspec import AgentSpecDeserializer

    try:
        data = (read_json if text.lstrip().startswith("{") else read_yaml)(text)
    except ValueError as error:
        raise GramDecodeError(f"not Agent Spec: {error}", filename=filename) from None
    if not isinstance(data, dict) or "component_type" not in data:
        raise GramDecodeError('no Agent Spec: it has no "component_type"', filename=filename)
    outside: dict[str, Any] = {}
    for reference in _references(data):
        if reference.endswith(_SECRETS):
            outside[reference] = {"": _LEFT_OUT} if reference.endswith("headers") else _LEFT_OUT
    try:
        return AgentSpecDeserializer().from_dict(data, components_registry=outside or None)
    except Exception as error:  # noqa: BLE001  # whatever it trips over: the file is anybody's
        said = f"its loader refuses it: {words_of(error)}"
        raise GramDecodeError(said, filename=filename) from None


def _references(data: Any) -> Iterator[str]:
    """The names of what is referred to."""
    if isinstance(data, dict):
        if isinstance(name := data.get("$component_ref"), str):
            yield name
        data = list(data.values())
    for each in data if isinstance(data, list) else ():
        yield from _references(each)
