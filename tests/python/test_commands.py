"""Builds and farms through the command."""
import unittest

import numpy

from package import HOME, MODEL, enginery, small_engine


class Builds(unittest.TestCase):
    def test_a_model_from_bytes_with_other_shapes(self):
        engine = enginery.build(MODEL.read_bytes(), level=0, shapes={"picture": (2, 3, 48, 48)}, name="two")
        self.assertEqual((engine.inputs[0].shape[0], engine.info["name"]), (2, "two"))
        self.assertEqual(engine.run({"picture": numpy.zeros((2, 3, 48, 48), numpy.float32)})[engine.outputs[0].name].shape[0], 2)

    def test_says_why_not(self):
        for call, code, text in [(lambda: enginery.build("nowhere.onnx"), "not_found", "nowhere.onnx"),
                                 (lambda: enginery.build(b"no model"), "invalid_input", ""),
                                 (lambda: enginery.build(MODEL, target="h201"), "usage", "h200"),
                                 (lambda: enginery.Farm("ipc:///nowhere/at.all").workers(), "unreachable", "")]:
            with self.assertRaises(enginery.Error) as raised:
                call()
            self.assertEqual(raised.exception.code, code, raised.exception.message)
            self.assertIn(text, raised.exception.message)


class OnAFarm(unittest.TestCase):
    def test_a_job_from_its_submission_to_a_run(self):
        sku = small_engine().info["sku"]
        HOME.up("--skus", sku, "--threads", "1")
        self.addCleanup(HOME.run, "down")
        farm = enginery.Farm()
        self.assertEqual([w["sku"] for w in farm.workers()], [sku])
        job = farm.submit(MODEL, targets=[sku], level=0).wait(60)
        self.assertEqual((job.state, [t["sku"] for t in job.targets]), ("done", [sku]))
        values = numpy.ones((1, 3, 48, 48), numpy.float32)
        engine = job.fetch(sku)
        path = farm.job(job.id).fetch(sku, HOME.work / "fetched.engine")
        name = engine.outputs[0].name
        numpy.testing.assert_array_equal(engine.run({"picture": values})[name], enginery.load(path).run({"picture": values})[name])
        with self.assertRaises(enginery.Error) as raised:
            farm.job("j999")
        self.assertEqual(raised.exception.code, "not_found")


if __name__ == "__main__":
    unittest.main()
