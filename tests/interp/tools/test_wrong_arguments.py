"""Arguments of a wrong type are refused by every public function in the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import interp
from gram import ArgumentError, GramError
from interp import (
    AgentResponse,
    ApprovalPolicy,
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Limits,
    Message,
    Run,
    ScriptedModel,
    Tool,
    ToolCall,
    ToolContext,
    ToolInvocation,
    ToolLibrary,
    Usage,
    UserRole,
    bind_agent_tools,
    create_tool,
    hello_world_tool_library,
    load_context,
    resume_run,
    save_context,
    session,
    tool,
    tool_spec_from_function,
)
from interp.history import (
    context_from_pattern,
    context_to_pattern,
    invocation_from_pattern,
    invocation_to_pattern,
    response_from_pattern,
    response_to_pattern,
)
from interp.machine import (
    Resumed,
    fold,
    interrupted_context,
    pending,
    response,
    resume,
    start,
    step,
    validate_tool_args,
)
from interp.tools import (
    bind_tool,
    empty_tool_library,
    explain_binding,
    invoke_tool,
    lookup_tool,
    register_tool,
)
from lenses_ext import create_agent_pattern, create_tool_specification, write_program

ANY: Any = interp
SPEC = create_tool_specification("f", "d", "()==>(::String)")
AGENT = create_agent_pattern("a", None, "A/b", "Help.", [SPEC])
HELLO = hello_world_tool_library["sayHello"]
OBJECT = {"type": "object"}
STATE = start(AGENT, "Hello.")[0]
INVOCATION = ToolInvocation("f", {}, 1)


def function(n: int) -> int:
    """Gives it back."""
    return n


CALLS: list[tuple[Callable[..., Any], list[Any]]] = [
    (create_tool, ["f", "d", OBJECT, print]),
    (Tool, ["f", "d", OBJECT, print]),
    (lambda name: HELLO.renamed(name), ["f"]),
    (tool, [function]),
    (lambda name: tool(function, name=name), ["f"]),
    (lambda description: tool(function, description=description), ["d"]),
    (tool_spec_from_function, [function]),
    (ToolLibrary, [{}]),
    (lambda given: ToolLibrary({"sayHello": given}), [HELLO]),
    (lambda given: ToolLibrary.of(given), [HELLO]),
    (lambda given: ToolLibrary.of([given]), [HELLO]),
    (lambda given: empty_tool_library.override(given), []),
    (lambda names: hello_world_tool_library.restrict(names), [["sayHello"]]),
    (lambda name: hello_world_tool_library.restrict([name]), ["sayHello"]),
    (lambda old, new: hello_world_tool_library.rename(old, new), ["sayHello", "f"]),
    (register_tool, ["sayHello", HELLO, empty_tool_library]),
    (lookup_tool, ["sayHello", empty_tool_library]),
    (bind_tool, [SPEC, empty_tool_library]),
    (explain_binding, [SPEC, empty_tool_library]),
    (bind_agent_tools, [AGENT, empty_tool_library]),
    (invoke_tool, [HELLO, {"personName": "Ann"}]),
    (lambda args: validate_tool_args(OBJECT, args), [{}]),
    (ToolCall, ["id", "f", "{}"]),
    (FunctionRole, ["f"]),
    (Message, [UserRole, "Hello."]),
    (lambda calls: Message(AssistantRole, "", calls), [[ToolCall("id", "f", "{}")]]),
    (lambda call: Message(AssistantRole, "", [call]), [ToolCall("id", "f", "{}")]),
    (ConversationContext, [[]]),
    (lambda message: ConversationContext([message]), [Message(UserRole, "Hello.")]),
    (lambda message: ConversationContext().append(message), [Message(UserRole, "Hello.")]),
    (lambda name: ToolInvocation(name, {}), ["f"]),
    (ToolInvocation.of_texts, ["f", "{}", "1"]),
    (lambda count: Usage(count, 1), [1]),
    (AgentResponse, ["Done.", (), ConversationContext(), Usage()]),
    (lambda used: AgentResponse("Done.", [used]), [ToolInvocation("f", {}, 1)]),
    (lambda text: start(AGENT, text), ["Hello."]),
    (lambda given: start(AGENT, "Hello.", given), [ConversationContext()]),
    (lambda limits: start(AGENT, "Hello.", limits=limits), [Limits()]),
    (lambda state: step(state, Resumed()), [STATE]),
    (fold, [STATE, []]),
    (pending, [STATE]),
    (resume, [STATE, Limits()]),
    (lambda state: response(state), [STATE]),
    (interrupted_context, [STATE]),
    (lambda state: resume_run(state, model=ScriptedModel([])), [STATE]),
    (lambda library: Run(STATE, library), [empty_tool_library]),
    (ScriptedModel, [["Hello."]]),
    (context_to_pattern, [ConversationContext()]),
    (context_from_pattern, [context_to_pattern(ConversationContext())]),
    (invocation_to_pattern, [INVOCATION]),
    (invocation_from_pattern, [invocation_to_pattern(INVOCATION)]),
    (response_to_pattern, [AgentResponse("Done.", (), ConversationContext(), Usage())]),
    (response_from_pattern, [AGENT]),
    (ApprovalPolicy.from_pattern, [ApprovalPolicy().to_pattern()]),
    (load_context, ["no such file"]),
    (lambda path: save_context(path, ConversationContext()), ["no such directory/a.gram"]),
    (lambda context: save_context("no such directory/a.gram", context), [ConversationContext()]),
    (lambda path: session(path).__enter__(), ["no such directory/a.gram"]),
    (ToolContext, ["a", "f", ConversationContext(), "key"]),
]
WRONG = [object(), 5, None, b"bytes"]


@pytest.mark.parametrize(
    ("call", "arguments", "position"),
    [
        (call, arguments, position)
        for call, arguments in CALLS
        for position in range(len(arguments))
    ],
)
def test_an_argument_of_a_wrong_type_is_an_argument_error(
    call: Callable[..., Any], arguments: list[Any], position: int
) -> None:
    refused = 0
    for wrong in WRONG:
        given = [*arguments[:position], wrong, *arguments[position + 1 :]]
        try:
            call(*given)
        except GramError as error:
            refused += isinstance(error, ArgumentError)

    assert refused >= 1


def test_a_call_with_the_wrong_arguments_is_one_too() -> None:
    made = tool(function)

    for values, names, message in (
        ((1, 2), {}, "takes 1 argument, 2 given"),
        ((1,), {"n": 1}, "got n twice"),
        ((), {}, "needs n"),
    ):
        with pytest.raises(ArgumentError, match=message):
            made(*values, **names)
    assert "function" in write_program(tool_spec_from_function(made))
