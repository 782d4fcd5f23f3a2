"""Rules compare what arguments mean: no other way of writing a value passes a rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import interp
from gram import loads_one
from interp import ApprovalPolicy, ApprovalRule, ScriptedModel, run
from tests.interp.model_server import tool_calls
from tests.lenses_ext.strategies import json_values


def _decision(glob: str, value: Any, schema: Any = None) -> str:
    policy = ApprovalPolicy([ApprovalRule("deny", "pay", {"value": glob})])
    types = None if schema is None else {"properties": {"value": schema}}
    return policy.decide("pay", {"value": value}, schema=types)


@pytest.mark.parametrize(
    ("glob", "written"),
    [
        ("100", "1e2"),
        ("1e2", "100.0"),
        ("1E+2", "1000e-1"),
        ("10*", "1E2"),
        ("???", "100.000"),
        ("0", "-0.0"),
        ("0.00001", "1e-5"),
        ("0.00*", "1e-5"),
        ("1000000000000000000000000", "1e24"),
        ("1e24", "1000000000000000000000000"),
        ("-5", "-5.0"),
        ("true", "true"),
        ("null", "null"),
        ("[1, 2]", "[1.0,2e0]"),
        ('{"a": 1, "b": [true]}', '{"b":[true],"a":1.0}'),
        ('{"a":1,*', '{"b":2,"a":1.0}'),
        ('["é"]', '["\\u00e9"]'),
        ("é", '"\\u00e9"'),
        ("é", '"e\\u0301"'),
        ("e\u0301*", '"\\u00e9t\\u00e9"'),
        ('{"caf\u00e9":["\u00e9"]}', '{"cafe\\u0301":["e\\u0301"]}'),
        ("[]", "[]"),
        ("{}", "{ }"),
    ],
)
def test_values_of_every_kind_are_compared_by_what_they_are(glob: str, written: str) -> None:
    assert _decision(glob, json.loads(written)) == "deny"


@pytest.mark.parametrize(
    ("glob", "value"),
    [
        ("100", "100.0"),
        ("1", True),
        ("true", 1),
        ("true", "True"),
        ("null", "None"),
        ("[1,2]", [2, 1]),
        ('["1"]', [1]),
        ("100", 100.5),
        ("9007199254740993", 9007199254740992),
    ],
)
def test_values_that_differ_do_not_fit(glob: str, value: Any) -> None:
    assert _decision(glob, value) == "allow"


@pytest.mark.parametrize(
    ("glob", "value", "schema"),
    [
        ("100", "100.0", {"anyOf": [{"type": "number"}, {"type": "string"}]}),
        ("100", "1e2", {"type": ["string", "integer"]}),
        ("100", ["100.0"], {"type": "array", "items": {"type": ["string", "number"]}}),
        ('{"n":100}', {"n": "1e2"}, {"properties": {"n": {"type": ["string", "number"]}}}),
        ("10:00:00Z", "10:00:00.000+00:00", {"type": "string", "format": "time"}),
        ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", {"format": "date-time"}),
        ("0AB9F28A-5d0c-4c9c-8f3b-0a1b2c3d4e5f", "0ab9f28a-5d0c-4c9c-8f3b-0a1b2c3d4e5f",
         {"anyOf": [{"type": "null"}, {"type": "string", "format": "uuid"}]}),
        ("2026-01-01T00:00:00Z", "1767225600", {"type": "string", "format": "date-time"}),
        ("2026-01-01", "1767225600", {"type": "string", "format": "date"}),
        ("2026-01-*", "2026-01-01T00:00:00", {"type": "string", "format": "date"}),
        ("2026-01-01", ["1767225600"], {"items": {"type": "string", "format": "date"}}),
        ("P1D", "PT24H", {"type": "string", "format": "duration"}),
        ("::1", "0:0:0:0:0:0:0:1", {"type": "string", "format": "ipv6"}),
        ("/etc/*", "/etc/./passwd", {"type": "string", "format": "path"}),
        ("/etc/passwd", "/etc//./passwd", {"type": "string", "format": "path"}),
    ],
)  # fmt: skip
def test_a_text_is_what_its_schema_reads_it_as(glob: str, value: Any, schema: Any) -> None:
    if isinstance(value, list):
        glob = json.dumps([glob]) if schema["items"].get("format") else f"[{glob}]"
    assert _decision(glob, value, schema) == "deny"


def test_references_of_a_schema_are_followed() -> None:
    schema = {
        "properties": {"value": {"$ref": "#/$defs/Amount"}},
        "$defs": {"Amount": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/Amount"}]}},
    }
    policy = ApprovalPolicy([ApprovalRule("deny", "pay", {"value": "100"})])
    assert policy.decide("pay", {"value": "1e2"}, schema=schema) == "deny"


@pytest.mark.parametrize("text", ["1e999999999", "-1e-999999999", "NaN", "Infinity"])
def test_a_number_that_is_too_long_stays_a_text(text: str) -> None:
    assert _decision("1", text, {"type": ["string", "number"]}) == "allow"
    assert _decision(text, 1) == "allow"


@given(json_values())
def test_a_value_written_as_json_fits_itself(value: Any) -> None:
    glob = value if isinstance(value, str) else json.dumps(value)
    assert _decision(glob, value) == "deny" or "[" in glob


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_fits_each_way_to_write_it(number: float) -> None:
    assert _decision(json.dumps(number), number) == "deny"
    assert _decision(f"{number:.400e}", float(number)) == "deny"


PROGRAM = """
[a:Agent {instruction: "Pay.", model: "OpenAI/x"} |
  [pay:Tool {description: "Pays"} | (amount::Integer)==>(::String)]]
