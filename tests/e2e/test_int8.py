"""Int8 in a farm: calibration as a step that all targets share, the accuracy of what comes out, its limit, and data that is no data."""
import csv
import hashlib
import json
import os
import re
import shutil

from support import *


def picture_like(count, scale=1.0, seed=0):
    """Values of `count` rows of small_model's input in [-scale, scale]."""
    return [((i * 7919 + seed * 104729) % 255 / 127 - 1) * scale for i in range(count * 3 * 16 * 16)]


class Int8Farm(HomeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.skus = local_skus(cls.home)[:2]
        cls.home.up("--skus", ",".join(cls.skus), "--threads", "1")
        work = cls.home.work
        for seed in (0, 1):
            (work / f"net{seed}.onnx").write_bytes(small_model(seed))
        write_npy(work / "all.npy", (6, 3, 16, 16), picture_like(6))
        size = 3 * 16 * 16
        write_npy(work / "first.npy", (2, 3, 16, 16), picture_like(6)[:2 * size])
        write_npy(work / "rest.npy", (4, 3, 16, 16), picture_like(6)[2 * size:])
        write_npy(work / "held_out.npy", (5, 3, 16, 16), picture_like(5, seed=3))

    def submit(self, *words, code=0):
        outcome = self.home.run("submit", *words, "--int8", "--level", "2", "--threads", "1", "--wait", "--json", timeout=400)  # the device may be busy
        self.assertExit(outcome, code)
        return outcome.json()

    def calibrate_in_farm(self, model, data, *more):
        return self.submit(model, "--target", ",".join(self.skus), "--calib-data", data, "--name", "net8", *more)

    def steps(self, job):
        """{step: how often it was run}"""
        out = {}
        for step in self.home.run("show", job["job"], "--json").json()["steps"]:
            out[step["name"]] = out.get(step["name"], 0) + step["commits"]
        return out

    def test_01_a_calibration_is_run_once_for_all_targets(self):
        job = self.calibrate_in_farm("net0.onnx", "all.npy")
        self.assertEqual([t["state"] for t in job["targets"]], ["done", "done"])
        self.assertEqual(self.steps(job)["calibrate"], 1)
        digests = {t["calibration"] for t in job["targets"]}
        self.assertEqual(len(digests), 1)
        self.assertTrue(digests.pop().startswith("sha256:"))
        self.assertEqual([t["accuracy"] for t in job["targets"]], [None, None])
        again = self.calibrate_in_farm("net0.onnx", "all.npy")
        self.assertEqual([t["source"] for t in again["targets"]], ["cache", "cache"])
        self.assertEqual(again["targets"][0]["calibration"], job["targets"][0]["calibration"])
        type(self).job = job

    def test_01b_an_engine_in_float_is_said_to_be_one_and_keeps_what_was_asked_for(self):
        for target in self.job["targets"]:
            self.assertExit(self.home.run("fetch", self.job["job"], "--target", target["sku"], "-o", "asked.engine"), 0)
            in_float = "int8" not in self.home.run("inspect", "asked.engine", "--json").json()["precision"]
            self.assertEqual(target["note"], "int8 is not faster here: the engine computes in float" if in_float else "")
            shown = self.home.run("show", self.job["job"])
            self.assertEqual(shown.out.count("computes in float") > 0, any(t["note"] for t in self.job["targets"]))
            made = self.home.run("inspect", "asked.engine", "--provenance").json()["predicate"]["buildDefinition"]
            self.assertEqual(made["externalParameters"]["requested"]["precisions"], "fp32,int8")
            of_scales = [d for d in made["resolvedDependencies"] if d["name"] == "calibration"]
            self.assertEqual(of_scales[0]["digest"]["sha256"], target["calibration"].removeprefix("sha256:"))
            self.assertRegex(of_scales[0]["annotations"]["data"], "^sha256:[0-9a-f]{64}$")

    def test_02_the_same_data_is_not_run_again(self):
        other_calibrator = self.calibrate_in_farm("net0.onnx", "all.npy", "--calibrator", "entropy")
        self.assertEqual(self.steps(other_calibrator)["calibrate"], 0)
        self.assertEqual(other_calibrator["targets"][0]["calibration"], self.job["targets"][0]["calibration"])
        self.assertEqual([t["timings_measured"] for t in other_calibrator["targets"]], [0, 0])

    def test_02b_means_for_biases_are_another_calibration_and_measure_nothing(self):
        job = self.calibrate_in_farm("net0.onnx", "all.npy", "--bias-correction")
        self.assertEqual(self.steps(job)["calibrate"], 1)
        self.assertEqual([t["timings_measured"] for t in job["targets"]], [0, 0])
        self.assertNotEqual(job["targets"][0]["calibration"], self.job["targets"][0]["calibration"])
        self.assertExit(self.home.run("calibrate", "net0.onnx", "--data", "all.npy", "--threads", "1", "--bias-correction", "--histograms", "means.hist"), 0)
        self.assertEqual(job["targets"][0]["calibration"], "sha256:" + hashlib.sha256((self.home.work / "means.hist").read_bytes()).hexdigest())
        again = self.calibrate_in_farm("net0.onnx", "all.npy")
        self.assertEqual(again["targets"][0]["calibration"], self.job["targets"][0]["calibration"])

    def test_03_new_weights_calibrate_and_tune_nothing(self):
        job = self.calibrate_in_farm("net1.onnx", "all.npy")
        self.assertEqual((self.steps(job)["calibrate"], self.steps(job).get("tune", 0)), (1, 0))
        self.assertEqual([t["timings_measured"] for t in job["targets"]], [0, 0])
        self.assertNotEqual(job["targets"][0]["calibration"], self.job["targets"][0]["calibration"])

    def test_04_new_data_change_the_scales_and_measure_nothing(self):
        write_npy(self.home.work / "wide.npy", (6, 3, 16, 16), picture_like(6, 3.0))
        job = self.calibrate_in_farm("net0.onnx", "wide.npy")
        self.assertEqual(self.steps(job)["calibrate"], 1)
        self.assertEqual([t["timings_measured"] for t in job["targets"]], [0, 0])
        self.assertNotEqual(job["targets"][0]["calibration"], self.job["targets"][0]["calibration"])

    def test_05_shards_of_two_workers_merge_to_the_bytes_of_one_pass(self):
        shards = [self.calibrate_in_farm("net0.onnx", data)["targets"][0]["calibration"] for data in ("first.npy", "rest.npy")]
        listed = self.home.run("cache", "calibration", "ls", "--json").json()["calibrations"]
        key_of = {row["histograms"]: row["key"] for row in listed}
        for i, digest in enumerate(shards):
            self.assertExit(self.home.run("cache", "calibration", "export", f"shard{i}.json", key_of[digest]), 0)
            exported = json.loads((self.home.work / f"shard{i}.json").read_text())["calibrations"]
            (self.home.work / f"shard{i}.hist").write_bytes(bytes.fromhex(exported[0]["histograms"]))
        merged = self.home.run("cache", "calibration", "merge", "merged.hist", "shard1.json", "shard0.hist", "--json").json()
        self.assertEqual((merged["samples"], merged["histograms"]), (6, self.job["targets"][0]["calibration"]))
        of_file = self.submit("net0.onnx", "--target", self.skus[0], "--calib", "merged.hist", "--name", "merged8")
        self.assertEqual(of_file["targets"][0]["calibration"], merged["histograms"])
        self.assertEqual(of_file["targets"][0]["timings_measured"], 0)

    def test_06_a_table_from_elsewhere_is_honoured_exactly(self):
        self.assertExit(self.home.run("calibrate", "net0.onnx", "--data", "all.npy", "--threads", "1", "-o", "net.table"), 0)
        table = (self.home.work / "net.table").read_text().replace("MseCalibration", "EntropyCalibration2")
        table += "(Unnamed Layer* 5) [Constant]_output: 0\nshape: 7f800000\n"  # as TensorRT writes what it does not quantise
        (self.home.work / "theirs.table").write_text(table)
        job = self.submit("net0.onnx", "--target", self.skus[0], "--calib", "theirs.table", "--name", "theirs")
        self.assertEqual(job["targets"][0]["calibration"], "sha256:" + hashlib.sha256(table.encode()).hexdigest())
        self.assertExit(self.home.run("fetch", "theirs", "-o", "theirs.engine"), 0)
        shown = self.home.run("inspect", "theirs.engine", "--provenance")
        self.assertIn(job["targets"][0]["calibration"].removeprefix("sha256:"), shown.out)
        (self.home.work / "zero.table").write_text(re.sub("(?m)^r0: .*$", "r0: 0", table))
        line = [one.split(":")[0] for one in table.splitlines()].index("r0") + 1
        refused = self.home.run("submit", "net0.onnx", "--target", self.skus[0], "--int8", "--level", "2", "--threads", "1", "--calib", "zero.table", "--wait")
        self.assertExit(refused, 9, f"tensor 'r0' is 0 in line {line} of its table")

    def test_07_engines_are_held_against_the_float_model(self):
        (self.home.work / "classes.csv").write_text("file,class\n" + "".join(f"held_out.npy[{i}],{i % 8}\n" for i in range(5)))
        words = ("--accuracy-data", "held_out.npy", "--accuracy-labels", "classes.csv")
        job = self.calibrate_in_farm("net0.onnx", "all.npy", *words)
        for target in job["targets"]:
            self.assertEqual(target["accuracy"]["rows"], 5)
            self.assertGreater(target["accuracy"]["sqnr_db"], 15)
            self.assertTrue(0 <= target["accuracy"]["top1_agree"] <= 1)
            self.assertTrue(0 <= target["accuracy"]["float_top1"] <= 1)
        self.assertEqual(self.steps(job)["calibrate"], 0)
        table = self.home.run("submit", "net0.onnx", "--target", self.skus[0], "--int8", "--level", "2", "--threads", "1", "--calib-data", "all.npy", "--name", "net8", *words, "--wait")
        self.assertExit(table, 0)
        self.assertIn("ACCURACY", table.out)
        self.assertIn(" dB", table.out)
        self.assertExit(self.home.run("fetch", job["job"], "--target", self.skus[0], "-o", "net8.engine"), 0)
        provenance = self.home.run("inspect", "net8.engine", "--provenance").out
        for fact in ("held_out", "accuracy", "sqnr_db", "top1_percent", "calibrator"):
            self.assertIn(f'"{fact}"', provenance)

    def test_08_what_loses_more_than_allowed_is_not_published(self):
        # Scales that clip nearly everything, and the limit is 0. An output without classes loses by its noise.
        nodes = [node("Conv", ["x", "w0"], ["c0"], kernel_shape=[3, 3]), node("Relu", ["c0"], ["r0"]), node("Conv", ["r0", "w1"], ["y"], kernel_shape=[3, 3])]
        weights = [tensor("w0", (4, 3, 3, 3), [i % 7 / 7 - 0.4 for i in range(108)]), tensor("w1", (2, 4, 3, 3), [i % 5 / 5 - 0.4 for i in range(72)])]
        (self.home.work / "map.onnx").write_bytes(model(nodes, [value_info("x", ["N", 3, 16, 16])], [value_info("y", ["N", 2, 12, 12])], weights))
        (self.home.work / "bad.table").write_text("TRT-8601-MinMaxCalibration\nx: 37000000\nr0: 37000000\n")
        words = ("map.onnx", "--target", self.skus[0], "--calib", "bad.table", "--accuracy-data", "held_out.npy", "--max-accuracy-drop", "0", "--name", "never")
        job = self.submit(*words, code=1)
        target = job["targets"][0]
        self.assertEqual((target["state"], target["engine"], target["accuracy"]), ("failed", None, None))
        self.assertIn("each alone in int8: ", target["error"]["message"])
        self.assertIn("--max-accuracy-drop", target["error"]["message"])
        self.assertExit(self.home.run("fetch", "never"), 3)

    def test_09_layers_that_lose_too_much_stay_in_float(self):
        # The first layer's scale is right, the second's clips nearly everything.
        (self.home.work / "half.table").write_text("TRT-8601-MinMaxCalibration\nx: 3c010204\nr0: 37000000\n")
        job = self.submit("map.onnx", "--target", self.skus[0], "--calib", "half.table", "--accuracy-data", "held_out.npy", "--max-accuracy-drop", "30%", "--name", "half")
        self.assertEqual(job["targets"][0]["state"], "done")
        self.assertGreater(job["targets"][0]["accuracy"]["sqnr_db"], 10)
        self.assertEqual(self.steps(job)["mix"], 1)
        self.assertIn("alone in int8: ", self.home.run("logs", job["job"]).out)

    def test_10_data_that_is_none_is_refused_and_leaves_nothing(self):
        work = self.home.work
        jobs = len(self.home.run("jobs", "--json").json()["jobs"])
        (work / "empty").mkdir()
        write_npy(work / "shape.npy", (2, 3, 8, 8), [0.5] * (2 * 3 * 8 * 8))
        write_npy(work / "channels.npy", (2, 4, 16, 16), [0.5] * (2 * 4 * 16 * 16))
        for data, code, words in (("empty", 9, ("folder empty holds no .jpg",)), ("shape.npy", 9, ("shape.npy", "16")), ("channels.npy", 9, ("channels.npy", "3")), ("gone", 3, ("gone",))):
            with self.subTest(data=data):
                refused = self.home.run("submit", "net0.onnx", "--target", self.skus[0], "--int8", "--calib-data", data)
                self.assertExit(refused, code, *words)
                refused = self.home.run("submit", "net0.onnx", "--target", self.skus[0], "--accuracy-data", data)
                self.assertExit(refused, code, *words)
        (work / "some.table").write_text("TRT-8601-MinMaxCalibration\nx: 3c010204\nextra: 3c010204\n")
        self.assertExit(self.home.run("submit", "net0.onnx", "--target", self.skus[0], "--int8", "--calib", "some.table"), 9, "no scale for tensor 'r0'")
        (work / "more.table").write_text("TRT-8601-MinMaxCalibration\nx: 3c010204\nr0: 3c010204\nextra: 3c010204\n")
        more = self.home.run("submit", "net0.onnx", "--target", self.skus[0], "--int8", "--calib", "more.table", "--dry-run")
        self.assertExit(more, 0)
        self.assertIn("not in the model: 'extra'", more.err)
        self.assertEqual(len(self.home.run("jobs", "--json").json()["jobs"]), jobs, "a job was made")

    def test_10b_a_picture_that_cannot_be_read_is_named_and_left_out_up_to_a_limit(self):
        pictures = self.home.work / "pictures"
        shutil.copytree(EXAMPLE / "pictures", pictures)
        for option in ("--calib-data", "--accuracy-data"):
            with self.subTest(option=option):
                words = ("submit", EXAMPLE / "shapes.onnx", "--target", self.skus[0], "--dry-run", option, "pictures", "--preprocess", EXAMPLE / "preprocess.toml") + (("--int8",) if option == "--calib-data" else ())
                (pictures / "broken.png").write_bytes(b"no picture")
                taken = self.home.run(*words)
                self.assertExit(taken, 0)
                self.assertIn("left out: broken.png", taken.err)
                for i in range(4):
                    (pictures / f"worse{i}.png").write_bytes(b"no picture")
                self.assertExit(self.home.run(*words), 9, f"rows of {option} cannot be used, more than may be left out", "broken.png")
                for i in range(4):
                    (pictures / f"worse{i}.png").unlink()

    def test_11_a_nan_in_an_activation_names_the_layer(self):
        # The first layer's weights are finite and its results are not.
        nodes = [node("Mul", ["x", "big"], ["m"]), node("Conv", ["m", "w"], ["c"], kernel_shape=[1, 1]), node("Sub", ["c", "c"], ["y"])]
        weights = [tensor("big", (1,), [3e38]), tensor("w", (4, 3, 1, 1), [2.0] * 12)]
        nodes[0] = node("Mul", ["x", "big"], ["m"])
        (self.home.work / "nan.onnx").write_bytes(model(nodes, [value_info("x", ["N", 3, 16, 16])], [value_info("y", ["N", 4, 16, 16])], weights))
        write_npy(self.home.work / "large.npy", (1, 3, 16, 16), [10.0] * (3 * 16 * 16))
        job = self.submit("nan.onnx", "--target", self.skus[0], "--calib-data", "large.npy", code=1)
        message = job["targets"][0]["error"]["message"]
        self.assertIn("layer '", message)
        self.assertIn("an infinity at element ", message)

    def test_12_constant_activations_have_a_scale_by_rule(self):
        write_npy(self.home.work / "zeros.npy", (2, 3, 16, 16), [0.0] * (2 * 3 * 16 * 16))
        job = self.submit("net0.onnx", "--target", self.skus[0], "--calib-data", "zeros.npy", "--name", "zeros8")
        self.assertEqual(job["targets"][0]["state"], "done")
        calibrated = self.home.run("calibrate", "net0.onnx", "--data", "zeros.npy", "--threads", "1", "-o", "zeros.table")
        self.assertExit(calibrated, 0)
        rule = "the scale is their magnitude / 127, or 1 where they are 0"
        self.assertIn(rule, calibrated.err)
        self.assertIn(rule, self.home.run("logs", job["job"]).out)
        self.assertIn("x: 3f800000", (self.home.work / "zeros.table").read_text(), "a scale of 1")


class SqueezeNet(HomeTest):
    """SqueezeNet 1.1 on pictures: calibrated on those marked so, counted on the others, with their labels."""

    TOP1_POINTS, AGREEMENT = 0.005, 0.97

    def test_int8_in_the_farm_is_as_good_as_float(self):
        network, images = shared("models/squeezenet1.1.onnx"), shared("images/labels.csv").parent
        skus = local_skus(self.home)
        sku = next((s for s in ("cpu-amx", "cpu-avx512-vnni") if s in skus), None)
        if sku is None or os.environ.get("ENGINERY_UNOPTIMISED"):
            self.skipTest("no CPU type with int8 arithmetic, or a build that is too slow")
        work = self.home.work
        with open(images / "labels.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        for split in ("calibration", "evaluation"):
            (work / split).mkdir()
            for row in rows:
                if row["split"] == split:
                    os.symlink(images / "imagenet" / row["file"], work / split / row["file"])
        (work / "prep.toml").write_text('[input]\ncolor = "bgr"\ncrop = [227, 227]\nmean = [104, 117, 123]\nscale = 1\nlayout = "nchw"\n')
        self.home.up("--skus", sku, "--threads", "1")
        outcome = self.home.run("submit", network, "--target", sku, "--int8", "--level", "2", "--threads", "1", "--calib-data", "calibration",
                                "--accuracy-data", "evaluation", "--accuracy-labels", images / "labels.csv", "--max-accuracy-drop", "0.5%",
                                "--preprocess", "prep.toml", "--wait", "--json", timeout=550)
        self.assertExit(outcome, 0)
        target = outcome.json()["targets"][0]
        accuracy = target["accuracy"]
        print(json.dumps({"sku": sku, **accuracy, "latency_ms": target["latency_ms"]}))
        self.assertEqual(accuracy["rows"], 400)
        self.assertGreaterEqual(accuracy["top1"], accuracy["float_top1"] - self.TOP1_POINTS)
        self.assertGreaterEqual(accuracy["top1_agree"], self.AGREEMENT)
        # Float is taken where int8 measures no faster; the network with all layers in int8 has to be as near all the same.
        log = self.home.run("logs", outcome.json()["job"]).out
        agreeing, top1, in_float = re.search(r"all layers in int8: output 'prob': (\d+) of 400 rows .*; top-1 ([0-9.]+) %, in float ([0-9.]+) %", log).groups()
        self.assertGreaterEqual(int(agreeing), 400 * self.AGREEMENT)
        self.assertGreaterEqual(float(top1), float(in_float) - 100 * self.TOP1_POINTS)


if __name__ == "__main__":
    main()
