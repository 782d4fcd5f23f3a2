"""The agent language as typed views over gram patterns: lenses, signatures, validation.

- lenses onto agents and tools (`agent_model`, `each_agent`, `tool_spec_schema`, …), used with
  `view`, `put`, `over` and `collect`; makers of your own in `lenses_ext.optics`, and their laws in
  `lenses_ext.laws`;
- patterns made: `create_agent_pattern`, `create_tool_specification`, `sequence`, `share_tool`, …;
- texts: `parse_program` and `write_program` in the style of programs; an edit of a document keeps
  every other byte;
  `find_places` for the paths of the command line;
- signatures and JSON Schema: `parse_type_signature`, `type_signature_to_json_schema`, …;
- programs: `resolve` for references, `validate_program` and its like for faults.

Nothing here runs an agent, and importing this loads no schema validator and no network library. A
module is loaded when one of its names is first asked for; ``__init__.pyi`` lists them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gram.fronts import front
from gram.showing import Presentation, present

if TYPE_CHECKING:
    from gram import Pattern

__getattr__, __dir__, __all__ = front(__name__, __file__)


def _written(agent: Pattern) -> str:
    text: str = import_module(".signatures", __name__).write_program(agent)
    return text


def _diagram(agent: Pattern) -> str:
    drawings = import_module(".drawings", __name__)
    text: str = drawings.to_mermaid(drawings.drawing_of(agent))
    return text


def _picture(agent: Pattern) -> str:
    drawings = import_module(".drawings", __name__)
    text: str = drawings.to_svg(drawings.drawing_of(agent), standalone=False)
    return text


present("Agent", Presentation(_written, _diagram, _picture))  # each loads its room when called