"""
FLOW = """
[w:Workflow {description: "Pays"} | (amount::Integer)==>(::String),
  [pay:Tool {description: "Pays"} | (amount::Integer)==>(::String)]]
"""
STOP_100 = ApprovalPolicy([ApprovalRule("deny", "*", {"amount": "100"})])


@interp.tool
def pay(amount: int) -> str:
    """Pays"""
    raise AssertionError(f"{amount} is paid")


@pytest.mark.parametrize("written", ["100.0", "1e2", "0.01e4"])
def test_no_way_of_writing_an_amount_passes_the_rule_of_a_run(written: str) -> None:
    model = ScriptedModel([tool_calls(("a", "pay", f'{{"amount": {written}}}')), "ok"])
    response = run(loads_one(PROGRAM), "pay", [pay], model=model, policy=STOP_100)
    assert "forbids" in (response.tools_used[0].error or "")


def test_a_policy_given_later_compares_values_too() -> None:
    reply = tool_calls(("a", "pay", {"amount": 1e2}))
    ask = ApprovalPolicy(otherwise="ask")
    with pytest.raises(interp.ApprovalNeeded) as caught:
        run(loads_one(PROGRAM), "pay", [pay], model=ScriptedModel([reply]), policy=ask)
    assert caught.value.state is not None
    with pytest.raises(interp.ApprovalNeeded) as flow:
        run(loads_one(FLOW), {"amount": 100.0}, [pay], model=ScriptedModel([]), policy=ask)
    assert flow.value.state is not None

    answer = interp.resume_run(
        caught.value.state, [pay], model=ScriptedModel(["ok"]), policy=STOP_100
    )

    assert "forbids" in (answer.tools_used[0].error or "")
    with pytest.raises(Exception, match="forbids"):
        interp.resume_run(flow.value.state, [pay], model=ScriptedModel([]), policy=STOP_100)


@pytest.mark.parametrize(
    ("rule", "decision"),
    [("bank/pay", "deny"), ("b*/p*", "deny"), ("*/pay", "deny"), ("pay", "deny"),
     ("*", "deny"), ("ban/kpay", "allow"), ("bank*", "allow"), ("/pay", "allow"),
     ("*bank/pay*", "deny")],
)  # fmt: skip
def test_a_rule_of_an_agent_names_it_before_the_slash(rule: str, decision: str) -> None:
    policy = ApprovalPolicy([ApprovalRule("deny", rule)])
    assert policy.decide("pay", {}, by="bank") == decision
