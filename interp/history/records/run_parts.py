"""Limits, settings, models and usage as properties of the patterns of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from attrs import asdict, fields
from pyrsistent import PMap, pmap, pvector

from gram import GramEncodeError, Value
from lenses_ext import Model

from ...errors import ValidationError
from ...machine import Limits, Usage
from .pattern_parts import Reader

CHANGE_KEYS: Final = ("model", "limits", "unlimited", "settings", "unset", "checkResults")


class Changes(NamedTuple):
    """What a run is begun with, or gone on with, as properties; None is not written.

    Attributes:
        limits: how much the run may do.
        model: the model to ask.
        settings: the settings that are changed; None as a value leaves one out.
        check_results: whether results have to be of the types that the program declares.
    """

    limits: Limits | None
    model: Model | None
    settings: Mapping[str, Value | None] | None
    check_results: bool | None

    def properties(self) -> dict[str, Any]:
        """Its properties."""
        found: dict[str, Any] = {}
        if self.model is not None:
            found["model"] = str(self.model)
        if self.limits is not None:
            found |= _with_names("limits", "unlimited", asdict(self.limits))
        if self.settings is not None:
            found |= _with_names("settings", "unset", self.settings)
        if self.check_results is not None:
            found["checkResults"] = self.check_results
        return found

    @classmethod
    def read(cls, read: Reader) -> Changes:
        """The changes that `properties` wrote."""
        return cls(
            _read_limits(read) if any(map(read.has, ("limits", "unlimited"))) else None,
            read_model(read),
            pmap(_read_names(read, "settings", "unset"))
            if any(map(read.has, ("settings", "unset")))
            else None,
            read.flag("checkResults") if read.has("checkResults") else None,
        )


def _read_limits(read: Reader) -> Limits:
    try:
        return Limits(**_read_names(read, "limits", "unlimited"))
    except (ValidationError, TypeError) as error:
        read.refuse("ill-typed", f"limits: {error}", "limits")


def _with_names(key: str, unset: str, each: Mapping[str, Value | None]) -> dict[str, Value]:
    """What is set as a map under one key, and under another the names of what is None."""
    known = pmap({name: value for name, value in each.items() if value is not None})
    names = sorted(each.keys() - known.keys())
    return {key: known, unset: pvector(names)} if names else {key: known}


def _read_names(read: Reader, key: str, unset: str) -> dict[str, Any]:
    """What `_with_names` wrote."""
    return {**_map(read, key), **dict.fromkeys(read.names(unset))}


def read_model(read: Reader) -> Model | None:
    """The model that the property ``model`` names, or None if there is none."""
    try:
        return Model.parse(read.text("model")) if read.has("model") else None
    except GramEncodeError as error:
        read.refuse("ill-typed", str(error), "model")


def read_usage(read: Reader, key: str) -> Usage:
    """The numbers of tokens that are known."""
    counts = _map(read, key)
    known = {each.name for each in fields(Usage)}
    if not set(counts) <= known or any(type(count) is not int for count in counts.values()):
        read.refuse("ill-typed", f"{key} of {read.label} must have whole numbers of tokens", key)
    return Usage(**counts)


def _map(read: Reader, key: str) -> Mapping[str, Any]:
    value = read.properties.get(key, pmap())
    if not isinstance(value, PMap):
        read.refuse("ill-typed", f"{key} of {read.label} must be a map", key)
    return value
