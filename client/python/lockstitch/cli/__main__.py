"""`python -m lockstitch.cli` is `lockstitch`."""

from lockstitch.cli import main

main()
