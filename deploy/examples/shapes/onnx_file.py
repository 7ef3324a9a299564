"""Writes the network as an ONNX file: protobuf's wire format by hand, so that the onnx package is not needed.

Field numbers are those of onnx.proto (IR version 8, opset 13).
"""
import numpy as np

import network

FLOAT = 1  # TensorProto.DataType and AttributeProto.AttributeType
INT, INTS = 2, 7


def varint(value):
    out = b""
    while True:
        out += bytes([value & 0x7f | (0x80 if value > 0x7f else 0)])
        value >>= 7
        if not value:
            return out


def field(number, value):
    """One field: an int as a varint, a float as 4 bytes, bytes and str with their length, a list repeated."""
    if isinstance(value, list):
        return b"".join(field(number, v) for v in value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + np.float32(value).tobytes()
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    number, kind = {int: (3, INT), float: (2, FLOAT), list: (8, INTS)}[type(value)]
    return field(1, name) + field(number, value) + field(20, kind)


def tensor(name, array):
    array = np.ascontiguousarray(array, "<f4")
    return field(1, list(array.shape)) + field(2, FLOAT) + field(8, name) + field(9, array.tobytes())


def value_info(name, dims):
    shape = b"".join(field(1, field(2 if isinstance(d, str) else 1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


class Graph:
    def __init__(self):
        self.nodes, self.weights = [], []

    def node(self, kind, inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes) + 1}"
        attributes = [attribute(k, v) for k, v in attributes.items()]
        self.nodes.append(field(1, inputs) + field(2, name) + field(3, name) + field(4, kind) + field(5, attributes))
        return name

    def weight(self, name, array):
        self.weights.append(tensor(name, array))
        return name

    def layer(self, x, layer):
        at = f"{len(self.nodes) + 1}"
        if isinstance(layer, network.Conv):
            w = self.weight("w_" + at, layer.w.transpose(3, 2, 0, 1))
            return self.node("Conv", [x, w], kernel_shape=[3, 3], strides=[layer.stride] * 2, pads=[1, 1, 1, 1])
        if isinstance(layer, network.BatchNorm):
            values = [self.weight(f"{n}_{at}", getattr(layer, n)) for n in ("gamma", "beta", "mean", "var")]
            return self.node("BatchNormalization", [x] + values, epsilon=layer.epsilon)
        if isinstance(layer, network.Relu):
            return self.node("Relu", [x])
        if isinstance(layer, network.MaxPool):
            return self.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
        if isinstance(layer, network.Residual):
            y = x
            for inner in layer.layers:
                y = self.layer(y, inner)
            return self.node("Relu", [self.node("Add", [x, y])])
        pooled = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        return self.node("Gemm", [pooled, self.weight("w_" + at, layer.w.T), self.weight("b_" + at, layer.b)], transB=1)


def write(path, layers, size, classes):
    graph = Graph()
    x = "picture"
    for layer in layers:
        x = graph.layer(x, layer)
    graph.nodes.append(field(1, x) + field(2, "scores") + field(3, "scores") + field(4, "Softmax") + field(5, attribute("axis", 1)))
    body = (field(1, graph.nodes) + field(2, "shapes") + field(5, graph.weights) +
            field(11, value_info("picture", ["N", 3, size, size])) + field(12, value_info("scores", ["N", classes])))
    model = field(1, 8) + field(2, "enginery shapes example") + field(7, body) + field(8, field(1, "") + field(2, 13))
    with open(path, "wb") as f:
        f.write(model)
