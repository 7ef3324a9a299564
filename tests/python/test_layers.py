"""Networks put together layer by layer and built in this process: what they compute beside NumPy, their files, and what each misuse raises."""
import threading
import unittest

import numpy

from package import HOME, MODEL, enginery, small_engine

RNG = numpy.random.default_rng(5)


def values(*shape):
    return RNG.uniform(-1, 1, shape).astype(numpy.float32)


def builder(**config):
    """A builder of this machine's CPU, untuned."""
    return enginery.Builder(enginery.BuildConfig(**{"level": 0, "threads": 1, "name": "net", **config}))


def cpu():
    return small_engine().info["sku"]


def softmax(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def windows(x, size, step=1):
    """Every size x size window of the last two dimensions, as [..., row, column, size, size]."""
    return numpy.lib.stride_tricks.sliding_window_view(x, (size, size), (-2, -1))[..., ::step, ::step, :, :]


def convolution(x, weights, padding):
    around = numpy.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    return numpy.einsum("ncijkl,ockl->noij", windows(around, weights.shape[-1]), weights)


def attention(q, k, v, scale):
    return softmax(scale * q @ k.swapaxes(-1, -2)) @ v


X, W, B, HALF = values(1, 3, 6, 6), values(4, 3, 3, 3), values(4), values(4, 6)
C = [values(3), values(3), values(3), values(3) + 2]
Q, K, V = values(1, 2, 4, 8), values(1, 2, 5, 8), values(1, 2, 5, 3)
COLUMN = (1, -1, 1, 1)

# A layer of `x` (X) in the network `n`, with constants by `c`; what NumPy says of it.
LAYERS = {
    "convolution": (lambda n, x, c: n.add_convolution(x, c(W), c(B), padding=(1, 1)), convolution(X, W, 1) + B.reshape(COLUMN)),
    "grouped": (lambda n, x, c: n.add_convolution(x, c(W[:3, :1]), groups=3),
                numpy.concatenate([convolution(X[:, [i]], W[[i], :1], 0) for i in range(3)], 1)),
    # With a stride of its kernel's size every element of x makes a block of its own.
    "deconvolution": (lambda n, x, c: n.add_deconvolution(x, c(W[:3, :2, :2, :2]), strides=(2, 2)),
                      numpy.einsum("ncij,cokl->noikjl", X, W[:3, :2, :2, :2]).reshape(1, 2, 12, 12)),
    "matrices": (lambda n, x, c: n.add_matrix_multiply(x, c(HALF.T)), X @ HALF.T),
    "fully_connected": (lambda n, x, c: n.add_fully_connected(n.add_reshape(x, (18, 6)), c(HALF), c(B)), X.reshape(18, 6) @ HALF.T + B),
    "elementwise": (lambda n, x, c: n.add_elementwise(x, c(C[0].reshape(COLUMN)), "mul"), X * C[0].reshape(COLUMN)),
    "activation": (lambda n, x, c: n.add_activation(x, "relu"), numpy.maximum(X, 0)),
    "clip": (lambda n, x, c: n.add_activation(x, "clip", -0.25, 0.5), X.clip(-0.25, 0.5)),
    "unary": (lambda n, x, c: n.add_unary(x, "exp"), numpy.exp(X)),
    "max_pooling": (lambda n, x, c: n.add_pooling(x, "max", (2, 2), strides=(2, 2)), windows(X, 2, 2).max((-1, -2))),
    "average_pooling": (lambda n, x, c: n.add_pooling(x, "average", (3, 3)), windows(X, 3).mean((-1, -2))),
    "global_pooling": (lambda n, x, c: n.add_global_pooling(x), X.mean((2, 3), keepdims=True)),
    "normalization": (lambda n, x, c: n.add_normalization(x, c(HALF[0]), c(HALF[1])),
                      (X - X.mean(-1, keepdims=True)) / numpy.sqrt(X.var(-1, keepdims=True) + 1e-5) * HALF[0] + HALF[1]),
    "batch_normalization": (lambda n, x, c: n.add_batch_normalization(x, *map(c, C)),
                            (X - C[2].reshape(COLUMN)) / numpy.sqrt(C[3] + 1e-5).reshape(COLUMN) * C[0].reshape(COLUMN) + C[1].reshape(COLUMN)),
    "softmax": (lambda n, x, c: n.add_softmax(x), softmax(X)),
    "reshape": (lambda n, x, c: n.add_reshape(x, (0, -1)), X.reshape(1, -1)),
    "transpose": (lambda n, x, c: n.add_transpose(x, (0, 2, 3, 1)), X.transpose(0, 2, 3, 1)),
    "shuffle": (lambda n, x, c: n.add_shuffle(x, (0, 2, 3, 1), (36, 3)), X.transpose(0, 2, 3, 1).reshape(36, 3)),
    "concatenation": (lambda n, x, c: n.add_concatenation([x, c(X[:, :2])]), numpy.concatenate([X, X[:, :2]], 1)),
    "slice": (lambda n, x, c: n.add_slice(x, (0, 1, 0, 5), (1, 3, 6, 0), (1, 1, 2, -1)), X[:, 1:3, ::2, 5:0:-1]),
    "reduce": (lambda n, x, c: n.add_reduce(x, "sum", (1, 3), keep_dims=False), X.sum((1, 3))),
    "gather": (lambda n, x, c: n.add_gather(x, c(numpy.array([2, 0], numpy.int64)), axis=1), X[:, [2, 0]]),
    "resize": (lambda n, x, c: n.add_resize(x, (1, 3, 12, 12), "nearest", "asymmetric"), X.repeat(2, 2).repeat(2, 3)),
    "attention": (lambda n, x, c: n.add_attention(c(Q), c(K), n.add_elementwise(c(V), n.add_reduce(x, "max"), "mul"), 0.35),
                  attention(Q, K, V * X.max(), 0.35)),
    "cast": (lambda n, x, c: n.add_cast(n.add_elementwise(x, c(numpy.float32(100)), "mul"), "int32"), (X * numpy.float32(100)).astype(numpy.int32)),
    "select": (lambda n, x, c: n.add_select(n.add_elementwise(x, c(numpy.float32(0)), "less"), x, c(X + 1)), numpy.where(X < 0, X, X + 1)),
}


class Networks(unittest.TestCase):
    def test_compute_what_numpy_computes(self):
        network = enginery.Network("layers")
        x = network.add_input("x", "float32", X.shape)
        for name, (add, expected) in LAYERS.items():
            result = add(network, x, network.add_constant)
            self.assertEqual(result.shape, expected.shape, name)
            network.mark_output(result, name)
        given = builder().build_engine(network, cpu()).run({"x": X})
        self.assertEqual(set(given), set(LAYERS))
        for name, (_, expected) in LAYERS.items():
            with self.subTest(layer=name):
                self.assertEqual(given[name].dtype, expected.dtype)
                numpy.testing.assert_allclose(given[name], expected, rtol=1e-4, atol=1e-5)

    def test_find_what_numpy_finds(self):
        network = enginery.Network("found")
        x, c = network.add_input("x", "float32", (3, 4)), network.add_input("c", "float32", (4,))
        boxes, scores = network.add_input("boxes", "float32", (1, 4, 4)), network.add_input("scores", "float32", (1, 1, 4))
        network.mark_output(network.add_non_zero(x, name="at"), "at")
        network.mark_output(network.add_compress(x, network.add_cast(c, "boolean"), axis=-1), "columns")
        network.mark_output(network.add_compress(c, network.add_cast(c, "boolean")), "kept")
        network.mark_output(network.add_nms(boxes, scores, 3, 0.5, 0.2), "chosen")
        engine = builder().build_engine(network, cpu())
        self.assertEqual([t.shape for t in engine.outputs], [(2, 12), (3, 4), (4,), (3, 3)])
        self.assertTrue(all(t.run_time_shape for t in engine.outputs))
        given = {"x": numpy.eye(3, 4, 1, numpy.float32), "c": numpy.array([0, 2, 0, -1], numpy.float32),
                 "boxes": numpy.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3], [4, 4, 5, 5]]], numpy.float32),
                 "scores": numpy.array([[[0.5, 0.9, 0.1, 0.3]]], numpy.float32)}
        found = engine.run(given)
        numpy.testing.assert_array_equal(found["at"], numpy.array(numpy.nonzero(given["x"])))
        numpy.testing.assert_array_equal(found["columns"], given["x"][:, [1, 3]])
        numpy.testing.assert_array_equal(found["kept"], [2, -1])
        numpy.testing.assert_array_equal(found["chosen"], [[0, 0, 1], [0, 0, 3]])

    def test_have_a_function_for_each_layer_that_is_compared(self):
        functions = {name.removeprefix("add_") for name in dir(enginery.Network) if name.startswith("add_")}
        compared = set(LAYERS) | {"non_zero", "compress", "nms"} | {"input", "constant", "layer", "matrix_multiply", "pooling"}
        self.assertLessEqual(functions, compared)

    def test_take_any_operator_with_all_its_results(self):
        self.assertIn("split", enginery.operators())
        self.assertEqual(len(set(enginery.operators())), len(enginery.operators()))
        network = enginery.Network("split")
        x = network.add_input("x", numpy.float32, (1, 5))
        first, second = network.add_layer("split", [x], {"axis": 1, "sizes": [2, 3]}, name="cut", output_names=["first", "second"])
        self.assertEqual([(t.name, t.shape, t.type) for t in (first, second)], [("first", (1, 2), "float32"), ("second", (1, 3), "float32")])
        ends = network.add_layer("act", [first], {"kind": "leaky_relu", "alpha": 0.1})[0]
        network.mark_output(ends, "y")
        network.mark_output(second)
        given = builder().build_engine(network, cpu()).run({"x": numpy.array([[-1, 1, 2, 3, 4]], numpy.float32)})
        numpy.testing.assert_allclose(given["y"], [[-0.1, 1]], rtol=1e-6)
        numpy.testing.assert_array_equal(given["second"], [[2, 3, 4]])

    def test_give_every_layer_a_precision_and_a_type(self):
        network = enginery.Network("half")
        x = network.add_input("x", "float32", (1, 2))
        one = network.add_constant(numpy.ones((1, 2), numpy.float32))
        half = network.add_elementwise(x, one, "add", name="sum", precision="float16")
        whole = network.add_elementwise(x, one, "add", output_type="int32")
        self.assertEqual((half.type, half.name, whole.type), ("float32", "sum", "int32"))
        network.mark_output(half, "half")
        network.mark_output(whole, "whole")
        self.assertIn(b'"to":"float16"', network.save())
        given = builder().build_engine(network, cpu()).run({"x": numpy.array([[6.5, 8]], numpy.float32)})
        numpy.testing.assert_allclose(given["half"], [[7.5, 9]])
        numpy.testing.assert_array_equal(given["whole"], [[7, 9]])

    def test_know_the_element_types(self):
        network = enginery.Network()
        for dtype, name in [(numpy.float16, "float16"), ("bfloat16", "bfloat16"), (bool, "boolean"), ("int8", "int8"), (numpy.dtype("u4"), "uint32")]:
            self.assertEqual(network.add_input(f"of {dtype}", dtype, (2, -1)).type, name)
        self.assertEqual(network.add_constant([[1, 2]]).type, "int64")
        self.assertEqual(network.add_constant(numpy.zeros((2, 3), numpy.float64).T).shape, (3, 2))


