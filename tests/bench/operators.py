#!/usr/bin/env python3
"""Single operators and short chains beside ONNX Runtime on a CPU: the same threads, the same input, interleaved rounds.

    operators.py --enginery PATH [--threads 2] [--rounds 5] [--seconds 0.3] [--level 3] [--only TEXT] [--csv FILE]

The rows are those that reading and running the code once found to be computed by the reference, in the sizes in which they were found, and
chains of element-wise functions. Each is a model of its own with float32 inputs unless it says otherwise. Times are medians of the rounds'
medians in microseconds, host buffers in and out on either side (beside_peers.py); a row is well where the ratio is 1.5 or less.
"""
import argparse
import csv
import os
import statistics
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from beside_peers import Enginery, make_inputs, onnxruntime_runner, run_for

FLOAT, INT64, BOOL, FLOAT16 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT16
RNG = np.random.default_rng(1)


class Row:
    """A small model: inputs by (name, type, dims), constants by name, nodes in order; the last node's first output is the model's."""

    def __init__(self, name, inputs, nodes, constants=None, values=None):
        self.name, self.values = name, values or {}
        graph = helper.make_graph(nodes, "row", [helper.make_tensor_value_info(n, t, d) for n, t, d in inputs],
                                  [helper.make_empty_tensor_value_info(nodes[-1].output[0])],
                                  [numpy_helper.from_array(np.asarray(v), n) for n, v in (constants or {}).items()])
        self.model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))

    def inputs(self):
        return {**make_inputs(self.model), **self.values}


def node(kind, inputs, output="y", **attributes):
    return helper.make_node(kind, inputs, [output] if isinstance(output, str) else output, **attributes)


def one(name, kind, dims, constants=None, more=(), order=None, **attributes):
    """One operator on x of `dims`, with more inputs and constants behind it."""
    names = order or ["x", *(n for n, _, _ in more), *(constants or {})]
    return Row(name, [("x", FLOAT, dims), *more], [node(kind, names, **attributes)], constants)


def floats(*dims):
    return RNG.standard_normal(dims).astype(np.float32)


def layer_norm_in_pieces():
    nodes = [node("ReduceMean", ["x"], "mean", axes=[-1]), node("Sub", ["x", "mean"], "centred"), node("Pow", ["centred", "two"], "square"),
             node("ReduceMean", ["square"], "variance", axes=[-1]), node("Add", ["variance", "epsilon"], "sum"), node("Sqrt", ["sum"], "root"),
             node("Div", ["centred", "root"], "quotient"), node("Mul", ["quotient", "scale"], "scaled"), node("Add", ["scaled", "bias"])]
    constants = {"two": np.float32(2), "epsilon": np.float32(1e-5), "scale": floats(768), "bias": floats(768)}
    return Row("layer norm in pieces 128x768", [("x", FLOAT, [128, 768])], nodes, constants)


def decode():
    """Boxes of a detector: (2 sigmoid(x))^2 * anchors."""
    nodes = [node("Sigmoid", ["x"], "s"), node("Mul", ["s", "two"], "d"), node("Pow", ["d", "two"], "q"), node("Mul", ["q", "anchors"])]
    return Row("chain: boxes 3x80x80x85", [("x", FLOAT, [1, 3, 80, 80, 85])], nodes, {"two": np.float32(2), "anchors": floats(1, 3, 1, 1, 85)})


def picture():
    """A picture's normalisation, then the negated root of its size."""
    nodes = [node("Sub", ["x", "mean"], "a"), node("Div", ["a", "deviation"], "b"), node("Abs", ["b"], "c"), node("Sqrt", ["c"], "d"), node("Neg", ["d"])]
    constants = {"mean": floats(1, 3, 1, 1), "deviation": np.abs(floats(1, 3, 1, 1)) + 1}
    return Row("chain: picture 3x512x512", [("x", FLOAT, [1, 3, 512, 512])], nodes, constants)


def mask():
    """What exporters make of an attention mask of tokens."""
    nodes = [node("Cast", ["x"], "f", to=FLOAT), node("Sub", ["one", "f"], "n"), node("Mul", ["n", "low"])]
    return Row("chain: mask 8x1x1x512 int64", [("x", INT64, [8, 1, 1, 512])], nodes, {"one": np.float32(1), "low": np.float32(-1e4)})


def quantize_pair():
    constants = {"scale": np.float32(0.05), "zero": np.int8(0)}
    nodes = [node("QuantizeLinear", ["x", "scale", "zero"], "q"), node("DequantizeLinear", ["q", "scale", "zero"])]
    return Row("quantize, dequantize 64x56x56", [("x", FLOAT, [1, 64, 56, 56])], nodes, constants)


