"""What a user can do about a request that a provider refuses, by the words of the refusal.

Providers say what is wrong in the names of their protocol; the hints name what the user writes: a
setting, an option, a variable. The words are those of the providers' own messages.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import partial
from typing import Final, Literal, TypeAlias

from lenses_ext import Model

from ..errors import ModelError
from ..machine import FunctionRole, Request
from .providers import CHAT_FIELDS, RESPONSES_FIELDS, in_variable_name

_NO_FILES: Final = (
    r"(image|audio|file)(_url|s)? (inputs? |contents? )?(is|are) (not |only )support"
    r"|support (the )?(image|audio|file|vision)|content\[\]\.type|required for image"
    r"|content part type: .?(image|input_audio|file)|unknown variant .?(image_url|file)"
    r"|invalid value: .?(input_)?(image|audio|file)|unsupported (image|mime type|media type)"
    r"|not (a|compiled for) multimodal"
    r"|(does not|cannot|could not|unable to) process (the )?(input )?image"
)
"""The words of refusals of files, whoever they come from."""

REFUSALS: Final[tuple[tuple[str, str], ...]] = (
    (
        r"function tools with reasoning_effort|use /v1/responses",
        "this model takes tools only in the Responses API: write --dialect responses "
        '(dialect="responses" in Python, {variable}=responses in the environment), or '
        "--set reasoningEffort=none",
    ),
    (
        r"(only|not) .{0,20}supported in (the )?v1/(responses|chat/completions)",
        "this model may want the Responses API: write --dialect responses "
        '(dialect="responses" in Python, {variable}=responses in the environment); '
        "one that does not chat at all has to be replaced with --model",
    ),
    (
        r"(json mode|json_object|response_format|mime type).{0,60}"
        r"(combined|together|along|use[d]?) with .{0,12}(tool|function)"
        r"|(tools?|function calling) with (a )?(response|json)",
        "this model takes no schema of the answer beside tools: write "
        'answers = "after_tools" in your file of providers',
    ),
    (
        r"--enable-auto-tool-choice|--tool-call-parser|--jinja",
        "the server takes tools only when it is started with the options that it names",
    ),
    (
        r"single tool-calls? at once",
        "this model makes one call at a time: --set parallelToolCalls=false",
    ),
    (
        r"does ?n[o']t support (tools|tool[ _-](use|call)|function[ _-]?call)"
        r"|(?<!\w)(tools|tool[ _-](use|calls?|calling)|function[ _-]?call(s|ing)?)\W{1,2}"
        r"(is|are) not supported",
        "this model takes no tools: choose another with --model, or remove the agent's tools",
    ),
    (
        _NO_FILES,
        "this model or its server does not take such a file: choose another with --model, or "
        "leave the file out",
    ),
    (
        r"(download|fetch|retriev|access)\w* .{0,40}(https?:|image|file|url)",
        "the provider cannot open the address: attach the file itself",
    ),
    (
        r"max_tokens.{0,60}max_completion_tokens",
        "this server has another name for maxTokens: write it in your file of providers as "
        'max_tokens = "max_completion_tokens"',
    ),
    (
        r"organization must be verified to generate reasoning summar",
        "leave the summaries out: --set reasoningSummary=null",
    ),
    (
        r"(invalid|unsupported|not a valid) schema for (the )?(function|tool)"
        r"|\btools?\b[\w\[\].]{0,60}\.(parameters|input_schema)",
        "this model does not take the schema of a tool: make its types simpler, or write "
        "--set strictTools=off",
    ),
    (
        r"(invalid|unsupported) schema for (response_format|text\.format)"
        r"|(response_format|text\.format|output_schema).{0,80}"
        r"(not support|unsupported|invalid|unavailable|must be)"
        r"|(not support|unsupported|invalid).{0,40}(response_format|text\.format|json_schema)"
        r"|schema (is )?(too complex|not supported)|schema produces a constraint",
        "this model does not take the schema of the answer: make its type simpler, or write "
        'answers_as = "json_object" in your file of providers',
    ),
    (
        r"(reasoning[_.]?effort|thinking (level|budget)).{0,80}"
        r"(does not support|supported values|must be|not supported|invalid)"
        r"|(unsupported|invalid|supported) values?.{0,120}reasoning[_.]?effort",
        "this model takes another effort, or none: --set reasoningEffort=low, or =null to leave "
        "it out",
    ),
    (
        r"\brange\b|too (large|small|high|low|long)|may only be|must be|at (most|least)"
        r"|(above|below|greater|less|larger|smaller)\b|maximum|minimum|[<>]=? ?\d",
        "this model takes another value of {setting}: --set {setting}=… with one that it names, "
        "or =null to leave it out",
    ),
    (
        r"unsupported (parameter|value)|unknown (parameter|name|field)|not permitted"
        r"|unrecognized (request )?(argument|parameter)|not supported|does ?n[o']t support"
        r"|unexpected (keyword|field|parameter)|deprecated|cannot (both )?be (set|specified)",
        "this model does not take the setting {setting}: remove it from the program, or write "
        "--set {setting}=null",
    ),
)
"""The words that each known refusal is known by, and what to do; the first that fits counts.

