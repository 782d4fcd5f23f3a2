"""``gram graph``: draw a program."""

from __future__ import annotations

from pathlib import Path

import click

from lenses_ext import drawing_of, to_dot, to_mermaid, to_svg

from ...history.replaying import timeline
from ...views import with_counts
from ..inputs.declaring import agent_option
from ..inputs.files import STDIN, read_program
from ..inputs.record_option import named_runs
from ..terminal.output import expect_a_name, expect_other_file, show, tell, write_result

_FORMS = {"mermaid": to_mermaid, "dot": to_dot, "svg": to_svg}
_SUFFIXES = {"": "mermaid", ".mmd": "mermaid", ".svg": "svg", ".dot": "dot", ".gv": "dot"}


@click.command("graph")
@click.argument("file")
@click.option(
    "--as",
    "form",
    type=click.Choice([*_FORMS]),
    help="What to draw it as; without it, the suffix of OUT decides, else Mermaid.",
)
@click.option("-o", "out", metavar="OUT", help="Write to this file.")
@click.option(
    "--run", "recorded", metavar="RUN", help="Show what this recorded run came to, and how often."
)
@agent_option
def command(
    file: str, form: str | None, out: str | None, recorded: str | None, agent: str | None
) -> None:
    """Draw the agents, tools and workflows of the program in FILE, and the arrows between them.

    Faulty programs are drawn too: a name that is not defined is drawn as such.
    """
    expect_a_name(out, "-o")
    expect_other_file(out)
    if file == recorded == STDIN:
        raise click.UsageError("standard input cannot be both the program and the run")
    suffix = Path(out or "").suffix.lower()
    if form is None and suffix not in _SUFFIXES:
        raise click.UsageError(f"no {suffix} is drawn: name OUT .svg, .dot or .mmd")
    drawing = drawing_of(read_program(file), agent)
    if recorded is not None:
        run = timeline(named_runs(recorded)[-1], has_prices=False)
        drawing = with_counts(drawing, run)
        if run.requests + run.calls and not any(each.count for each in drawing.nodes):
            tell(f"gram: {recorded} is a run of {run.agent}, and came to nothing that is drawn")
    chosen = form or _SUFFIXES[suffix]
    text = _FORMS[chosen](drawing)
    if out is None:
        show(text)
    else:
        write_result(out, f"{text}\n")
