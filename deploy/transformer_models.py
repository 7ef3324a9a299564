#!/usr/bin/env python3
"""Writes vision transformers as timm and torchvision export them (operator set 17), with random weights.

    transformer_models.py FOLDER NAME... [--inputs] [--pieces]     NAME: deit_tiny, vit_b16, convnext_like

The input is images [N, 3, 224, 224], the output logits [N, 1000]. --inputs also writes NAME.input.npz with four pictures.
--pieces: normalisations as the nine operators that exporters before operator set 17 leave. Needs numpy and onnx alone.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE, CLASSES = 224, 1000
TRANSFORMERS = {"deit_tiny": (16, 192, 3, 12), "vit_b16": (16, 768, 12, 12)}  # patch, width, heads, blocks


class Network:
    def __init__(self, name, pieces):
        self.name, self.pieces = name, pieces
        self.random = np.random.default_rng(1)
        self.nodes, self.weights = [], []

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, *shape, std):
        return self.constant((std * self.random.standard_normal(shape)).astype(np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def number(self, value):
        return self.constant(np.array(value, np.float32))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{kind}_{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x, inputs, outputs):
        product = self.op("MatMul", x, self.normal(inputs, outputs, std=inputs ** -0.5))
        return self.op("Add", self.normal(outputs, std=0.02), product)

    def norm(self, x, width, epsilon=1e-6):
        scale = self.constant((1 + 0.1 * self.random.standard_normal(width)).astype(np.float32))
        bias = self.normal(width, std=0.1)
        if not self.pieces:
            return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.number(2)), axes=[-1])
        quotient = self.op("Div", centred, self.op("Sqrt", self.op("Add", variance, self.number(epsilon))))
        return self.op("Add", self.op("Mul", quotient, scale), bias)

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.number(2 ** 0.5)))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.number(1))), self.number(0.5))

    def save(self, path):
        self.nodes[-1].output[0] = "logits"
        x = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, SIZE, SIZE])
        y = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", CLASSES])
        graph = helper.make_graph(self.nodes, self.name, [x], [y], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="transformer_models"), path)


def attention(net, x, width, heads):
    """Heads out of one product, as timm's Attention exports it: reshape, transpose, one gather each for Q, K and V."""
    each = width // heads
    packed = net.op("Reshape", net.linear(x, width, 3 * width), net.ints(0, -1, 3, heads, each))
    packed = net.op("Transpose", packed, perm=[2, 0, 3, 1, 4])
    q, k, v = (net.op("Gather", packed, net.constant(np.int64(i)), axis=0) for i in range(3))
    root = net.number(each ** -0.25)
    scores = net.op("MatMul", net.op("Mul", q, root), net.op("Mul", net.op("Transpose", k, perm=[0, 1, 3, 2]), root))
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    joined = net.op("Reshape", net.op("Transpose", mixed, perm=[0, 2, 1, 3]), net.ints(0, -1, width))
    return net.linear(joined, width, width)


def transformer(net, patch, width, heads, blocks):
    tokens = (SIZE // patch) ** 2
    weights = net.normal(width, 3, patch, patch, std=(3 * patch * patch) ** -0.5)
    x = net.op("Conv", "images", weights, net.normal(width, std=0.02), kernel_shape=[patch, patch], strides=[patch, patch])
    x = net.op("Transpose", net.op("Reshape", x, net.ints(0, width, tokens)), perm=[0, 2, 1])
    batch = net.op("Slice", net.op("Shape", "images"), net.ints(0), net.ints(1), net.ints(0))
    shape = net.op("Concat", batch, net.ints(1, width), axis=0)
    x = net.op("Concat", net.op("Expand", net.normal(1, 1, width, std=0.02), shape), x, axis=1)
    x = net.op("Add", x, net.normal(1, tokens + 1, width, std=0.02))
    for _ in range(blocks):
        x = net.op("Add", x, attention(net, net.norm(x, width), width, heads))
        hidden = net.gelu(net.linear(net.norm(x, width), width, 4 * width))
        x = net.op("Add", x, net.linear(hidden, 4 * width, width))
    first = net.op("Gather", net.norm(x, width), net.constant(np.int64(0)), axis=1)
    net.op("Gemm", first, net.normal(CLASSES, width, std=width ** -0.5), net.normal(CLASSES, std=0.02), transB=1)


def convnext_like(net):
    """ConvNeXt-T's stages with a third of its blocks: depthwise 7x7, normalisation between transposes, two products."""
    def norm_of_channels(x, width):
        return net.op("Transpose", net.norm(net.op("Transpose", x, perm=[0, 2, 3, 1]), width), perm=[0, 3, 1, 2])

    def conv(x, inputs, outputs, size, groups=1, **attributes):
        weights = net.normal(outputs, inputs // groups, size, size, std=(inputs // groups * size * size) ** -0.5)
        return net.op("Conv", x, weights, net.normal(outputs, std=0.02), kernel_shape=[size, size], group=groups, **attributes)

    width = 96
    x = norm_of_channels(conv("images", 3, width, 4, strides=[4, 4]), width)
    for stage, blocks in enumerate((1, 1, 3, 1)):
        if stage:
            x = conv(norm_of_channels(x, width), width, 2 * width, 2, strides=[2, 2])
            width *= 2
        for _ in range(blocks):
            y = net.op("Transpose", conv(x, width, width, 7, groups=width, pads=[3] * 4), perm=[0, 2, 3, 1])
            y = net.linear(net.gelu(net.linear(net.norm(y, width), width, 4 * width)), 4 * width, width)
            y = net.op("Mul", net.normal(width, std=0.3), y)
            x = net.op("Add", x, net.op("Transpose", y, perm=[0, 3, 1, 2]))
    x = net.op("Flatten", norm_of_channels(net.op("GlobalAveragePool", x), width), axis=1)
    net.op("Gemm", x, net.normal(CLASSES, width, std=width ** -0.5), net.normal(CLASSES, std=0.02), transB=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="+", choices=[*TRANSFORMERS, "convnext_like"])
    parser.add_argument("--inputs", action="store_true")
    parser.add_argument("--pieces", action="store_true")
    o = parser.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    for name in o.names:
        net = Network(name, o.pieces)
        if name in TRANSFORMERS:
            transformer(net, *TRANSFORMERS[name])
        else:
            convnext_like(net)
        net.save(os.path.join(o.folder, name + ".onnx"))
        if o.inputs:
            pictures = np.random.default_rng(2).standard_normal((4, 3, SIZE, SIZE)).astype(np.float32)
            np.savez(os.path.join(o.folder, name + ".input.npz"), images=pictures)


if __name__ == "__main__":
    main()
