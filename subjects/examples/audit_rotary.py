import numpy as np

import sextant
from rotary_function import rotate


def rotate_in_float16(x, positions):
    return rotate(x, np.float16(positions))


result = sextant.audit(rotate_in_float16, "llama-2-7b", layout="bhnd", profile="quick", only=["accuracy", "isometry", "composition"])
print(result.headline)
print("violated:", *[found.id for found in result.violations])
print("right up to position", result["accuracy"].horizon)

case = result["accuracy"].simplest
print(case.finding)
for call in case.calls():
    print(call.operation, call.inputs["positions"], call.outputs["y"].shape, call.outputs["y"].dtype)
