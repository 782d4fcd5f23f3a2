"""The name of a language model: who provides it, and under which name."""

from __future__ import annotations

from attrs import evolve, field, frozen

from gram import GramEncodeError
from gram.errors import expect


@frozen
class Model:
    """A model as a program names it, ``provider/name``.

    Args:
        provider: who serves it; without a ``/``.
        name: the provider's own name for it, slashes allowed.

    Raises:
        ArgumentError: a part is not a string.
        GramEncodeError: a part is empty, or the provider has a slash.

    >>> str(Model("OpenRouter", "qwen/qwen3"))
    'OpenRouter/qwen/qwen3'
    """

    provider: str = field()
    name: str = field()

    def __attrs_post_init__(self) -> None:
        expect(self.provider, str, "provider", by="Model")
        expect(self.name, str, "name", by="Model")
        for part in (self.provider, self.name):
            if not part.strip():
                raise GramEncodeError("a model is written provider/name, both non-empty")
        if "/" in self.provider:
            raise GramEncodeError(f"a provider has no slash: {self.provider!r}")

    @classmethod
    def parse(cls, text: str) -> Model:
        """The model that a text names, split at the first ``/``.

        Raises:
            GramEncodeError: there is no ``/``, or nothing before or after it.

        >>> Model.parse("OpenAI/gpt-5.6-luna")
        Model(provider='OpenAI', name='gpt-5.6-luna')
        """
        expect(text, str, "text", by="Model.parse")
        provider, slash, name = text.partition("/")
        if not slash:
            example = f"OpenAI/{text.strip() or 'gpt-5.6-luna'}"
            message = f"{text!r} names no provider: write provider/name, such as {example}"
            raise GramEncodeError(message)
        return cls(provider, name)

    def _lens_setattr(self, name: str, value: str) -> Model:
        return evolve(self, **{name: value})

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"
