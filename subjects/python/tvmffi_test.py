"""Audits functions with the ABI of TVM FFI as `tvmffi:` subjects: tvmffi_test.py SEXTANT. Exits 77, which CTest counts as skipped, where no interpreter at hand has the package tvm_ffi, or no C compiler is there."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROPE = '{"encoding":"rope","head_dim":8,"max_position":512}'
CLAIM = ["--profile", "quick", "--cases", "6", "--spec"]
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "rotary_tvmffi.c")

# rotate_over(x, positions): written over x, whose tokens are joined, by int32 positions. ones(positions, y) of encode leaves out the last element.
OTHERS = """
TVM_FFI_DLL_EXPORT int __tvm_ffi_rotate_over(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self, (void)result;
  const DLTensor* x = tensor_of(&args[0]);
  const DLTensor* given = tensor_of(&args[1]);
  if (count != 2 || x->ndim != 3 || given->ndim != 1 || given->dtype.bits != 32) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "expected [n, heads, head_dim] and int32 [n]");
    return -1;
  }
  float* values = data_of(x);
  const int32_t* positions = data_of(given);
  const int64_t pairs = x->shape[2] / 2;
  for (int64_t i = 0; i < x->shape[0] * x->shape[1]; ++i, values += 2 * pairs) {
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const double angle = positions[i / x->shape[1]] * pow(10000.0, -(double)pair / (double)pairs);
      const double first = values[pair], second = values[pair + pairs];
      values[pair] = (float)(first * cos(angle) - second * sin(angle));
      values[pair + pairs] = (float)(first * sin(angle) + second * cos(angle));
    }
  }
  return 0;
}
TVM_FFI_DLL_EXPORT int __tvm_ffi_counts(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self, (void)result, (void)count;
  const DLTensor* positions = tensor_of(&args[0]);
  float* y = data_of(tensor_of(&args[1]));
  for (int64_t i = 0; i < positions->shape[0]; ++i) y[i] = (float)((const int64_t*)data_of(positions))[i];
  return 0;
}
TVM_FFI_DLL_EXPORT int __tvm_ffi_nothing(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self, (void)args, (void)count, (void)result;
  return 0;
}
TVM_FFI_DLL_EXPORT int __tvm_ffi_crashes(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self, (void)args, (void)count, (void)result;
  __builtin_trap();
}
"""


class TvmFfi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        source, cls.library = os.path.join(cls.folder, "kernels.c"), os.path.join(cls.folder, "kernels.so")
        with open(EXAMPLE) as file, open(source, "w") as copy:
            copy.write(file.read() + OTHERS)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", f"-I{INCLUDES}", "-o", cls.library, source, "-lm"], check=True)

    def audit(self, called, *arguments):
        command = [SEXTANT, "audit", f"tvmffi:{self.library}:{called}", "--python", PYTHON, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=280)

    def expect(self, status, text, done):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(text, done.stdout + done.stderr)

    def test_rotates_into_a_tensor(self):
        done = self.audit("rotate", *CLAIM, ROPE)
        self.expect(0, "hold     accuracy", done)
        self.assertIn("version  apache-tvm-ffi", done.stdout)

    def test_wrong_pairing_and_base(self):
        for field in ('"pairing":"interleaved"', '"rope_theta":20000'):
            claim = ROPE.replace("}", f",{field}}}")
            self.expect(1, "accuracy             VIOLATED", self.audit("rotate", *CLAIM, claim, "--only", "accuracy"))

    def test_rotates_in_place(self):
        called = "rotate_over,arguments=x+positions,layout=nhd,positions=int32"
        done = self.audit(called, *CLAIM, ROPE, "--only", "accuracy", "--only", "input_unchanged", "--only", "shape_independence")
        self.expect(0, "hold     accuracy", done)
        self.assertIn("shape_independence   holds", done.stdout)

    def test_other_layouts_are_another_answer(self):
        self.expect(1, "accuracy             VIOLATED", self.audit("rotate,layout=bhnd", *CLAIM, ROPE, "--only", "accuracy"))

    def test_encodes(self):
        claim = '{"encoding":"integer","dim":1,"max_position":512}'
        self.expect(0, "hold     accuracy", self.audit("counts", *CLAIM, claim, "--only", "accuracy"))
        self.expect(1, "NaN or infinite", self.audit("nothing", *CLAIM, claim, "--only", "accuracy"))

    def test_what_is_not_written_is_seen(self):
        self.expect(1, "got -nan", self.audit("nothing", *CLAIM, ROPE, "--only", "accuracy"))

    def test_errors_and_crashes_are_told(self):
        done = self.audit("rotate,arguments=x+positions", *CLAIM, ROPE, "--only", "accuracy")
        self.expect(3, "rotate takes x, positions and y", done)
        self.expect(3, "was killed by signal", self.audit("crashes", *CLAIM, ROPE, "--only", "accuracy"))
        half = ROPE.replace("}", ',"dtype":"float16"}')
        self.expect(3, "x is float32", self.audit("rotate", *CLAIM, half, "--only", "accuracy"))

    def test_bad_names(self):
        for called, text in (
            ("absent", "exports no __tvm_ffi_absent"),
            ("rotate,layout=hbnd", "layout=hbnd: expected bnhd or bhnd or nhd"),
            ("rotate,heads=3", "expected one of arguments, layout, positions"),
            ("rotate,arguments=x", "arguments=x: expected each of x, positions, y once"),
            ("rotate,arguments=x+x+positions+y", "once"),
            ("", "names no function"),
        ):
            with self.subTest(called=called):
                done = self.audit(called, *CLAIM, ROPE)
                self.expect(2, text, done)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.expect(2, "is not asked of functions of TVM FFI", self.audit("rotate", *CLAIM, '{"encoding":"alibi","num_heads":8}'))
        text = os.path.join(self.folder, "text.so")
        with open(text, "w") as file:
            file.write("no library")
        for library, why in ((text, "cannot load it"), ("/nowhere.so", "no such file")):
            done = subprocess.run([SEXTANT, "audit", f"tvmffi:{library}:rotate", "--python", PYTHON, *CLAIM, ROPE], capture_output=True, text=True)
            self.expect(2, why, done)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


def includes_of(python):
    """Where the interpreter's tvm_ffi has its headers; None where it has none."""
    script = "import numpy, tvm_ffi, tvm_ffi.libinfo as libinfo; print(libinfo.find_include_path())"
    try:
        done = subprocess.run([python, "-c", script], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


if __name__ == "__main__":
    SEXTANT = sys.argv.pop(1)
    candidates = [os.environ.get("SEXTANT_PYTHON"), "python3", sys.executable]
    PYTHON, INCLUDES = next(((python, folder) for python in candidates if python and (folder := includes_of(python))), (None, None))
    if PYTHON is None or shutil.which("cc") is None:
        print("skipped: no interpreter has tvm_ffi (pip install apache-tvm-ffi; SEXTANT_PYTHON names another), or there is no cc")
        sys.exit(77)
    unittest.main()
