"""The command `sextant`: where it is, and what it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

SpecLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]

_PACKAGE = Path(__file__).resolve().parent


class SextantError(Exception):
    """Something cannot be asked: a spec, an option or a subject that the command refuses. Its text is one line."""


def find_command() -> str:
    """The path of the executable: of $SEXTANT_COMMAND, the package's own, that of the build or of the installation which the package lies in, or the PATH's.

    Raises SextantError where there is none.
    """
    named = os.environ.get("SEXTANT_COMMAND")
    if named:
        if not os.access(named, os.X_OK):
            raise SextantError(f"SEXTANT_COMMAND={named}: no executable file")
        return named
    # PREFIX/share/sextant/python/sextant is where a build or an installation has the package; beside it PREFIX/bin.
    beside = [_PACKAGE / "bin" / "sextant"]
    if _PACKAGE.parts[-4:] == ("share", "sextant", "python", "sextant"):
        beside.append(_PACKAGE.parents[3] / "bin" / "sextant")
    # In the source tree: subjects/python/sextant, with the build that ci/build makes.
    if _PACKAGE.parts[-3:] == ("subjects", "python", "sextant"):
        beside.append(_PACKAGE.parents[2] / "build" / "bin" / "sextant")
    for candidate in beside:
        if os.access(candidate, os.X_OK):
            return str(candidate)
    # The wheel's script of that name starts this package again.
    found = shutil.which("sextant")
    if found and not _is_script(found):
        return found
    raise SextantError("the command sextant is not there: neither in the package nor on the PATH; SEXTANT_COMMAND names one")


def get_include() -> str:
    """The folder of sextant_subject.h and sextant_worker.hpp, for plugins in C and workers in C++ (docs/cpp.md): `cc -I $(python -c "import sextant; print(sextant.get_include())")`.

    Raises SextantError where the installation has none.
    """
    prefix = Path(find_command()).resolve().parents[1]
    # Of the wheel and of an installation; of the source tree's build.
    for folder in (prefix / "include", prefix.parent / "subjects" / "c"):
        if (folder / "sextant_subject.h").is_file():
            return str(folder)
    raise SextantError(f"{prefix}: no sextant_subject.h in its include")


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


def environment() -> dict[str, str]:
    """The environment that the command is started in: python: subjects run in this interpreter unless another is named."""
    return {"SEXTANT_PYTHON": sys.executable, **os.environ}


def unseen_environment() -> dict[str, str]:
    """The same for a command whose standard error is read for its message alone."""
    return environment() | {"SEXTANT_PROGRESS": "never"}


def spec_argument(spec: SpecLike) -> str:
    """What --spec is given: JSON of a mapping, else the preset's name, the JSON text or the path itself.

    Raises TypeError for anything else.
    """
    if isinstance(spec, Mapping):
        return json.dumps(spec)
    if isinstance(spec, (str, os.PathLike)):
        return os.fspath(spec)
    raise TypeError(f"spec: expected a preset's name, JSON, a path or a mapping, got {type(spec).__name__}")


def output_of(arguments: Sequence[str], statuses: Sequence[int] = (0,)) -> str:
    """What the command prints. Raises SextantError with its one line if it ends with another status than these."""
    ended = subprocess.run([find_command(), *arguments], env=unseen_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if ended.returncode not in statuses or not ended.stdout:
        raise SextantError(message_of(ended.stderr) or f"sextant {arguments[0]}: exit status {ended.returncode}")
    return ended.stdout


def message_of(error_output: str) -> str:
    """The command's one line, without its name."""
    lines = [line for line in error_output.strip().splitlines() if line.startswith("sextant: ")]
    return lines[-1][len("sextant: ") :] if lines else error_output.strip()


def filled_spec(spec: SpecLike) -> dict[str, Any]:
    """The spec with every field filled in. Raises SextantError, naming the field, if it is none."""
    return dict(json.loads(output_of(["spec", "--spec", spec_argument(spec)])))


def properties_of(spec: Optional[SpecLike] = None) -> list[dict[str, Any]]:
    """The properties that an audit of the spec judges, in the order of reports, or all: of each its id, level, title, statement and applies_to."""
    return list(json.loads(output_of(["list", "properties", "--json", *(["--spec", spec_argument(spec)] if spec is not None else [])])))


def operation_of(encoding: str) -> str:
    """The operation that answers for an encoding: encode, table, rotate, bias or attend. Raises SextantError for an unknown one."""
    for row in json.loads(output_of(["list", "encodings", "--json"])):
        if row["encoding"] == encoding:
            return str(row["operation"])
    raise SextantError(f"{encoding}: no such encoding (see sextant list encodings)")
