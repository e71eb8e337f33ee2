"""Serves a Python subject to Sextant: safetensors blobs in on standard input, out on standard output.

Over 400 lines, since a subject's interpreter is given one file that needs nothing beside it.

Run as `python sextant_worker.py FILE.py`, where FILE.py defines any of

    encode(positions, spec)                               -> encoding [n, dim]
    table(positions, spec)                                -> (cos, sin), [n, pairs] each, or as the file's table_order says
    rotate(x, positions, spec)                            -> y, as x
    qk_norm_rope(q, k, positions, q_weight, k_weight, spec) -> (q, k), normalized and turned
    bias(query_positions, key_positions, spec)            -> bias [heads, q, k]
    bucket(relative, spec)                                -> bucket [n]
    attend(q, k, v, positions, spec)                      -> out, as q; what else a call has comes by name: query_positions,
                                                             starts, ends, sinks
    backward(of, inputs, grad, spec)                      -> gradient; of attend (grad_q, grad_k, grad_v)
    reset()

or calls `sextant_worker.serve(encode=..., rotate=..., ...)` itself. `spec` is a dict with every field filled in. Positions are int64, or
float32 or float64 where its position_dtype says so. Arrays are
NumPy's (bfloat16 as ml_dtypes.bfloat16 where that is installed, else as uint16 bit patterns), or those of the framework
that the file names: `framework = "torch"` or `framework = "jax"`. None, or an operation that is not defined, means
unsupported. `name` and `version` strings, where defined, are shown in the report; `fields = ["rope_theta"]` says which fields of the spec the functions read.

What stands behind the file is its sys.argv[1:].

With `--object NAME --operation OP --claim SPEC` in place of the file it serves the object of that name, `package.module:function` or `package.module:object`, with
the ways of calling it behind commas: `package.module:function,layout=bhnd,positions=from_zero` (sextant.adapt). A function answers OP; an object the
operations that it has as methods. What takes no spec is asked for the claim's values alone.

With `--control FD` at the end it is a fork server: it imports the file, says on that socket whether children of this process would be as fresh as
new interpreters, and forks one for each message that brings three descriptors, its standard streams. Where they would not be it says why and is an
ordinary worker, so that one interpreter is started for the first session either way.

Whatever the file prints goes to standard error, from C code too: the protocol has descriptors of its own.
"""

import atexit
import difflib
import functools
import importlib
import inspect
import json
import os
import socket
import struct
import sys
import threading
import traceback
import types
import weakref

import numpy as np

try:
    import ml_dtypes

    BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    BFLOAT16 = None

CLAIMED = ("encode", "table", "rotate", "qk_norm_rope", "bias", "attend")  # what a spec is of
OPERATIONS = (*CLAIMED, "bucket", "backward", "reset")
CODES = {"F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8")}
# The arguments of each operation after `self`, in the order of its signature.
ARGUMENTS = {
    "encode": ("positions",),
    "table": ("positions",),
    "rotate": ("x", "positions"),
    "qk_norm_rope": ("q", "k", "positions", "q_weight", "k_weight"),
    "bias": ("query_positions", "key_positions"),
    "bucket": ("relative",),
    "attend": ("q", "k", "v", "positions"),
}
# What only some calls have comes by name; a function that does not take it cannot do what is asked.
BY_NAME = {"attend": ("query_positions", "starts", "ends", "sinks")}
RESULTS = {"encode": "encoding", "rotate": "y", "bias": "bias", "bucket": "bucket", "attend": "out"}
# Of operations that have several.
SEVERAL_RESULTS = {"qk_norm_rope": ["q", "k"]}
# What an operation in place writes over.
WRITTEN_IN_PLACE = {"rotate": ["x"], "qk_norm_rope": ["q", "k"]}
# What the tensors of a rotary table are called, by the order of their values.
TABLE_ORDERS = {
    "separate": ["cos", "sin"],
    "cos_sin": ["cos_sin"],
    "sin_cos": ["sin_cos"],
    "interleaved": ["interleaved"],
    "halves": ["cos_halves", "sin_halves"],
    "repeated": ["cos_repeated", "sin_repeated"],
}
LARGEST_HEADER = 1 << 20
# Frameworks that do not survive a fork, or warn of it: they hold locks, devices and pools of threads. torch does survive one, as its own DataLoader
# forks by default, while it has started no threads and no device, which would hold files open: _holdings() tells.
NOT_FORKED = {"cupy", "jax", "jaxlib", "mlx", "paddle", "tensorflow"}
PR_SET_PDEATHSIG = 1  # prctl(2)
SIGKILL = 9


