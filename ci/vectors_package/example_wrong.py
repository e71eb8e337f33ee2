"""The same with heads that are counted from 0 in the exponent (docs/bug-zoo.md, L2)."""

import example_right


def bias(query_positions, key_positions, spec):
    example_right.slopes = lambda heads: [2.0 ** (-8 * head / heads) for head in range(heads)]
    return example_right.bias(query_positions, key_positions, spec)
