"""Run the command line as `python -m ledger`."""

from ledger.cli import main

main()
