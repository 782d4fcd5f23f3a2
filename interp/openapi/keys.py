"""Keys of security schemes: read from environment variables, hidden wherever texts are shown."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping

from attrs import field, frozen

from gram import did_you_mean, expect

from ..errors import ConfigurationError
from ..json_text import Json
from ..redaction import Hidden, hide
from .document import ApiDocument


@frozen
class ApiKey:
    """A key as requests carry it.

    Attributes:
        place, name: where it stands: query, header or cookie, and its name there.
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
        value = os.environ.get(variable)
        if not value:
            raise ConfigurationError(f"the environment variable {variable} is not set")
        if not value.isascii() or not value.isprintable():
            raise ConfigurationError(f"the environment variable {variable} is not printable ASCII")
        found[name] = _key(api.followed(declared[name], f"{at}.{name}"), value)
    return found


def _key(scheme: dict[str, Json], value: str) -> ApiKey:
    if scheme.get("type") == "apiKey":
        return ApiKey(str(scheme.get("in")), str(scheme.get("name")), value, hide(value))
    if str(scheme.get("scheme", "")).lower() == "basic":
        encoded = base64.b64encode(value.encode()).decode()
        return ApiKey("header", "Authorization", f"Basic {encoded}", hide(value, encoded))
    return ApiKey("header", "Authorization", f"Bearer {value}", hide(value))
