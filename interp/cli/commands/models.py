"""``gram models``: the providers of models, and the keys they want."""

from __future__ import annotations

import os

import click

from gram.words import counted

from ...models import OFFLINE, Provider, known_providers, offered_models
from ...secrets import without_userinfo
from ..inputs.declaring import json_option
from ..terminal.output import note, show, show_json


@click.command("models")
@json_option
@click.option(
    "--offered",
    metavar="PROVIDER|ADDRESS",
    help="List the models that a server offers: it is asked over the network.",
)
def command(as_json: bool, offered: str | None) -> None:
    """List the providers that a program's model can name, and whether their keys are set.

    A model is written as PROVIDER/NAME. Keys are read from environment variables. Providers of
    your own are listed too; docs/run/models.md says how to add one.
    """
    if offered is not None:
        _show_offered(offered, as_json)
        return
    providers = known_providers().values()
    if as_json:
        show_json([_as_json(each) for each in providers])
        return
    rows = [(each.name, _key(each), address_of(each)) for each in providers]
    rows.append((OFFLINE.provider, "needs no key", f"built in: {OFFLINE}, or --offline"))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, key, address in rows:
        show(f"{name:{widths[0]}}  {key:{widths[1]}}  {address}")


def _show_offered(asked: str, as_json: bool) -> None:
    found = offered_models(asked)
    note(f"{counted(len(found.names), 'model')} of {found.where}")
    if as_json:
        show_json({"address": found.where, "models": [*found.names]})
        return
    for name in found.names:
        show(name)


def address_of(provider: Provider) -> str:
    """The address that requests to a provider go to, without user and password."""
    return without_userinfo(os.environ.get(provider.base_url_variable) or provider.base_url)


def _key(provider: Provider) -> str:
    if provider.key is None:
        return "needs no key"
    return f"{provider.key} is {'set' if os.environ.get(provider.key) else 'not set'}"


def _as_json(provider: Provider) -> dict[str, str | bool | None]:
    return {
        "provider": provider.name,
        "address": address_of(provider),
        "key": provider.key,
        "keyIsSet": bool(provider.key and os.environ.get(provider.key)),
    }