def small_network():
    """x + [1, 2, 3, 4], where x has any number of rows."""
    network = enginery.Network("small")
    x = network.add_input("x", "float32", (-1, 4))
    network.mark_output(network.add_elementwise(x, network.add_constant(numpy.array([[1, 2, 3, 4]], numpy.float32)), "add", name="sum"), "y")
    return network


class Builds(unittest.TestCase):
    ROWS = {"x": (2, 4)}

    def expect_sum(self, engine):
        x = values(2, 4)
        numpy.testing.assert_array_equal(engine.run({"x": x})["y"], x + numpy.arange(1, 5, dtype=numpy.float32))

    def test_say_what_became_of_them(self):
        build = builder(shapes=self.ROWS, name="said")
        engine = build.build_engine(small_network(), cpu())
        self.expect_sum(engine)
        self.assertEqual((engine.info["name"], engine.info["sku"], engine.inputs[0].shape), ("said", cpu(), (2, 4)))
        self.assertEqual((engine.report["engine_bytes"], engine.report["from_catalog"]), (len(engine.content), False))
        self.assertEqual(build.build(small_network(), cpu()), engine.content)
        self.assertTrue(build.report["from_catalog"])

    def test_take_files_of_networks_and_of_models(self):
        saved = HOME.work / "small.network"
        saved.write_bytes(small_network().save())
        self.expect_sum(builder(shapes=self.ROWS).build_engine(saved, cpu()))
        self.expect_sum(enginery.build(saved, cpu(), shapes=self.ROWS, level=0, threads=1))
        self.expect_sum(enginery.build(small_network(), cpu(), shapes=self.ROWS, level=0, threads=1))
        engine = builder(name="shapes").build_engine(MODEL, cpu())
        picture = {"picture": RNG.random((1, 3, 48, 48), dtype=numpy.float32)}
        for name, scores in small_engine().run(picture).items():
            numpy.testing.assert_allclose(engine.run(picture)[name], scores, rtol=1e-5, atol=1e-6)

    def test_say_how_far_they_are_and_end_when_asked(self):
        phases = []
        builder(shapes=self.ROWS, rebuild=True, progress=lambda phase, done, total: phases.append((phase, done <= total))).build(small_network(), cpu())
        self.assertGreater(len({phase for phase, _ in phases}), 1)
        self.assertTrue(all(fits for _, fits in phases), phases)
        with self.assertRaises(enginery.Error) as raised:
            builder(shapes=self.ROWS, rebuild=True, cancelled=lambda: True).build(small_network(), cpu())
        self.assertEqual(raised.exception.code, "timed_out")

    def test_hand_on_what_a_callback_raises(self):
        for callback in ("progress", "cancelled"):
            def fail(*_):
                raise KeyError(callback)
            with self.assertRaisesRegex(KeyError, callback):
                builder(shapes=self.ROWS, rebuild=True, **{callback: fail}).build(small_network(), cpu())

    def test_are_one_at_a_time_while_other_threads_run(self):
        begun, refused = threading.Event(), []

        def second():
            begun.wait()
            with self.assertRaises(enginery.Error) as raised:
                builder(shapes=self.ROWS).build(small_network(), cpu())
            refused.append(raised.exception)

        thread = threading.Thread(target=second)

        def progress(*_):
            begun.set()
            thread.join()

        thread.start()
        builder(shapes=self.ROWS, rebuild=True, progress=progress).build(small_network(), cpu())
        self.assertEqual([error.code for error in refused], ["usage"])
        self.assertIn("another build is under way", refused[0].message)


