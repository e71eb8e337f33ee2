"""Sextant's conformance vectors, bits-v1. `python -m sextant_vectors MODULE [ENCODING...]` runs them (run.py says how)."""

from pathlib import Path

data = Path(__file__).parent / "data"


def files(*encodings):
    """Paths of the vectors of these encodings, or of all."""
    found = sorted(data.glob("*_vectors.json"))
    return [path for path in found if not encodings or path.name[: -len("_vectors.json")] in encodings]
