"""Python types as the answers of agents: what a program declares for one, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from attrs import frozen

from gram import Pattern
from lenses_ext import SignatureError, json_schema_to_answer

from ...errors import ConfigurationError, ToolError, ValidationError, said_by
from ...json_text import Json
from ...machine.contracts import check
from .json_types import json_type

V = TypeVar("V")


@frozen
class AnswerType(Generic[V]):
    """A Python type that an answer has to be of.

    Attributes:
        name: its name, for messages.
        pattern: the `Answer` that declares it in a program.
        schema: its JSON Schema.
    """

    name: str
    pattern: Pattern
    schema: dict[str, Json]
    _read: Callable[[Json], V]

    def read(self, value: Json) -> V:
        """The Python value of an answer.

        Raises:
            ValidationError: it is not of the type, or the type itself refuses it.
        """
        try:
            check(self.schema, value)
            return self._read(value)
        except ValidationError as error:
            raise ValidationError(f"the answer is no {self.name}: {error.message}") from None
        except Exception as error:  # the user's code: a constructor or a validator
            raise ValidationError(f"the answer is no {self.name}: {said_by(error)}") from error


def answer_of(answer_type: Any) -> Pattern:
    """The ``Answer`` that declares a Python type in a program.

    Args:
        answer_type: a pydantic model, dataclass, attrs class, TypedDict, enum, list, union,
            primitive: what a parameter of a `tool` may be.

    Raises:
        ConfigurationError: it has no JSON form.

    >>> from lenses_ext import write_program
    >>> write_program(answer_of(list[int]))
    '(:Answer:Array {elementType: "Integer"})'
    """
    return answer_type_of(answer_type, by="answer_of").pattern


def answer_type_of(answer_type: type[V] | Any, *, by: str) -> AnswerType[V]:
    """A Python type as what an answer has to be, see `answer_of`.

    Args:
        answer_type: the type.
        by: the function that was called with it, for its error.
    """
    name = answer_type.__name__ if isinstance(answer_type, type) else str(answer_type)
    try:
        made = json_type(answer_type)
        pattern = json_schema_to_answer(made.schema, name if name.isidentifier() else "result")
    except ToolError as error:
        raise ConfigurationError(f"{by}: an answer cannot be of this type: {error}") from None
    except SignatureError as error:
        raise ConfigurationError(f"{by}: the schema of {name} cannot be used: {error}") from None
    return AnswerType(name, pattern, made.schema, made.read)
