"""Every name of the specification, in snake case: one module to import them from.

``docs/reference/specification.md`` says of each what it is here. What the specification calls
``Either Text a`` is a result or an exception with the message, ``Maybe a`` is a value or None, and
its types of patterns are all `Pattern`.

>>> from interp.specification import agent_name, hello_world_agent, set, view
>>> view(agent_name, set(agent_name, "greeter", hello_world_agent))
'greeter'
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, Final, TypeAlias

from gram import Pattern as Pattern, load_file, loads as loads, loads_one as loads_one
from lenses_ext import (
    Model as Model,
    TypeSignature as TypeSignature,
    agent_description as agent_description,
    agent_instruction as agent_instruction,
    agent_model as agent_model,
    agent_name as agent_name,
    agent_tool_specs as agent_tool_specs,
    create_agent_pattern as create_agent_pattern,
    create_tool_specification as create_tool_specification,
    over as over,
    parse_program,
    parse_type_signature as parse_type_signature,
    put as put,
    tool_spec_description as tool_spec_description,
    tool_spec_from_json as tool_spec_from_json,
    tool_spec_name as tool_spec_name,
    tool_spec_schema as tool_spec_schema,
    tool_spec_to_json as tool_spec_to_json,
    tool_spec_type_signature as tool_spec_type_signature,
    type_signature_to_json_schema as type_signature_to_json_schema,
    validate_agent_pattern as validate_agent_pattern,
    validate_tool_spec_pattern as validate_tool_spec_pattern,
    view as view,
    write_program,
)

from . import create_tool as create_tool, hello_world_tool_library as hello_world_tool_library
from .errors import (
    AgentError as AgentError,
    ConfigurationError as ConfigurationError,
    LLMAPIError as LLMAPIError,
    ToolError as ToolError,
    ValidationError as ValidationError,
)
from .json_text import Json
from .machine import (
    AgentResponse as AgentResponse,
    AssistantRole as AssistantRole,
    ConversationContext as ConversationContext,
    FunctionRole as FunctionRole,
    Message as Message,
    MessageRole as MessageRole,
    ToolInvocation as ToolInvocation,
    UserRole as UserRole,
    empty_context as empty_context,
    validate_tool_args as validate_tool_args,
)
from .models import detect_tool_call as detect_tool_call
from .running import (
    execute_agent as execute_agent,
    execute_agent_with_library as execute_agent_with_library,
)
from .tools import (
    Tool as Tool,
    ToolLibrary as ToolLibrary,
    bind_agent_tools as bind_agent_tools,
    bind_tool as bind_tool,
    empty_tool_library as empty_tool_library,
    invoke_tool as invoke_tool,
    lookup_tool as lookup_tool,
    register_tool as register_tool,
)
from .tools.hello_world import say_hello

# --- types: what is written in gram is a pattern

AgentPattern: TypeAlias = Pattern
ToolSpecPattern: TypeAlias = Pattern
Agent: TypeAlias = Pattern
"""An agent: its pattern runs as it is, so there is no other class of it."""
ToolSpecification: TypeAlias = Pattern
LLMResponse: TypeAlias = Any
"""A model's reply: a completion or a message of a provider, or a `Message`."""

load = load_file
parse = parse_program
dumps = write_program
set = put
"""Another value in a part of a pattern: ``set(agent_name, "al", agent)``; the same as `put`."""

OpenAI: Final = "OpenAI"


def create_model(name: str, provider: str) -> Model:
    """The model of a provider, in the specification's order.

    >>> str(create_model("gpt-3.5-turbo", OpenAI))
    'OpenAI/gpt-3.5-turbo'
    """
    return Model(provider, name)


parse_model: Callable[[str], Model] = Model.parse
"""The model that a text names, such as ``"OpenAI/gpt-3.5-turbo"``."""
model_to_string: Callable[[Model], str] = str


# --- parts of what is not a pattern

tool_name: Callable[[Tool], str] = attrgetter("name")
tool_description: Callable[[Tool], str] = attrgetter("description")
tool_schema: Callable[[Tool], dict[str, Json]] = attrgetter("schema")
tool_invoke: Callable[[Tool], Callable[[dict[str, Json]], Any]] = attrgetter("invoke")
"""The function of a tool; `invoke_tool` calls it."""
library_tools: Callable[[ToolLibrary], dict[str, Tool]] = dict
context_messages: Callable[[ConversationContext], tuple[Message, ...]] = attrgetter("messages")
message_role: Callable[[Message], MessageRole] = attrgetter("role")
message_content: Callable[[Message], str] = attrgetter("content")
response_content: Callable[[AgentResponse], str] = attrgetter("content")
response_tools_used: Callable[[AgentResponse], tuple[ToolInvocation, ...]] = attrgetter(
    "tools_used"
)
invocation_tool_name: Callable[[ToolInvocation], str] = attrgetter("tool_name")
invocation_args: Callable[[ToolInvocation], Json] = attrgetter("args")


def invocation_result(invocation: ToolInvocation) -> Json:
    """The result of a call.

    Raises:
        ToolError: the call failed; the message is what the model was told.
    """
    if invocation.error is not None:
        raise ToolError(invocation.error)
    return invocation.result


# --- shorter words for lenses onto an agent

get_agent_name: Callable[[Pattern], str] = partial(view, agent_name)
set_agent_name: Callable[[str, Pattern], Pattern] = partial(put, agent_name)
get_tool_specs: Callable[[Pattern], tuple[Pattern, ...]] = partial(view, agent_tool_specs)

say_hello_tool = say_hello
say_hello_spec: Pattern = create_tool_specification(
    "sayHello",
    "Returns a friendly greeting message for the given name",
    "(personName::Text)==>(::String)",
)
hello_world_agent: Pattern = create_agent_pattern(
    "hello_world_agent",
    "A friendly agent that uses the sayHello tool to greet users",
    create_model("gpt-3.5-turbo", OpenAI),
    "You are a friendly assistant. Have friendly conversations with the user. When the user greets "
    "you or says hello, use the `sayHello` tool to respond with a personalized greeting.",
    [say_hello_spec],
)
"""The example of the specification: it greets users with `say_hello_tool`."""
