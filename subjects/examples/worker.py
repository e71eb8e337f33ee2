"""A worker without any helper: the sinusoidal encoding of Vaswani et al. 2017, served over the protocol of docs/protocol.md."""

import json
import math
import struct
import sys

source, sink = sys.stdin.buffer, sys.stdout.buffer
while length := source.read(8):
    header = json.loads(source.read(struct.unpack("<Q", length)[0]))
    request = header.pop("__metadata__")
    data = source.read(max((tensor["data_offsets"][1] for tensor in header.values()), default=0))
    spec = json.loads(request["spec"])
    known = {"encoding": "sinusoidal", "layout": "interleaved", "first": "sin", "denominator": "dim", "position_offset": 0, "scale": 1, "dtype": "float32"}
    read = {"dim", "base", "min_position", "max_position", "accuracy", "libm", "trained_positions"}
    reply, tensors, body = {"id": request["id"], "status": "ok"}, {}, b""
    if request["op"] == "describe":
        reply |= {"name": "sinusoid in plain Python", "version": "1", "ops": "encode", "dtypes": "float32"}
    elif request["op"] == "encode" and known.items() <= spec.items() and spec.keys() <= known.keys() | read:
        begin, end = header["positions"]["data_offsets"]
        positions = struct.unpack(f"<{(end - begin) // 8}q", data[begin:end])
        d = spec["dim"]
        angles = [p * spec["base"] ** (-2 * i / d) for p in positions for i in range(d // 2)]
        body = b"".join(struct.pack("<2f", math.sin(angle), math.cos(angle)) for angle in angles)
        tensors["encoding"] = {"dtype": "F32", "shape": [len(positions), d], "data_offsets": [0, len(body)]}
    else:
        reply |= {"status": "unsupported", "message": "encode of the paper's table in float32 only"}
    text = json.dumps({"__metadata__": reply, **tensors}).encode()
    sink.write(struct.pack("<Q", len(text)) + text + body)
    sink.flush()
