"""sextant.audit, and the mark of the pytest plugin."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import tempfile
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from . import _live, adapt
from ._command import SextantError, SpecLike, filled_spec, operation_of, output_of, spec_argument
from ._worker import worker
from .adapt import Way
from .result import Call, Result

ISOLATIONS = ("fork", "spawn", "none")


def listed(names: Union[str, Sequence[str]]) -> Sequence[str]:
    """The names of properties; a text alone is one name."""
    return [names] if isinstance(names, str) else names


def audit(
    subject: Any,
    spec: SpecLike,
    *,
    op: Optional[str] = None,
    layout: Optional[str] = None,
    positions: Optional[str] = None,
    framework: Optional[str] = None,
    device: str = "cpu",
    gradient: Optional[str] = None,
    in_place: bool = False,
    threads: bool = False,
    name: Optional[str] = None,
    isolation: Optional[str] = None,
    profile: str = "standard",
    seed: int = 1,
    only: Union[str, Sequence[str]] = (),
    skip: Union[str, Sequence[str]] = (),
    max_position: Optional[int] = None,
    judges: Optional[int] = None,
    timeout: float = 60,
    strict: bool = False,
    replay: Optional[str] = None,
    report: Optional[Union[str, "os.PathLike[str]"]] = None,
) -> Result:
    """Audits a function, or an object with methods encode, table, rotate, bias, bucket, attend or backward, and returns what came of each property.

    spec: a preset's name, a path, JSON or a mapping: what is claimed.
    op: the operation that a function answers; that of the spec's encoding unless given. "table" of a rope's spec audits the function that makes its cosines
        and sines, [n, pairs] each: the claim is then its rotary_table.
    layout: the axes of x, or of q, k and v, as the function takes them: letters of b (batch), n (token), h (head), d (channel); "bnhd" unless given, of
        attention "bhnd". Without b or h the function is called for each row or head.
    positions: "explicit" (the function takes them), "shared" ([n], those of every row), "offset" (the first of consecutive ones, an int), "from_zero"
        (none: token p is at position p; encode(length), bias(query_length, key_length) or bias(length)).
    framework: "numpy", "torch" or "jax": of the arrays that it is given; found in the function's code unless given. device: torch's.
    gradient: "autograd" audits torch's gradient of the function too.
    in_place: rotate writes over its x on purpose. threads: several threads may call the function at once.
    isolation: "fork" runs each session in a fork of this process, so that a crash is a verdict and nothing that the function leaves behind is seen by the
        next; "none" in threads of this process, which is what JAX and CUDA allow; "spawn" in new interpreters, of what can be imported. Unless given,
        fork where that is possible.
    profile, seed, only, skip, max_position, judges, timeout, strict: the command's --profile, --seed, ..., --threads, ...
    replay: the one case of this token is judged, whatever profile, only and skip say.
    report: a directory for report.html and the other files.

    Raises SextantError where the command refuses the spec, an option or the subject, and in a file that an audit loads as its subject; TypeError and
    ValueError for arguments of another form.
    """
    if worker.__name__ == "__main__":
        raise SextantError('sextant.audit was called in a file that an audit loads as its subject: put the call below if __name__ == "__main__":')
    way = Way(layout, positions, framework, device, gradient, in_place, threads)
    if op == "table":
        spec = _table_of(spec)
    claim = _claim(spec, max_position)
    operation = op or operation_of(claim["encoding"])
    if operation not in worker.ARGUMENTS:
        raise ValueError(f"op {operation!r}: expected one of {', '.join(worker.ARGUMENTS)}")
    if isolation not in (None, *ISOLATIONS):
        raise ValueError(f"isolation {isolation!r}: expected one of {', '.join(ISOLATIONS)}")
    held = adapt.subject_of(subject, operation, claim, way, name)
    importable = adapt.importable_name(subject)
    if isolation == "spawn" and importable is None:
        raise SextantError(f"isolation 'spawn': {held.name} cannot be imported by name")
    asked = ["--spec", spec_argument(spec)] + (["--max-position", str(max_position)] if max_position is not None else [])
    shown = f"python:{importable}{adapt.options_of(way)}" if importable else f"live:{held.name}"
    command = f"sextant audit {shlex.join([shown, *asked])}"
    limit = f"--timeout={timeout:g}"

    def judge(serving: adapt.Subject, options: Sequence[str]) -> str:
        if isolation == "spawn":
            return output_of(["audit", shown, *asked, *options], statuses=(0, 1, 3, 4))
        return _live.run(serving, [*asked, *options, "--subject-shown", shown, "--command-shown", command], isolation or _isolation_of(held))

    def calls(token: str) -> list[Call]:
        if isolation == "spawn":
            raise SextantError("the calls of a case are those of another interpreter: ask again with isolation 'fork'")
        with tempfile.TemporaryDirectory() as folder:
            recorded = dataclasses.replace(held, functions=_live.recording(held, Path(folder)))
            judge(recorded, [limit, "--json", "--replay", token])
            return list(_live.recorded_calls(Path(folder)))

    options = [limit, "--json"]
    if replay is not None:
        options += ["--replay", replay]
    else:
        options += [f"--profile={profile}", f"--seed={seed}", *(f"--only={one}" for one in listed(only)), *(f"--skip={one}" for one in listed(skip))]
        options += [f"--threads={judges}"] if judges is not None else []
    options += ["--strict"] if strict else []
    options += ["--report", os.fspath(report)] if report is not None else []
    said = json.loads(judge(held, options))
    return Result.from_json(said, calls, None if importable else lambda token: f"sextant.audit({held.name}, ..., replay={token!r})")


def _claim(spec: SpecLike, max_position: Optional[int]) -> Mapping[str, Any]:
    claim = filled_spec(spec)
    return {**claim, "max_position": max_position} if max_position is not None else claim


def _table_of(spec: SpecLike) -> SpecLike:
    """A rope's claim as that of its cosines and sines, which have no channels; any other as it is."""
    claim = filled_spec(spec)
    if claim["encoding"] != "rope":
        return spec
    return {key: value for key, value in claim.items() if key not in ("pairing", "output_pairing", "direction")} | {"encoding": "rotary_table"}


def _isolation_of(subject: adapt.Subject) -> str:
    """fork, unless what the subject runs on does not survive one."""
    if subject.framework == "jax" or subject.device != "cpu":
        return "none"
    return "fork"


def mark(*, spec: SpecLike, profile: str = "standard", **options: Any) -> Any:
    """Marks a pytest test that takes the fixture `sextant`: it becomes one test for each property of the spec. `options` are those of audit."""
    import pytest

    return pytest.mark.sextant(spec=spec, profile=profile, **options)