class Unsupported(Exception):
    """The subject cannot do what was asked; its text is the reason."""


def read_exactly(stream, size):
    data = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data


def read_blob(stream):
    """(metadata, {name: array}) of the next request, or None at the end of the input. The arrays are views of memory that nothing else holds, so that
    the subject may keep them and write into them.
    """
    start = stream.read(8)
    if not start:
        return None
    if len(start) < 8:
        raise EOFError
    (length,) = struct.unpack("<Q", start)
    if length > LARGEST_HEADER:
        raise ValueError(f"request header of {length} bytes")
    header = json.loads(read_exactly(stream, length))
    metadata = header.pop("__metadata__", {})
    data = np.empty(max((entry["data_offsets"][1] for entry in header.values()), default=0), np.uint8)
    if stream.readinto(data.data) != data.size:
        raise EOFError
    tensors = {}
    for key, entry in header.items():
        begin, end = entry["data_offsets"]
        bits = data[begin:end]
        if entry["dtype"] == "BF16":
            array = np.frombuffer(bits, dtype="<u2")
            array = array.view(BFLOAT16) if BFLOAT16 is not None else array
        else:
            array = np.frombuffer(bits, dtype=CODES[entry["dtype"]])
        array = array.reshape(entry["shape"])
        tensors[key] = array if array.flags.aligned else array.copy()
    return metadata, tensors


_kept = {}  # by name of an input: memory that is used again, since new pages cost more than the copy


def kept(key, array):
    """The bytes of a copy of the array, good until the next call."""
    bits = bits_of(array)
    if key not in _kept or _kept[key].size < bits.size:
        _kept[key] = np.empty(bits.size, np.uint8)
    copy = _kept[key][: bits.size]
    copy[:] = bits
    return copy


def bits_of(array):
    return array.reshape(-1).view(np.uint8)


def same_bits(one, other):
    """Whether two equally long arrays of bytes are the same, eight at a time."""
    whole = one.size // 8 * 8
    return np.array_equal(one[:whole].view(np.uint64), other[:whole].view(np.uint64)) and np.array_equal(one[whole:], other[whole:])


def code_of(array, spec_dtype):
    for code, dtype in CODES.items():
        if array.dtype == dtype:
            return code
    if BFLOAT16 is not None and array.dtype == BFLOAT16:
        return "BF16"
    if array.dtype == np.uint16 and spec_dtype == "bfloat16":
        return "BF16"
    raise TypeError(f"returned an array of {array.dtype}")


