"""PyTorch's tensors on a real GPU, in place through DLPack: alone, behind late work, on the caller's stream and in the caller's CUDA graph. Needs an
engine for the card, ENGINERY_GPU_ENGINE, and only the package: `gpu-suite python` runs it out of a bundle."""
import os
import unittest

import numpy

import enginery


@unittest.skipUnless(os.environ.get("ENGINERY_GPU_ENGINE"), "ENGINERY_GPU_ENGINE names no engine for a GPU that is here")
class TensorsOfPyTorch(unittest.TestCase):
    """On a GPU alone: an engine of float32 tensors and the keys of the user's home."""

    def setUp(self):
        import torch  # pylint: disable=import-outside-toplevel
        self.torch = torch
        self.engine = enginery.load(os.environ["ENGINERY_GPU_ENGINE"], keys=os.environ.get("ENGINERY_GPU_KEYS"))
        self.input, self.output = self.engine.inputs[0], self.engine.outputs[0]
        self.x = torch.rand(self.input.shape, device="cuda")
        self.expected = self.engine.run({self.input.name: self.x.cpu().numpy()})[self.output.name]

    def expect(self, y):
        self.torch.cuda.synchronize()
        numpy.testing.assert_array_equal(y.cpu().numpy(), self.expected)

    def test_give_tensors_on_the_gpu(self):
        y = self.engine.run({self.input.name: self.x})[self.output.name]
        self.assertEqual((y.device.type, tuple(y.shape)), ("cuda", self.output.shape))
        self.expect(y)

    def test_follow_the_work_that_makes_them(self):
        side = self.torch.cuda.Stream()
        with self.torch.cuda.stream(side):
            self.torch.cuda._sleep(50_000_000)  # the product below comes late
            late = self.x * self.torch.ones((), device="cuda")
            y = self.engine.run({self.input.name: late})[self.output.name]
        self.expect(y)

    def test_go_through_streams_and_graphs(self):
        torch, y = self.torch, self.torch.empty(self.output.shape, device="cuda")
        stream = torch.cuda.Stream()
        with self.engine.context() as context, torch.cuda.stream(stream):
            context.set_input(self.input.name, self.x)
            context.set_output(self.output.name, y)
            context.enqueue(stream)
            self.expect(y)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                context.enqueue(stream)
            y.zero_()
            graph.replay()
            self.expect(y)

    def test_serve_two_contexts_on_two_streams(self):
        torch, rows = self.torch, []
        for _ in range(2):
            context, stream, y = self.engine.context(), torch.cuda.Stream(), torch.empty(self.output.shape, device="cuda")
            context.set_input(self.input.name, self.x)
            context.set_output(self.output.name, y)
            rows.append((context, stream, y))
        torch.cuda.synchronize()
        for _ in range(20):
            for context, stream, _ in rows:
                context.enqueue(stream)
        for _, _, y in rows:
            self.expect(y)

    def test_of_a_graph_are_read_again_at_every_replay(self):
        torch, y = self.torch, self.torch.empty(self.output.shape, device="cuda")
        stream, first = torch.cuda.Stream(), self.x.clone()
        with self.engine.context() as context, torch.cuda.stream(stream):
            context.set_input(self.input.name, self.x)
            context.set_output(self.output.name, y)
            context.enqueue(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                context.enqueue(stream)
            self.x.mul_(0.5)
            graph.replay()
            torch.cuda.synchronize()
            halved = self.engine.run({self.input.name: self.x.cpu().numpy()})[self.output.name]
            numpy.testing.assert_array_equal(y.cpu().numpy(), halved)
            self.assertFalse(numpy.array_equal(halved, self.expected))
            self.x.copy_(first)
            graph.replay()
            self.expect(y)

    def test_that_begin_between_blocks_are_refused(self):
        longer = self.torch.zeros(self.x.numel() + 1, device="cuda")
        with self.engine.context() as context, self.assertRaisesRegex(enginery.Error, "multiple of 256"):
            context.set_input(self.input.name, longer[1:].view(self.input.shape))


if __name__ == "__main__":
    unittest.main()
