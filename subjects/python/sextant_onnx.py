"""An ONNX model as a subject, run by onnxruntime: `sextant_worker.py sextant_onnx.py MODEL SPEC COMMAND`. SPEC is the claim, COMMAND the program `sextant`.

MODEL is a file, behind which a # may name the tensors of a call: model.onnx#x=hidden,positions=ids,y=rotated,layout=bnhd.

    x            the input that is rotated: [batch, heads, n, head_dim], as the operator RotaryEmbedding has it, or [batch, n, heads * head_dim];
                 of `layout=bnhd` [batch, n, heads, head_dim]
    positions    an input of integers: [batch, n]; of a model without x, which answers encode, [n] or [1, n]
    cos, sin     inputs that are the rotary cache: given the correctly rounded table of the claim, as `sextant table` writes it, [positions, pairs] where there
                 are positions, else [batch, n, pairs]
    y            the output, or with the package `onnx` installed any tensor of the graph

Extents that the model fixes, a graph of 7 heads or of 16 tokens say, are no limit to calls: a rotation acts on each token of each head alone, so a call is run in parts of these extents, the last of them padded with zeros at its last position. What the padding comes to is dropped.

A model is made for one claim: it answers for others only where a cache that it is given says all that they differ in. What is not named is told by types and names: positions are the integers, cos and sin inputs of numbers with these syllables in their names, x the one that is left.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

import sextant_worker
from sextant_worker import Unsupported

DTYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
NAMES = ("x", "positions", "cos", "sin", "y", "layout")
LAYOUTS = ("bhnd", "bnhd")
# What a claim says of answers and not of what they are; and what the table of a rotation depends on besides.
JUDGED_BY = {"min_position", "max_position", "accuracy", "evaluation", "libm", "trained_positions"}
IN_TABLES = {"rope_theta", "rope_scaling"}
# Rules whose frequencies follow from the last position of a call.
BY_LENGTH = {"dynamic", "longrope"}


class Model:
    """A session of onnxruntime, and which of its tensors is what.

    Raises SystemExit, with the reason, for a model that answers nothing that is audited.
    """

    def __init__(self, argument, claim, command):
        path, _, names = argument.partition("#")
        self.claim = json.loads(claim)
        self.command = command
        self.named = _named(names)
        self.layout = self.named.get("layout", "bhnd")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(_bytes(path, self.named.get("y")), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            sys.exit(f"{path}: onnxruntime {onnxruntime.__version__} cannot load it: {error}")
        self.inputs = {one.name: one for one in self.session.get_inputs()}
        self.outputs = {one.name: one for one in self.session.get_outputs()}
        integers = [name for name, one in self.inputs.items() if one.type in INTEGERS]
        numbers = [name for name in self.inputs if name not in integers]
        self.cos = self.found("cos", [name for name in numbers if "cos" in name.lower()], self.inputs)
        self.sin = self.found("sin", [name for name in numbers if "sin" in name.lower()], self.inputs)
        self.positions = self.found("positions", integers, self.inputs)
        self.x = self.found("x", [name for name in numbers if name not in (self.cos, self.sin)], self.inputs)
        self.y = self.found("y", list(self.outputs), self.outputs)
        unknown = set(self.inputs) - {self.cos, self.sin, self.positions, self.x}
        if unknown:
            sys.exit(f"{path}: nothing is known to give for the inputs {_listed(unknown)}: x, positions, cos and sin are, named as in {path}#x=NAME")
        if (self.cos is None) != (self.sin is None):
            sys.exit(f"{path}: one of cos and sin is an input, the other is not; name both, as in {path}#cos=NAME,sin=NAME")
        if self.x is None and (self.positions is None or self.cos is not None):
            sys.exit(f"{path}: no input to rotate, and no positions alone to encode, among {_listed(self.inputs)}")
        self.tables = {}

    def found(self, what, candidates, tensors):
        """The tensor that is named, or the only candidate; None where there is none."""
        name = self.named.get(what)
        if name is not None:
            if name not in tensors:
                sys.exit(f"{what}={name}: no such tensor; the model has {_listed(tensors)}")
            return name
        if len(candidates) > 1:
            sys.exit(f"{what} may be each of {_listed(candidates)}: name it, as in model.onnx#{what}={candidates[0]}")
        return candidates[0] if candidates else None

    def refuse_others(self, spec):
        ignored = JUDGED_BY | (IN_TABLES if self.cos is not None else set())
        for field in sorted((set(spec) | set(self.claim)) - ignored):
            if spec.get(field) != self.claim.get(field):
                raise Unsupported(f"the model is one claim's; of another the field {field} differs")

    def rotate(self, x, positions, spec):
        self.refuse_others(spec)
        if positions.ndim != 2 or positions.dtype != np.int64:
            raise Unsupported("positions of one axis and whole numbers alone are given to a model")
        if self.positions is None and self.cos is None:
            if not np.array_equal(positions, np.broadcast_to(np.arange(x.shape[1]), positions.shape)):
                raise Unsupported("the model is given no positions: its tokens are at 0, 1, 2, ...")
        parts = self.parts(x.shape)
        if parts is None:
            return self.rotate_part(x, positions, spec)
        if self.positions is None and self.cos is None and x.shape[1] > parts[1]:
            raise Unsupported(f"the model is given no positions, and has {parts[1]} tokens")
        y = np.empty_like(x)
        for start in itertools.product(*(range(0, whole, size) for whole, size in zip(x.shape, parts))):
            part = tuple(slice(first, first + size) for first, size in zip(start, parts))
            if (spec.get("rope_scaling") or {}).get("rope_type") in BY_LENGTH and positions[part[:2]].max() != positions.max():
                raise Unsupported("the model's frequencies follow from the length of a call, which it has no extents for")
            result = self.rotate_part(x[part], positions[part[:2]], spec)
            if result.shape != y[part].shape:
                return result
            y[part] = result
        return y

    def fixed(self, name):
        """Of the tensor `name` the extents [batch, n, heads] that the model fixes; None for each that it does not, or that the tensor lacks."""
        shape = [size if isinstance(size, int) and size > 0 else None for size in self.inputs[name].shape]
        if name != self.x:
            return [*shape, None, None][:2] + [None]
        if len(shape) != 4:
            width = self.claim.get("head_dim")
            joined = shape[2] if len(shape) == 3 else None
            return [*shape, None, None][:2] + [joined // width if width and joined and joined % width == 0 else None]
        return shape[:3] if self.layout == "bnhd" else [shape[0], shape[2], shape[1]]

    def by_token(self):
        """The input that says where tokens are, of which a part has as many rows and tokens as of x; None if there is none."""
        return self.cos if self.positions is None else self.positions

    def parts(self, shape=None):
        """The extents [batch, n, heads] of a part of calls whose x is of that shape; None if the model fixes none, or the call has no tokens."""
        fixed = [self.fixed(name) for name in (self.x, self.by_token()) if name is not None]
        least = [min([size for size in sizes if size is not None], default=None) for sizes in zip(*fixed)]
        if least == [None] * 3 or shape is not None and 0 in shape:
            return None
        return least if shape is None else [whole if size is None else size for size, whole in zip(least, shape)]

    def rotate_part(self, x, positions, spec):
        """The answer to a call of at most the model's extents, whose inputs are padded to these."""
        asked = tuple(map(slice, x.shape))
        own = self.fixed(self.x)
        by_token = [None] * 3 if self.by_token() is None else self.fixed(self.by_token())
        x = _padded(x, [one or other for one, other in zip(own, by_token)], "constant")
        positions = _padded(positions, [other or one for one, other in zip(own, by_token)], "edge")
        batch, n, heads, width = x.shape
        if len(self.inputs[self.x].shape) == 3:
            given = x.reshape(batch, n, heads * width)
        else:
            given = x if self.layout == "bnhd" else np.ascontiguousarray(x.transpose(0, 2, 1, 3))
        feeds = {self.x: given}
        if self.positions is not None:
            feeds[self.positions] = positions
        if self.cos is not None:
            feeds |= self.caches(positions, spec)
        y = self.run(feeds)
        if y.ndim == 4 and self.layout == "bhnd" and len(self.inputs[self.x].shape) == 4:
            y = y.transpose(0, 2, 1, 3)
        elif y.size == x.size and y.ndim == 3:
            y = y.reshape(x.shape)
        return y[asked] if y.shape == x.shape else y

    def encode(self, positions, spec):
        self.refuse_others(spec)
        if positions.ndim != 1 or positions.dtype != np.int64:
            raise Unsupported("positions of one axis and whole numbers alone are given to a model")
        row = len(self.inputs[self.positions].shape) == 2
        size = self.tokens_of_encode()
        if size is None or len(positions) == 0:
            size = max(len(positions), 1)
        results = []
        for first in range(0, max(len(positions), 1), size):
            part = positions[first : first + size]
            given = _padded(part, [self.tokens_of_encode()], "edge") if len(part) else part
            result = self.run({self.positions: given[None] if row else given})
            result = result[0] if row and result.ndim == 3 and result.shape[0] == 1 else result
            if result.ndim != 2 or len(result) != len(given):
                return result
            results.append(result[: len(part)])
        return np.concatenate(results)

    def tokens_of_encode(self):
        """As many as the model fixes; None if it does not."""
        size = (self.inputs[self.positions].shape or [None])[-1]
        return size if isinstance(size, int) and size > 0 else None

    def name(self, path):
        """The file's, and what a call is run in parts of."""
        sizes = [self.tokens_of_encode()] if self.x is None else self.parts() or []
        words = ["tokens"] if self.x is None else ["batch rows", "tokens", "heads"]
        parts = [f"{size} {word if size > 1 else word[:-1]}" for size, word in zip(sizes, words) if size is not None]
        return path + (f", in parts of {', '.join(parts)}" if parts else "")

    def caches(self, positions, spec):
        """The claim's table at positions 0, 1, ..., a power of two of them; each token's where the model is given no positions."""
        if int(positions.min(initial=0)) < 0:
            raise Unsupported("a rotary cache begins with position 0")
        # onnxruntime wants as many rows as a call has tokens, wherever these are.
        rows = max(int(positions.max(initial=0)) + 1, positions.shape[1])
        fixed = self.inputs[self.cos].shape[0] if self.positions is not None else None
        if isinstance(fixed, int) and fixed > 0:
            if rows > fixed:
                raise Unsupported(f"the model's {self.cos} has {fixed} rows, and a call needs {rows}")
            rows = fixed
        key = json.dumps(spec, sort_keys=True)
        if key not in self.tables or len(self.tables[key]["cos"]) < rows:
            self.tables[key] = self.table(spec, 1 << (rows - 1).bit_length())
        caches = {self.cos: self.tables[key]["cos"], self.sin: self.tables[key]["sin"]}
        if isinstance(fixed, int) and fixed > 0:
            caches = {name: cache[:fixed] for name, cache in caches.items()}
        return caches if self.positions is not None else {name: cache[positions] for name, cache in caches.items()}

    def table(self, spec, rows):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "table.safetensors")
            told = subprocess.run(
                [self.command, "table", "--spec", json.dumps(spec | {"min_position": 0, "max_position": max(rows, spec["max_position"])}), "--positions", f"0:{rows}", "--out", file],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )
            if told.returncode != 0:
                raise Unsupported(f"the claim has no table to give the model as cos and sin: {told.stderr.strip()}")
            with open(file, "rb") as stream:
                return sextant_worker.read_blob(stream)[1]

    def run(self, feeds):
        for name, array in feeds.items():
            one = self.inputs[name]
            expected = INTEGERS.get(one.type) or DTYPES.get(one.type)
            if name == self.positions and expected is np.int32:
                if array.size and abs(array).max() >= 2**31:
                    raise Unsupported(f"the model's {name} is {one.type}")
                feeds[name] = array.astype(np.int32)
            elif array.dtype != expected:
                raise Unsupported(f"the model's {name} is {one.type}")
            fixed = [size if isinstance(size, int) else None for size in one.shape]
            if len(fixed) != array.ndim or any(size not in (None, given) for size, given in zip(fixed, array.shape)):
                raise Unsupported(f"the model's {name} has the shape {one.shape}, not {list(array.shape)}")
        try:
            return self.session.run([self.y], feeds)[0]
        except Exception as error:
            # So a kernel declines: RotaryEmbedding calls of more tokens than its cache has rows, say.
            if "not currently supported" in str(error) or "NOT_IMPLEMENTED" in str(error):
                raise Unsupported(str(error)) from error
            raise


