"""Outputs whose shape each run tells: what arrays give, what the command writes, and how two engines of them compare."""
import unittest

import numpy

from package import HOME, enginery
from support import model, node, value_info


def build():
    """The positions of x's elements that are not zero, and those elements' sines."""
    path = HOME.work / "found.onnx"
    path.write_bytes(model([node("NonZero", ["x"], ["at"]), node("Transpose", ["at"], ["rows"]), node("GatherND", ["x", "rows"], ["found"]),
                            node("Sin", ["found"], ["sines"])],
                           [value_info("x", [3, 4])], [value_info("at", [2, "n"], 7), value_info("sines", ["n"])]))
    return enginery.build(path, level=0, threads=1), path


class RunTimeShapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine, cls.model = build()
        cls.x = numpy.zeros((3, 4), numpy.float32)
        cls.x[0, 1], cls.x[1, 3], cls.x[2, 0] = 0.5, -1, 2

    def expect_found(self, outputs, x):
        numpy.testing.assert_array_equal(outputs["at"], numpy.array(numpy.nonzero(x)))
        numpy.testing.assert_allclose(outputs["sines"], numpy.sin(x[numpy.nonzero(x)]), rtol=1e-6)

    def test_the_engine_says_the_largest_shape(self):
        at, sines = self.engine.outputs
        self.assertEqual((at.shape, sines.shape), ((2, 12), (12,)))
        self.assertTrue(at.run_time_shape and sines.run_time_shape)
        self.assertFalse(self.engine.inputs[0].run_time_shape)

    def test_a_run_gives_arrays_of_what_it_found(self):
        for x in (self.x, self.x * 0, self.x + 7):
            self.expect_found(self.engine.run({"x": x}), x)

    def test_a_context_is_asked_for_the_shape(self):
        at, sines = numpy.empty((2, 12), numpy.int64), numpy.empty(12, numpy.float32)
        with self.engine.context() as context:
            context.set_input("x", self.x)
            context.set_output("at", at)
            context.set_output("sines", sines)
            with self.assertRaises(enginery.Error) as early:
                context.output_shape("at")
            self.assertEqual(early.exception.code, "usage")
            context.run()
            self.assertEqual((context.output_shape("at"), context.output_shape("sines")), ((2, 3), (3,)))
            with self.assertRaises(enginery.Error):
                context.output_shape("x")
        numpy.testing.assert_array_equal(at.reshape(-1), [0, 1, 2, 1, 3, 0] + 18 * [0])

    def test_the_command_writes_what_was_found(self):
        self.engine.save(HOME.work / "found.engine")
        numpy.save(HOME.work / "x.npy", self.x)
        done = HOME.run("run", HOME.work / "found.engine", "--input", f"x={HOME.work / 'x.npy'}", "--output", HOME.work / "found")
        self.assertEqual(done.code, 0, done)
        self.expect_found({name: numpy.load(HOME.work / "found" / f"{name}.npy") for name in ("at", "sines")}, self.x)

    def test_the_engine_compares_with_its_model(self):
        self.engine.save(HOME.work / "found.engine")
        numpy.save(HOME.work / "x.npy", self.x)
        done = HOME.run("compare", HOME.work / "found.engine", self.model, "--input", f"x={HOME.work / 'x.npy'}")
        self.assertEqual(done.code, 0, done)
        self.assertNotIn("size", done.out)

    def test_inspect_says_which_size_a_run_tells(self):
        self.engine.save(HOME.work / "found.engine")
        done = HOME.run("inspect", HOME.work / "found.engine")
        self.assertIn("output at int64[2x12] at most: dimension 1 is known after a run", done.out)


if __name__ == "__main__":
    unittest.main()
