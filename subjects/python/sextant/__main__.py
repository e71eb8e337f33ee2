"""`python -m sextant` and the script `sextant` of the wheel: the command, with its arguments."""

from __future__ import annotations

import os
import sys

from ._command import SextantError, environment, find_command


def main() -> None:
    """Becomes the command. Exits with status 2 if it is not there."""
    try:
        command = find_command()
    except SextantError as error:
        print(f"sextant: {error}", file=sys.stderr)
        sys.exit(2)
    os.execve(command, ["sextant", *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
