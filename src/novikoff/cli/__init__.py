"""The command line. `main` is the entry point; nothing beyond click is imported before a command runs."""


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    from novikoff.cli.commands import novikoff
    from novikoff.cli.errors import run

    run(novikoff)
