"""A small vision transformer, as exporters write it, builds untuned and tuned, and both engines say the same.

Two images of 3x160x160 in patches of 16, 96 channels, 3 heads of 32, 101 tokens, operator set 17. oneDNN's products once died on its
constant operands. The build itself compares each engine with the model as imported.
"""
import random
import unittest

from support import *

BATCH, SIDE, PATCH, CHANNELS, HEADS, LAYERS, CLASSES = 2, 160, 16, 96, 3, 2, 10
HEAD, TOKENS = CHANNELS // HEADS, (SIDE // PATCH) ** 2 + 1


class Writer:
    """Nodes and weights of a graph; each node's output is returned by its name."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], random.Random(0)

    def floats(self, dims, values):
        self.weights.append(tensor(f"w{len(self.weights)}", dims, values))
        return f"w{len(self.weights) - 1}"

    def weight(self, *dims, scale=0.02):
        count = 1
        for d in dims:
            count *= d
        return self.floats(dims, [self.random.gauss(0, scale) for _ in range(count)])

    def number(self, value):
        return self.floats((), [value])

    def integers(self, *values):
        self.weights.append(int_tensor(f"w{len(self.weights)}", (len(values),), values))
        return f"w{len(self.weights) - 1}"

    def node(self, kind, inputs, outputs=None, **attributes):
        outputs = outputs or [f"v{len(self.nodes)}"]
        self.nodes.append(node(kind, inputs, outputs, **attributes))
        return outputs[0]

    def linear(self, x, rows, columns):
        return self.node("Add", [self.node("MatMul", [x, self.weight(rows, columns, scale=rows ** -0.5)]), self.weight(columns)])

    def normalized(self, x):
        ones, zeros = self.floats((CHANNELS,), [1.0] * CHANNELS), self.floats((CHANNELS,), [0.0] * CHANNELS)
        return self.node("LayerNormalization", [x, ones, zeros], axis=-1, epsilon=1e-6)


def packed_heads(w, x, layer):
    """Queries, keys and values by one product, split; keys transposed for the product."""
    x = w.node("Reshape", [w.linear(x, CHANNELS, 3 * CHANNELS), w.integers(BATCH, TOKENS, 3, HEADS, HEAD)])
    parts = [f"query{layer}", f"key{layer}", f"value{layer}"]
    w.node("Split", [w.node("Transpose", [x], perm=[2, 0, 3, 1, 4]), w.integers(1, 1, 1)], [p + "s" for p in parts], axis=0)
    query, key, value = (w.node("Squeeze", [p + "s", w.integers(0)], [p]) for p in parts)
    return w.node("Mul", [query, w.number(HEAD ** -0.5)]), w.node("Transpose", [key], perm=[0, 1, 3, 2]), value


def separate_heads(w, x, _):
    """A product each, keys transposed as they are cut into heads."""

    def heads(order):
        return w.node("Transpose", [w.node("Reshape", [w.linear(x, CHANNELS, CHANNELS), w.integers(BATCH, TOKENS, HEADS, HEAD)])], perm=order)

    query, key, value = heads([0, 2, 1, 3]), heads([0, 2, 3, 1]), heads([0, 2, 1, 3])
    return w.node("Mul", [query, w.number(HEAD ** -0.5)]), key, value


def gelu(w, x):
    erf = w.node("Erf", [w.node("Div", [x, w.number(2 ** 0.5)])])
    return w.node("Mul", [w.node("Mul", [x, w.node("Add", [erf, w.number(1.0)])]), w.number(0.5)])


def transformer(cut):
    w = Writer()
    x = w.node("Conv", ["x", w.weight(CHANNELS, 3, PATCH, PATCH, scale=0.03), w.weight(CHANNELS)], kernel_shape=[PATCH] * 2, strides=[PATCH] * 2)
    x = w.node("Transpose", [w.node("Reshape", [x, w.integers(BATCH, CHANNELS, -1)])], perm=[0, 2, 1])
    first = w.node("Expand", [w.weight(1, 1, CHANNELS), w.integers(BATCH, 1, CHANNELS)])
    x = w.node("Add", [w.node("Concat", [first, x], axis=1), w.weight(1, TOKENS, CHANNELS)])
    for layer in range(LAYERS):
        query, key, value = cut(w, w.normalized(x), layer)
        y = w.node("MatMul", [w.node("Softmax", [w.node("MatMul", [query, key])], axis=-1), value])
        y = w.node("Reshape", [w.node("Transpose", [y], perm=[0, 2, 1, 3]), w.integers(BATCH, TOKENS, CHANNELS)])
        x = w.node("Add", [x, w.linear(y, CHANNELS, CHANNELS)])
        y = w.linear(gelu(w, w.linear(w.normalized(x), CHANNELS, 4 * CHANNELS)), 4 * CHANNELS, CHANNELS)
        x = w.node("Add", [x, y])
    x = w.node("Squeeze", [w.node("Gather", [w.normalized(x), w.integers(0)], axis=1), w.integers(1)])
    w.node("Gemm", [x, w.weight(CHANNELS, CLASSES), w.weight(CLASSES)], ["y"])
    return model(w.nodes, [value_info("x", [BATCH, 3, SIDE, SIDE])], [value_info("y", [BATCH, CLASSES])], w.weights, opset=17)


class VisionTransformer(HomeTest):
    def outputs(self, cut, level):
        name = f"{cut.__name__}{level}"
        (self.home.work / "vit.onnx").write_bytes(transformer(cut))
        built = self.home.run("build", "vit.onnx", "-o", name, "--level", level, "--threads", "1", "--json", timeout=400)
        self.assertExit(built, 0)
        self.assertLess(built.json()["error"], 1e-4)
        write_npy(self.home.work / "x.npy", (BATCH, 3, SIDE, SIDE), [((i * 7919) % 255) / 127.5 - 1 for i in range(BATCH * 3 * SIDE * SIDE)])
        self.assertExit(self.home.run("run", name, "--input", "x.npy", "--output", name + "-y", timeout=120), 0)
        return read_npy(self.home.work / (name + "-y") / "y.npy")[2]

    def test_untuned_and_tuned_say_the_same(self):
        untuned, tuned = self.outputs(packed_heads, 0), self.outputs(packed_heads, 3)
        largest = max(map(abs, untuned))
        self.assertGreater(largest, 0)
        for a, b in zip(untuned, tuned):
            self.assertAlmostEqual(a, b, delta=1e-4 * largest)

    def test_heads_cut_one_by_one(self):
        self.outputs(separate_heads, 0)


if __name__ == "__main__":
    main()
