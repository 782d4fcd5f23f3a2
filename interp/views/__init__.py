"""What people look at: pages, tables, plots, and runs as HTML."""

from .notebook import conversation_form as conversation_form, run_form as run_form
from .page import Interval, facts, interval_plot, page, table
from .runs import RunLines, lines, run_page as run_page, summary, with_counts
