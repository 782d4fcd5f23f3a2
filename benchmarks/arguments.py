"""Checking the arguments of a bound tool, against a bare call of the validator it is built on.

Run it with ``python -m benchmarks.arguments``.
"""

from __future__ import annotations

import jsonschema_rs

from benchmarks.compare import compare
from interp.machine.contracts.values import parameters_of
from lenses_ext import create_tool_specification, tool_spec_schema, view

TOOL = create_tool_specification(
    "search",
    "Searches documents",
    "(query::String {minLength: 1})==>(limit::Integer {default: 10, minimum: 1})"
    "==>(tags::Array {elementType: String, optional: true})==>(exact::Boolean {default: false})"
    "==>(::String)",
)
ARGUMENTS = {"query": "lenses", "limit": 5, "tags": ["a", "b"]}


def main() -> None:
    """Compare the two, and the cost of asking for a schema again."""
    validator = jsonschema_rs.Draft202012Validator(view(tool_spec_schema, TOOL))
    parameters = parameters_of(TOOL)
    compare(
        "arguments of one call",
        {
            "jsonschema-rs alone": lambda: validator.is_valid(ARGUMENTS),
            "checked, defaults filled in": lambda: parameters.checked(ARGUMENTS),
        },
    )
    compare(
        "the schema of a tool pattern",
        {
            "asked for again": lambda: view(tool_spec_schema, TOOL),
            "of a new pattern": lambda: view(
                tool_spec_schema,
                create_tool_specification("f", "Does it", "(a::Text)==>(b::Integer)==>(::Text)"),
            ),
        },
    )


if __name__ == "__main__":
    main()
