"""What people look at: pages, tables, plots, and runs as HTML."""

from .notebook_forms import run_form as run_form
from .page import page as page
from .plots import Interval as Interval, interval_plot as interval_plot
from .run_drawing import with_counts as with_counts
from .run_page import run_page as run_page
from .tables import facts as facts, table as table
