"""The tests of the three packages, and what they share."""

import os
import sys

# Tests start many processes: each would compile all it imports, and so would pytest.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
