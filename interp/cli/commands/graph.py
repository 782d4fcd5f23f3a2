"""``gram graph``: draw a program."""

from __future__ import annotations

from pathlib import Path

import click
from attrs import frozen

from lenses_ext import drawing_of, to_dot, to_mermaid, to_svg

from ...history.replaying import timeline
from ...views import with_counts
from ..inputs.declaring import agent_option, given_by, option, options_of
from ..inputs.files import STDIN, read_program
from ..inputs.record_option import named_runs
from ..terminal.output import expect_a_name, expect_other_file, forbid, show, tell, write_result

_FORMS = {"mermaid": to_mermaid, "dot": to_dot, "svg": to_svg}
_SUFFIXES = {"": "mermaid", ".mmd": "mermaid", ".svg": "svg", ".dot": "dot", ".gv": "dot"}


@frozen(kw_only=True, slots=False)
class _Options:
    form: str | None = option(
        "What to draw it as; without it, the suffix of OUT decides, else Mermaid.",
        name="--as",
        type=click.Choice([*_FORMS]),
    )
    out: str | None = option("Write to this file.", "OUT", name="-o")
    run: str | None = option("Show what this run came to, and how often.", "RUN")
    agent: str | None = given_by(agent_option)


@click.command("graph")
@click.argument("file")
@options_of(_Options)
def graph_command(file: str, options: _Options) -> None:
    """Draw the agents, tools and workflows of the program in FILE, and the arrows between them.

    Faulty programs are drawn too: a name that is not defined is drawn as such.
    """
    out, form, recorded = options.out, options.form, options.run
    expect_a_name(out, "-o")
    expect_other_file(out)
    forbid(file == recorded == STDIN, "standard input cannot be both the program and the run")
    suffix = Path(out or "").suffix.lower()
    if form is None and suffix not in _SUFFIXES:
        raise click.UsageError(f"no {suffix} is drawn: name OUT .svg, .dot or .mmd")
    drawing = drawing_of(read_program(file), options.agent)
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
