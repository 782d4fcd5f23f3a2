"""The check of ``gram check --models``: whether servers offer the models that programs name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gram import Check, Diagnostic
from gram.checks import Reading
from gram.suggestions import did_you_mean
from lenses_ext import Model

from ..errors import ConfigurationError, ModelError
from .offered_models import Offered, offered_models
from .program_checks import models_in
from .providers import find_provider


class OfferedCheck:
    """Asks servers what they offer, each once for all the programs that are checked.

    Args:
        tell: Called with the name of each provider before its server is asked.

    Attributes:
        check: The check, for `check_program`.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._known: dict[str, Offered | str | None] = {}
        self.check = Check("model-not-offered", "error", self._not_offered)

    def _not_offered(self, reading: Reading) -> Iterator[Diagnostic]:
        """Find models that their servers do not offer, or of which that cannot be told."""
        for path, model in reading.once(models_in):
            offered = self._offered(model)
            if isinstance(offered, str):
                reason, _, help_ = offered.partition("\n  hint: ")
                said = f"it cannot be told whether {model} is offered: {reason}"
                yield Diagnostic.found(said, path, "model", hint=help_ or None)
            elif offered is None:
                continue  # nobody knows the provider, which is reported already
            elif not offered.has(model.name):
                said = f"{offered.where} does not offer {model.name}"
                hint = did_you_mean(model.name, offered.names)
                hint = hint or f"gram models --offered {model.provider} lists what it offers"
                yield Diagnostic.found(said, path, "model", hint=hint)

    def _offered(self, model: Model) -> Offered | str | None:
        """What the provider of a model offers, or why that is not known."""
        name = model.provider.lower()
        if name not in self._known:
            self._known[name] = self._asked(model)
        return self._known[name]

    def _asked(self, model: Model) -> Offered | str | None:
        try:
            if find_provider(model) is None:
                return None
            self._tell(model.provider)
            return offered_models(model.provider)
        except (ConfigurationError, ModelError) as error:
            return str(error)
