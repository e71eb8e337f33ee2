"""sextant.audit: what a function's audit says, whatever way it is run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any

import numpy as np

import sextant
from sextant import Verdict
from sextant._command import environment, find_command

CLAIM = {"encoding": "rope", "head_dim": 8, "max_position": 512}
QUICK: dict[str, Any] = {"profile": "quick", "judges": 2}


def turned(x: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """x [..., d] by the angles [..., d/2] in float64, half pairing."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], -1).astype(x.dtype)


def frequencies(d: int) -> np.ndarray:
    return 10000.0 ** (-np.arange(0, d, 2) / d)


def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    return turned(x, positions[:, :, None, None] * frequencies(x.shape[-1]))


def rotate_by_one_too_many(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    return rotate(x, positions + (positions > 99))


class Sinusoid:
    """Vaswani et al. 2017, as an object that keeps its table."""

    name, version = "a table", "7"

    def __init__(self) -> None:
        angle = np.arange(600)[:, None] * frequencies(8)
        self.table = np.stack([np.sin(angle), np.cos(angle)], -1).reshape(600, 8).astype(np.float32)

    def encode(self, positions: np.ndarray) -> np.ndarray:
        return self.table[positions]


class Audit(unittest.TestCase):
    def test_a_right_function_holds(self) -> None:
        result = sextant.audit(rotate, CLAIM, only=["accuracy", "isometry", "history"], **QUICK)
        self.assertIs(result.assert_holds(), result)
        self.assertTrue(result.holds)
        self.assertEqual([one.verdict for one in result], [Verdict.HOLDS] * 3)
        self.assertEqual(result.horizon, 511)
        self.assertLess(result["accuracy"].worst.error_of_bound, 1)

    def test_a_wrong_one_has_a_counterexample_that_replays_alone(self) -> None:
        result = sextant.audit(rotate_by_one_too_many, CLAIM, only=["accuracy"], **QUICK)
        self.assertEqual(result.exit_status, 1)
        wrong = result["accuracy"]
        self.assertIs(wrong.verdict, Verdict.VIOLATED)
        self.assertEqual(wrong.horizon, 99)
        self.assertEqual(result.horizon, 99)
        self.assertIn("position 100", wrong.simplest.finding)
        self.assertEqual(result.worst, wrong.worst)
        again = sextant.audit(rotate_by_one_too_many, CLAIM, replay=wrong.simplest.token)
        self.assertEqual(again["accuracy"].simplest.finding, wrong.simplest.finding)
        with self.assertRaises(AssertionError) as caught:
            result.assert_holds()
        self.assertIn(wrong.simplest.token, str(caught.exception))
        self.assertIn("accuracy: violated", str(caught.exception))

    def test_the_calls_of_a_counterexample_are_arrays(self) -> None:
        result = sextant.audit(rotate_by_one_too_many, CLAIM, only=["accuracy"], **QUICK)
        calls = result["accuracy"].simplest.calls()
        call = next(one for one in calls if 100 in one.inputs["positions"])
        self.assertEqual(call.operation, "rotate")
        np.testing.assert_array_equal(call.outputs["y"], rotate_by_one_too_many(call.inputs["x"], call.inputs["positions"]))
        self.assertEqual(call.inputs["x"].dtype, np.float32)

    def test_closures_and_lambdas_are_audited_as_they_are(self) -> None:
        base = 500.0
        result = sextant.audit(
            lambda x, positions: turned(x, positions[:, :, None, None] * base ** (-np.arange(0, 8, 2) / 8)), {**CLAIM, "rope_theta": base}, **QUICK
        )
        self.assertTrue(result.holds, result.headline)
        self.assertIn("<lambda>", result.subject)

    def test_an_object_answers_by_its_methods(self) -> None:
        claim = {"encoding": "sinusoidal", "dim": 8, "max_position": 512}
        result = sextant.audit(Sinusoid(), claim, only=["accuracy", "frequencies", "siblings"], **QUICK)
        self.assertTrue(result.holds or result["siblings"].verdict is Verdict.UNSUPPORTED, result.explanation())
        self.assertIs(result["accuracy"].verdict, Verdict.HOLDS)

    def test_a_crash_is_a_verdict(self) -> None:
        def crash(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
            os.kill(os.getpid(), 11)
            return x

        result = sextant.audit(crash, CLAIM, only=["accuracy"], **QUICK)
        self.assertEqual(result.exit_status, 3)
        self.assertIs(result["accuracy"].verdict, Verdict.CRASHED)
        self.assertIn("signal 11", result["accuracy"].reason)
        with self.assertRaisesRegex(AssertionError, "signal 11"):
            result.assert_holds()

    def test_an_exception_is_told_with_its_text(self) -> None:
        def fail(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
            raise ArithmeticError("no such angle")

        for isolation in ("fork", "none"):
            result = sextant.audit(fail, CLAIM, only=["accuracy"], isolation=isolation, **QUICK)
            self.assertIn("ArithmeticError: no such angle", result["accuracy"].reason, isolation)

    def test_a_hang_ends_at_the_time_out(self) -> None:
        result = sextant.audit(lambda x, positions: threading.Event().wait(), CLAIM, only=["accuracy"], timeout=0.5, **QUICK)
        self.assertIs(result["accuracy"].verdict, Verdict.TIMED_OUT)

    def test_what_is_unsupported_decides_nothing(self) -> None:
        result = sextant.audit(lambda x, positions: None, CLAIM, only=["accuracy"], **QUICK)
        self.assertEqual(result.exit_status, 4)
        self.assertFalse(result.holds)
        with self.assertRaisesRegex(AssertionError, "unsupported"):
            result.assert_holds()

    def test_sessions_see_nothing_of_each_other_nor_the_caller_of_them(self) -> None:
        calls: list[int] = []

        def counting(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
            calls.append(1)
            return rotate(x, positions)

        self.assertTrue(sextant.audit(counting, CLAIM, only=["accuracy"], **QUICK).holds)
        self.assertEqual(calls, [])
        self.assertTrue(sextant.audit(counting, CLAIM, only=["accuracy"], isolation="none", **QUICK).holds)
        self.assertGreater(len(calls), 100)

    def test_sessions_of_one_program_call_one_after_the_other(self) -> None:
        entered = threading.Lock()

        def alone(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
            if not entered.acquire(blocking=False):
                raise RuntimeError("called while it answers another call")
            try:
                time.sleep(0.002)
                return rotate(x, positions)
            finally:
                entered.release()

        self.assertTrue(sextant.audit(alone, CLAIM, isolation="none", profile="quick", judges=4).holds)

    def test_history_is_found_in_forks(self) -> None:
        longest = [1]

        def rotate_by_the_longest(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
            longest[0] = max(longest[0], x.shape[1])
            return rotate(x, positions) if longest[0] < 9 or x.shape[1] >= 9 else -rotate(x, positions)

        result = sextant.audit(rotate_by_the_longest, CLAIM, only=["history"], **QUICK)
        self.assertIs(result["history"].verdict, Verdict.VIOLATED, result.headline)

    def test_a_rotary_cache_is_audited_as_a_table(self) -> None:
        frequency = 10000 ** (-np.arange(0, 8, 2) / 8)

        def cache(length: int) -> tuple[np.ndarray, np.ndarray]:
            angle = np.arange(length)[:, None] * frequency
            return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

        sextant.audit(cache, CLAIM, op="table", positions="from_zero", **QUICK).assert_holds()
        swapped = sextant.audit(lambda length: cache(length)[::-1], CLAIM, op="table", positions="from_zero", only=["accuracy"], **QUICK)
        self.assertIs(swapped["accuracy"].verdict, Verdict.VIOLATED)

    def test_the_headers_of_subjects_in_c_have_a_folder(self) -> None:
        for header in ("sextant_subject.h", "sextant_worker.hpp"):
            self.assertTrue(Path(sextant.get_include(), header).is_file(), sextant.get_include())

    def test_a_function_in_a_module_is_named_for_the_command_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "made_up_module.py").write_text(
                "import numpy as np\n\ndef wrong(x, positions):\n    return x\n\ndef fine(x, positions, spec):\n    return None\n"
            )
            sys.path.insert(0, folder)
            before = os.getcwd()
            try:
                os.chdir(folder)
                import made_up_module  # type: ignore[import-not-found]

                held = sextant.audit(made_up_module.wrong, CLAIM, only=["accuracy"], layout="bhnd", **QUICK)
                self.assertEqual(held.subject, "python:made_up_module:wrong,layout=bhnd")
                self.assertIn("sextant audit python:made_up_module:wrong,layout=bhnd --spec", held["accuracy"].simplest.replay)
                spawned = sextant.audit(made_up_module.wrong, CLAIM, only=["accuracy"], layout="bhnd", isolation="spawn", **QUICK)
                self.assertEqual(spawned["accuracy"].simplest, held["accuracy"].simplest)
            finally:
                os.chdir(before)
                sys.path.remove(folder)

    def test_a_report_is_written_where_it_is_asked_for(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            result = sextant.audit(rotate_by_one_too_many, CLAIM, only=["accuracy"], report=Path(folder, "out"), **QUICK)
            read = sextant.Result.from_json(Path(folder, "out", "report.json"))
            self.assertEqual(read["accuracy"].simplest.token, result["accuracy"].simplest.token)
            self.assertTrue(Path(folder, "out", "report.html").is_file())
            with self.assertRaises(ValueError):
                read["accuracy"].simplest.calls()

    def test_what_is_refused_is_one_line(self) -> None:
        for arguments, text in (
            ({"spec": {"encoding": "rope", "head_dim": 7}}, "head_dim"),
            ({"spec": "no-such-preset"}, "no-such-preset"),
            ({"spec": CLAIM, "only": ["no_such_property"]}, "no_such_property"),
            ({"spec": CLAIM, "replay": "accuracy:nonsense"}, "nonsense"),
        ):
            with self.assertRaises(sextant.SextantError) as caught:
                sextant.audit(rotate, **arguments)
            self.assertIn(text, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))
        for arguments in ({"layout": "bnx"}, {"layout": "bh"}, {"positions": "backwards"}, {"op": "turn"}, {"framework": "fortran"}, {"isolation": "jail"}):
            with self.assertRaises(ValueError):
                sextant.audit(rotate, CLAIM, **arguments)
        with self.assertRaises(TypeError):
            sextant.audit(3, CLAIM)
        with self.assertRaises(TypeError):
            sextant.audit(rotate, 3)  # type: ignore[arg-type]

    def test_a_file_that_audits_itself_where_it_is_loaded_is_told_so(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "audits_itself.py")
            file.write_text("import sextant\n\ndef rotate(x, positions, spec):\n    return x\n\nsextant.audit(rotate, {'encoding': 'rope', 'head_dim': 8})\n")
            package = str(Path(__file__).resolve().parent.parent)
            said = subprocess.run([find_command(), "audit", f"python:{file}", "--spec", '{"encoding":"rope","head_dim":8}'], capture_output=True, text=True,
                                  env={**environment(), "PYTHONPATH": package}, timeout=50, check=False)
            self.assertEqual(said.returncode, 3)
            self.assertIn('put the call below if __name__ == "__main__":', said.stdout + said.stderr)

    def test_nothing_is_left_running_or_open(self) -> None:
        def descriptors() -> int:
            return len(os.listdir("/proc/self/fd"))

        before = descriptors()
        for isolation in ("fork", "none"):
            sextant.audit(rotate, CLAIM, only=["accuracy"], isolation=isolation, **QUICK)
        self.assertEqual(descriptors(), before)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


if __name__ == "__main__":
    unittest.main()
