"""Validates report.json files against reports/report.schema.json: schema_test.py SCHEMA FILE..."""

import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1], encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
failures = [f"{name}: {error.json_path}: {error.message[:200]}" for name in sys.argv[2:] for error in validator.iter_errors(json.load(open(name, encoding="utf-8")))]
# A report that lacks a field, or has one too many, must be refused.
sample = json.load(open(sys.argv[2], encoding="utf-8"))
for change in ({k: v for k, v in sample.items() if k != "seed"}, {**sample, "more": 1}, {**sample, "version": 2}):
    if validator.is_valid(change):
        failures.append("a malformed report passes")
print("\n".join(failures) or "valid")
sys.exit(bool(failures))