def _bytes(path, output):
    """The model; where `output` is no output of it but a tensor within, the part of the graph that makes it."""
    with open(path, "rb") as file:
        whole = file.read()
    if output is None:
        return whole
    try:
        import onnx
    except ImportError:
        return whole
    model = onnx.load_from_string(whole)
    if output in (one.name for one in model.graph.output):
        return whole
    made = {name for node in model.graph.node for name in node.output}
    if output not in made:
        sys.exit(f"y={output}: the model has no such tensor")
    given = {one.name for one in model.graph.input} - {one.name for one in model.graph.initializer}
    makers = {name: node for node in model.graph.node for name in node.output}
    needed, seen, nodes = [output], set(), []
    while needed:
        name = needed.pop()
        if name in seen or name not in makers:
            seen.add(name)
            continue
        seen |= set(makers[name].output)
        nodes.append(makers[name])
        needed += makers[name].input
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(output))
    kept = [node for node in model.graph.node if any(node is one for one in nodes)]
    inputs = [one for one in model.graph.input if one.name in seen or one.name not in given]
    del model.graph.node[:], model.graph.input[:]
    model.graph.node.extend(kept)
    model.graph.input.extend(inputs)
    inferred = onnx.shape_inference.infer_shapes(model)
    return inferred.SerializeToString()


