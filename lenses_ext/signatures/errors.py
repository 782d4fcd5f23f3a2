"""The error of a type signature: everything that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Iterable

from gram import Diagnostic, GramError, PartPath


class SignatureError(GramError, ValueError):
    """A type signature, or a JSON Schema that should become one, is not valid.

    Attributes:
        faults: all the errors, in the order of the text where there is one. Warnings are not
            among them, see `signature_faults`.
        lineno, colno: the place of the first fault, from 1; None when it was not read from text.
        path: the path of the first fault: element indices, then the name of the part.
    """

    def __init__(self, faults: Iterable[Diagnostic]) -> None:
        self.faults = tuple(faults)
        super().__init__(*(fault.message for fault in self.faults))

    @property
    def lineno(self) -> int | None:
        """The line of the first fault."""
        return self.faults[0].lineno

    @property
    def colno(self) -> int | None:
        """The column of the first fault."""
        return self.faults[0].colno

    @property
    def path(self) -> PartPath:
        """The path of the first fault."""
        return self.faults[0].path

    def __str__(self) -> str:
        return "\n".join(map(_line, self.faults))

    def __reduce__(self) -> tuple[object, ...]:
        return SignatureError, (self.faults,)


def _line(fault: Diagnostic) -> str:
    hint = f"\n  hint: {fault.hint}" if fault.hint else ""
    if fault.filename is not None and fault.lineno is not None:
        return f"{fault.filename}:{fault.lineno}:{fault.colno}: {fault.message}{hint}"
    return fault.message + hint
