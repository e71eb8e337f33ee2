"""A function with the ABI of TVM FFI as a subject: `sextant_worker.py sextant_tvmffi.py LIBRARY NAME OPERATION`, by the package tvm_ffi (apache-tvm-ffi on PyPI).

It is given tensors in the processor's memory: NAME(x, positions, y) of `rotate`, NAME(positions, y) of `encode`, and writes y. What NAME does otherwise stands
behind commas: NAME,arguments=x+positions,layout=nhd,positions=int32.

    arguments    which tensors, in their order: of x, positions, y. Without y a rotation is written over x
    layout       of x and y: bnhd ([batch, n, heads, head_dim]), bhnd, or nhd (the tokens of all batch rows after each other, and positions alike)
    positions    int64 or int32
"""

import os
import sys

# Else tvm_ffi builds an extension of torch where torch is installed.
os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")

import numpy as np
import tvm_ffi

import sextant_worker
from sextant_worker import BFLOAT16, Unsupported

CHOICES = {"layout": ("bnhd", "bhnd", "nhd"), "positions": ("int64", "int32")}
TENSORS = {"rotate": ("x", "positions", "y"), "encode": ("positions", "y")}
DTYPES = {"float64": np.dtype("f8"), "float32": np.dtype("f4"), "float16": np.dtype("f2"), "bfloat16": BFLOAT16 or np.dtype("u2")}


class Kernel:
    """The function, and how it is called. Raises SystemExit, with the reason, where there is none or its call is not understood."""

    def __init__(self, library, called, operation):
        if operation not in TENSORS:
            sys.exit(f"{operation} is not asked of functions of TVM FFI: {' and '.join(TENSORS)} are")
        name, *words = called.split(",")
        options = {"arguments": "+".join(TENSORS[operation]), "layout": "bnhd", "positions": "int64"}
        for word in words:
            key, equals, value = word.partition("=")
            if key not in options or not equals:
                sys.exit(f"{word!r}: expected one of {', '.join(options)}, =, and a value")
            if value not in CHOICES.get(key, (value,)):
                sys.exit(f"{word}: expected {' or '.join(CHOICES[key])}")
            options[key] = value
        self.arguments = options["arguments"].split("+")
        if set(self.arguments) not in [set(TENSORS[operation]), set(TENSORS[operation]) - {"y"}] or len(set(self.arguments)) != len(self.arguments):
            sys.exit(f"arguments={options['arguments']}: expected each of {', '.join(TENSORS[operation])} once, y only where it is not written over x")
        if self.arguments == ["positions"]:
            sys.exit(f"arguments={options['arguments']}: encode needs a y to be written")
        self.layout = options["layout"]
        self.positions = np.dtype(options["positions"])
        try:
            self.function = tvm_ffi.load_module(os.path.abspath(library)).get_function(name)
        except AttributeError:
            sys.exit(f"{library}: exports no __tvm_ffi_{name}")
        except Exception as error:
            sys.exit(f"{library}: tvm_ffi {tvm_ffi.__version__} cannot load it: {' '.join(str(error).split())}")

    def call(self, given):
        self.function(*(_tensor(given[name]) for name in self.arguments))

    def checked(self, positions):
        if positions.dtype != np.int64 or positions.ndim > 2:
            raise Unsupported("positions of one axis and whole numbers alone are given to a function of TVM FFI")
        if positions.size and abs(positions).max() > np.iinfo(self.positions).max:
            raise Unsupported(f"the function's positions are {self.positions}")
        return np.ascontiguousarray(positions, self.positions)

    def rotate(self, x, positions, spec):
        positions = self.checked(positions)
        batch, n, heads, width = x.shape
        if self.layout == "nhd":
            x, positions = x.reshape(batch * n, heads, width), positions.reshape(-1)
        elif self.layout == "bhnd":
            x = np.ascontiguousarray(x.transpose(0, 2, 1, 3))
        y = _unwritten(x.shape, x.dtype) if "y" in self.arguments else x
        self.call({"x": x, "positions": positions, "y": y})
        return y.transpose(0, 2, 1, 3) if self.layout == "bhnd" else y.reshape(batch, n, heads, width)

    def encode(self, positions, spec):
        y = _unwritten((len(positions), spec["dim"]), DTYPES[spec["dtype"]])
        self.call({"positions": self.checked(positions), "y": y})
        return y


def _unwritten(shape, dtype):
    """Memory of a result: its bits are all ones, which are a NaN, so that an element that is left out shows."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[:] = 0xFF
    return array


def _tensor(array):
    """The array as TVM FFI has it, in the same memory."""
    if array.dtype != DTYPES["bfloat16"]:
        return tvm_ffi.from_dlpack(array)
    # NumPy's DLPack has no bfloat16; torch's has.
    try:
        import torch
    except ImportError as error:
        raise Unsupported("bfloat16 is given to a function of TVM FFI through torch, which the interpreter has not") from error
    return tvm_ffi.from_dlpack(torch.from_numpy(array.view(np.int16)).view(torch.bfloat16))


if len(sys.argv) != 4:
    sys.exit("usage: sextant_worker.py sextant_tvmffi.py LIBRARY NAME OPERATION")
kernel = Kernel(*sys.argv[1:])
sextant_worker.serve(
    name=sys.argv[2].partition(",")[0],
    version=f"apache-tvm-ffi {tvm_ffi.__version__}",
    in_place="y" not in kernel.arguments,
    **{sys.argv[3]: getattr(kernel, sys.argv[3])},
)
