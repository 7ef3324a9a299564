"""INT8 builds in this process, by calibrators in the shape of TensorRT's: what they are asked, what they may give, and what is said of the rest."""
import unittest

import numpy

from package import HOME, enginery
from test_layers import cpu

RNG = numpy.random.default_rng(9)
WEIGHTS = RNG.uniform(-1, 1, (16, 8)).astype(numpy.float32)


def product():
    """y = x WEIGHTS, two rows at a time."""
    network = enginery.Network("product")
    x = network.add_input("x", "float32", (2, 16))
    network.mark_output(network.add_matrix_multiply(x, network.add_constant(WEIGHTS)), "y")
    return network


def rows(count):
    return RNG.uniform(-1, 1, (count, 16)).astype(numpy.float32)


class Calibrator(enginery.Calibrator):
    """Gives `batches`, one a call."""

    def __init__(self, *batches, cache=None):
        self.batches, self.cache, self.written, self.asked = list(batches), cache, None, []

    def get_batch_size(self):
        return 4

    def get_batch(self, names):
        self.asked.append(names)
        return self.batches.pop(0) if self.batches else None

    def read_calibration_cache(self):
        return self.cache

    def write_calibration_cache(self, cache):
        self.written = cache


def builder(**config):
    return enginery.Builder(enginery.BuildConfig(**{"level": 0, "threads": 1, "precisions": "int8", **config}))


class Calibrated(unittest.TestCase):
    def test_builds_are_near_to_float(self):
        calibrator = Calibrator([rows(4)], {"x": rows(4)}, [rows(3)])
        build = builder(calibrator=calibrator)
        engine = build.build_engine(product(), cpu())
        self.assertEqual(calibrator.asked, [["x"]] * 4)
        x = rows(2)
        y = engine.run({"x": x})["y"]
        self.assertLess(numpy.abs(y - x @ WEIGHTS).max(), 0.05 * numpy.abs(y).max())
        self.assertTrue(calibrator.written.startswith(b"ENGHIST1"))
        again = Calibrator(cache=calibrator.written)
        build.config.calibrator = again
        self.assertEqual(build.build(product(), cpu()), engine.content)
        self.assertEqual((again.asked, again.written), ([], None))

    def test_biases_are_corrected_by_means_where_it_is_asked_for(self):
        network = enginery.Network("with_bias")
        x = network.add_input("x", "float32", (2, 16))
        weights, bias = network.add_constant(WEIGHTS), network.add_constant(numpy.ones(8, "f4"))
        network.mark_output(network.add_layer("gemm", [x, weights, bias])[0], "y")
        given = [rows(4) + 1]
        plain, corrected = Calibrator(given), Calibrator(given)
        of_plain = builder(calibrator=plain).build(network, cpu())
        of_corrected = builder(calibrator=corrected, bias_correction=True).build(network, cpu())
        self.assertTrue(plain.written.startswith(b"ENGHIST1"))
        self.assertTrue(corrected.written.startswith(b"ENGHIST2"))
        self.assertNotEqual(of_plain, of_corrected)
        with self.assertRaisesRegex(enginery.Error, "which are missing"):
            builder(bias_correction=True).build(network, cpu())

    def test_builds_take_files(self):
        data, calibrator = HOME.work / "rows.npy", Calibrator([rows(4)])
        numpy.save(data, rows(5))
        builder(calibrator=calibrator).build(product(), cpu())
        histograms = HOME.work / "rows.histograms"
        histograms.write_bytes(calibrator.written)
        for config in ({"calibration_data": data}, {"calibration_data": [f"x={data}"], "calibration_rows": 3},
                       {"calibration": histograms, "calibrator_name": "entropy"}):
            build = builder(**config)
            build.build(product(), cpu())
            self.assertLess(build.report["error"], 0.05)

    def test_what_does_not_fit_is_said(self):
        bad = rows(4)
        bad[1, 2] = numpy.nan
        for batch, text in [([rows(5)], "takes float32[4, 16], or fewer rows of it, not float32[5, 16]"), ([rows(4).astype("f8")], "not float64"),
                            ([rows(4).T], "not float32[16, 4]"), ([rows(0)], "not float32[0, 16]"), ([rows(4), rows(4)], "2 arrays for the inputs x"),
                            ({"z": rows(4)}, "no array for input 'x'"), ([bad], "'x'")]:
            with self.subTest(text=text):
                with self.assertRaises(enginery.Error) as raised:
                    builder(calibrator=Calibrator(batch)).build(product(), cpu())
                self.assertEqual(raised.exception.code, "invalid_input")
                self.assertIn(text, raised.exception.message)
        with self.assertRaisesRegex(enginery.Error, "gives no rows"):
            builder(calibrator=Calibrator()).build(product(), cpu())
        with self.assertRaisesRegex(enginery.Error, "one of them"):
            builder(calibrator=Calibrator(), calibration="/no/table").build(product(), cpu())

    def test_what_a_calibrator_raises_comes_out(self):
        def fail(*_):
            raise KeyError("mine")
        for function in ("get_batch_size", "get_batch", "read_calibration_cache", "write_calibration_cache"):
            calibrator = Calibrator([rows(4)])
            setattr(calibrator, function, fail)
            with self.subTest(function=function), self.assertRaisesRegex(KeyError, "mine"):
                builder(calibrator=calibrator).build(product(), cpu())


if __name__ == "__main__":
    unittest.main()
