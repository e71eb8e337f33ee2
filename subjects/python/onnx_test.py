"""Audits models of a few nodes as `onnx:` subjects: onnx_test.py SEXTANT. Exits 77, which CTest counts as skipped, where no interpreter at hand has onnxruntime."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

FLOAT, INT64, FLOAT16 = 1, 7, 10  # onnx.TensorProto.DataType
ROPE = '{"encoding":"rope","head_dim":8,"max_position":512}'
CLAIM = ["--profile", "quick", "--cases", "12", "--spec"]


# A message of protocol buffers, as onnx.proto numbers its fields, written by hand: the package onnx need not be there.
def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([number & 127 | (128 if number > 127 else 0)])
        number >>= 7
        if not number:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name, kind, shape):
    dims = b"".join(field(1, field(1, size) if isinstance(size, int) else field(2, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def tensor(name, array):
    kind = {np.dtype("f4"): FLOAT, np.dtype("f2"): FLOAT16, np.dtype("i8"): INT64}[array.dtype]
    return b"".join(field(1, size) for size in array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes())


def node(operator, inputs, output, domain="", **attributes):
    named = b"".join(field(5, field(1, key) + field(3, value) + field(20, 2)) for key, value in attributes.items())
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, operator) + named + field(7, domain)


def model(nodes, inputs, outputs, constants=()):
    graph = b"".join(field(1, one) for one in nodes) + field(2, "graph") + b"".join(field(5, tensor(*one)) for one in constants)
    graph += b"".join(field(11, value_info(*one)) for one in inputs) + b"".join(field(12, value_info(*one)) for one in outputs)
    opsets = b"".join(field(8, field(1, domain) + field(2, version)) for domain, version in (("", 23), ("com.microsoft", 1)))
    return field(1, 10) + field(7, graph) + opsets


def cache(dtype="f4", pairs=4, rows=512, wrong_from=None):
    """The cosines and sines of positions 0, 1, ...; from `wrong_from` on, where it is given, of the position before."""
    positions = np.arange(rows)
    positions[wrong_from or rows :] -= 1
    angles = positions[:, None] / 10000.0 ** (np.arange(pairs) / pairs)
    return [("cos_cache", np.cos(angles).astype(dtype)), ("sin_cache", np.sin(angles).astype(dtype))]


def rotary(domain, given=False, kind=FLOAT, shape=("b", "h", "n", 8), ids=("b", "n"), rows="m", wrong_from=None, **attributes):
    """One RotaryEmbedding: of ONNX 23 or, another order of inputs, of com.microsoft; its cache a constant, or given, of so many rows."""
    names = ["x", "position_ids", "cos_cache", "sin_cache"] if domain else ["x", "cos_cache", "sin_cache", "position_ids"]
    inputs = [("x", kind, shape), ("position_ids", INT64, ids)]
    if given:
        inputs += [(name, kind, (rows, 4)) for name in ("cos_cache", "sin_cache")]
    constants = [] if given else cache("f2" if kind == FLOAT16 else "f4", wrong_from=wrong_from)
    return model([node("RotaryEmbedding", names, "y", domain, **attributes)], inputs, [("y", kind, shape)], constants)


class Onnx(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def audit(self, content, *arguments, names=""):
        path = os.path.join(self.folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(content)
        command = [SEXTANT, "audit", f"onnx:{path}{names}", "--python", PYTHON, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=280)

    def expect(self, status, text, done):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(text, done.stdout + done.stderr)

    def test_rotary_operators(self):
        for domain in ("", "com.microsoft"):
            for given in (False, True):
                with self.subTest(domain=domain, given=given):
                    done = self.audit(rotary(domain, given), *CLAIM, ROPE)
                    self.expect(0, "hold     accuracy", done)
                    self.assertIn("shape_independence   holds", done.stdout)

    def test_caches_follow_the_claim(self):
        claim = ROPE.replace("}", ',"rope_theta":500000,"rope_scaling":{"rope_type":"linear","factor":4}}')
        self.expect(0, "hold     accuracy", self.audit(rotary("", True), *CLAIM, claim, "--only", "accuracy"))
        self.expect(1, "accuracy             VIOLATED", self.audit(rotary("", False), *CLAIM, claim, "--only", "accuracy"))

    def test_wrong_pairing(self):
        self.expect(1, "accuracy             VIOLATED", self.audit(rotary("", interleaved=1), *CLAIM, ROPE, "--only", "accuracy"))
        claim = ROPE.replace("}", ',"pairing":"interleaved"}')
        self.expect(0, "hold     accuracy", self.audit(rotary("", interleaved=1), *CLAIM, claim, "--only", "accuracy"))

    def test_joined_heads(self):
        content = rotary("com.microsoft", shape=("b", "n", 24), num_heads=3)
        self.expect(0, "model.onnx, in parts of 3 heads", self.audit(content, *CLAIM, ROPE, "--only", "accuracy", "--only", "pair_isolation"))

    def test_extents_that_the_model_fixes(self):
        claim = ROPE.replace("512", "64")
        for shape, ids in (
            (("b", 7, "n", 8), ("b", "n")),
            ((1, 40, "n", 8), (1, "n")),
            (("b", "h", 16, 8), ("b", 16)),
            ((3, 2, 5, 8), (3, 5)),
            (("b", 2, "n", 8), ("b", 9)),
            (("b", 2, "n", 8), (1, "n")),
        ):
            with self.subTest(shape=shape, ids=ids):
                done = self.audit(rotary("", shape=shape, ids=ids), *CLAIM, claim, "--only", "accuracy", "--only", "pair_isolation", "--only", "row_independence")
                self.expect(0, "in parts of", done)
                self.assertRegex(done.stdout, r"accuracy +holds +\d{2,} cases")
                wrong = self.audit(rotary("", shape=shape, ids=ids, wrong_from=40), *CLAIM, claim, "--only", "accuracy")
                self.expect(1, "position 40", wrong)

    def test_a_given_cache_of_fixed_rows(self):
        content = rotary("", given=True, rows=512)
        self.expect(0, "accuracy             holds", self.audit(content, *CLAIM, ROPE, "--only", "accuracy"))

    def test_length_of_a_call_in_parts(self):
        # Frequencies of a call in parts are not those of the parts.
        claim = ROPE.replace("}", ',"rope_scaling":{"rope_type":"dynamic","factor":2,"original_max_position_embeddings":32}}')
        done = self.audit(rotary("", shape=("b", "h", 4, 8), ids=("b", 4)), *CLAIM, claim, "--replay", "accuracy:position=50,tokens=8,batch=1,heads=1,fill=1")
        self.expect(4, "unsupported", done)

    def test_fixed_positions_of_an_encoding(self):
        angles = np.arange(64)[:, None] / 10000.0 ** (np.arange(4) / 4)
        table = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(64, 8).astype("f4")
        claim = '{"encoding":"sinusoidal","dim":8,"max_position":64}'
        for ids in ((7,), (1, 7)):
            content = model([node("Gather", ["table", "ids"], "rows")], [("ids", INT64, ids)], [("rows", FLOAT, (*ids, 8))], [("table", table)])
            self.expect(0, "in parts of 7 tokens", self.audit(content, *CLAIM, claim, "--only", "accuracy", "--only", "determinism"))

    def test_float16(self):
        claim = ROPE.replace("}", ',"dtype":"float16","evaluation":"dtype"}')
        self.expect(0, "hold     accuracy", self.audit(rotary("", kind=FLOAT16), *CLAIM, claim, "--only", "accuracy"))
        self.expect(4, "tensor(float16)", self.audit(rotary("", kind=FLOAT16), *CLAIM, ROPE, "--only", "accuracy"))

    def test_heads_and_tokens_by_layout(self):
        # Its positions are then as many as its heads.
        self.expect(3, "position_ids", self.audit(rotary(""), *CLAIM, ROPE, "--only", "accuracy", names="#layout=bnhd"))

    def test_table_of_a_sinusoid(self):
        angles = np.arange(64)[:, None] / 10000.0 ** (np.arange(4) / 4)
        table = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(64, 8).astype("f4")
        content = model([node("Gather", ["table", "ids"], "rows")], [("ids", INT64, ("n",))], [("rows", FLOAT, ("n", 8))], [("table", table)])
        claim = '{"encoding":"sinusoidal","dim":8,"max_position":64,"accuracy":"correctly-rounded"}'
        self.expect(0, "hold     accuracy", self.audit(content, *CLAIM, claim, "--only", "accuracy"))
        table[63, 7] = np.nextafter(table[63, 7], 2)
        content = model([node("Gather", ["table", "ids"], "rows")], [("ids", INT64, ("n",))], [("rows", FLOAT, ("n", 8))], [("table", table)])
        self.expect(1, "position 63", self.audit(content, *CLAIM, claim, "--only", "accuracy"))

    def test_bad_models(self):
        one = rotary("")
        for content, names, text in (
            (b"no model", "", "cannot load it"),
            (b"", "", "cannot load it"),
            (one[: len(one) // 2], "", "cannot load it"),
            (one, "#x=hidden", "x=hidden: no such tensor"),
            (one, "#layout=hbnd", "expected bhnd or bnhd"),
            (one, "#batch=b", "expected one of x, positions"),
        ):
            with self.subTest(text=text):
                done = self.audit(content, *CLAIM, ROPE, names=names)
                self.expect(2, text, done)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        done = subprocess.run([SEXTANT, "audit", "onnx:/nowhere.onnx", "--spec", ROPE], capture_output=True, text=True)
        self.expect(2, "/nowhere.onnx", done)

    def test_two_candidates(self):
        content = model([node("Add", ["a", "b"], "y")], [("a", INT64, ("n",)), ("b", INT64, ("n",))], [("y", INT64, ("n",))])
        self.expect(2, "positions may be each of a, b", self.audit(content, *CLAIM, ROPE))


def has_onnxruntime(python):
    try:
        return subprocess.run([python, "-c", "import numpy, onnxruntime"], capture_output=True).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    SEXTANT = sys.argv.pop(1)
    candidates = [os.environ.get("SEXTANT_PYTHON"), "python3", sys.executable]
    PYTHON = next((python for python in candidates if python and has_onnxruntime(python)), None)
    if PYTHON is None:
        print("skipped: no interpreter has onnxruntime (pip install onnxruntime; SEXTANT_PYTHON names another)")
        sys.exit(77)
    unittest.main()