def write_blob(stream, metadata, tensors, spec_dtype=None):
    header, offset, parts = {"__metadata__": metadata}, 0, []
    for key, array in tensors.items():
        code = code_of(array, spec_dtype)
        data = bits_of(np.ascontiguousarray(array))
        header[key] = {"dtype": code, "shape": list(array.shape), "data_offsets": [offset, offset + data.size]}
        offset += data.size
        parts.append(data.data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    stream.write(struct.pack("<Q", len(text)) + text)
    for part in parts:
        stream.write(part)
    stream.flush()


class NumpyArrays:
    """Arrays as NumPy has them."""

    def give(self, array):
        return array

    def take(self, value):
        return np.asarray(value)

    def left(self, array, given):
        """What a function left in `given`, which give made of the array: a view of it where that can be written to."""
        return array


class TorchArrays(NumpyArrays):
    """Arrays as torch.Tensor; bfloat16 travels as its bits. On another device than the processor they are copies."""

    def __init__(self, device="cpu"):
        import torch

        self.torch = torch
        self.device = device

    def give(self, array):
        if array.dtype == np.uint16 or (BFLOAT16 is not None and array.dtype == BFLOAT16):
            tensor = self.torch.from_numpy(array.view(np.int16)).view(self.torch.bfloat16)
        else:
            tensor = self.torch.from_numpy(array)
        return tensor if self.device == "cpu" else tensor.to(self.device)

    def left(self, array, given):
        return array if self.device == "cpu" else self.take(given)

    def take(self, value):
        value = value.detach().cpu().contiguous()
        if value.dtype == self.torch.bfloat16:
            bits = value.view(self.torch.int16).numpy().view(np.uint16)
            return bits.view(BFLOAT16) if BFLOAT16 is not None else bits
        return value.numpy()


class JaxArrays(NumpyArrays):
    """Arrays as jax.Array. Without JAX_ENABLE_X64 there are no 64-bit types; what does not fit is unsupported."""

    def __init__(self):
        import jax.numpy

        self.numpy = jax.numpy

    def give(self, array):
        given = self.numpy.asarray(array)
        narrowed = given.dtype != array.dtype
        if narrowed and not (array.dtype == np.int64 and np.array_equal(np.asarray(given), array)):
            raise Unsupported(f"JAX without JAX_ENABLE_X64=1 has no {array.dtype}")
        return given

    def take(self, value):
        return np.asarray(value)


FRAMEWORKS = {None: NumpyArrays, "numpy": NumpyArrays, "torch": TorchArrays, "jax": JaxArrays}


def answer(functions, arrays, operation, tensors, metadata, in_place, copy=kept, table_order="separate"):
    """The reply's tensors; of a call in place, that returned nothing, what it left in x, or in q and k. `copy` gives the bytes of an input as they were. Raises
    Unsupported.
    """
    function = functions.get(operation)
    if operation == "reset":
        if function is not None:
            function()
        return {}
    if function is None:
        others = [name for name in CLAIMED if name in functions] if operation in CLAIMED else []
        raise Unsupported(f"the subject defines no {operation}" + (f", but {' and '.join(others)}" if others else ""))
    spec = json.loads(metadata["spec"])
    before = {key: copy(key, array) for key, array in tensors.items()}
    given = {key: arrays.give(array) for key, array in tensors.items()}
    handed = dict(given)
    if operation == "backward":
        grad = given.pop("grad")
        of = metadata["of"]
        result = function(of, given, grad, spec)
        # Of attend three gradients, in this order or by these names; of the others one.
        names = ["grad_q", "grad_k", "grad_v"] if of == "attend" else ["grad_weight" if "weight" in given else "grad_x"]
    else:
        extra = [given["weight"]] if "weight" in given else []
        named = {key: given[key] for key in BY_NAME.get(operation, ()) if key in given}
        for key in named:
            if not _takes(function, key):
                raise Unsupported(f"{operation} takes no {key}")
        result = function(*(given[key] for key in ARGUMENTS[operation]), *extra, spec, **named)
        names = TABLE_ORDERS[table_order] if operation == "table" else SEVERAL_RESULTS.get(operation) or [RESULTS[operation]]
    if result is None and in_place and operation in WRITTEN_IN_PLACE:
        written = [given[key] for key in WRITTEN_IN_PLACE[operation]]
        result = written if len(written) > 1 else written[0]
    if result is None:
        raise Unsupported(f"{operation} returned None")
    reply = {name: arrays.take(array) for name, array in zip(names, _results(operation, names, result))}
    if "interleaved" in reply:
        reply["interleaved"] = _interleaved(reply["interleaved"])
    left = {key: arrays.left(array, handed[key]) for key, array in tensors.items()}
    return reply | {f"modified/{key}": array for key, array in left.items() if not same_bits(bits_of(array), before[key])}


def _interleaved(array):
    """[n, 2 pairs] of complex numbers [n, pairs], or of [n, pairs, 2]."""
    if np.iscomplexobj(array):
        array = np.ascontiguousarray(array).view(array.real.dtype)
    return array.reshape(len(array), -1) if array.size else array.reshape(0, int(np.prod(array.shape[1:])))


def _takes(function, key):
    """Whether a function has a parameter of that name. One that cannot be looked at is called."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return key in parameters or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


def _results(operation, names, result):
    """The arrays that a function returned, in the order of `names`: of several a dict by them, or a sequence."""
    if isinstance(result, dict):
        if set(result) != set(names):
            raise ValueError(f"{operation} returned {sorted(result)}, expected {names}")
        return [result[name] for name in names]
    if len(names) == 1:
        if isinstance(result, tuple) or (isinstance(result, list) and any(hasattr(array, "shape") for array in result)):
            raise TypeError(f"returned a {type(result).__name__} of {len(result)}, expected one array")
        return [result]
    if operation == "table" and not isinstance(result, (tuple, list)):
        orders = [order for order, tensors in TABLE_ORDERS.items() if len(tensors) == 1]
        raise ValueError(f"table returned one array: expected cos and sin, or table_order = one of {', '.join(orders)}")
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        raise ValueError(f"{operation} returned {type(result).__name__}, expected {', '.join(names)}")
    return result


_streams = None
_served = False  # whether the file has called serve itself
_ready = False  # whether requests are being answered


def _take_streams():
    """Moves the protocol to descriptors of its own, and standard output to standard error."""
    global _streams
    if _streams is None:
        _streams = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
    return _streams


_control = None  # the fork server's socket
_before = None  # what the process held before the subject's file was imported


def _holdings():
    """What a fork would share with its siblings, or not take along: threads, open files, children, writable shared memory."""
    with open("/proc/self/maps") as maps:
        shared = sum(line.split()[1].startswith("rw") and line.split()[1].endswith("s") for line in maps)
    children = 0
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as listing:
            children += len(listing.read().split())
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), children, shared


def _why_not_forked():
    """Why children of this process would not be as good as new interpreters; None where they are. NumPy's own threads, those of its BLAS, were there
    before, and are stopped and started around a fork by handlers of OpenBLAS and MKL.
    """
    for what, now, before in zip(("started threads", "opened files", "started processes", "mapped shared memory"), _holdings(), _before):
        if now != before:
            return f"importing the file {what}" + (" (torch)" if "torch" in sys.modules else "")
    frameworks = sorted(NOT_FORKED & set(sys.modules))
    return f"{frameworks[0]} does not survive a fork" if frameworks else None


def _fork_sessions():
    """Forks a child for each session asked for, and returns in the child, its streams in place. Ends the process when nobody asks any more. Where it may
    not be forked it says why and returns None: this process is then a session itself.
    """
    global _control, _streams
    reason = _why_not_forked()
    control, _control = _control, None
    if reason is not None:
        control.send(f"no: {reason}".encode())
        control.close()
        return None
    # What imports would take apart at their end dies with each child, which it would cost 60 ms: torch takes back its operators one by one.
    for finalizer in list(getattr(weakref.finalize, "_registry", ())):
        finalizer.atexit = False
    adopted = fork_for_each(control)
    for stream in _streams:
        stream.close()
    _streams = None
    return adopted


def fork_for_each(control):
    """Says that it is ready, forks a child for each session that the socket asks for, and returns in the child, its standard streams in place; what is
    returned is to be called once who asked has been told of it. Ends the process when nobody asks any more.
    """
    import ctypes

    system = ctypes.CDLL(None)
    auditor = os.getppid()
    sys.stdout.flush()
    sys.stderr.flush()
    control.send(b"ready")
    while True:
        message, streams, _, _ = socket.recv_fds(control, 16, 3)
        if not message:
            os._exit(0)
        source, sink = os.pipe()
        # By way of a child that ends at once, so that the session becomes a child of the auditor, which adopts orphans.
        between = os.fork()
        if between == 0:
            session = os.fork()
            if session == 0:
                break
            os.setpgid(session, session)
            os.write(sink, str(session).encode())
            os._exit(0)
        os.waitpid(between, 0)
        os.close(sink)
        control.send(os.read(source, 16) or b"no")
        os.close(source)
        for stream in streams:
            os.close(stream)
    os.setpgid(0, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for descriptor in (*streams, source, sink):
        os.close(descriptor)
    control.close()

    def end_with_auditor():
        system.prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != auditor:
            os._exit(1)

    return end_with_auditor


def copied(key, array):
    return bits_of(array).copy()


def _reply(perform, metadata, tensors):
    """(metadata, tensors, dtype of the spec) of the reply to a request; perform(tensors, metadata) gives its tensors."""
    reply = {"id": metadata["id"], "status": "ok"}
    try:
        spec_dtype = json.loads(metadata["spec"])["dtype"]
        result = perform(tensors, metadata)
        for array in result.values():
            code_of(array, spec_dtype)  # raises for what cannot be sent
        return reply, result, spec_dtype
    except Unsupported as reason:
        return reply | {"status": "unsupported", "message": str(reason)}, {}, None
    except Exception as error:
        traceback.print_exc()
        operation = metadata["op"]
        return reply | {"status": "error", "message": f"{type(error).__name__}: {error}"} | _trace_of(error, operation, metadata.get("spec")), {}, None


def _shown_path(path):
    """A path as one would type it where the command was started."""
    inside = os.path.abspath(path).startswith(os.getcwd() + os.sep)
    return os.path.relpath(path) if inside else path


def _source_of(function):
    """(file, line) where a function is defined, or None. One that was adapted says as `audited` what it calls."""
    function = getattr(function, "audited", function)
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return (_shown_path(code.co_filename), code.co_firstlineno) if code is not None and os.path.exists(code.co_filename) else None


def _sources(functions):
    """`file` and `lines` of a description: of the functions in the file of the first of them."""
    found = {key: place for key, function in functions.items() if (place := _source_of(function)) is not None}
    if not found:
        return {}
    file = next(iter(found.values()))[0]
    return {"file": file, "lines": ",".join(f"{key}={line}" for key, (path, line) in found.items() if path == file)}


def _is_ours(path):
    """Whether a file is part of what calls the subject: the worker, the package or Python's import."""
    here = os.path.dirname(os.path.abspath(__file__))
    return path.startswith("<frozen") or os.path.dirname(os.path.abspath(path)) in (here, os.path.join(here, "sextant"), os.path.dirname(importlib.__file__))


def _trace_of(error, operation=None, spec=None):
    """`file`, `line`, `traceback` and `fix` of a reply: the subject's own calls, without those that led to it."""
    told = traceback.TracebackException.from_exception(error)
    stack = list(told.stack)
    while stack and _is_ours(stack[0].filename):
        del stack[0]
    lines = []
    if stack:
        lines = ["Traceback (most recent call last):\n", *traceback.StackSummary.from_list(stack).format()]
    trace = {"traceback": "".join([*lines, *told.format_exception_only()]).strip()[-8000:]}
    if isinstance(error, SyntaxError) and error.filename:
        trace |= {"file": _shown_path(error.filename), "line": str(error.lineno or 0)}
    elif stack:
        # The deepest line of the file in which the subject's part of the calls begins.
        deepest = [frame for frame in stack if frame.filename == stack[0].filename][-1]
        trace |= {"file": _shown_path(deepest.filename), "line": str(deepest.lineno)}
    fix = _fix_of(error, operation, json.loads(spec) if spec else {}, is_in_subject=bool(stack))
    return trace | ({"fix": fix} if fix else {})


def _fix_of(error, operation, spec, is_in_subject):
    """What most likely mends it, or ""."""
    if isinstance(error, ModuleNotFoundError):
        return f"if {error.name} is a file of yours, put its folder into PYTHONPATH; else install {error.name} for {sys.executable}, or name by --python the interpreter that has it"
    if isinstance(error, SyntaxError):
        place = f"line {error.lineno}" + (f", column {error.offset}" if error.offset else "")
        return f"mend {place}: {(error.text or '').strip()}".rstrip(": ")
    if isinstance(error, TypeError) and not is_in_subject and "returned an array of" in str(error):
        return f"return an array of {spec.get('dtype', 'float32')}: .astype(...)"
    if isinstance(error, TypeError) and not is_in_subject and "expected one array" in str(error):
        return f"return the {RESULTS[operation]} alone, an array"
    if isinstance(error, TypeError) and not is_in_subject and operation == "bias" and str(error).endswith("missing 1 required positional argument: 'spec'"):
        return "if it takes a weight, name a claim that has one, t5-small say; of others it is called as bias(query_positions, key_positions, spec)"
    if isinstance(error, TypeError) and not is_in_subject and operation in ARGUMENTS:
        return f"define it as {operation}({', '.join((*ARGUMENTS[operation], 'spec'))})"
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str) and error.args[0] not in spec:
        near = difflib.get_close_matches(error.args[0], spec, 1, 0.5) or [key for key in spec if key.endswith("_" + error.args[0])][:1]
        if spec:
            return f"if this is a field of the spec: it has {near[0] if near else ', '.join(spec)}"
    return ""


