"""The command line. `main` is the entry point; nothing beyond click is imported before a command runs."""

import sys


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    from novikoff.cli.commands import exit_code, novikoff

    sys.exit(exit_code(novikoff, sys.argv[1:]))
