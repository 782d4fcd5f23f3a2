"""``python -m interp`` is the console command ``gram``."""

from interp.cli import main

if __name__ == "__main__":
    main()
