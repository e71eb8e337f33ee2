"""Captures the matrices by which the layers of a model turn their queries and keys.

The functions of the model that apply a rotation are wrapped. With the cosines and sines that the model hands them in
a forward pass they also get the unit vectors, which gives the whole matrix of each token. The matrices are checked
against what the model made of its own queries and keys.
"""

import collections
import contextlib
import functools
import inspect
import re
import sys
from unittest import mock

import numpy as np
import torch

import shrunk
from shrunk import MeasurementError

ROTATING_FUNCTION = re.compile(r"(vision_)?apply_\w*(rotary|rope)\w*")
QUERY_OR_KEY = {"q", "k", "xq", "xk", "x", "tensor", "query", "key"}
LAYER = re.compile(r"(.*\b(?:layers|blocks|h|layer|block))\.(\d+)")

LARGEST_RELATIVE_DIFFERENCE = 1e-5  # sums of float32 products


class RotationCapture(contextlib.ExitStack):
    """Within it, a forward pass of the model records the matrices by which its layers turn queries and keys."""

    def __init__(self, model, token_count):
        super().__init__()
        self.model = model
        self.token_count = token_count
        self.matrices = []  # distinct ones: token, output channel, input channel
        self.turned = collections.defaultdict(set)  # numbers of layers by the layers' name and the matrix's index
        self.layers_run = set()  # name and number
        self.position_ids = None  # as handed to the rotary module
        self.reorder = None  # what the model did to the order of its tokens
        self.current_layers = []
        self.is_inside = False

    def __enter__(self):
        super().__enter__()
        for module in {sys.modules[type(module).__module__] for module in self.model.modules()}:
            for name, function in list(vars(module).items()):
                if callable(function) and ROTATING_FUNCTION.fullmatch(name):
                    self.enter_context(mock.patch.object(module, name, self.recording(function)))
        for name, module in self.model.named_modules():
            if match := LAYER.fullmatch(name):
                layer = (match[1], int(match[2]))
                self.hook(module.register_forward_pre_hook(functools.partial(self.enter_layer, layer)))
                self.hook(module.register_forward_hook(self.leave_layer))
            if type(module).__name__.endswith("Indexer"):  # DeepSeek-V3.2's, whose queries are none of attention's
                self.hook(module.register_forward_pre_hook(lambda *_: setattr(self, "is_inside", True)))
                self.hook(module.register_forward_hook(lambda *_: setattr(self, "is_inside", False)))
            if shrunk.is_rotary(module):
                self.hook(module.register_forward_pre_hook(self.keep_position_ids, with_kwargs=True))
        if hasattr(self.model, "permute_input_for_window_attn"):
            permute = self.model.permute_input_for_window_attn
            self.enter_context(mock.patch.object(self.model, permute.__name__, self.keeping_order(permute)))
        return self

    def hook(self, handle):
        self.callback(handle.remove)

    def enter_layer(self, layer, *_):
        self.current_layers.append(layer)
        self.layers_run.add(layer)

    def leave_layer(self, *_):
        self.current_layers.pop()

    def keep_position_ids(self, module, arguments, named_arguments):
        bound = inspect.signature(module.forward).bind(*arguments, **named_arguments)
        self.position_ids = bound.arguments.get("position_ids")

    def keeping_order(self, permute):
        def permute_and_keep(tensor, window_index, seq_len):
            self.reorder = functools.partial(permute, window_index=window_index, seq_len=seq_len)
            return permute(tensor, window_index, seq_len)

        return permute_and_keep

    def recording(self, function):
        @functools.wraps(function)
        def apply_and_record(*arguments, **named_arguments):
            if self.is_inside:  # one such function may call another
                return function(*arguments, **named_arguments)
            self.is_inside = True
            try:
                output = function(*arguments, **named_arguments)
                self.record(function, inspect.signature(function).bind(*arguments, **named_arguments), output)
                return output
            finally:
                self.is_inside = False

        return apply_and_record

    def record(self, function, bound, output):
        own_inputs = {name: tensor for name, tensor in bound.arguments.items() if name in QUERY_OR_KEY}
        bound.arguments.update({name: self.unit_vectors(tensor) for name, tensor in own_inputs.items()})
        turned_units = function(*bound.args, **bound.kwargs)
        outputs = output if isinstance(output, tuple) else (output,)
        turned_units = turned_units if isinstance(turned_units, tuple) else (turned_units,)
        for tensor, turned, units in zip(own_inputs.values(), outputs, turned_units):
            axis = self.axis_of_heads(tensor)
            matrices = by_token(units, axis).transpose(0, 2, 1)
            vectors = by_token(tensor, axis)
            differences = np.einsum("toi,thi->tho", matrices, vectors) - by_token(turned, axis)
            if np.abs(differences).max() > LARGEST_RELATIVE_DIFFERENCE * np.abs(vectors).max():
                raise MeasurementError("the model's own output is not the measured matrix times its input")
            if not self.current_layers:
                raise MeasurementError("a rotation outside of all layers")
            name, number = self.current_layers[-1]
            self.turned[name, self.index_of(matrices)].add(number)

    def axis_of_heads(self, tensor):
        """Tokens and heads precede the channels, in either order."""
        first, second = tensor.dim() - 3, tensor.dim() - 2
        return second if tensor.shape[first] == self.token_count else first

    def unit_vectors(self, tensor):
        """One unit vector in place of each head."""
        width = tensor.shape[-1]
        shape = list(tensor.shape)
        axis = self.axis_of_heads(tensor)
        shape[axis] = width
        shape_of_one_token = [width if i in (axis, tensor.dim() - 1) else 1 for i in range(tensor.dim())]
        return torch.eye(width).view(shape_of_one_token).expand(shape).clone()

    def index_of(self, matrices):
        for index, known in enumerate(self.matrices):
            if np.array_equal(known, matrices):
                return index
        self.matrices.append(matrices)
        return len(self.matrices) - 1

    def turned_layers(self):
        layers = [(name, number) for (name, _), numbers in self.turned.items() for number in numbers]
        if len(set(layers)) < len(layers):
            raise MeasurementError("a layer turns its queries and keys differently")
        return set(layers)

    def coordinates(self):
        """Tokens times axes, from the position ids of a vision tower."""
        coordinates = self.position_ids.squeeze(0).double()
        if coordinates.shape[0] == 2:
            coordinates = coordinates.T
        if self.reorder is not None:
            coordinates = self.reorder(coordinates)
        return coordinates.numpy()


def by_token(tensor, axis_of_heads):
    """As token, head, channel in float64."""
    return tensor.detach().double().movedim(axis_of_heads, -2).flatten(0, -3).numpy()