``{setting}`` is the setting that the words name, ``{variable}`` the variable that says in which
dialect the provider is spoken to.
"""

_FIELDS: Final[Mapping[str, str]] = {
    **{field: name for name, field in (*CHAT_FIELDS.items(), *RESPONSES_FIELDS.items())},
    **{name: name for name in (*CHAT_FIELDS, *RESPONSES_FIELDS)},  # as xAI calls them
    "max_tokens": "maxTokens",
    "maxOutputTokens": "maxTokens",
    "tool_choice": "toolChoice",
}
"""The setting that each field of a request is written from."""

_FIELD: Final = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, _FIELDS))})(?!\w)")


def hint_about(said: str, model: Model | None = None) -> str:
    """What to do about a refusal; "" if it is not a known one.

    Args:
        said: What the provider said.
        model: The model that was asked.

    >>> hint_about("Unsupported parameter: 'temperature' is not supported with this model.")[-22:]
    '--set temperature=null'
    """
    field = _FIELD.search(said)
    name = in_variable_name(model.provider) if model else "<NAME>"
    known = {"variable": f"{name}_DIALECT", "setting": _FIELDS[field[1]] if field else ""}
    for words, hint in REFUSALS:
        if re.search(words, said, re.IGNORECASE) and (field or "{setting}" not in hint):
            return hint.format(**known)
    return ""


What: TypeAlias = Literal["files of tools", "encrypted reasoning"]

_NO_ENCRYPTED: Final = r"encrypted[ _]content|reasoning\.encrypted|not issued to this caller"

_refused: Final[set[tuple[What, str | None, Model]]] = set()
_log = logging.getLogger("interp.model")


def takes(what: What, server: str | None, model: Model) -> bool:
    """Whether something is sent to a model of a server, by its name: it has not refused it yet."""
    return (what, server, model) not in _refused


def learn(error: ModelError, request: Request, server: str | None) -> bool:
    """Learn from a refusal; whether the request is written otherwise from now on."""
    words = partial(re.search, string=str(error), flags=re.IGNORECASE)
    results = (each for each in request.messages if isinstance(each.role, FunctionRole))
    refuses_files = words(_NO_FILES) and any(each.attachments for each in results)
    refuses_reasoning = error.status in (400, 404, 422) and words(_NO_ENCRYPTED)
    what: What
    if refuses_files and takes("files of tools", server, request.model):
        what = "files of tools"
    elif refuses_reasoning and takes("encrypted reasoning", server, request.model):
        what = "encrypted reasoning"
    else:
        return False
    _refused.add((what, server, request.model))
    _log.warning("%s takes no %s: they are left out, or told in words", request.model, what)
    return True