def _replies_at_once(perform, requests):
    """Of several requests, performed in the threads that they name, which begin together and change places as often as they can."""
    replies = [None] * len(requests)
    of_threads = {}
    for number, (metadata, _) in enumerate(requests):
        of_threads.setdefault(metadata["thread"], []).append(number)
    beginning = threading.Barrier(len(of_threads))

    def run(numbers):
        beginning.wait()
        for number in numbers:
            replies[number] = _reply(perform, *requests[number])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(numbers,)) for numbers in of_threads.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return replies


def serve(framework=None, name="", version="", in_place=False, threads=False, table_order="separate", fields=None, **functions):
    """Answers requests until the input ends. `functions` are the operations by name; `in_place` says that rotate writes over its x, qk_norm_rope over q and k, `threads` that
    several threads may call the functions at once, `table_order` in which order table returns its values, `fields` which fields of the spec the functions read.
    """
    global _served
    _served = True
    unknown = set(functions) - set(OPERATIONS)
    if unknown:
        raise TypeError(f"no operation is called {', '.join(sorted(unknown))}")
    if table_order not in TABLE_ORDERS:
        raise ValueError(f"table_order {table_order!r}: expected one of {', '.join(TABLE_ORDERS)}")
    if fields is not None and (isinstance(fields, str) or not all(isinstance(field, str) for field in fields)):
        raise ValueError(f"fields {fields!r}: expected a list of names of fields of a spec")
    arrays = arrays_of(framework)
    adopted = _fork_sessions() if _control is not None else None
    _answer_all(arrays, functions, name, version, in_place, threads, adopted, table_order, fields)
    if adopted is not None:
        # As an interpreter ends, but without taking apart module by module what the fork server still has: that is most of a session's cost.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def serve_forks(control, arrays, functions, name="", version="", in_place=False, threads=False):
    """A fork server of functions that this process holds, on a socket: forks a child for each session, which answers its requests and ends. It does not
    return. What the process has registered for its own end is not run by its children: it is not theirs.
    """
    adopted = fork_for_each(control)
    # What the program put in place of its streams, a test runner's capture say, is not read here.
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), open(1, "w", closefd=False), open(2, "w", closefd=False)
    status = 1
    try:
        _answer_all(arrays, functions, name, version, in_place, threads, adopted)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def arrays_of(framework):
    """How arrays are given to functions of a framework and taken from them: numpy (None), torch, jax."""
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework {framework!r}: expected numpy, torch or jax")
    return FRAMEWORKS[framework]()


