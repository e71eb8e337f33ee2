"""Which values transformers' configuration classes refuse in each field of a config.json that a reading may depend on.

Classes check the types of their fields, of those too that no position depends on. Each model_type is asked once, of the
first file that states it.
"""

import json
import pathlib
import tempfile

import nulls
import shrunk

# By the names of values.json. A field's own value as a float, and as a text, where it is a number.
VALUES = {"true": True, "list": [], "object": {}, "text": "", "zero": 0, "negative": -1}


def refusals_of(path, asked_types):
    """For each part that is asked, its place in the file and the fields by what is refused in them."""
    whole = json.loads(path.read_text())
    refusals = {}
    try:
        parts = shrunk.parts_of(shrunk.load(path))
    except Exception:  # of a file that transformers refuses there is nothing to ask
        return refusals
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "config.json"
        for key, part_config in parts.items():
            place = nulls.path_of(whole, key)
            if place is None or part_config.model_type in asked_types | nulls.NOT_MEASURED:
                continue
            asked_types.add(part_config.model_type)
            stated = nulls.object_at(whole, place)
            by_values = {}
            for name in nulls.fields_of(part_config, stated):
                known = known_value(part_config, stated, name)
                refused = [value for value in values_for(known) if is_refused(whole, place, name, value, known, copy)]
                if refused:
                    by_values.setdefault(", ".join(refused), []).append(name)
            refusals[".".join(place)] = by_values
    return refusals


def known_value(part_config, stated, name):
    try:
        return stated[name] if name in stated else getattr(part_config, name, None)
    except Exception:  # where layers have each a value of their own
        return None


def values_for(known):
    """Those that say another thing than the field does."""
    of_numbers = ["float", "number as text"] if isinstance(known, int) and not isinstance(known, bool) else []
    return of_numbers + [name for name, value in VALUES.items() if value != known or type(value) is not type(known)]


def is_refused(whole, place, name, value, known, copy):
    changed = json.loads(json.dumps(whole))
    values = {**VALUES, "float": float(known) if value == "float" else None, "number as text": str(known)}
    nulls.object_at(changed, place)[name] = values[value]
    copy.write_text(json.dumps(changed))
    try:
        shrunk.load(copy)
    except Exception:
        return True
    return False


def text_of(outcomes):
    """JSON with a line for each set of values that some fields of a part do not take."""
    texts = []
    for name, parts in sorted(outcomes.items()):
        lines = []
        for part, by_values in sorted(parts.items()):
            groups = ",\n   ".join(f"{json.dumps(values)}: {json.dumps(fields, separators=(',', ':'))}"
                                   for values, fields in sorted(by_values.items()))
            lines.append(f"{json.dumps(part)}: {{\n   {groups}}}")
        texts.append(f" {json.dumps(name)}: {{{', '.join(lines)}}}")
    return "{\n" + ",\n".join(texts) + "\n}\n"
