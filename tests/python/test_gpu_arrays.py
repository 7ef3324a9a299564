"""Arrays on a GPU, without one: an array of this process behind a GPU's face, and an engine of a CPU that counts as one of that GPU, so that what the
library is given can be run."""
import sys
import types
import unittest
from unittest import mock

import numpy

from package import enginery, small_engine
from enginery._dlpack import array_type, device_array


class OnGpu:
    """As PyTorch's tensors on a GPU show themselves."""

    def __init__(self, array):
        self.array, self.device, self.streams = array, "cuda:0", []

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return 2, 0


def made_torch():
    torch = types.ModuleType("torch")
    torch.Tensor, torch.float32 = OnGpu, numpy.float32
    torch.empty = lambda shape, dtype, device: OnGpu(numpy.empty(shape, dtype))
    return torch


class OnAGpu(unittest.TestCase):
    def setUp(self):
        self.engine = small_engine()
        self.input, self.output = self.engine.inputs[0].name, self.engine.outputs[0].name
        self.values = numpy.random.default_rng(3).random(self.engine.inputs[0].shape, dtype=numpy.float32)
        self.expected = self.engine.run({self.input: self.values})[self.output]
        self.addCleanup(setattr, self.engine, "info", self.engine.info)
        self.engine.info = {**self.engine.info, "device": "cuda"}
        self.scores = numpy.zeros_like(self.expected)

    def bound(self):
        context = self.engine.context()
        context.set_input(self.input, OnGpu(self.values))
        context.set_output(self.output, OnGpu(self.scores))
        return context

    def test_are_read_and_written_where_they_lie(self):
        with self.bound() as context:
            context.run()
            numpy.testing.assert_array_equal(self.scores, self.expected)
            self.scores[...] = 0
            context.enqueue()
            numpy.testing.assert_array_equal(self.scores, self.expected)

    def test_are_handed_over_on_the_stream_that_a_run_follows(self):
        tensor = OnGpu(self.values)
        with self.engine.context() as context:
            context.set_input(self.input, tensor)
        self.assertEqual(tensor.streams, [1])

    def test_of_types_that_libraries_do_not_share_are_bytes(self):
        for name, dtype, expected in [("float8e4m3fn", "uint8", "uint8"), ("int4", "int8", "int8"), ("bfloat16", "uint16", "bfloat16"),
                                      ("boolean", "bool", "boolean")]:
            tensor = enginery.Tensor("x", (1,), numpy.dtype(dtype), name)
            self.assertEqual(array_type(tensor), expected)

    def test_go_to_the_stream_that_is_given(self):
        with self.bound() as context:
            for stream in (4096, types.SimpleNamespace(cuda_stream=4096)):
                with self.assertRaisesRegex(enginery.Error, "a CPU has no streams"):
                    context.enqueue(stream)

    def test_of_pytorch_give_outputs_beside_the_inputs(self):
        with mock.patch.dict(sys.modules, torch=made_torch()):
            given = self.engine.run({self.input: OnGpu(self.values)})[self.output]
        self.assertIsInstance(given, OnGpu)
        numpy.testing.assert_array_equal(given.array, self.expected)

    def test_of_other_libraries_need_their_outputs(self):
        with self.assertRaises(enginery.Error) as raised:
            self.engine.run({self.input: OnGpu(self.values)})
        self.assertEqual(raised.exception.code, "usage")
        self.assertIn(f"give an array for output '{self.output}'", raised.exception.message)
        target = OnGpu(self.scores)
        self.assertIs(self.engine.run({self.input: OnGpu(self.values)}, {self.output: target})[self.output], target)
        numpy.testing.assert_array_equal(self.scores, self.expected)

    def test_that_do_not_fit_are_refused(self):
        wide = numpy.zeros((*self.values.shape[:-1], 2 * self.values.shape[-1]), numpy.float32)
        mistakes = [(self.values[..., :7].copy(), "not float32[1, 3, 48, 7]"), (wide[..., ::2], "not strided float32"),
                    (self.values.astype(numpy.float64), "not float64")]
        with self.engine.context() as context:
            for array, text in mistakes:
                with self.assertRaises(enginery.Error) as raised:
                    context.set_input(self.input, OnGpu(array))
                self.assertEqual(raised.exception.code, "invalid_input")
                self.assertIn(text, raised.exception.message)
            self.engine.info["device_index"] = 1
            with self.assertRaisesRegex(enginery.Error, "lies on GPU 0, the engine runs on cuda 1"):
                context.set_output(self.output, OnGpu(self.scores))
            self.engine.info["device"] = "cpu"
            with self.assertRaisesRegex(enginery.Error, "lies on GPU 0, the engine runs on cpu"):
                context.set_input(self.input, OnGpu(self.values))


class Arrays(unittest.TestCase):
    def test_are_described_as_their_library_does(self):
        for dtype, name in [("float32", "float32"), ("float16", "float16"), ("int8", "int8"), ("uint64", "uint64")]:
            array = numpy.zeros((2, 3), dtype)
            given = device_array(array)
            self.assertEqual((given.address, given.shape, given.type, given.contiguous), (array.ctypes.data, (2, 3), name, True))

    def test_are_contiguous_where_elements_follow_each_other(self):
        whole = numpy.zeros((4, 1, 6), numpy.float32)
        for array, contiguous in [(whole, True), (whole[1:2], True), (whole[:0], True), (whole[..., 1:], False), (whole[::2], False), (whole.T, False)]:
            self.assertEqual(device_array(array).contiguous, contiguous, array.strides)
        self.assertEqual(device_array(whole[1:2]).address, whole.ctypes.data + 24)


if __name__ == "__main__":
    unittest.main()
