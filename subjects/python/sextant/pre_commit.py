"""`python -m sextant.pre_commit`: the audit of each file that a commit changes, as the hooks of .pre-commit-hooks.yaml ask for it."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Optional, Sequence

from ._command import SextantError, environment, find_command

# What a file's name says of the kind of subject that it is.
KINDS = {".py": "python", ".so": "plugin", ".onnx": "onnx", ".npy": "file", ".npz": "file", ".safetensors": "file", ".pt": "file"}


def subject_of(file: str) -> str:
    """The subject's name on the command line. Raises SextantError for a file that is none."""
    kind = KINDS.get(Path(file).suffix)
    if kind is None:
        raise SextantError(f"{file}: expected a file that ends with {', '.join(sorted(KINDS))}")
    # A library without a folder would be looked for where the system has its own.
    return f"{kind}:{file if '/' in file or kind != 'plugin' else './' + file}"


def worse(one: int, other: int) -> int:
    """Of two exit statuses the one to return: a mistake of the hook's arguments first, then a violation, a failed subject, nothing decided."""
    order = (0, 4, 3, 1, 2)
    return max(one, other, key=lambda status: order.index(status) if status in order else len(order))


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Audits each file, and returns the worst exit status: 0 if all hold."""
    parser = argparse.ArgumentParser(prog="sextant.pre_commit", description="Audits files, each as a subject.")
    parser.add_argument("--spec", help="what is claimed, of every file")
    parser.add_argument("--hf-config", help="a model's config.json that claims it")
    parser.add_argument("--profile", default="quick", help="how much is asked")
    parser.add_argument("--budget", help="seconds that each audit may take")
    parser.add_argument("--baseline", help="a report.json whose violations are known")
    parser.add_argument("--only", action="append", default=[], help="judge this property only (may be repeated)")
    parser.add_argument("--skip", action="append", default=[], help="leave this property out (may be repeated)")
    parser.add_argument("--strict", action="store_true", help="let violated advice fail")
    parser.add_argument("files", nargs="*", help="the files that changed")
    given = parser.parse_args(arguments)
    options = ["--profile", given.profile]
    for name in ("spec", "hf_config", "budget", "baseline"):
        value = getattr(given, name)
        options += [f"--{name.replace('_', '-')}", value] if value is not None else []
    for name in ("only", "skip"):
        for value in getattr(given, name):
            options += [f"--{name}", value]
    options += ["--strict"] if given.strict else []
    status = 0
    try:
        command = find_command()
        for subject in [subject_of(file) for file in given.files]:
            status = worse(status, subprocess.run([command, "audit", subject, *options], env=environment(), stdin=subprocess.DEVNULL, check=False).returncode)
    except SextantError as error:
        print(f"sextant: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
