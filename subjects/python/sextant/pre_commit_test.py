"""The hook of pre-commit: which subjects it makes of files, and what it returns."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from typing import Iterator
from unittest import mock

from sextant import pre_commit

CLAIM = '{"encoding": "sinusoidal", "dim": 8, "max_position": 400}'
RIGHT = """import numpy as np
def encode(positions, spec):
    angle = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(0, 8, 2) / 8)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(len(positions), 8).astype(np.float32)
"""


class Hook(unittest.TestCase):
    def run_in(self, files: dict[str, str], *arguments: str) -> int:
        with tempfile.TemporaryDirectory() as folder, self.within(folder):
            for name, text in files.items():
                Path(name).write_text(text)
            return pre_commit.main([*arguments, *files])

    @staticmethod
    @contextlib.contextmanager
    def within(folder: str) -> Iterator[None]:
        before = os.getcwd()
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)

    def test_files_that_hold_pass(self) -> None:
        self.assertEqual(self.run_in({"one.py": RIGHT, "two.py": RIGHT}, "--spec", CLAIM, "--only", "accuracy", "--only", "bounds"), 0)
        self.assertEqual(self.run_in({}, "--spec", CLAIM), 0)  # nothing that is a subject has changed

    def test_one_that_is_wrong_fails_all(self) -> None:
        wrong = RIGHT.replace("np.asarray(positions)", "np.minimum(positions, 300)")
        self.assertEqual(self.run_in({"one.py": RIGHT, "two.py": wrong, "three.py": RIGHT}, "--spec", CLAIM, "--only", "accuracy"), 1)
        self.assertEqual(self.run_in({"one.py": wrong}, "--spec", CLAIM, "--skip", "accuracy", "--only", "accuracy", "--only", "determinism"), 0)

    def test_mistakes_are_told_in_one_line(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(self.run_in({"notes.txt": ""}, "--spec", CLAIM), 2)
        self.assertIn("notes.txt: expected a file that ends with .npy", said.getvalue())
        self.assertEqual(said.getvalue().count("\n"), 1)
        with mock.patch.dict(os.environ, {"SEXTANT_COMMAND": "/no/such/file"}), contextlib.redirect_stderr(said):
            self.assertEqual(pre_commit.main(["--spec", CLAIM, "one.py"]), 2)

    def test_the_kind_is_that_of_the_ending(self) -> None:
        for file, subject in (("a/b.py", "python:a/b.py"), ("rotary.so", "plugin:./rotary.so"), ("a/rotary.so", "plugin:a/rotary.so"), ("t.npz", "file:t.npz"), ("m.onnx", "onnx:m.onnx")):
            self.assertEqual(pre_commit.subject_of(file), subject)

    def test_a_mistake_comes_before_a_violation_and_that_before_the_rest(self) -> None:
        statuses = (0, 4, 3, 1, 2)
        for i, lesser in enumerate(statuses):
            for greater in statuses[i:]:
                self.assertEqual(pre_commit.worse(lesser, greater), greater)
                self.assertEqual(pre_commit.worse(greater, lesser), greater)


if __name__ == "__main__":
    unittest.main()
