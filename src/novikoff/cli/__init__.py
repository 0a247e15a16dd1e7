"""The command line. `main` is the entry point; nothing beyond click is imported before a command runs."""

import gc
import sys

# New objects between two garbage collections. Importing makes many, and hardly any are garbage: with Python's own
# threshold a short command spends a tenth of its time on collecting.
OBJECTS_BETWEEN_SEARCHES = 50_000


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES)
    from novikoff.cli.commands import exit_code, novikoff

    sys.exit(exit_code(novikoff, sys.argv[1:]))
