"""Settings of a model: what a program may say of them, and the lens onto them."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from gram import Pattern, loads_one
from lenses_ext import FocusError, SettingError, Settings, agent_settings, put, view, write_program
from lenses_ext.language import SETTINGS
from lenses_ext.rules.validation import validate_agent_pattern
from tests.lenses_ext import strategies as strategies


def agent(settings: str = "") -> Pattern:
    """An agent with the text of its settings."""
    more = f", settings: {settings}" if settings else ""
    return loads_one(f'[a:Agent {{instruction: "x", model: "A/b"{more}}}]')


@given(strategies.model_settings())
def test_valid_settings_come_back_from_the_text_without_faults(settings: Settings) -> None:
    read = loads_one(write_program(put(agent_settings, settings, agent())))

    assert validate_agent_pattern(read) == ()
    assert view(agent_settings, read) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert set(strategies.setting_values()) == set(SETTINGS)


@pytest.mark.parametrize(
    ("settings", "code", "message", "hint"),
    [
        ("3", "settings-type", "settings are a map", None),
        ("{temprature: 1}", "unknown-setting", 'no setting "temprature"', "temperature?"),
        ("{max_tokens: 1}", "unknown-setting", 'no setting "max_tokens"', "maxTokens?"),
        ("{x: 1}", "unknown-setting", 'no setting "x"', "the settings are compactAt, compactBy"),
        ("{temperature: 2.1}", "setting-value", "a number from 0 to 2, found 2.1", None),
        ('{temperature: "1"}', "setting-value", 'found "1"', None),
        ("{temperature: true}", "setting-value", "found true", None),
        ("{maxTokens: 0}", "setting-value", "a whole number from 1, found 0", None),
        ("{maxTokens: 1.0}", "setting-value", "a whole number from 1, found 1.0", None),
        ("{stop: []}", "setting-value", "a string, or an array of strings", None),
        ('{stop: ["a", 1]}', "setting-value", "a string, or an array of strings", None),
        ("{reasoningEffort: high}", "setting-value", "found high", "write it in quotes"),
        ('{reasoningEffort: "hi"}', "setting-value", "one of none, minimal, low", None),
        ('{parallelToolCalls: "no"}', "setting-value", "true or false", None),
        ("{extraBody: 1}", "setting-value", "a map of fields of the request", None),
        ("{extraBody: {messages: 1}}", "setting-value", "a map of fields of the request", None),
        ('{toolChoice: ""}', "setting-value", "or the name of a tool", None),
    ],
)
def test_a_wrong_setting_is_a_fault(
    settings: str, code: str, message: str, hint: str | None
) -> None:
    (fault,) = validate_agent_pattern(agent(settings))

    assert (fault.code, fault.severity) == (code, "error")
    assert message in fault.message
    assert fault.hint is None if hint is None else hint in str(fault.hint)
    with pytest.raises(FocusError):
        view(agent_settings, agent(settings))


@pytest.mark.parametrize("values", [{"topp": 1}, {"topP": 2}, {"seed": float("nan")}, {3: 4}])
def test_wrong_settings_cannot_be_made(values: object) -> None:
    with pytest.raises(SettingError):
        Settings(values)


def test_a_change_replaces_adds_and_leaves_out() -> None:
    settings = Settings({"temperature": 1, "seed": 3})

    changed = settings.with_changes({"temperature": None, "seed": 4, "topP": 0.5})

    assert dict(changed) == {"seed": 4, "topP": 0.5}
    assert Settings({"temperature": 1}) != Settings({"temperature": 1.0})
    assert view(agent_settings, agent()) is None
    with pytest.raises(SettingError, match="did you mean topP"):
        settings.with_changes({"topp": None})
