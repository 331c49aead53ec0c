"""Run the command line, as `python -m ledger` and as `ledger`."""

import gc
import sys


def main() -> None:
    """Load the command line and run it; Ctrl-C while it loads is as quiet as later."""
    gc.disable()  # until the command is loaded: none of that is garbage, and looking takes a twentieth of a short one
    try:
        from ledger.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("ledger: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
