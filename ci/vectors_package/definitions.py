"""Rewrites properties/vectors/chosen.def from what sextant-vectors printed, and bugs.def from docs/bug-zoo.md."""

import re
import sys
from pathlib import Path

top = Path(__file__).resolve().parents[2]
folder = top / "properties/vectors"


def claims(text):
    """Blocks of lines, a claim with its questions, by the claim; a claim that comes twice has the questions of both. bfloat16 comes
    first, so that who keeps the dtype of a process's first call is seen in the others."""
    blocks = {}
    for line in text.splitlines():
        if line.startswith("CLAIM"):
            block = blocks.setdefault(line, [])
        elif line.startswith("ASK") and line not in block:
            block.append(line)
    ordered = sorted(blocks, key=lambda claim: ('"bfloat16"' not in claim, claim))
    return [(claim, blocks[claim]) for claim in ordered if blocks[claim]]


def main(printed):
    lines = ["// What is asked under each claim, as sextant-vectors chose it (ci/vectors --choose): kind, position, tokens, batch,",
             "// heads, fill and order of the question, elements of the answer by which a known bug is seen, and its rows.", ""]
    for claim, asks in claims(Path(printed).read_text()):
        lines += [claim, *asks]
    (folder / "chosen.def").write_text("\n".join(lines) + "\n")
    bugs = ["// Rows of docs/bug-zoo.md: what goes wrong, and the thread. Written by ci/vectors --choose.", ""]
    for line in (top / "docs/bug-zoo.md").read_text().splitlines():
        row = re.match(r"\| ([A-Z]\d*) \| (.*?) \| (.*?) \|", line)
        if row:
            thread = re.search(r"\((https?://[^)]*)\)", row[2])
            text = row[3].strip().replace("\\", "\\\\").replace('"', '\\"').replace("`", "")
            bugs.append(f'BUG("{row[1]}", "{text}", "{thread[1] if thread else ""}")')
    (folder / "bugs.def").write_text("\n".join(bugs) + "\n")


main(sys.argv[1])
