"""The agent language as typed views over gram patterns: lenses, signatures, validation.

- lenses onto agents and tools (`agent_model`, `each_agent`, `tool_spec_schema`, …), used with
  `view`, `put`, `over` and `collect`; makers of your own in `lenses_ext.optics`, and their laws in
  `lenses_ext.laws`;
- patterns made and composed: `create_agent_pattern`, `create_tool_specification`, `add_tool`,
  `overlay`, `share_tool`, …;
- texts: `parse` and `dumps` in the style of programs, `edit` for edits that keep every other byte,
  `find_places` for the paths of the command line;
- signatures and JSON Schema: `parse_type_signature`, `type_signature_to_json_schema`, …;
- programs: `resolve` for references, `validate_program` and its like for faults.

Nothing here runs an agent, and importing this loads no schema validator and no network library. A
module is loaded when one of its names is first asked for; ``__init__.pyi`` lists them.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
