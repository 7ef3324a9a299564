"""Models that ONNX Runtime quantised, beside ONNX Runtime itself: its QOperator format operator by operator, and a network of quantize_static in both formats."""
import unittest

import numpy

from package import HOME, enginery

try:
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
except ImportError:
    onnx = None

RNG = numpy.random.default_rng(11)
X = RNG.uniform(-2, 2, (1, 4, 6, 6)).astype(numpy.float32)
SCALE, ZERO = 4 / 255, 128  # of X in uint8
OUT = {"scale": 6 / 255, "zero": 100}

# Attributes of the node and what stands between the input's numbers, scale and zero point and the result's.
OPERATORS = {
    "QLinearAdd": ({}, ["b", "b_scale", "b_zero"]),
    "QLinearMul": ({}, ["b", "b_scale", "b_zero"]),
    "QLinearGlobalAveragePool": ({"channels_last": 0}, []),
    "QLinearAveragePool": ({"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 0}, []),
    "QLinearSigmoid": ({}, []),
    "QLinearLeakyRelu": ({"alpha": 0.1}, []),
    "QLinearSoftmax": ({"axis": 3, "opset": 13}, []),
}


def constant(name, value, dtype):
    return numpy_helper.from_array(numpy.array(value, dtype), name)


def save(name, nodes, constants, dims=X.shape):
    """`nodes` turn x, of uint8 as x_q, into y_q; written with what quantises and gives real numbers back."""
    nodes = [helper.make_node("QuantizeLinear", ["x", "x_scale", "x_zero"], ["x_q"]), *nodes,
             helper.make_node("DequantizeLinear", ["y_q", "y_scale", "y_zero"], ["y"])]
    constants = [constant("x_scale", SCALE, numpy.float32), constant("x_zero", ZERO, numpy.uint8),
                 constant("y_scale", OUT["scale"], numpy.float32), constant("y_zero", OUT["zero"], numpy.uint8), *constants]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(dims))], constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)])
    path = HOME.path / f"{name}.onnx"
    onnx.save(model, path)
    return path


def by_onnxruntime(path, x):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def by_enginery(path, x):
    return enginery.build(path, level=0, threads=1, precision="int8").run({"x": x})["y"]


class Small(CalibrationDataReader if onnx else object):
    def __init__(self, rows):
        self.rows = iter(rows)

    def get_next(self):
        row = next(self.rows, None)
        return None if row is None else {"x": row}


def network():
    """Two branches of convolutions that are concatenated, a sum, poolings and a product."""
    def weights(name, *dims):
        return constant(name, RNG.normal(0, 0.4, dims), numpy.float32)

    def node(op, inputs, output, **attributes):
        return helper.make_node(op, inputs, [output], name=output, **attributes)

    nodes = [node("Conv", ["x", "w1", "b1"], "c1", pads=[1, 1, 1, 1]), node("Relu", ["c1"], "r1"),
             node("Conv", ["r1", "w2", "b2"], "c2"), node("Conv", ["r1", "w3", "b3"], "c3", pads=[1, 1, 1, 1], group=2),
             node("Concat", ["c2", "c3"], "joined", axis=1), node("LeakyRelu", ["joined"], "leaky", alpha=0.2),
             node("MaxPool", ["leaky"], "pooled", kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", ["pooled", "w4", "b4"], "c4"), node("Add", ["c4", "pooled"], "sum"), node("Sigmoid", ["sum"], "gate"),
             node("Mul", ["sum", "gate"], "gated"), node("GlobalAveragePool", ["gated"], "mean"), node("Flatten", ["mean"], "flat"),
             node("Gemm", ["flat", "w5", "b5"], "logits", transB=1), node("Softmax", ["logits"], "y")]
    constants = [weights("w1", 8, 4, 3, 3), weights("b1", 8), weights("w2", 8, 8, 1, 1), weights("b2", 8), weights("w3", 8, 4, 3, 3),
                 weights("b3", 8), weights("w4", 16, 16, 1, 1), weights("b4", 16), weights("w5", 5, 16), weights("b5", 5)]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 6, 6])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])], constants)
    path = HOME.path / "float.onnx"
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


