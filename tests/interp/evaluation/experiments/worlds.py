"""What experiments in tests are made of: cases, arms, and models that need no network."""

from __future__ import annotations

from typing import Any

from interp import ModelError
from interp.evaluation import Arm
from interp.evaluation.cases import Case
from interp.machine import Request

PROGRAM = '[greeter:Agent {instruction: "Greet.", model: "Offline/rehearsal"}]'


class Answering:
    """A model that answers with what a function makes of the input."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def complete(self, request: Request) -> Any:
        """What the function makes of the last message."""
        found = self.answer(request.messages[-1].content)
        if isinstance(found, Exception):
            raise found
        return found


def arm(answer: Any, **more: Any) -> Arm:
    """An arm whose model answers so."""
    from lenses_ext import parse_program

    return Arm(parse_program(PROGRAM), model=Answering(answer), **more)


def right(text: str) -> str:
    return text.upper()


def wrong(text: str) -> str:
    return text


def failing(_: str) -> Exception:
    return ModelError("the server is away")


def half(text: str) -> str:
    """Right in every second case."""
    return text.upper() if int(text.split()[-1]) % 2 else text


def cases(number: int) -> list[Case]:
    """Cases whose answer is their input in capitals."""
    return [Case(name=f"case {n}", input=f"say {n}", expected=f"SAY {n}") for n in range(number)]
