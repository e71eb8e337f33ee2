"""check.py DIRECTORY: that the files are what schema.json and the manifest say, as numerous as they say, and that wrong answers are refused."""

import hashlib
import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
import run  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

manifest = json.loads((folder / "manifest.json").read_text())
schema = json.loads((folder / "schema.json").read_text())
faults = []
total = 0
for name, said in manifest["files"].items():
    content = (folder / name).read_bytes()
    total += len(content)
    if hashlib.sha256(content).hexdigest() != said["sha256"] or len(content) != said["bytes"]:
        faults.append(f"{name}: not the digest of the manifest")
    if not name.endswith("_vectors.json"):
        continue
    data = json.loads(content)
    if jsonschema:
        faults += [f"{name}: {error.message[:200]}" for error in jsonschema.Draft7Validator(schema).iter_errors(data)]
    tests = {test["tcId"]: test for group in data["testGroups"] for test in group["tests"]}
    if sorted(tests) != list(range(1, data["numberOfTests"] + 1)):
        faults.append(f"{name}: tcIds are not 1 to {data['numberOfTests']}")
    for test in tests.values():
        faults += [f"{name} {test['tcId']}: no note of {flag}" for flag in test["flags"] if flag not in data["notes"]]
        if test["result"] != "invalid" or "op" in test:
            continue
        right = tests[test["of"]]["outputs"]
        if all(run.accepts(right[n], run.floats(right[n]["dtype"], o["bits"])) for n, o in test["outputs"].items()):
            faults.append(f"{name} {test['tcId']}: a wrong answer is accepted")
if total > 1 << 20:
    faults.append(f"{total} bytes, more than a megabyte")
print("\n".join(faults) or f"{total} bytes, as the manifest says")
sys.exit(bool(faults))
