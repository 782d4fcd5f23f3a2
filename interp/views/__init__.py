"""What people look at: pages, tables, plots, and runs as HTML."""

from .notebook_forms import run_form
from .page import page
from .plots import Interval, interval_plot
from .run_drawing import with_counts
from .run_page import run_page
from .tables import facts, table

__all__ = [
    "Interval",
    "facts",
    "interval_plot",
    "page",
    "run_form",
    "run_page",
    "table",
    "with_counts",
]
