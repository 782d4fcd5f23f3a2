"""What notebooks show of recorded runs."""

from __future__ import annotations

from gram import Content, Markup, element, expect

from ..history.records import RecordedRun
from ..history.replaying import Timeline, timeline
from ..machine import call_text
from ..reprs import shortened

_MOST_ENTRIES = 100
_LONGEST = 300


def run_form(run: RecordedRun | Timeline) -> dict[str, str]:
    """The forms of a recorded run, or of its timeline, for a notebook: a row for each entry.

    Known keys are replaced, and what people, models and tools wrote is never taken as HTML.
    """
    expect(run, (RecordedRun, Timeline), "run", by="run_form")
    found = run if isinstance(run, Timeline) else timeline(run, has_prices=False)
    rows = [_row("you", found.input, "")]
    for entry in found.in_order[:_MOST_ENTRIES]:
        what: Content = entry.result or ", ".join(entry.calls)
        if entry.kind == "tool" or entry.is_frame:
            call = call_text(entry.name, entry.arguments or "{}")
            came = entry.result or entry.error or ""
            what = [element("code", shortened(call, _LONGEST)), " → ", shortened(came, _LONGEST)]
        elif isinstance(what, str):
            what = shortened(what or entry.error or entry.arguments or "", _LONGEST)
        took = "" if entry.seconds is None else f"{entry.seconds:.2f} s"
        rows.append(_row(entry.kind, what, took if entry.how == "done" else entry.how))
    if len(found.in_order) > _MOST_ENTRIES:
        rows.append(_row("", f"… {len(found.in_order) - _MOST_ENTRIES} more", ""))
    return {"text/plain": repr(run), "text/html": element("table", rows)}


def _row(who: str, what: Content, how: str) -> Markup:
    cells = (who, what, how)
    return element("tr", (element("td", cell, style="text-align:left") for cell in cells))
