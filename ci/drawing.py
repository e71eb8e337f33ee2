"""What ci/pictures and ci/theory share: Matplotlib, installed from Debian where it is missing, and what build/bin/sextant prints, as arrays."""

import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

top = pathlib.Path(__file__).resolve().parent.parent
sextant = top / "build/bin/sextant"


def install_matplotlib():
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    print(f"{sys.argv[0]}: installing python3-matplotlib", file=sys.stderr)
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "python3-matplotlib"]):
        run = subprocess.run([*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *arguments], capture_output=True, text=True)
        if run.returncode != 0:
            print(run.stderr, file=sys.stderr)
            sys.exit(2)


try:
    import matplotlib
except ImportError:
    install_matplotlib()
    import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

plt.rcParams.update({"figure.dpi": 100, "savefig.dpi": 100, "font.size": 10})


def table(spec, positions, suffix):
    """The file that `sextant table` writes, read back: an array, or a dictionary of them."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / ("table." + suffix)
        subprocess.run([sextant, "table", "--spec", json.dumps(spec), "--positions", positions, "--out", path], check=True, stdout=subprocess.DEVNULL)
        return np.load(path) if suffix == "npy" else read_safetensors(path.read_bytes())


def read_safetensors(data):
    (length,) = struct.unpack_from("<Q", data)
    arrays = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            first, last = (8 + length + offset for offset in entry["data_offsets"])
            arrays[name] = np.frombuffer(data[first:last], dtype={"F32": "<f4", "F64": "<f8"}[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def survey(spec, subject="builtin"):
    """The survey of an audit of the subject: the numbers that a report's pictures are drawn from."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sextant, "audit", subject, "--spec", json.dumps(spec), "--only", "determinism", "--profile", "quick", "--report", directory]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads((pathlib.Path(directory) / "report.json").read_text())["survey"]


def bias(spec):
    """The biases [heads, queries, keys] that `sextant audit` took of Sextant's own encoder."""
    taken = survey(spec)["bias"]
    return np.array([float(value) for value in taken["values"]]).reshape(taken["heads"], taken["queries"], taken["keys"])


def save_lines(figure, path):
    """Of a few colours and their shades: a palette takes a third of the bytes."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