def _answer_all(arrays, functions, name, version, in_place, threads, adopted, table_order="separate", fields=None):
    """Answers the requests of standard input."""
    global _ready
    source, sink = _take_streams()
    _ready = True
    answer_requests(source, sink, arrays, functions, name, version, in_place, threads, adopted, kept, table_order, fields)


def answer_requests(
    source,
    sink,
    arrays,
    functions,
    name="",
    version="",
    in_place=False,
    threads=False,
    adopted=None,
    copy=kept,
    table_order="separate",
    fields=None,
):
    """Answers requests until the input ends. `copy` is `copied` where several threads answer."""
    while (request := read_blob(source)) is not None:
        if adopted is not None:
            adopted()  # who asks has been told of this process, so it is the auditor's child by now
            adopted = None
        metadata, tensors = request
        if metadata["op"] == "describe":
            about = {"name": name, "version": version, "ops": ",".join(functions)}
            says = {"in_place": "true" if in_place else "false", "threads": "true" if threads else "false"}
            if fields is not None:
                says["fields"] = ",".join(fields)
            write_blob(sink, {"id": metadata["id"], "status": "ok"} | about | says | _sources(functions), {})
        elif "at_once" in metadata:
            requests = [request] + [read_blob(source) for _ in range(1, int(metadata["at_once"]))]
            for reply in _replies_at_once(lambda of, to: answer(functions, arrays, to["op"], of, to, in_place, copied, table_order), requests):
                write_blob(sink, *reply)
        else:
            write_blob(sink, *_reply(lambda of, to: answer(functions, arrays, to["op"], of, to, in_place, copy, table_order), metadata, tensors))