@unittest.skipUnless(onnx, "needs onnx and onnxruntime")
class Quantised(unittest.TestCase):
    def assert_near(self, path, steps, x=X):
        """At most so many of the result's steps apart."""
        ours, peers = by_enginery(path, x), by_onnxruntime(path, x)
        self.assertEqual(ours.shape, peers.shape)
        self.assertLessEqual(numpy.abs(ours - peers).max(), (steps + 0.01) * OUT["scale"])
        self.assertGreater(numpy.ptp(peers), 10 * OUT["scale"], "there is something to compare")

    def test_operators(self):
        b = [constant("b", RNG.integers(0, 255, (4, 1, 1)), numpy.uint8), constant("b_scale", 0.01, numpy.float32),
             constant("b_zero", 90, numpy.uint8)]
        for op, (attributes, more) in OPERATORS.items():
            constants = b if more else []
            inputs = ["x_q", "x_scale", "x_zero", *more, "y_scale", "y_zero"]
            with self.subTest(op):
                # ONNX Runtime's sigmoid and leaky ReLU are tables of 256 numbers, its means sums of integers: ties may round the other way.
                self.assert_near(save(op, [helper.make_node(op, inputs, ["y_q"], domain="com.microsoft", **attributes)], constants), 1)

    def test_concat_and_where(self):
        other = [constant("b", RNG.integers(0, 255, X.shape), numpy.uint8), constant("b_scale", 0.01, numpy.float32),
                 constant("b_zero", 90, numpy.uint8)]
        concat = helper.make_node("QLinearConcat", ["y_scale", "y_zero", "x_q", "x_scale", "x_zero", "b", "b_scale", "b_zero"], ["y_q"],
                                  domain="com.microsoft", axis=1)
        self.assert_near(save("concat", [concat], other), 1)
        where = helper.make_node("QLinearWhere", ["which", "x_q", "x_scale", "x_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"], ["y_q"],
                                 domain="com.microsoft")
        self.assert_near(save("where", [where], [*other, constant("which", X > 0, numpy.bool_)]), 1)

    def test_qgemm(self):
        x = X.reshape(6, 24)
        w_scale = RNG.uniform(0.005, 0.01, 5).astype(numpy.float32)
        # 7 bits: without VNNI ONNX Runtime adds pairs of products in 16 bits, and larger ones saturate.
        constants = [constant("w", RNG.integers(-63, 64, (5, 24)), numpy.int8), constant("w_scale", w_scale, numpy.float32),
                     constant("w_zero", numpy.zeros(5), numpy.int8), constant("c", RNG.integers(-9000, 9000, 5), numpy.int32)]
        node = helper.make_node("QGemm", ["x_q", "x_scale", "x_zero", "w", "w_scale", "w_zero", "c", "y_scale", "y_zero"], ["y_q"],
                                domain="com.microsoft", transB=1)
        self.assert_near(save("qgemm", [node], constants, dims=(6, 24)), 1, x)

    def test_network_of_quantize_static(self):
        rows = RNG.uniform(-2, 2, (16, 1, 4, 6, 6)).astype(numpy.float32)
        source = network()
        for form, per_channel in ((QuantFormat.QOperator, True), (QuantFormat.QDQ, False)):
            with self.subTest(form=form.name):
                path = HOME.path / f"{form.name}.onnx"
                quantize_static(str(source), str(path), Small(rows), quant_format=form, per_channel=per_channel,
                                activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
                engine = enginery.build(path, level=0, threads=1, precision="int8")
                for x in rows:
                    ours, peers = engine.run({"x": x})["y"], by_onnxruntime(path, x)
                    # Probabilities count in 1 / 256; an earlier tie that rounds the other way moves one by a few.
                    self.assertLessEqual(numpy.abs(ours - peers).max(), 3.1 / 256)


if __name__ == "__main__":
    unittest.main()
