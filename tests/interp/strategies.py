"""Strategies for what is said in a run: replies, conversations, policies."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

import interp
from interp import ToolInvocation, machine
from interp.json_text import write_json
from lenses_ext import Model
from tests.gram.strategies import names, texts
from tests.lenses_ext.strategies import json_texts, json_values, models


# --- talking to models
@cache
def completions() -> st.SearchStrategy[dict[str, Any]]:
    """Completions as servers give them, odd ones too."""
    ids = st.sampled_from(["a", "b", "call_0", "call_1", "", None])
    arguments = st.text('{}:,"x1é', max_size=9) | st.sampled_from([None, "null", {"x": 1}, {}])
    functions = st.fixed_dictionaries(
        {"name": st.sampled_from(["sayHello", "nope"])}, optional={"arguments": arguments}
    )
    functions |= st.sampled_from([{"name": "", "arguments": ""}, {"name": None}])
    signed = st.fixed_dictionaries({"google": st.fixed_dictionaries({"signature": st.text("ab")})})
    call = {"id": ids, "function": functions}
    calls = st.lists(st.fixed_dictionaries(call, optional={"extra_content": signed}), max_size=3)
    details = st.fixed_dictionaries({"type": st.just("reasoning.text"), "text": st.text("ab")})
    words = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
    thinking = st.fixed_dictionaries({"type": st.just("thinking"), "thinking": st.just([])})
    parts = st.fixed_dictionaries({"type": st.just("text"), "text": words}) | thinking
    content = st.none() | words | st.lists(parts, max_size=3)
    messages = st.fixed_dictionaries(
        {"content": content},
        optional={
            "role": st.sampled_from(["assistant", "Assistant", "", None, "user"]),
            "function_call": st.sampled_from([None, {}, {"name": "", "arguments": ""}]),
            "refusal": content,
            "tool_calls": calls,
            "reasoning_content": st.text("ab"),
            "reasoning": st.text("ab"),
            "reasoning_details": st.lists(details, max_size=2),
            "extra_content": signed,
        },
    )
    finishes = st.sampled_from(["stop", "tool_calls", "length", "content_filter", "odd"])
    choices = st.fixed_dictionaries({"message": messages, "finish_reason": finishes})
    counts = st.fixed_dictionaries({"prompt_tokens": st.integers(), "completion_tokens": st.none()})
    return st.fixed_dictionaries(
        {"choices": choices.map(lambda choice: [choice]), "usage": st.none() | counts},
        optional={"model": st.sampled_from(["luna-1", "", None, 5])},
    )


@cache
def odd_json() -> st.SearchStrategy[Any]:
    """JSON with the keys of completions and chunks where they may and where they may not be."""
    words = (
        "choices message delta finish_reason error usage content refusal tool_calls code "
        "function_call function index id name arguments"
    )
    keys = st.sampled_from(words.split())
    leaves = st.none() | st.integers() | st.booleans() | st.text(max_size=3)
    return st.recursive(
        leaves,
        lambda below: st.lists(below, max_size=2) | st.dictionaries(keys, below, max_size=4),
        max_leaves=12,
    )


@cache
def approval_policies() -> st.SearchStrategy[interp.ApprovalPolicy]:
    """Policies with a few rules."""
    decisions = st.sampled_from(["allow", "ask", "deny"])
    globs = st.sampled_from(["*", "read*", "[ab]?", "["]) | texts()
    arguments = st.dictionaries(names().filter(bool), globs, max_size=2)
    rules = st.builds(interp.ApprovalRule, decisions, globs, arguments)
    return st.builds(interp.ApprovalPolicy, st.lists(rules, max_size=3), decisions)


# --- conversations
@cache
def files() -> st.SearchStrategy[interp.File]:
    """Files of each kind, and addresses; few, so that one is attached more than once."""
    names = st.sampled_from(["a.png", "b", "\udce9.pdf"]) | st.none()
    types = st.sampled_from(["image/png", "application/pdf", "text/plain", "audio/wav"])
    sources = st.sampled_from([b"x", b"\0\xff`", "https://example.com/a?b=`c`"])
    return st.builds(interp.File, sources, names, types)


@cache
def message_texts() -> st.SearchStrategy[str]:
    """Any str of Python: what UTF-8 cannot carry, too, and texts that look like our escapes."""
    odd = ["\ud800", "\ud83d\ude00", "\0", "\\u0000", "\\\ud800", "```\n```", '{"a": 1}']
    return json_texts() | st.text(max_size=8) | st.sampled_from(odd) | st.text("\ud800\udc00\\u0")


@cache
def tool_calls() -> st.SearchStrategy[interp.ToolCall]:
    """Calls of tools as a model may write them."""
    spelled = message_texts()
    return st.builds(interp.ToolCall, spelled, spelled.filter(bool), spelled, st.none() | spelled)


@cache
def messages() -> st.SearchStrategy[interp.Message]:
    """Messages of every role, with what the types allow and no provider would send."""
    roles = st.sampled_from([interp.UserRole, interp.AssistantRole]) | message_texts().filter(
        bool
    ).map(interp.FunctionRole)
    calls = st.lists(tool_calls(), max_size=2)
    maybe = st.none() | message_texts()
    given = (roles, message_texts(), calls, maybe, st.booleans(), maybe)
    attached = st.just(()) | st.lists(files(), max_size=2)
    return st.builds(interp.Message, *given, attachments=attached)


@cache
def contexts() -> st.SearchStrategy[interp.ConversationContext]:
    """Conversations, the empty one too."""
    return st.lists(messages(), max_size=4).map(interp.ConversationContext)


@cache
def invocations() -> st.SearchStrategy[ToolInvocation]:
    """Tool calls that were answered, by a result or by an error."""
    results = st.builds(ToolInvocation, message_texts(), json_values(), json_values())
    errors = st.builds(ToolInvocation, message_texts(), json_values(), error=message_texts())
    return results | errors


@cache
def responses() -> st.SearchStrategy[interp.AgentResponse]:
    """What a run may give."""
    used = st.lists(invocations(), max_size=2).map(tuple)
    count = st.none() | st.integers(0)
    usage = st.builds(interp.Usage, count, count, st.integers(0), st.integers(0))
    kinds = st.sampled_from([(False, False), (True, True)])  # no type, or that of a text
    flags = st.booleans()
    return st.builds(
        lambda said, used, context, usage, kind, truncated: interp.AgentResponse(
            said, used, context, usage, kind[0], truncated, is_text=kind[1]
        ),
        *(message_texts(), used, contexts(), usage, kinds, flags),
    )


@cache
def events() -> st.SearchStrategy[machine.Event]:
    """Events of every type, whether or not a run waits for them."""
    at = st.lists(st.integers(0, 20), max_size=3).map(tuple)
    count = st.none() | st.integers(0)
    usage = st.builds(interp.Usage, count, count, st.integers(0), st.integers(0))
    limits = st.none() | st.builds(
        interp.Limits, iterations=st.integers(0, 9), run_seconds=st.none() | st.just(0.5)
    )
    changes = st.none() | st.sampled_from([{}, {"temperature": 0.5, "seed": None}])
    return st.one_of(
        st.builds(
            machine.ModelReplied,
            at,
            messages(),
            usage,
            st.booleans(),
            message_texts(),
            st.sampled_from(["", "luna-1"]),
            reasoning=message_texts(),
            model=st.none() | st.just(Model("A", "b/c")),
            tried=st.dictionaries(models(), texts(), max_size=2).map(
                lambda tried: tuple(tried.items())
            ),
            cost=st.none() | st.decimals(0, 1, places=9),
        ),
        st.builds(machine.CallBegun, at),
        st.builds(machine.ToolReturned, at, json_values().map(write_json)),
        st.builds(machine.CallFailed, at, message_texts()),
        st.builds(machine.Decided, at, st.booleans(), message_texts()),
        st.just(machine.TimeUp()),
        st.decimals(0, 1, places=6).map(machine.CostReached),
        st.builds(
            machine.Resumed,
            limits,
            st.none() | st.just(Model("A", "b/c")),
            st.none() | approval_policies(),
            changes,
            st.none() | st.booleans(),
        ),
    )


# --- JSON
@cache
def json_data() -> st.SearchStrategy[Any]:
    """JSON in which the special forms of values, whole and spoilt, are frequent."""
    words = st.sampled_from(
        ["symbol", "tagged", "measurement", "range", "map", "kg", "a b", "true"]
    )
    leaves = st.none() | st.booleans() | st.integers(-2, 2) | st.just(1.5) | words
    forms = st.sampled_from(
        [("value",), ("tag", "content"), ("unit", "value"), ("lower", "upper"), ("entries",), ()]
    )

    @st.composite
    def special(draw: st.DrawFn, below: st.SearchStrategy[Any]) -> dict[str, Any]:
        keys = draw(forms) + draw(st.sampled_from([(), (), ("more",)]))
        return {"type": draw(words), **{key: draw(below) for key in keys}}

    return st.recursive(
        leaves, lambda below: st.lists(below, max_size=2) | special(below), max_leaves=5
    )


# --- programs as texts

ABBREVIATIONS = {
    "$A": 'Agent {instruction: "x", model: "Offline/rehearsal"}',
    "$T": 'Tool {description: "d"}',
}
"""What some programs of tests are written with: an agent and a tool with nothing wrong."""

PROGRAM_NAMES = st.sampled_from("abcd")


def element_texts(depth: int) -> st.SearchStrategy[str]:
    """The text of an element of an agent: a reference, a tool, a type, or an agent."""
    tool = st.builds(
        "[{}:$T | (p::{}{}]".format,
        PROGRAM_NAMES,
        st.sampled_from(["Text)==>(::A)", "Text)==>(p::Text)==>(::Text)", "A)==>(::B)"]),
        st.sampled_from(["", ", [A:Object | (n::B)]"]),
    )
    type_ = st.builds("[{}:Object | (n::{})]".format, st.sampled_from("AB"), st.sampled_from("AB"))
    choices = [PROGRAM_NAMES, PROGRAM_NAMES, tool, type_]
    if depth:
        choices.append(agent_texts(depth - 1))
    return st.one_of(choices)


def agent_texts(depth: int) -> st.SearchStrategy[str]:
    """The text of an agent."""
    below = st.lists(element_texts(depth), min_size=1, max_size=3).map(", ".join)
    return st.builds("[{}:$A | {}]".format, PROGRAM_NAMES, below)


@cache
def program_texts() -> st.SearchStrategy[str]:
    """Programs of few names, so that they are often defined twice, shared, or missing."""
    tops = agent_texts(1) | element_texts(0).filter(lambda each: each not in "abcd")
    texts = st.lists(tops, min_size=1, max_size=5).map("\n".join)
    return texts.map(lambda text: text.replace("$A", ABBREVIATIONS["$A"])).map(
        lambda text: text.replace("$T", ABBREVIATIONS["$T"])
    )