def _described(error, path):
    """An exception in one line, with the last line of the file that it passed through."""
    told = traceback.format_exception_only(type(error), error)
    # Of a SyntaxError the code comes first; of others notes may follow.
    text = told[-1 if isinstance(error, SyntaxError) else 0].strip()
    line = error.lineno if isinstance(error, SyntaxError) else None
    is_ours = os.path.dirname(path) == os.path.dirname(__file__)
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path and not is_ours:
            line = number
    if line is not None:
        return f"line {line}: {text}"
    return str(error) if isinstance(error, SystemExit) else text  # of the worker's own sys.exit the text alone


def _refuse(reason, trace):
    """Says in answer to the first request, whatever it is, that the file cannot be audited, and ends."""
    source, sink = _take_streams()
    request = read_blob(source)
    if request is not None:
        write_blob(sink, {"id": request[0]["id"], "status": "unusable", "message": reason} | trace, {})
    sys.exit(reason)


def main(path, control=None, operation=None, claim=None):
    """Serves the file, or the object of that name where there is an operation that a function shall answer."""
    try:
        if operation is None:
            _main(path, control)
        else:
            _main_of_object(path, operation, claim, control)
    except (Exception, SystemExit) as error:
        # Once requests are answered the process ends as Python would end it.
        ended_itself = isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int))
        if _ready or ended_itself:
            raise
        if _control is not None:
            _control.close()  # no fork server, but the first session, which is told why
        traceback.print_exc()
        # What its own code did not raise is how it was named or written as a subject.
        trace = _trace_of(error)
        if "file" in trace:
            _refuse(_described(error, path), trace)
        which = f"; run by {sys.executable}, --python names another interpreter" if isinstance(error, ModuleNotFoundError) else ""
        _refuse(_described(error, path) + which, {})


