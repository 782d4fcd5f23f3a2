"""Models and their settings as the LLM configurations of Agent Spec, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from gram import GramError, Pattern
from lenses_ext import Model, Settings, agent_models, agent_settings, view

from ..models import CHAT_FIELDS, PROVIDERS, Provider
from ..secrets import without_userinfo
from .properties import Tell

if TYPE_CHECKING:
    from pyagentspec.llms import LlmConfig

_KINDS: Final = {"OpenAI": "OpenAiConfig", "Ollama": "OllamaConfig", "vLLM": "VllmConfig"}
_FIELDS: Final = {**CHAT_FIELDS, "maxTokens": "max_tokens"}
_SETTINGS: Final = {field: setting for setting, field in _FIELDS.items()}
READ: Final = {"url", "model_id", "provider", "api_provider", "api_key", "api_type"} | {
    "default_generation_parameters"
}
"""The fields of a configuration that are read here."""


# --- from Agent Spec


def read_model(config: LlmConfig, path: str, tell: Tell) -> tuple[Model, dict[str, Any]]:
    """The model of a configuration and its settings.

    Addresses and keys are no part of a program: what to set instead is told.

    Raises:
        GramError: its name has no notation.
    """
    provider = _provider_of(config)
    row = PROVIDERS.get(provider) or Provider(provider, "")
    url = getattr(config, "url", None)
    is_safer = url and url.startswith("https:") and not row.base_url.startswith("https:")
    if url and (is_safer or _place(url) != _place(row.base_url)):
        shown = without_userinfo(url)
        told = f"an address is no part of a program: {row.variable('BASE_URL')}={shown}"
        tell(f"{path}.url", told)
    if getattr(config, "api_key", None):
        told = f"a key is no part of a program: it is read from {row.key_variable}"
        tell(f"{path}.api_key", told)
    if getattr(config, "api_type", None) == "responses" and row.dialect != "responses":
        told = f"a program does not say it: {row.variable('DIALECT')}=responses"
        tell(f"{path}.api_type", told)
    model = Model.parse(f"{provider}/{getattr(config, 'model_id', '')}")
    return model, _read_settings(config, f"{path}.default_generation_parameters", tell)


def _provider_of(config: LlmConfig) -> str:
    kind = type(config).__name__
    url = getattr(config, "url", None) or ""
    given = getattr(config, "provider", None) or getattr(config, "api_provider", None)
    for name, row in PROVIDERS.items():
        is_named = given is not None and given.lower() == name.lower()
        if _KINDS.get(name) == kind or is_named or (url and _place(url) == _place(row.base_url)):
            return name
    own = re.sub(r"(Llm|GenAi)?Config$", "", kind)
    if kind == "OpenAiCompatibleConfig" and not given:  # as many providers as there are servers
        own = re.sub(r"\W", "_", _place(without_userinfo(url)).partition("/")[0], flags=re.ASCII)
    return (given or own).replace("/", "_") or "OpenAiCompatible"


def _place(url: str) -> str:
    """What is the same of two addresses of one server."""
    return re.sub(r"/v1$", "", re.sub(r"^https?://", "", url.rstrip("/")))


def _read_settings(config: LlmConfig, path: str, tell: Tell) -> dict[str, Any]:
    given = config.default_generation_parameters
    settings: dict[str, Any] = {}
    for key, value in (given.model_dump() if given else {}).items():
        setting = _SETTINGS.get(key)
        one = {setting: value} if setting else {"extraBody": {key: value}}
        try:
            Settings(one)
        except GramError as error:
            tell(f"{path}.{key}", str(error))
            continue
        body = {**settings.get("extraBody", {}), **one.get("extraBody", {})}
        settings |= one if setting else {"extraBody": body}
    return settings


# --- to Agent Spec


def written_model(agent: Pattern, path: str, tell: Tell) -> LlmConfig:
    """The configuration of an agent's model, with its settings."""
    from pyagentspec import llms

    model, *others = view(agent_models, agent)
    settings = view(agent_settings, agent) or Settings()
    if others:
        tell(f"{path}.model", f"one model has no others behind it: {', '.join(map(str, others))}")
    row = PROVIDERS.get(model.provider)
    given: dict[str, Any] = {
        "id": f"{path}.model",
        "name": str(model),
        "model_id": model.name,
        "default_generation_parameters": _written_settings(settings, f"{path}.settings", tell),
    }
    if model.provider == "OpenAI":
        return llms.OpenAiConfig(**given)
    if row is not None:
        given["url"] = row.base_url
    if model.provider in _KINDS:
        made: LlmConfig = getattr(llms, _KINDS[model.provider])(**given)
        return made
    return llms.LlmConfig(provider=model.provider, **given)


def _written_settings(settings: Settings, path: str, tell: Tell) -> dict[str, Any] | None:
    found = settings.as_json()
    body = found.pop("extraBody", {})
    for key in sorted(found.keys() - _FIELDS.keys()):
        tell(f"{path}.{key}", "has no counterpart")
    named = {field: found[key] for key, field in _FIELDS.items() if key in found}
    for key in sorted(body.keys() & _SETTINGS.keys()):
        tell(f"{path}.extraBody.{key}", f"is the setting {_SETTINGS[key]} there")
    return {**body, **named} or None
