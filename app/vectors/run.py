"""python run.py MODULE FILE.json...: MODULE has a function for each "op", rotate(x, positions, spec), encode(positions, spec), ...,
backward_rotate for backward/rotate; arguments come by name, as nested lists, and answers are nested lists or arrays, of several outputs
a dict, None without such a claim. Tests of a file follow each other in one process, as calls of a program's models do."""
import importlib, json, math, struct, sys
def floats(dtype, bits):
    code, width, rest = {"float64": (">d", 16, ""), "float32": (">f", 8, ""), "float16": (">e", 4, ""), "bfloat16": (">f", 4, "0000")}[dtype]
    return [struct.unpack(code, bytes.fromhex(bits[i : i + width] + rest))[0] for i in range(0, len(bits), width)]
def values(tensor, pattern):
    if "runs" in tensor: return [first + step * i for first, step, count in tensor["runs"] for i in range(count)]
    if "values" in tensor: return tensor["values"]
    if "bits" in tensor: return floats(tensor["dtype"], tensor["bits"])
    special, (first, factor) = dict(tensor.get("set", [])), tensor["pattern"]
    return [float(special.get(i, factor * pattern[(first + i) % len(pattern)])) for i in range(math.prod(tensor["shape"]))]
def shaped(flat, shape):
    size = math.prod(shape[1:])
    return flat if len(shape) < 2 else [shaped(flat[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]
def flattened(array):
    array = array.tolist() if hasattr(array, "tolist") else array
    return [value for part in array for value in flattened(part)] if isinstance(array, (list, tuple)) else [array]
def accepts(output, got):  # values at output["at"]: NaN is near nothing; where NaN or an infinity is expected, NaN is right
    expected, near = floats(output["dtype"], output["bits"]), output["tolerance"] if isinstance(output["tolerance"], list) else [output["tolerance"]] * len(got)
    return len(got) == len(expected) and all(abs(g - e) <= t if math.isfinite(e) else g != g or g == e for g, e, t in zip(got, expected, near))
def outcome(test, function, spec, pattern):
    inputs = {name: shaped(values(tensor, pattern), tensor["shape"]) for name, tensor in test["inputs"].items()}
    before, replies = json.dumps(inputs), function(**inputs, spec=spec) if function else None
    if replies is None or test["result"] == "invalid": return "FAIL" if replies is not None else "unsupported"
    replies = {n: flattened(r) for n, r in (replies if isinstance(replies, dict) else {next(iter(test["outputs"])): replies}).items()}
    right = (len(replies[n]) == math.prod(o["shape"]) and accepts(o, [replies[n][i] for i in o["at"]]) for n, o in test["outputs"].items())
    return "pass" if all(right) and json.dumps(inputs) == before else "FAIL"
def main(module, *files):
    counts = {"pass": 0, "FAIL": 0, "unsupported": 0}
    for data, group, test in ((d, g, t) for d in map(json.load, map(open, files)) for g in d["testGroups"] for t in g["tests"] if "op" in t):
        function = getattr(importlib.import_module(module), test["op"].replace("/", "_"), None)
        try: result, why = outcome(test, function, group["spec"], floats(**data["pattern"])), test["comment"]
        except Exception as error: result, why = "FAIL" if test["result"] == "valid" else "pass", repr(error)  # an invalid call is to be refused
        counts[result] += 1
        if result == "FAIL": print(data["algorithm"], test["tcId"], why, *test["flags"], json.dumps(group["spec"]))
    print(*(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["FAIL"] or not counts["pass"] else 0
if __name__ == "__main__": sys.exit(sys.path.insert(0, "") or main(*sys.argv[1:]))