class _BeforeTorch:
    """A finder of modules that finds none: PyTorch's import starts a thread of OpenMP for each core, which keeps the process from being forked. It shall
    have one, unless the environment says otherwise.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            os.environ.setdefault("OMP_NUM_THREADS", "1")
        return None


def _begin(control):
    global _before, _control
    sys.meta_path.insert(0, _BeforeTorch)
    _take_streams()
    if control is not None:
        _control = socket.socket(fileno=control)
        _before = _holdings()


def _main_of_object(name, operation, claim, control):
    _begin(control)
    sys.modules["sextant_worker"] = sys.modules[__name__]
    # As Python's own -m does: what is audited lies where the command was started, or is installed.
    sys.path.insert(0, os.getcwd())
    try:
        from sextant import adapt
    except ImportError as error:
        sys.exit(f"{error}; run by {sys.executable}, which needs the package sextant for subjects that are no files")
    subject = adapt.named_subject(name, operation, json.loads(claim))
    serve(subject.framework, subject.name, subject.version, subject.in_place, subject.threads, **subject.functions)


def _main(path, control):
    _begin(control)
    # The file may say `import sextant_worker`: it is to get this module, not a second one.
    sys.modules["sextant_worker"] = sys.modules[__name__]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    # Compiled afresh: Python's bytecode cache tells versions apart by size and second, so that a file edited and audited again at
    # once could run as it was before.
    module = types.ModuleType("sextant_subject")
    module.__file__ = path
    sys.modules["sextant_subject"] = module
    with open(path, "rb") as source:
        code = source.read()
    exec(compile(code, path, "exec"), module.__dict__)
    if _served:
        return
    functions = {key: getattr(module, key) for key in OPERATIONS if callable(getattr(module, key, None))}
    if not functions:
        own = [key for key, value in vars(module).items() if callable(value) and getattr(value, "__module__", "") == module.__name__]
        name = os.path.splitext(os.path.basename(path))[0]
        meant = difflib.get_close_matches(own[0], OPERATIONS, 1, 0.7) if own else []
        hint = f"; did you mean {meant[0]} by {own[0]}?" if meant else ""
        if own and not meant:
            hint = f"; to audit {own[0]} name it: python:{name}:{own[0]} (docs/python.md says how it may be called)"
        sys.exit(f"the file defines none of {', '.join(OPERATIONS)}{hint}")
    about = {key: str(getattr(module, key, "")) for key in ("name", "version")}
    threads = getattr(module, "threads", False)
    if not isinstance(threads, bool):
        sys.exit(f"threads: expected True or False, whether several threads may call the functions at once, got {threads!r}")
    how = {"in_place": bool(getattr(module, "in_place", False)), "threads": threads, "table_order": getattr(module, "table_order", "separate")}
    how["fields"] = getattr(module, "fields", None)
    serve(getattr(module, "framework", None), **how, **about, **functions)


def _arguments(words):
    """The arguments of main that the command line gives. What it says to the subject is sys.argv."""
    control = None
    if len(words) > 2 and words[-2] == "--control":
        control = int(words[-1])
        words = words[:-2]
    if len(words) == 6 and words[0::2] == ["--object", "--operation", "--claim"]:
        sys.argv = words[1:2]
        return words[1], control, words[3], words[5]
    if words:
        sys.argv = words
        return words[0], control
    sys.exit("usage: sextant_worker.py FILE.py [ARGUMENT]...|--object NAME --operation OP --claim SPEC [--control FD]")


if __name__ == "__main__":
    main(*_arguments(sys.argv[1:]))
