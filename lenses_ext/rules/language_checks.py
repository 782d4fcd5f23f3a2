"""The table of the rules of agents and tools; what arrows and workflows add is in `flow_checks`."""

from __future__ import annotations

from typing import Final

from gram import Check

from ..language import AGENTS, TOOL_SPECS
from ..names import DEFINED_TWICE, REFERENCE_CHECKS, TYPE_CHECKS
from .placement_rules import (
    arrow_outside,
    missing_label,
    misspelt_label,
    tool_name_collision,
    unexpected_element,
)
from .rules import (
    agent_property,
    agent_signature,
    agents,
    all_named,
    answer_differs,
    duplicate_answer,
    empty,
    missing,
    missing_name,
    missing_signature,
    model_name,
    not_a_text,
    pattern,
    properties,
    runnables,
    second_signature,
    setting_value,
    settings_type,
    signature,
    signature_property,
    slash_in_name,
    summary_writer,
    tool_name,
    tools,
    unknown_setting,
    workflow_property,
    workflows,
)

_SAID_OF_SIGNATURES: Final = DEFINED_TWICE | {"self-reference", "dangling-reference"}

LANGUAGE_CHECKS: Final = (
    Check("missing-name", "error", all_named(missing_name)),
    Check("slash-in-name", "error", all_named(slash_in_name), {"tool-name"}),
    *(
        Check(code, "error", properties(rule))
        for key in dict.fromkeys((*AGENTS.properties, *TOOL_SPECS.properties))
        if key != "settings"  # a map, with rules of its own
        for code, rule in (
            (f"missing-{key}", missing(key)),
            (f"{key}-type", not_a_text(key)),
            (f"empty-{key}", empty(key)),
        )
    ),
    Check("model-name", "error", agents(model_name)),
    Check("settings-type", "error", agents(settings_type)),
    Check("setting-value", "error", agents(setting_value)),
    Check("summary-writer", "error", agents(summary_writer)),
    Check("unknown-setting", "error", agents(unknown_setting)),
    Check("agent-property", "warning", agents(agent_property)),
    Check("duplicate-answer", "error", agents(duplicate_answer)),
    Check("tool-name-collision", "error", tool_name_collision),
    Check("unexpected-element", "error", unexpected_element),
    Check("misspelt-label", "warning", misspelt_label, {"label-case"}),
    Check("missing-label", "warning", missing_label),
    Check("arrow-outside", "warning", arrow_outside),
    *REFERENCE_CHECKS,
    Check("tool-name", "warning", tools(tool_name)),
    Check("missing-signature", "error", tools(missing_signature)),
    Check("signature-property", "warning", all_named(signature_property)),
    Check("signature", "error", signature, _SAID_OF_SIGNATURES),
    TYPE_CHECKS[1],
    Check("pattern", "warning", pattern),
    Check("signature", "error", agent_signature, _SAID_OF_SIGNATURES),
    Check("second-signature", "error", runnables(second_signature)),
    Check("answer-differs", "error", answer_differs),
    Check("workflow-property", "warning", workflows(workflow_property)),
)
"""The rules of the agent language, but for those of arrows and workflows."""
