"""What is wrong with agents, tools and whole programs: the table of all that can be.

The rules are the table `PROGRAM_CHECKS`. A pattern is valid when no fault of it is an ``error``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain
from typing import Final

import attrs

from gram import Check, Diagnostic, Document, Pattern, check, only_errors, pattern_at
from gram.checks import CHECKS
from gram.errors import expect
from gram.trees import carry_origin

from .. import names
from ..labels import AGENT, TOOL, TOOLS
from ..names import Project, diagnose
from ..workflows import grouped
from . import element_rules, flow_rules, rules
from .flow_rules import of_flows
from .rules import nearest_label, of_each

_SAID_OF_SIGNATURES: Final = names.DEFINED_TWICE | {"self-reference", "dangling-reference"}

_SAID_OF_LABELS: Final = frozenset({"missing-label", "label-case"})
_SAID_OF_ENDS: Final = names.DEFINED_TWICE | {"undefined-reference"}

_OF_TEXTS = {"missing-{}": rules.missing, "{}-type": rules.not_a_text, "empty-{}": rules.empty}

PROGRAM_CHECKS: Final = (
    *(row for row in CHECKS if row.code != names.IMPORT_CHECKS[0].code),
    Check("missing-name", "error", of_each("named", rules.missing_name)),
    Check("slash-in-name", "error", of_each("named", rules.slash_in_name), {"tool-name"}),
    *(
        Check(code.format(key), "error", of_each("named", rule, key))
        for key in ("description", "instruction", "model")  # others have a rule of their own
        for code, rule in _OF_TEXTS.items()
    ),
    Check("model-name", "error", of_each("agents", rules.model_name)),
    Check("settings-type", "error", of_each("agents", rules.settings_type)),
    Check("skill-value", "error", of_each("agents", rules.skill_value)),
    Check("tool-value", "error", of_each("tools", rules.tool_value)),
    Check("setting-value", "error", of_each("agents", rules.wrong_setting, True)),
    Check("summary-writer", "error", of_each("agents", rules.summary_writer)),
    Check("unknown-setting", "error", of_each("agents", rules.wrong_setting, False)),
    Check("agent-property", "warning", of_each("agents", rules.agent_property)),
    Check("tool-property", "warning", of_each("tools", rules.misspelt_property)),
    Check("duplicate-answer", "error", of_each("agents", rules.duplicate_answer)),
    Check("tool-name-collision", "error", element_rules.tool_name_collision),
    Check("skill-name", "error", element_rules.skill_name),
    Check("unexpected-element", "error", element_rules.unexpected_element, _SAID_OF_LABELS),
    Check("misspelt-label", "warning", element_rules.misspelt_label, {"label-case"}),
    Check("missing-label", "warning", element_rules.missing_label),
    Check("arrow-outside", "warning", element_rules.arrow_outside),
    *names.IMPORT_CHECKS,
    *names.REFERENCE_CHECKS,
    Check("tool-name", "warning", of_each("tools", rules.tool_name)),
    Check("missing-signature", "error", of_each("tools", rules.missing_signature)),
    Check("signature-property", "warning", of_each("named", rules.signature_property)),
    Check("signature", "error", rules.signature, _SAID_OF_SIGNATURES),
    names.TYPE_CHECKS[1],
    Check("second-signature", "error", of_each("runnables", rules.second_signature)),
    Check("answer-differs", "error", rules.answer_differs),
    Check("workflow-property", "warning", of_each("workflows", rules.workflow_property)),
    Check("arrow-direction", "error", of_each("runnables", element_rules.arrow_direction)),
    Check("arrow-label", "error", of_each("runnables", element_rules.arrow_label), {"label-case"}),
    Check("arrow-key", "error", of_each("runnables", element_rules.arrow_key)),
    Check("arrow-end", "error", of_each("runnables", element_rules.arrow_end), _SAID_OF_ENDS),
    Check("handoff", "error", element_rules.handoff),
    Check("handoff-name", "error", element_rules.handoff_names),
    Check("called-without-description", "warning", element_rules.called_without_description),
    Check("empty-workflow", "error", of_each("workflows", element_rules.empty_workflow)),
    Check("unconnected-node", "error", of_each("workflows", element_rules.unconnected_node)),
    Check("arrow-cycle", "error", of_each("workflows", element_rules.arrow_cycle)),
    Check("duplicate-field", "error", element_rules.duplicate_field),
    Check("several-lists", "error", element_rules.several_lists),
    Check("too-many-ways", "error", of_each("workflows", element_rules.too_many_ways)),
    Check("arrow-type", "error", of_flows(flow_rules.arrow_type)),
    Check("handoff-type", "error", flow_rules.handoff_type),
    Check("missing-field", "error", of_flows(flow_rules.missing_field)),
    Check("no-result", "error", of_flows(flow_rules.no_result)),
    Check("each-type", "error", of_flows(flow_rules.each_type)),
    Check("impossible-choice", "error", of_flows(flow_rules.impossible_choice)),
    Check("uncovered-choice", "error", of_flows(flow_rules.uncovered_choice)),
    Check("needless-otherwise", "warning", of_flows(flow_rules.needless_otherwise)),
    Check("loop-rounds", "error", of_each("workflows", flow_rules.loop_rounds)),
    Check("loop-end", "error", of_flows(flow_rules.loop_end)),
)
"""All that can be wrong in a file with agents: the rules of the notation and of the language."""

_ERRORS = tuple(row for row in PROGRAM_CHECKS if row.severity == "error")
_MINOR = {row.code for row in CHECKS if row.severity != "error"}
_VALIDATION = tuple(row for row in PROGRAM_CHECKS if row.code not in _MINOR)
"""All rules of the language, and of the notation those that are errors."""


def validate_agent_pattern(agent: Pattern) -> tuple[Diagnostic, ...]:
    """All the faults of an agent and its tools, in the order of the text.

    An element that is neither a tool nor an agent nor a type is a fault; so is a reference that
    has not been resolved (see `resolve`).
    """
    expect(agent, Pattern, "agent", by="validate_agent_pattern")
    return _validated(agent, AGENT, {AGENT}, "an agent")


def validate_tool_spec_pattern(tool: Pattern) -> tuple[Diagnostic, ...]:
    """All the faults of a tool specification."""
    expect(tool, Pattern, "tool", by="validate_tool_spec_pattern")
    return _validated(tool, TOOL, TOOLS, "a tool")


def validate_program(program: names.ProgramLike) -> tuple[Diagnostic, ...]:
    """All the faults of a program's agents and tools, each once, in the order of the text.

    A document without agents and tools has no faults. Paths begin with the index of a top-level
    pattern.
    """
    definitions = names.program_of(program, by="validate_program")
    tops = [*definitions.tops]
    if all(each.path not in definitions.named for each in tops):
        return ()
    within = {each.path for each in tops}
    within |= {(*file, 0) for file, imports in definitions.files.imports.items() if imports}
    return diagnose(program, _VALIDATION, within)


def agent_diagnostics(
    program: names.ProgramLike, agent: str | None = None
) -> tuple[Diagnostic, ...]:
    """What is wrong with an agent and all that it refers to, in the order of the text.

    Args:
        program: a project, a document, the patterns of one, or a pattern.
        agent: the name of the agent; without it, the only one.

    Raises:
        ProgramError: there is no such agent.
    """
    definitions = names.program_of(program, by="agent_diagnostics")
    chosen = names.choose(definitions, agent, document=names.document_of_program(program))
    return diagnose(program, _VALIDATION, names.reached(definitions, chosen))


def new_errors(before: Document | Project, after: Document | Project) -> tuple[Diagnostic, ...]:
    """The errors of a program that an edit adds.

    Errors that were there before are left out, even when the edit moved them or renamed what they
    are about.
    """
    expect(before, (Document, Project), "before", by="new_errors")
    expect(after, (Document, Project), "after", by="new_errors")
    new = only_errors(diagnose(after, _ERRORS))
    old = only_errors(diagnose(before, _ERRORS)) if new else ()
    for key in (_words, _spot):
        known = grouped((key(each, before), each) for each in old)
        added = []
        for each in new:
            if same := known.get(key(each, after)):
                same.pop(0)
            else:
                added.append(each)
        old, new = tuple(chain.from_iterable(known.values())), tuple(added)
    return new


def _words(fault: Diagnostic, _: Document | Project) -> object:
    """What a fault says, without the places in its message."""
    return fault.code, re.sub(r"\d+:\d+", "", fault.message)


def _spot(fault: Diagnostic, program: Document | Project) -> object:
    """Where a fault is: the place in the trees, and the part at fault."""
    subject = pattern_at(program.patterns, fault.tree_path).value
    known = {"identity": subject.identity, "labels": subject.labels}
    part = next((step for step in fault.path if isinstance(step, str)), "")
    return fault.code, fault.path, known.get(part, subject.properties.get(part))


def _validated(
    pattern: Pattern, label: str, wanted: Collection[str], what: str
) -> tuple[Diagnostic, ...]:
    """The faults of a pattern, which is taken for what it should be if it has not the label."""
    missing: tuple[Diagnostic, ...] = ()
    labels = pattern.value.labels
    if labels.isdisjoint(wanted):
        found = f"the label {', '.join(sorted(labels))}" if labels else "no label"
        expected = " or ".join(sorted(wanted, key=len, reverse=True))
        message, hint = f"{what} has the label {expected}", nearest_label(labels, wanted)
        message += f", this has {found}"
        missing = (Diagnostic.of("missing-label", message, pattern, "labels", hint=hint),)
        subject = attrs.evolve(pattern.value, labels={label})
        pattern = carry_origin(attrs.evolve(pattern, value=subject), pattern)
    faults = check(pattern, checks=_VALIDATION, scopes=names.program_scopes)
    return (*missing, *(attrs.evolve(each, path=each.path[1:]) for each in faults))
