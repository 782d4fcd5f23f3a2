"""The diagram of an agent: its model, its tools and the agents in it, as Mermaid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from gram import GramError, Pattern, expect, is_reference

from ..labels import is_agent, is_tool
from ..signatures import signature_text

_MOST_CHARACTERS = 60


def agent_diagram(agent: Pattern) -> str:
    """The text of a Mermaid diagram: an agent with its model, and an arrow to each of its tools.

    Args:
        agent: the pattern of an agent, which need not be valid.

    Raises:
        ArgumentError: the argument is not a pattern.

    >>> from gram import loads_one
    >>> print(agent_diagram(loads_one('[a:Agent {model: "OpenAI/x"} | search]')))
    flowchart LR
      n0(["a<br>OpenAI/x"])
      n1["search"]
      n0 --> n1
    """
    expect(agent, Pattern, "agent", by="agent_diagram")
    return "\n".join(["flowchart LR", *_lines(agent, (f"n{number}" for number in count()))])


def _lines(agent: Pattern, names: Iterator[str]) -> Iterator[str]:
    """The lines of an agent and of what is in it; ``names`` gives the names of the nodes."""
    name = next(names)
    model = agent.value.properties.get("model")
    yield f"  {name}([{_label(agent.value.identity, model if isinstance(model, str) else '')}])"
    for element in agent.elements:
        if not (is_agent(element) or is_tool(element) or is_reference(element)):
            continue
        below = next(names)
        if is_agent(element):
            yield from _lines(element, chain([below], names))
        else:
            yield f"  {below}[{_label(element.value.identity, _signature(element))}]"
        yield f"  {name} --> {below}"


def _signature(tool: Pattern) -> str:
    try:
        return "" if is_reference(tool) else signature_text(tool)
    except GramError:  # a faulty tool is drawn without it
        return ""


def _label(*lines: str) -> str:
    return '"' + "<br>".join(_escaped(line) for line in lines if line) + '"'


def _escaped(line: str) -> str:
    """A line as Mermaid's labels have it: what means something there is written as its code."""
    shown = line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}…"
    return "".join(c if c.isalnum() or c in " _-./()=,…" else f"#{ord(c)};" for c in shown)
