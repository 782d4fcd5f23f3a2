"""What people look at: pages, tables, plots, and runs as HTML."""

from .page import page
from .plots import Interval, interval_plot
from .tables import facts, table

__all__ = ["Interval", "facts", "interval_plot", "page", "table"]
