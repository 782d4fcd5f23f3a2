"""What people look at: pages, tables, plots, and runs as HTML."""

from .notebook_forms import conversation_form as conversation_form, run_form as run_form
from .page import Interval, facts, interval_plot, page, table
from .run_lines import RunLines, lines, summary
from .run_page import run_page as run_page, with_counts
