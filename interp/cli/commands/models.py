"""What models can be asked: ``models`` lists providers, ``doctor`` says what is wrong."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from collections.abc import Iterator
from importlib.metadata import version
from itertools import chain
from tempfile import TemporaryFile
from typing import TypeAlias
from urllib.parse import urlsplit

from gram import GramError, only_errors
from gram.json import Json
from gram.words import counted
from lenses_ext.names import find_runnables

from ... import models
from ...errors import AgentError, ConfigurationError
from ...files import is_address
from ...models import OFFLINE, Provider, connect_model, known_providers
from ...programs import models_of
from ...secrets import without_userinfo
from ..failures import NO
from ..inputs.declaring import command, json_option, option
from ..inputs.files import read_program
from ..terminal.console import note, show_result


@command("models")
def models_command(
    as_json: bool = json_option,
    offered: str | None = option(
        "List the models that a server offers: it is asked over the network.", "PROVIDER|ADDRESS"
    ),
) -> None:
    """List the providers that a program's model can name, and whether their keys are set.

    A model is written as PROVIDER/NAME. Keys are read from environment variables. Providers of
    your own are listed too; docs/run/models.md says how to add one.
    """
    if offered is not None:
        found = models.offered_models(offered)
        note(f"{counted(len(found.names), 'model')} of {found.where}")
        show_result(as_json, {"address": found.where, "models": [*found.names]}, found.names)
        return
    value: list[Json] = []
    rows = []
    for each in known_providers().values():
        address, is_set = without_userinfo(each.address), bool(os.environ.get(each.key or ""))
        facts = {"provider": each.name, "address": address, "key": each.key, "keyIsSet": is_set}
        value.append(facts)
        key = f"{each.key} is {'set' if is_set else 'not set'}" if each.key else "needs no key"
        rows.append((each.name, key, address))
    rows.append((OFFLINE.provider, "needs no key", f"built in: {OFFLINE}, or --offline"))
    first, second = (max(map(len, column)) for column in [*zip(*rows, strict=True)][:2])
    lines = (f"{name:{first}}  {key:{second}}  {address}" for name, key, address in rows)
    show_result(as_json, value, lines)


_PATIENCE = 0.5  # seconds for a server on this machine to answer
_LOCAL = {"localhost", "127.0.0.1", "::1"}


Finding: TypeAlias = tuple[bool, str]
"""Whether something is in order, and what was found of it and what helps."""


@command("doctor")
def doctor_command(file: str | None = None, as_json: bool = json_option) -> None:
    """Say what is wrong with the set-up: keys, addresses, and where runs are kept.

    With FILE, also whether its program is valid and its models can be asked. Nothing is sent to a
    model, and keys are not shown. Exits with 1 if something is wrong.
    """
    about = f"gram-agents {version('gram-agents')}, Python {platform.python_version()}"
    findings = [(True, about), *_providers(), *_kept(), *(_program(file) if file else ())]
    rows = [{"ok": ok, "message": message} for ok, message in findings]
    lines = (f"{'ok     ' if ok else 'problem'}  {message}" for ok, message in findings)
    show_result(as_json, rows, lines)
    if not all(ok for ok, _ in findings):
        sys.exit(NO)


def _kept() -> Iterator[Finding]:
    from ...history.stores import open_store  # late: it loads all stores
    from ..inputs.record_option import LARGEST, OLDEST, own_store

    try:
        path = own_store()
    except OSError:  # there is no home, so nothing is kept
        return
    limits = f"{OLDEST.days} days, {LARGEST >> 20} MB"
    try:
        if path.exists():
            with open_store(path) as store:
                store.ready().together(list)  # takes the right to write, and writes nothing
            used = path.stat().st_size / 2**20
            yield (True, f"{path}: what is said is kept here, {used:.1f} MB (at most {limits})")
        else:
            with TemporaryFile(dir=next(each for each in path.parents if each.exists())):
                pass  # what is not there yet can be made
    except (AgentError, OSError) as error:
        why = error if isinstance(error, AgentError) else f"{path}: {error.strerror}"
        yield (False, f"what is said is not kept: {why}")


def _providers() -> Iterator[Finding]:
    found = [each for provider in known_providers().values() for each in _provider(provider)]
    yield from found
    if not any(ok for ok, _ in found):
        yield (
            False,
            "no model can be asked: set the key of a provider (gram models lists them), or start a "
            "server such as Ollama. --offline rehearses without one",
        )


def _provider(provider: Provider) -> list[Finding]:
    """What there is to say of a provider; nothing if its key is not set, which is no fault."""
    name, variable = provider.name, provider.variable("BASE_URL")
    address = without_userinfo(provider.address)
    is_changed = address != provider.base_url
    if not is_address(address):
        return [(False, f"{variable} is {address!r}: it {models.ADDRESS_RULE}")]
    if urlsplit(address).hostname in _LOCAL:
        answers = _answers(address)
        said = f"{name}: {'a' if answers else 'no'} server answers at {address}"
        return [(answers, said)] if answers or is_changed else []
    if provider.key and (key := os.environ.get(provider.key)):
        fault = _fault_of_key(key)
        return [(not fault, f"{name}: {provider.key} {fault or 'is set'}")]
    return [(True, f"{name}: requests go to {address}")] if is_changed else []


def _fault_of_key(key: str) -> str:
    """What is wrong with a key; "" if nothing is seen."""
    if not re.fullmatch(r"[!#-&(-~]+", key):
        return "has spaces, quotation marks or other characters that no key has: copy it again"
    is_short = len(key) < 8 or set(key) <= set(".*xX")
    return "does not look like a key: copy it from the provider" if is_short else ""


def _answers(address: str) -> bool:
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE):
            return True
    except OSError:
        return False


def _program(file: str) -> Iterator[Finding]:
    """Whether a program is valid, and whether each of its models could be asked."""
    try:
        document = read_program(file)
    except GramError as error:
        yield (False, str(error))
        return
    if errors := only_errors(models.check_program(document)):
        yield from ((False, each.with_hint()) for each in errors)
        return
    yield (True, f"{file} is a valid program")
    for model in dict.fromkeys(chain.from_iterable(map(models_of, find_runnables(document)))):
        try:
            connect_model(model)
        except ConfigurationError as error:
            yield (False, f"{model}: {error}")
        else:
            yield (True, f"{model}: nothing is missing to ask it")
