"""`python -m fuzzturn` is the command line."""

from fuzzturn.cli import main

main()