def _named(text):
    """{"x": NAME} of x=NAME,...; raises SystemExit for what is not."""
    named = {}
    for part in filter(None, text.split(",")):
        key, equals, name = part.partition("=")
        if key not in NAMES or not name:
            sys.exit(f"{part!r}: expected one of {', '.join(NAMES)}, =, and a name")
        named[key] = name
    if named.get("layout", LAYOUTS[0]) not in LAYOUTS:
        sys.exit(f"layout={named['layout']}: expected {' or '.join(LAYOUTS)}")
    return named


def _padded(array, extents, mode):
    """With as much behind its first axes, as numpy.pad makes it, as makes these extents; None is the array's own."""
    more = [0 if size is None else size - have for size, have in zip(extents, array.shape)]
    return np.pad(array, [(0, count) for count in more] + [(0, 0)] * (array.ndim - len(more)), mode) if any(more) else array


def _listed(names):
    return ", ".join(sorted(names))


if len(sys.argv) != 4:
    sys.exit("usage: sextant_worker.py sextant_onnx.py MODEL SPEC COMMAND")
model = Model(*sys.argv[1:])
sextant_worker.serve(
    name=model.name(os.path.basename(sys.argv[1])),
    version=f"onnxruntime {onnxruntime.__version__}",
    **({"encode": model.encode} if model.x is None else {"rotate": model.rotate}),
)
