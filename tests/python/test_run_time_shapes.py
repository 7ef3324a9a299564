"""Outputs whose shape each run tells: what arrays give, what the command writes, and how two engines of them compare."""
import json
import unittest

import numpy

from package import HOME, enginery
from support import model, node, value_info


def build(name="found", first=None):
    """The positions of the elements of x (or what the node `first` makes `seen` of it) that are not zero, and their sines in x."""
    path = HOME.work / f"{name}.onnx"
    begin = [first] if first else []
    path.write_bytes(model(begin + [node("NonZero", ["seen" if first else "x"], ["at"]), node("Transpose", ["at"], ["rows"]), node("GatherND", ["x", "rows"], ["found"]),
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

    def test_counts_that_differ_are_said_and_fail_a_comparison(self):
        self.engine.save(HOME.work / "found.engine")
        positive, its_model = build("positive", node("Relu", ["x"], ["seen"]))
        positive.save(HOME.work / "positive.engine")
        numpy.save(HOME.work / "x.npy", self.x)
        for other in (HOME.work / "positive.engine", its_model):
            words = ("compare", HOME.work / "found.engine", other, "--input", f"x={HOME.work / 'x.npy'}", "--tolerance", "9")
            done = HOME.run(*words)
            self.assertEqual(done.code, 1, done)
            self.assertIn("output 'at' has 3 of at most 12 entries along axis 1 in A against 2 in B: the first 2 of both were compared", done.out)
            self.assertIn("output 'sines' has 3 of at most 12 rows in A against 2 in B", done.out)
            report = json.loads(HOME.run(*words, "--json").out)
            self.assertFalse(report["within"])
            at, sines = report["outputs"]
            self.assertEqual(at["counts"], [{"axis": 1, "a": 3, "b": 2, "most": 12}])
            self.assertEqual((at["elements"], sines["elements"]), (4, 2))
            self.assertAlmostEqual(sines["max_abs"], float(numpy.sin(2) - numpy.sin(-1)), places=5)

    def test_saved_outputs_have_counts_beside_an_engine(self):
        self.engine.save(HOME.work / "found.engine")
        numpy.save(HOME.work / "x.npy", self.x)
        saved = HOME.work / "saved"
        saved.mkdir()
        numpy.save(saved / "at.npy", numpy.array(numpy.nonzero(self.x))[:, :2])
        numpy.save(saved / "sines.npy", numpy.zeros((0,), numpy.float32))
        done = HOME.run("compare", HOME.work / "found.engine", saved, "--input", f"x={HOME.work / 'x.npy'}")
        self.assertEqual(done.code, 1, done)
        self.assertIn("output 'sines' has 3 of at most 12 rows in A against 0 in B: none is in both", done.out)
        self.assertNotIn("beyond the tolerance", done.out)

    def test_inspect_says_which_size_a_run_tells(self):
        self.engine.save(HOME.work / "found.engine")
        done = HOME.run("inspect", HOME.work / "found.engine")
        self.assertIn("output at int64[2x12] at most: dimension 1 is known after a run", done.out)


if __name__ == "__main__":
    unittest.main()