def rows():
    picture_dims = [1, 64, 56, 56]
    tokens = RNG.integers(0, 30522, (1, 128)).astype(np.int64)
    condition = [("c", BOOL, [12, 128, 128]), ("z", FLOAT, [12, 128, 128])]
    yield one("Pow(x, 2) 128x768", "Pow", [128, 768], {"two": np.float32(2)})
    yield one("Pow(x, 3) 128x768", "Pow", [128, 768], {"three": np.float32(3)})
    yield layer_norm_in_pieces()
    yield one("LayerNormalization 128x768", "LayerNormalization", [128, 768], {"scale": floats(768), "bias": floats(768)}, axis=-1)
    yield one("Resize nearest x2 256x26x26", "Resize", [1, 256, 26, 26], {"roi": np.zeros(0, np.float32), "scales": np.float32([1, 1, 2, 2])},
              mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    yield one("Resize bilinear 21x32x32 to 256", "Resize", [1, 21, 32, 32], {"roi": np.zeros(0, np.float32), "scales": np.float32([1, 1, 8, 8])},
              mode="linear", coordinate_transformation_mode="half_pixel")
    yield Row("Gather 128 of 30522x768", [("i", INT64, [1, 128])], [node("Gather", ["table", "i"])], {"table": floats(30522, 768)}, values={"i": tokens})
    yield one("Where 12x128x128", "Where", [12, 128, 128], more=condition, order=["c", "x", "z"])
    yield one("Cast to int32 64x56x56", "Cast", picture_dims, to=TensorProto.INT32)
    yield one("Expand 64x1x1 to 64x56x56", "Expand", [1, 64, 1, 1], {"shape": np.int64(picture_dims)})
    yield one("Pad 64x56x56", "Pad", picture_dims, {"pads": np.int64([0, 0, 1, 1, 0, 0, 1, 1])})
    yield one("Pad reflect 64x56x56", "Pad", picture_dims, {"pads": np.int64([0, 0, 3, 3, 0, 0, 3, 3])}, mode="reflect")
    yield one("InstanceNormalization 64x128x128", "InstanceNormalization", [1, 64, 128, 128], {"scale": floats(64), "bias": floats(64)})
    yield one("ArgMax 21x256x256", "ArgMax", [1, 21, 256, 256], axis=1)
    yield one("Einsum bhid,bhjd->bhij 12x128x64", "Einsum", [1, 12, 128, 64], more=[("z", FLOAT, [1, 12, 128, 64])], equation="bhid,bhjd->bhij")
    yield one("ReduceMean over 1, 3", "ReduceMean", [8, 64, 56, 56], axes=[1, 3])
    yield one("ReduceMax over 2, 3", "ReduceMax", [1, 256, 56, 56], axes=[2, 3])
    yield one("ReduceL2 over the last 512x768", "ReduceL2", [512, 768], axes=[-1])
    yield one("ReduceLogSumExp 512x1000", "ReduceLogSumExp", [512, 1000], axes=[1])
    yield quantize_pair()
    yield one("Softmax 12x128x128", "Softmax", [12, 128, 128], axis=-1)
    yield one("Softmax 12x197x197", "Softmax", [12, 197, 197], axis=-1)
    yield one("LogSoftmax 64x1000", "LogSoftmax", [64, 1000], axis=-1)
    yield one("MatMul 12x128x64 by 12x64x128", "MatMul", [12, 128, 64], more=[("z", FLOAT, [12, 64, 128])])
    yield one("TopK 10 of 64x1000", "TopK", [64, 1000], {"k": np.int64([10])}, output=["y", "i"])
    yield one("Transpose 64x56x56 to channels last", "Transpose", picture_dims, perm=[0, 2, 3, 1])
    yield one("Transpose 128x12x64 heads", "Transpose", [1, 128, 12, 64], perm=[0, 2, 1, 3])
    yield one("Concat 2 of 64x56x56", "Concat", picture_dims, more=[("z", FLOAT, picture_dims)], axis=1)
    yield one("Slice 64x56x56", "Slice", picture_dims, {"b": np.int64([0, 8]), "e": np.int64([56, 48]), "a": np.int64([2, 3])})
    yield one("Tile 64x28x28 by 2x2", "Tile", [1, 64, 28, 28], {"n": np.int64([1, 1, 2, 2])})
    yield one("CumSum 512x768", "CumSum", [512, 768], {"axis": np.int64(1)})
    yield one("LRN 64x56x56", "LRN", picture_dims, size=5)
    yield one("MaxPool 64x112x112", "MaxPool", [1, 64, 112, 112], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    yield one("AveragePool 64x56x56", "AveragePool", picture_dims, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    yield one("GlobalAveragePool 1280x7x7", "GlobalAveragePool", [1, 1280, 7, 7])
    yield one("Sigmoid 64x56x56", "Sigmoid", picture_dims)
    yield one("Erf 128x3072", "Erf", [128, 3072])
    yield one("ConvTranspose 64 to 32, 4x4 stride 2, 28x28", "ConvTranspose", [1, 64, 28, 28], {"w": floats(64, 32, 4, 4)}, strides=[2, 2], pads=[1, 1, 1, 1])
    yield Row("Conv float16 64 to 64 3x3 32x32", [("x", FLOAT16, [1, 64, 32, 32])], [node("Conv", ["x", "w"], pads=[1, 1, 1, 1])],
              {"w": floats(64, 64, 3, 3).astype(np.float16)}, values={"x": floats(1, 64, 32, 32).astype(np.float16)})
    yield decode()
    yield picture()
    yield mask()


def measure(row, options, folder):
    path = os.path.join(folder, "row.onnx")
    onnx.save(row.model, path)
    ours = Enginery(path, "", options, folder)
    _, peer = onnxruntime_runner(row.model, row.inputs(), options.threads, "fp32")
    samples = {"enginery": [], "onnxruntime": []}
    for _ in range(options.rounds):
        samples["enginery"].append(1e3 * ours.median_ms(options.seconds))
        samples["onnxruntime"].append(1e3 * run_for(options.seconds, peer))
    return {name: statistics.median(times) for name, times in samples.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--enginery", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--level", default="3")
    parser.add_argument("--only", default="", help="rows with this in their names")
    parser.add_argument("--csv")
    options = parser.parse_args()
    options.precision, options.sku = "fp32", None
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows():
            if options.only not in row.name:
                continue
            us = measure(row, options, folder)
            table.append([row.name, f"{us['enginery']:.1f}", f"{us['onnxruntime']:.1f}", f"{us['enginery'] / us['onnxruntime']:.2f}"])
            print("{:45} {:>10} {:>10} {:>6}".format(*table[-1]), flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as f:
            csv.writer(f).writerows([["row", "enginery_us", "onnxruntime_us", "ratio"], *table])


if __name__ == "__main__":
    main()
