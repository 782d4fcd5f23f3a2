"""Providers of models: their addresses, keys and properties."""

from .provider import (
    ADDRESS_RULE,
    MAX_REPLY_BYTES,
    AnswerFormat,
    AnswerMode,
    Dialect,
    Provider,
    in_variable_name,
    is_address,
    is_on_this_machine,
)
from .provider_file import provider_of, user_folder
from .table import (
    OFFLINE,
    PROVIDERS,
    added,
    find_provider,
    is_known,
    is_own_server,
    known_providers,
    provider_without_row,
    unknown_provider,
)

__all__ = [
    "ADDRESS_RULE",
    "MAX_REPLY_BYTES",
    "OFFLINE",
    "PROVIDERS",
    "AnswerFormat",
    "AnswerMode",
    "Dialect",
    "Provider",
    "added",
    "find_provider",
    "in_variable_name",
    "is_address",
    "is_known",
    "is_on_this_machine",
    "is_own_server",
    "known_providers",
    "provider_of",
    "provider_without_row",
    "unknown_provider",
    "user_folder",
]