class Misuse(unittest.TestCase):
    def setUp(self):
        self.network = enginery.Network("wrong")
        self.x = self.network.add_input("x", "float32", (1, 4))

    def test_raises_what_names_the_layer(self):
        n, x, other = self.network, self.x, small_network()
        foreign = other.add_input("z", "float32", (1, 4))
        wide = n.add_constant(numpy.ones((1, 5), numpy.float32))
        mistakes = [
            ("input 'x': the name is taken", lambda: n.add_input("x", "float32", (1, 4))),
            ("no element type 'complex64'", lambda: n.add_input("z", numpy.complex64, (1, 4))),
            ("no element type", lambda: n.add_constant(["words"])),
            ("layer 'l' (binary)", lambda: n.add_elementwise(x, wide, "add", name="l")),
            ("layer 'l' (act): act", lambda: n.add_activation(x, "swim", name="l")),
            ("(fly): no operator is called 'fly'", lambda: n.add_layer("fly", [x])),
            ("does not have", lambda: n.add_layer("act", [x], {"speed": 1})),
            ("is not of this network", lambda: n.add_unary(foreign, "exp")),
            ("'f8' is not an element type", lambda: n.add_unary(x, "exp", output_type="f8")),
            ("add_attention: shapes (1, 4), (1, 4) and (1, 4) do not fit", lambda: n.add_attention(x, x, x, 1)),
            ("'x'", lambda: n.mark_output(x)),
            ("no output", n.save),  # nothing of the above is there
        ]
        for text, call in mistakes:
            with self.subTest(mistake=text):
                with self.assertRaises(enginery.Error) as raised:
                    call()
                self.assertEqual(raised.exception.code, "invalid_input", raised.exception.message)
                self.assertIn(text, raised.exception.message)

    def test_of_a_build_raises_what_is_wrong_with_it(self):
        self.network.mark_output(self.network.add_unary(self.x, "exp", name="grow"), "y")
        for config, target, code, text in [({"level": 6}, cpu(), "invalid_input", "level: expected a number from 0 to 5, got 6"),
                                           ({"precisions": ["fp16", "fp7"]}, cpu(), "usage", "fp7"),
                                           ({"precisions": "int8"}, cpu(), "invalid_input", "calibration"),
                                           ({"shapes": {"q": (1, 4)}}, cpu(), "invalid_input", "no input 'q'"),
                                           ({"without_sources": ["fairies"]}, cpu(), "not_found", "fairies"),
                                           ({"layer_precisions": {"grows": "fp32"}}, cpu(), "not_found", "did you mean grow?"),
                                           ({"limits": {"speed": 1}}, cpu(), "usage", "speed"),
                                           ({"memory_pools": {"dlaSRAM": 1}}, cpu(), "usage", "dlaSRAM"),
                                           ({"command": "/no/enginery"}, cpu(), "not_found", "/no/enginery"),
                                           ({"catalog": "/proc/none"}, cpu(), "storage", "/proc/none"),
                                           ({}, "h201", "not_found", "h201")]:
            with self.subTest(text=text):
                with self.assertRaises(enginery.Error) as raised:
                    builder(**config).build(self.network, target)
                self.assertEqual(raised.exception.code, code, raised.exception.message)
                self.assertIn(text, raised.exception.message)
        with self.assertRaises(enginery.Error) as raised:
            builder().build("/nowhere.onnx", cpu())
        self.assertEqual(raised.exception.code, "not_found")


if __name__ == "__main__":
    unittest.main()
