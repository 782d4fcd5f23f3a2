"""Where the installed command ``gram`` begins: Ctrl-C is quiet before anything else is imported."""

import os
import signal
from types import FrameType

INTERRUPTED = 130
"""The exit code of a command that was stopped with Ctrl-C."""


def leave_at_once(_signal: int = 0, _frame: FrameType | None = None) -> None:
    """End the process without a traceback: nothing has been begun that has to be finished."""
    os._exit(INTERRUPTED)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored on purpose
    signal.signal(signal.SIGINT, leave_at_once)


def main() -> None:
    """Run the command line."""
    from interp.cli import main

    main()
