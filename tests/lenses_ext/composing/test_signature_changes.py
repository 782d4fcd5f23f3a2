"""What is said of parts of a signature agrees with the comparison of the whole."""

from hypothesis import given

from lenses_ext import create_tool_specification, tool_spec_schema, view
from lenses_ext.composing import changes, level_of
from lenses_ext.schemas import differences
from lenses_ext.signatures import result_schema
from tests.lenses_ext.strategies import signature_texts


@given(signature_texts(), signature_texts())
def test_what_breaks_a_caller_or_a_function_is_never_told_as_compatible(old: str, new: str) -> None:
    one, other = (create_tool_specification("t", "D.", each) for each in (old, new))
    schemas = view(tool_spec_schema, one), view(tool_spec_schema, other)
    results = result_schema(one), result_schema(other)

    found = changes(one, other)

    breaks = differences(*schemas, match="types") or differences(
        *results, match="types", result=True
    )
    unbinds = differences(*schemas[::-1]) or differences(*results[::-1], result=True)
    assert level_of(found) == "major" or not breaks
    assert any(each.said.unbinds for each in found) or not unbinds
