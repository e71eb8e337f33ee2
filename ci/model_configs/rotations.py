"""Measures rotations: which layers turn queries and keys, by which frequencies, and which channels pair.

All of it is read off the matrices that a forward pass turns by; the model's own table of frequencies only says which
float32 number an angle stands for.
"""

import collections
import math
import re

import numpy as np
import torch

import additions
import shrunk
from capture import RotationCapture
from shrunk import MeasurementError

MIXER = re.compile("Attention|GatedDelta|Conv")

LARGEST_RELATIVE_RESIDUAL = 1e-4  # of float32 angles
LARGEST_DIFFERENCE_OF_ENTRIES = 1e-6  # of float32 cosines


def pairs_of(matrices):
    """The pairs of channels that turn as (inputs, outputs), and the channels that do not."""
    acts = np.abs(matrices).max(axis=0) > 0
    channels_by_outputs = collections.defaultdict(list)
    for channel in range(acts.shape[1]):
        channels_by_outputs[tuple(np.flatnonzero(acts[:, channel]).tolist())].append(channel)
    pairs = []
    unturned = []
    for outputs, inputs in channels_by_outputs.items():
        if list(outputs) == inputs and len(inputs) == 1 and np.all(matrices[:, inputs[0], inputs[0]] == 1):
            unturned += inputs
            continue
        if len(outputs) != 2 or len(inputs) != 2:
            raise MeasurementError(f"channels {inputs} go into {outputs}")
        (first, second), (out_first, out_second) = inputs, outputs
        same = matrices[:, out_first, first] - matrices[:, out_second, second]
        opposite = matrices[:, out_second, first] + matrices[:, out_first, second]
        if max(np.abs(same).max(), np.abs(opposite).max()) > LARGEST_DIFFERENCE_OF_ENTRIES:
            raise MeasurementError(f"channels {inputs} into {outputs} is no rotation")
        pairs.append((*inputs, *outputs))
    return sorted(pairs, key=lambda pair: pair[2]), unturned


def remainder_of_turn(angles):
    return (angles + np.pi) % (2 * np.pi) - np.pi


def relative_residuals(angles, positions, frequencies):
    """For each frequency, how far the angles are from positions times it."""
    expected = positions[:, None] * frequencies
    return (np.abs(remainder_of_turn(angles[:, None] - expected)) / (np.abs(expected) + 1e-9)).max(axis=0)


def fitted_frequency(angles, positions):
    """From the angle at position 1, then from ever larger positions, whose turns the smaller ones tell."""
    frequency = angles[np.argmax(positions == 1)]
    for token in np.argsort(positions, kind="stable"):
        if positions[token] > 1:
            expected = positions[token] * frequency
            frequency = (expected + remainder_of_turn(angles[token] - expected)) / positions[token]
    return frequency


def axis_and_frequency(angles, coordinates, frequencies):
    """Of the model's own frequencies the one that explains the angles, or else a fitted one."""
    given = [(axis, frequencies) for axis in range(coordinates.shape[1])]
    fitted = [(axis, np.array([fitted_frequency(angles, positions)])) for axis, positions in enumerate(coordinates.T)]
    for candidates in (given, fitted):
        explained = []
        for axis, values in candidates:
            residuals = relative_residuals(angles, coordinates[:, axis], values)
            explained += [(residuals[i], axis, values[i]) for i in range(len(values))]
        residual, axis, frequency = min(explained, default=(math.inf, 0, 0.0))
        if residual < LARGEST_RELATIVE_RESIDUAL:
            return axis, frequency
    raise MeasurementError("angles are no multiple of the positions")


def still_pairs(unturned, frequencies, buffers, width):
    """Unturned channels are the last pairs, of frequency 0, where the model's own frequencies end in as many zeros."""
    half = width // 2
    pairs = [(channel, channel + half) * 2 for channel in unturned if channel + half in unturned]
    for buffer in buffers:
        zeros = np.count_nonzero(buffer == 0)
        if set(frequencies) <= set(buffer.tolist()) and len(unturned) == 2 * zeros == 2 * len(pairs):
            return pairs
    return []


def rotation_claim(matrices, coordinates, buffers):
    width = matrices.shape[-1]
    pairs, unturned = pairs_of(matrices)
    cosines = np.array([matrices[:, out_first, first] for first, _, out_first, _ in pairs])
    sines = np.array([matrices[:, out_second, first] for first, _, _, out_second in pairs])
    candidates = np.unique(np.concatenate([np.zeros(1), *buffers]))[1:]
    found = [axis_and_frequency(angles, coordinates, candidates) for angles in np.arctan2(sines, cosines)]
    frequencies = [float(frequency) for _, frequency in found]
    still = still_pairs(unturned, frequencies, buffers, width)
    pairs += still
    frequencies += [0.0] * len(still)
    claim = {"operation": "rotate", "head_dim": width, "magnitude": float(np.hypot(cosines, sines).mean())}
    claim["frequencies"] = frequencies
    picked = sorted({0, 1, len(pairs) // 2, len(pairs) - 1})
    claim["channels"] = [[index, *pairs[index]] for index in picked]
    if unturned and not still:
        is_contiguous = unturned == list(range(unturned[0], unturned[-1] + 1))
        claim["unturned_channels"] = [unturned[0], unturned[-1]] if is_contiguous else unturned
    if coordinates.shape[1] > 1:
        claim["axes"] = [axis for axis, _ in found]
    return claim


def turning_claims(capture, inputs, model):
    coordinates = capture.coordinates() if inputs.coordinates is None else inputs.coordinates
    tokens = slice(inputs.first_token, inputs.first_token + len(coordinates))
    buffers = [inputs.frequency_unit * buffer.double().numpy() for buffer in shrunk.frequency_buffers(model).values()]
    claims = []
    for (_, index), layers in capture.turned.items():
        claim = rotation_claim(capture.matrices[index][tokens], coordinates, buffers)
        claim["layers"] = sorted(layers)
        if inputs.sequence_length is not None:
            claim["sequence_length"] = inputs.sequence_length
        claims.append(claim)
    return claims


def still_claims(capture, model):
    """One claim for each kind of layers that ran and did not turn anything."""
    turned = capture.turned_layers()
    names = {name for name, _ in turned or capture.layers_run}
    layers_by_mixer = collections.defaultdict(list)
    for name, number in sorted(capture.layers_run - turned):
        modules = model.get_submodule(f"{name}.{number}").modules()
        mixer = next((kind for kind in (type(module).__name__ for module in modules) if MIXER.search(kind)), None)
        if name in names and mixer is not None:
            layers_by_mixer[mixer].append(number)
    return [{"operation": "none", "layers": layers} for layers in layers_by_mixer.values()]


def rotation_claims(full_config):
    full_model = shrunk.build_without_values(full_config)
    config = shrunk.shrink(full_config)
    claims = []
    for inputs in shrunk.inputs_of(config):
        model = shrunk.build(config)  # anew for each, as rules may change the frequencies
        shrunk.check_against_full(model, full_model, full_config)
        with RotationCapture(model, inputs.token_count) as capture, torch.no_grad():
            model(**inputs.arguments)
        claims += turning_claims(capture, inputs, model)
        if inputs.sequence_length in (None, shrunk.POSITIONS[-1] + 1):
            claims += still_claims(capture, model)
    return claims + additions.parameter_claims(full_model)
