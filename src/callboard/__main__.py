"""``python -m callboard`` is the console script."""

import sys

from callboard.app.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
