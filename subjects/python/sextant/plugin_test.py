"""The pytest plugin, and the Hypothesis strategies: what a run of tests says. Skipped, by name, where pytest or Hypothesis is not installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Sequence

SIX_LINES = """import numpy as np, sextant
from mine import rotate
@sextant.mark(spec={"encoding": "rope", "head_dim": 8, "max_position": 300}, profile="quick")
def test_rotate(sextant):
    sextant(rotate, layout="bhnd")
"""
MINE = """import numpy as np
def rotate(x, positions):
    positions = np.minimum(positions, LAST)
    angle = positions[:, None, :, None] * 10000.0 ** (-np.arange(0, 8, 2) / 8)
    a, b, cos, sin = x[..., :4], x[..., 4:], np.cos(angle), np.sin(angle)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)
"""


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


@unittest.skipUnless(has("pytest"), "pytest is not installed")
class Plugin(unittest.TestCase):
    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)

    def pytest(self, *arguments: str, test: str = SIX_LINES, last: int = 1 << 60, plugins: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
        (self.folder / "mine.py").write_text(MINE.replace("LAST", str(last)))
        (self.folder / "test_mine.py").write_text(test)
        loaded = [] if self._is_installed() else ["-p", "sextant.pytest_plugin"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *loaded, *plugins, *arguments]
        return subprocess.run(command, cwd=self.folder, env={**os.environ, "COLUMNS": "400"}, capture_output=True, text=True, check=False)

    @staticmethod
    def _is_installed() -> bool:
        """Whether pytest loads the plugin by itself, as it does of an installed wheel."""
        from importlib.metadata import PackageNotFoundError, distribution

        try:
            distribution("sextant")
        except PackageNotFoundError:
            return False
        return True

    def test_each_property_is_a_test(self) -> None:
        ended = self.pytest("--collect-only")
        names = [line for line in ended.stdout.splitlines() if "::" in line]
        self.assertIn("test_mine.py::test_rotate[accuracy]", names, ended.stdout + ended.stderr)
        self.assertIn("test_mine.py::test_rotate[history]", names)
        self.assertGreater(len(names), 15)
        self.assertNotIn("test_mine.py::test_rotate[bucket]", names)

    def test_what_holds_passes_and_what_is_unsupported_is_skipped(self) -> None:
        ended = self.pytest("-rs", "-k", "accuracy or identity_at_zero or adjoint")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertIn("2 passed, 1 skipped", ended.stdout)
        self.assertIn("unsupported: the subject defines no backward", ended.stdout)

    def test_a_failure_replays(self) -> None:
        ended = self.pytest("-k", "accuracy", "--sextant-report", "reports", last=255)
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("accuracy: violated", ended.stdout)
        self.assertIn("positions int64 [1, 1] = [[256]]", ended.stdout)
        self.assertTrue((self.folder / "reports" / "test_mine.py.test_rotate-accuracy" / "report.html").is_file())
        line = next(line for line in ended.stdout.splitlines() if "replay: pytest" in line)
        token = line.rsplit("'", 2)[1]
        self.assertTrue(token.startswith("accuracy:"), line)
        again = self.pytest("test_mine.py::test_rotate[accuracy]", "--sextant-replay", token, last=255)
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertIn("position 256", again.stdout)
        self.assertEqual(self.pytest("test_mine.py::test_rotate[accuracy]", "--sextant-replay", token, last=256).returncode, 0)

    def test_a_crash_fails_its_own_test(self) -> None:
        crash = SIX_LINES.replace("sextant(rotate, layout", "import os; sextant(lambda x, p: os.kill(os.getpid(), 11), layout")
        ended = self.pytest("-k", "accuracy or isometry", test=crash)
        self.assertIn("2 failed", ended.stdout)
        self.assertIn("signal 11", ended.stdout)

    @unittest.skipUnless(has("xdist"), "pytest-xdist is not installed")
    def test_processes_of_xdist_share_the_properties(self) -> None:
        ended = self.pytest("-n", "2", "-k", "accuracy or isometry or composition", last=255)
        self.assertIn("2 failed, 1 passed", ended.stdout, ended.stdout)

    def test_a_fixture_without_its_mark_is_told(self) -> None:
        ended = self.pytest(test="def test_it(sextant):\n    pass\n")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("@sextant.mark(spec=...)", ended.stdout + ended.stderr)
        ended = self.pytest(test=SIX_LINES.replace('"head_dim": 8', '"head_dim": 7'))
        self.assertIn("head_dim", ended.stdout + ended.stderr)

    def test_what_judges_nothing_does_not_pass(self) -> None:
        misspelt = self.pytest(test=SIX_LINES.replace('profile="quick"', 'only=["acuracy"]'))
        self.assertNotEqual(misspelt.returncode, 0)
        self.assertIn("no property is called 'acuracy'", misspelt.stdout + misspelt.stderr)
        self.assertNotEqual(self.pytest("--sextant-replay", "nonsense").returncode, 0)
        idle = self.pytest("-k", "accuracy", test=SIX_LINES.replace('sextant(rotate, layout="bhnd")', "pass"))
        self.assertEqual(idle.returncode, 1, idle.stdout)
        self.assertIn("does not call sextant(subject)", idle.stdout)
        refusing = self.pytest("-k", "accuracy", test=SIX_LINES.replace("sextant(rotate,", "sextant(lambda x, p: None,"))
        self.assertEqual(refusing.returncode, 1, refusing.stdout)


@unittest.skipUnless(has("hypothesis"), "Hypothesis is not installed")
class Strategies(unittest.TestCase):
    CLAIM = {"encoding": "rope", "head_dim": 8, "min_position": -70, "max_position": 3000}

    def test_positions_are_the_claims_and_reach_where_things_break(self) -> None:
        from hypothesis import find, given, settings
        from hypothesis import strategies as st

        from sextant import strategies

        one = strategies.positions(self.CLAIM)

        @settings(max_examples=500, database=None, deadline=None)
        @given(one)
        def within(position: int) -> None:
            assert -70 <= position < 3000

        within()
        for wanted in (0, 1, 257, 2049, 2999, -70, -64):
            self.assertEqual(find(one, lambda position, wanted=wanted: position == wanted, settings=settings(max_examples=20000, database=None, deadline=None)), wanted)
        self.assertEqual(find(one, lambda position: position > 100, settings=settings(database=None, deadline=None)) <= 128, True)
        far = strategies.positions({"encoding": "rope", "head_dim": 8, "min_position": 100, "max_position": 103})
        self.assertIn(find(far, lambda position: True, settings=settings(database=None, deadline=None)), (100, 101, 102))
        lists = strategies.position_lists(self.CLAIM, min_size=2, max_size=5)

        @settings(max_examples=200, database=None, deadline=None)
        @given(lists, st.data())
        def sizes(listed: list[int], data: st.DataObject) -> None:
            assert 2 <= len(listed) <= 5 and all(-70 <= position < 3000 for position in listed)
            pair = data.draw(strategies.pairs(self.CLAIM))
            assert strategies.channels(self.CLAIM, pair) == (pair, pair + 4)

        sizes()
        with self.assertRaises(ValueError):
            strategies.pairs("t5-small")


if __name__ == "__main__":
    unittest.main()
