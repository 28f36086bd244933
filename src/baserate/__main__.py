"""Run the command line as ``python -m baserate``."""

from baserate.cli import main

if __name__ == "__main__":
    main()
