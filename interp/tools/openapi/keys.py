"""Keys of security schemes, read from environment variables."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from attrs import field, frozen

from gram.errors import expect
from gram.words import did_you_mean

from ...errors import ConfigurationError
from ...json_text import Json
from ...secrets import Hidden, hide
from .document import ApiDocument
from .styles import TOKEN


@frozen
class ApiKey:
    """A key as requests carry it.

    Attributes:
        place, name: where it is sent: query or header, and its name there.
        value: the text.
    """

    place: str
    name: str
    value: str = field(repr=False)
    _hidden: Hidden = field(repr=False, eq=False)


def read_keys(api: ApiDocument, keys: Mapping[str, str]) -> dict[str, ApiKey]:
    """The keys of schemes, which are named with their environment variables.

    Raises:
        ArgumentError: a name is no string.
        ConfigurationError: a scheme or a variable does not exist, or cannot be used.
    """
    components = api.followed(api.root.get("components") or {}, "$.components")
    at = "$.components.securitySchemes"
    declared = api.followed(components.get("securitySchemes") or {}, at)
    found = {}
    for name, variable in keys.items():
        expect(name, str, "a scheme", by="openapi_library")
        expect(variable, str, f'keys["{name}"]', by="openapi_library")
        if name not in declared:
            hint = did_you_mean(name, declared) or f"it has {', '.join(declared) or 'none'}"
            raise ConfigurationError(f'{api.place}: no security scheme "{name}"; {hint}')
        value = os.environ.get(variable, "").strip()
        if not value:
            raise ConfigurationError(f"the environment variable {variable} is not set")
        if not value.isascii() or not value.isprintable():
            raise ConfigurationError(f"the environment variable {variable} is not printable ASCII")
        made = _key(api.followed(declared[name], f"{at}.{name}"), value)
        if made is None:
            raise api.fault(f"{at}.{name}", "keys of this kind are not sent")
        found[name] = made
    return found


def keys_for(
    security: Sequence[Sequence[str]], keys: Mapping[str, ApiKey]
) -> tuple[tuple[ApiKey, ...], tuple[str, ...]]:
    """The keys that an operation is called with, and the schemes that a key is missing for.

    Args:
        security: sets of schemes, of which one is enough.
        keys: the keys that were given.
    """
    if not security:
        return (), ()
    chosen = min(security, key=lambda each: (len({*each} - keys.keys()), -len(each)))
    sent = tuple(keys[name] for name in chosen if name in keys)
    return sent, tuple(name for name in chosen if name not in keys)


def _key(scheme: dict[str, Json], value: str) -> ApiKey | None:
    kind, how = scheme.get("type"), str(scheme.get("scheme", "")).lower()
    if kind == "apiKey":
        place, name = str(scheme.get("in")), scheme.get("name")
        if place not in ("query", "header") or not isinstance(name, str):
            return None
        if place == "header" and not TOKEN.fullmatch(name):
            return None
        return ApiKey(place, name, value, hide(value, quote(value, safe="")))
    if kind == "http" and how == "basic":
        encoded = base64.b64encode(value.encode()).decode()
        password = value.partition(":")[2]
        hidden = hide(value, encoded, password)
        return ApiKey("header", "Authorization", f"Basic {encoded}", hidden)
    if kind in ("oauth2", "openIdConnect") or (kind == "http" and how == "bearer"):
        return ApiKey("header", "Authorization", f"Bearer {value}", hide(value))
    return None
