"""Operations of vectors for a line of 64 bytes: what ci/bench prints beside each rate, and what a port limit is made of. They are counted in a program's own loops, but
for the few that have several loops in turns, which are counted by hand (function_of).

A loop is counted along the path that falls through, since compilers place what is rare elsewhere. It is the one with the most operations among the loops of a function
that hold no other and store vectors to memory other than the stack. Loads, stores and moves between registers are no operations; a conversion from or to double or
float16 counts as two (eight took 5.9 to 6.4 cycles where four operations have a port)."""

import re
import subprocess

line_bytes = 64
vector_bytes = {"z": 64, "y": 32, "x": 16}

# Which function the loop of a benchmark is in. `%` stands for Highway's name of the target.
_dtypes = {"float32": "Float32", "bfloat16": "BFloat16", "float16": "Float16", "float64": "Float64"}


def function_of(name):
    """A regular expression of the function with the loop of benchmark `name`; a number where the count is made by hand; None where no loop of vectors is the kernel."""
    encoder, *parts = name.split("/")
    if encoder in ("alibi", "relative_bias", "learned", "integer", "sinusoidal_2d", "sinusoidal_nd") and "gradient" not in parts:
        return 0  # whole lines that are there are copied
    if "gradient" in parts:
        # Of what is read: for each eight elements a conversion, five additions, and one operation that keeps what they lost.
        return 16 if parts[0] == "float32" and encoder in ("learned", "relative_bias") else None
    if encoder == "fourier":
        # 30 pairs of channels of 16 points: 22.2 operations each, 27 for each eight angles that are not doubled, which are every fifth of float32 and every tenth of
        # 16 bits, and to turn round 20 for each four lines of float32, 48 for each eight of 16 bits (docs/rates.md).
        return {"float32": 20.8, "bfloat16": 32.4}.get(parts[0])
    if encoder == "sinusoidal":
        dtype, layout, rounding = _dtypes[parts[0]], parts[1], parts[2]
        order, fast = {"interleaved": 0, "concatenated": 2}[layout], {"certified": 0, "fast": 1}.get(rounding)
        if fast is None:
            return None
        kept = 0 if parts[3].startswith("1024x") else 1
        if dtype == "Float64":
            return rf"%::EncodeBothSidesPrecisely<.*Rounding\){fast}, .*Order\){order}, .*Caching\){kept}>"
        if dtype == "BFloat16":
            return rf"%::EncodeBothSidesInFloat<.*BFloat16, .*Order\){order}, .*Caching\){kept}>"
        return rf"%::EncodeBothSides<.*{dtype}, .*Rounding\){fast}, .*Order\){order}, .*Caching\){kept}>"
    if encoder in ("rope", "rope_nd", "xpos"):
        *before, shape = parts
        rounding, words = before[-1], "/".join(before)
        if rounding not in ("certified", "fast"):
            return None
        is_cast = "_of_float32" in words
        dtype = next(_dtypes[part] for part in words.replace("_of_float32", "").split("/") if part in _dtypes)
        pairing = 0 if "interleaved" in words else 1
        streamed = 0 if (encoder == "rope" and not is_cast) or "in_place" in words else 1
        bounds = "PairBounds" if encoder == "xpos" else "SharedBounds"
        turn = f"Turn{dtype}<.*{bounds}" if dtype in ("Float32", "Float64") else f"TurnNarrow<.*{dtype}, .*{bounds}"
        if is_cast:
            turn = f"TurnFloat32To<[^>]*::{dtype}>"
        if dtype == "Float16" and rounding == "certified":
            return rf"%::TurnDeferring<.*{turn}.*Pairing\){pairing}, .*Pairing\){pairing}, .*Caching\){streamed}>"
        pairings = rf"Pairing\){pairing}, .*Pairing\){pairing}, .*Caching\){streamed},"
        if rounding == "fast":
            tier = {"Float32": "FourOperations<float>", "Float64": "FourOperations<double>"}.get(dtype, f"QuickNarrow<[^>]*::{dtype}, ")
            return rf"%::TurnByEntries<.*{tier}.*{pairings}.*{bounds}"
        return rf"%::TurnQuickly<.*QuickTier<.*{turn}.*Rounding\)0, .*{pairings}"
    return None


def is_by_hand(name):
    return bool(function_of(name)) and not isinstance(function_of(name), str)


def functions_of(disassembly):
    """The instructions of each function, as pairs of an address and a text, of what `objdump -d -C --no-show-raw-insn` prints."""
    functions, name = {}, None
    for line in disassembly.splitlines():
        if found := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            name = found[1]
            functions[name] = []
        elif name and (found := re.match(r"\s+([0-9a-f]+):\s+(.*)", line)):
            functions[name].append((int(found[1], 16), found[2].split("#")[0].strip()))
    return functions


def _jump(text):
    found = re.match(r"j\w+\s+([0-9a-f]+)", text)
    return int(found[1], 16) if found else None


def _counted(text):
    """The operations of one instruction, and the bytes of vectors that it stores."""
    name, _, operands = text.partition(" ")
    if name[0] not in "vk" or name.startswith(("vzero", "vprefetch")):
        return 0, 0
    last = re.split(r",(?![^(]*\))", operands)[-1]
    register = re.search(r"%([xyz])mm", operands)
    if name.startswith("vmov") and "(" in last:
        stack = "(%rsp" in last or "(%rbp" in last
        return 0, 0 if stack or not register else vector_bytes[register[1]]
    whole_move = re.match(r"vmov(a|u|dq|nt|s[sd]$|[dq]$)", name) and "{" not in operands
    if whole_move or (re.match(r"vp?broadcast", name) and "(" in operands):
        return 0, 0
    return 2 if re.match(r"vcvt.*p[dh]", name) else 1, 0


def loops_of(instructions):
    """(operations, bytes stored) of each loop that holds no other."""
    index = {address: i for i, (address, _) in enumerate(instructions)}
    spans = set()
    for i, (address, text) in enumerate(instructions):
        target = _jump(text)
        if target in index and target <= address:
            spans.add((index[target], i))
    found = []
    for first, last in sorted(spans):
        if any((a, b) != (first, last) and first <= a and b <= last for a, b in spans):
            continue
        operations = stored = 0
        i = first
        while i <= last:
            text = instructions[i][1]
            target = _jump(text)
            if text.startswith("ret"):
                break  # code behind a loop, which jumps back into it
            if text.startswith("jmp") and target in index and i < index[target] <= last:
                i = index[target]
                continue
            more = _counted(text)
            operations, stored = operations + more[0], stored + more[1]
            i += 1
        else:
            found.append((operations, stored))
    return found


def per_line(functions, pattern, target):
    """The operations of a line in the heaviest loop of the one kernel that `pattern` names; None where there is none."""
    if pattern is None or isinstance(pattern, (int, float)):
        return pattern
    whole = re.compile(pattern.replace("%", f"N_{target}"))
    loops = [loop for name, instructions in functions.items() if whole.search(name) for loop in loops_of(instructions) if loop[1]]
    if not loops:
        return None
    operations, stored = max(loops)
    return operations * line_bytes / stored


def operations_of(program, names, target):
    """{name: operations of a line} of those benchmarks of `program` that have one; empty where the program cannot be disassembled, or its target is none whose
    conversions were timed."""
    if target != "AVX3":
        return {}
    try:
        run = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return {}
    functions = functions_of(run.stdout)
    counted = {name: per_line(functions, function_of(name), target) for name in names}
    return {name: count for name, count in counted.items() if count is not None}
