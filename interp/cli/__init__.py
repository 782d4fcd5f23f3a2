"""The console command ``gram``, whose commands are loaded when they are called."""

from __future__ import annotations

import os
import sys

from .process import CLOSED_PIPE, INTERRUPTED, flush_streams, leave_at_interrupt, prepare_streams

COMPLETION = "_GRAM_COMPLETE"
"""The variable in which the script of a shell asks for completion."""


def main() -> None:
    """Run the command line; exits with the codes that ``docs/reference/faults.md`` lists."""
    leave_at_interrupt()
    prepare_streams()
    code = _run()
    if not flush_streams():
        code = code or CLOSED_PIPE
    sys.exit(code)


def _run() -> int:
    """Run the command that was typed, or complete it for a shell; returns the exit code."""
    import click  # imported late, as all that takes a while: Ctrl-C is quiet before it

    from gram import GramError

    from .commands.table import gram

    try:
        if instruction := os.environ.get(COMPLETION):
            from click.shell_completion import shell_complete

            from .completion import shells  # they register themselves

            return shell_complete(gram, {}, "gram", COMPLETION, instruction)
        with gram.make_context("gram", sys.argv[1:]) as context:
            gram.invoke(context)
    except click.exceptions.Exit as left:
        return left.exit_code
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except BrokenPipeError:
        return CLOSED_PIPE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (click.ClickException, GramError, OSError) as failure:
        from .terminal.faults_shown import tell_failure

        return tell_failure(failure)
    return 0
