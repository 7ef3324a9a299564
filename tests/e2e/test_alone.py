"""The verbs that need no service: each line of cli.md's contract about them, through the real binary."""
import json
import os
import subprocess
import unittest

from support import *


class Conventions(HomeTest):
    def test_stdout_is_data_and_stderr_is_messages(self):
        outcome = self.home.run("skus", "--local", "--names")
        self.assertExit(outcome, 0)
        self.assertTrue(outcome.out.startswith("cpu-"), outcome)
        wrong = self.home.run("skus", "--nonsense")
        self.assertExit(wrong, 2, "unknown option --nonsense")
        self.assertEqual(wrong.out, "")

    def test_every_json_has_a_schema(self):
        for words in (["version"], ["skus", "--local"], ["keys", "show"], ["config", "show"], ["doctor"]):
            outcome = self.home.run(*words, "--json")
            self.assertExit(outcome, 0)
            self.assertTrue(outcome.json()["schema"].startswith("enginery."), outcome)

    def test_usage_is_exit_2_with_a_suggestion(self):
        self.assertExit(self.home.run("bulid"), 2, "did you mean build?")
        self.assertExit(self.home.run("build", "x.onnx", "--lvel=3"), 2, "did you mean --level?")
        self.assertExit(self.home.run("build"), 2, "MODEL is missing")
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "--target", "cpu-avx3"), 2, "unknown target 'cpu-avx3'", "did you mean")

    def test_what_is_missing_is_exit_3(self):
        for words in (["build", "no.onnx"], ["run", "no.engine", "--input", "x.npy"], ["bench", "no.engine"], ["inspect", "no.engine"],
                      ["verify", "no.engine"], ["keys", "trust", "no.pub"], ["catalog", "ls", "--data", "nowhere"], ["down"]):
            self.assertExit(self.home.run(*words), 3)

    def test_no_coordinator_is_exit_4_soon_with_address_and_next_command(self):
        for words in (["jobs"], ["show", "j"], ["workers"], ["fetch", "x"], ["wait", "j"], ["submit", EXAMPLE / "shapes.onnx", "--target", "this"]):
            outcome = self.home.run(*words)
            self.assertExit(outcome, 4, "control.sock", "enginery up")
            self.assertLess(outcome.seconds, 5, words)
        outcome = self.home.run("jobs", "--coordinator", "tcp://127.0.0.1:1")
        self.assertExit(outcome, 4, "tcp://127.0.0.1:1", "enginery up")
        self.assertLess(outcome.seconds, 6)

    def test_an_address_beyond_loopback_needs_a_key_at_either_end(self):
        self.assertExit(self.home.run("coordinator", "--listen", "tcp://0.0.0.0:7000"), 2, "enginery keys coordinator new", "--insecure")
        self.assertExit(self.home.run("jobs", "--coordinator", "tcp://192.0.2.1:7000"), 5, "--key FILE")

    def test_a_project_file_does_not_send_models_elsewhere(self):
        (self.home.work / "enginery.toml").write_text('coordinator = "tcp://192.0.2.1:7000"\n')
        try:
            self.assertExit(self.home.run("jobs"), 5, "enginery.toml", "trust-projects")
            self.assertExit(self.home.run("jobs", env={"ENGINERY_TRUST_PROJECTS": str(self.home.work)}), 5, "--key FILE")
            self.assertEqual(self.home.run("version").code, 0)
        finally:
            (self.home.work / "enginery.toml").unlink()

    def test_configuration_comes_from_flags_then_environment_then_files(self):
        (self.home.work / "enginery.toml").write_text("threads = 3\n")
        try:
            rows = {s["name"]: s for s in self.home.run("config", "show", "--origin", "--json").json()["settings"]}
            self.assertEqual(rows["threads"]["value"], "3")
            self.assertIn("project file", rows["threads"]["origin"])
            rows = {s["name"]: s for s in self.home.run("config", "show", "--json", env={"ENGINERY_THREADS": "5"}).json()["settings"]}
            self.assertEqual(rows["threads"], {"name": "threads", "value": "5", "origin": "environment ENGINERY_THREADS"})
            self.assertExit(self.home.run("jobs", env={"ENGINERY_COORDINATOR": "tcp://127.0.0.1:2"}), 4, "tcp://127.0.0.1:2")
            flag = self.home.run("jobs", "--coordinator", "tcp://127.0.0.1:3", env={"ENGINERY_COORDINATOR": "tcp://127.0.0.1:2"})
            self.assertExit(flag, 4, "tcp://127.0.0.1:3")
        finally:
            (self.home.work / "enginery.toml").unlink()

    def test_completion_is_a_script_that_bash_reads(self):
        script = self.home.run("completion", "bash").out
        check = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertEqual(self.home.run("completion", "--words", "--", "build", "--opt").out, "--opt-shapes\n")


class BuildAndRun(HomeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.built = cls.home.run("build", EXAMPLE / "shapes.onnx", "-o", "shapes.engine", "--level", "2", "--threads", "1", "--json")
        if cls.built.code != 0:
            raise AssertionError(cls.built)

    def engine(self):
        return self.home.work / "shapes.engine"

    def test_build_prints_json_and_says_what_it_assumed(self):
        report = self.built.json()
        self.assertEqual(report["schema"], "enginery.build/1")
        self.assertEqual(report["source"], "built")
        self.assertEqual(report["name"], "shapes")
        self.assertGreater(report["timings_measured"], 0)
        self.assertIn("N = 1", self.built.err)

    def test_the_same_build_comes_from_the_catalog(self):
        again = self.home.run("build", EXAMPLE / "shapes.onnx", "-o", "again.engine", "--level", "2", "--threads", "1", "--json")
        self.assertExit(again, 0)
        self.assertEqual(again.json()["source"], "cache")
        self.assertEqual((self.home.work / "again.engine").read_bytes(), self.engine().read_bytes())

    def test_other_weights_measure_nothing(self):
        for seed in (0, 1):
            (self.home.work / "w.onnx").write_bytes(small_model(seed))
            outcome = self.home.run("build", "w.onnx", "-o", "w.engine", "--level", "2", "--threads", "1", "--json")
            self.assertExit(outcome, 0)
        self.assertEqual(outcome.json()["timings_measured"], 0)
        self.assertEqual(outcome.json()["source"], "built")

    def test_why_miss_names_the_field_that_differed(self):
        first = self.home.run("build", EXAMPLE / "shapes.onnx", "-o", "n.engine", "--level", "2", "--threads", "1", "--name", "other", "--json")
        self.assertExit(first, 0)
        miss = self.home.run("why-miss", first.json()["key"], "--json")
        self.assertExit(miss, 0)
        self.assertEqual([d["field"] for d in miss.json()["differs"]], ["name"])
        self.assertEqual(miss.json()["differs"][0]["wanted"], "other")
        self.assertEqual(miss.json()["differs"][0]["had"], "shapes")
        self.assertTrue(miss.json()["nearest"].startswith("sha256:"))

    def test_top_prints_file_rank_class_label_score(self):
        outcome = self.home.run("run", self.engine(), "--input", f"picture={EXAMPLE}/pictures", "--preprocess", EXAMPLE / "preprocess.toml",
                                "--labels", EXAMPLE / "labels.txt", "--top", "3", "--output", "out", "--threads", "1")
        self.assertExit(outcome, 0)
        rows = [line.split("\t") for line in outcome.out.splitlines()]
        self.assertEqual(len(rows), 30)
        files = (self.home.work / "out/inputs.txt").read_text().split()
        self.assertEqual(files, sorted(os.listdir(EXAMPLE / "pictures")))
        for row in rows:
            self.assertEqual(len(row), 5)
            if row[1] == "1":
                self.assertEqual(row[3], row[0].removesuffix(".png"), row)
        descr, dims, values = read_npy(self.home.work / "out/scores.npy")
        self.assertEqual((descr, dims), ("<f4", (10, 10)))
        for i in range(10):
            self.assertAlmostEqual(sum(values[i * 10:i * 10 + 10]), 1, places=3)

    def test_a_first_dimension_larger_than_the_batch_is_run_in_slices(self):
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "-o", "b4.engine", "--shapes=picture:4x3x48x48", "--level", "1", "--threads", "1"), 0)
        values = [((i * 7919) % 1000) / 500 - 1 for i in range(6 * 3 * 48 * 48)]
        write_npy(self.home.work / "six.npy", (6, 3, 48, 48), values)
        results = []
        for engine, folder in (("b4.engine", "o4"), ("shapes.engine", "o1")):
            self.assertExit(self.home.run("run", engine, "--input", "six.npy", "--output", folder, "--threads", "1"), 0)
            results.append(read_npy(self.home.work / folder / "scores.npy"))
        self.assertEqual(results[0][1], (6, 10))
        for a, b in zip(results[0][2], results[1][2]):
            self.assertAlmostEqual(a, b, places=4)

    def test_bad_inputs_are_exit_9_and_write_nothing(self):
        picture = EXAMPLE / "pictures/star.png"
        (self.home.work / "bad.toml").write_text("[input]\nresiez = [48, 48]\n")
        (self.home.work / "broken.png").write_bytes(picture.read_bytes()[:100])
        write_npy(self.home.work / "wrong.npy", (1, 3, 47, 48), [0] * (3 * 47 * 48))
        for words in (["--input", picture], ["--input", picture, "--preprocess", "bad.toml"],
                      ["--input", "broken.png", "--preprocess", EXAMPLE / "preprocess.toml"], ["--input", "wrong.npy"]):
            outcome = self.home.run("run", self.engine(), *words, "--output", "nothing")
            self.assertExit(outcome, 9)
            self.assertFalse(os.path.exists(self.home.work / "nothing/scores.npy"))
        self.assertExit(self.home.run("run", self.engine(), "--input", f"nope={picture}"), 2)

    def test_another_number_of_threads_warns(self):
        values = [0.5] * (3 * 48 * 48)
        write_npy(self.home.work / "one.npy", (1, 3, 48, 48), values)
        self.assertIn("tuned for 1 threads", self.home.run("run", self.engine(), "--input", "one.npy", "--threads", "2").err)
        self.assertNotIn("tuned for", self.home.run("run", self.engine(), "--input", "one.npy", "--threads", "1").err)

    def test_bench_json_is_the_contract(self):
        outcome = self.home.run("bench", self.engine(), "--json", "--iterations", "20", "--warm-up", "1", "--dump-profile", "--threads", "1",
                                "--export-times", "times.json")
        self.assertExit(outcome, 0)
        bench = outcome.json()
        self.assertEqual(bench["schema"], "enginery.bench/1")
        self.assertEqual(set(bench["engine"]), {"digest", "content_digest", "name", "sku", "precision"})
        self.assertEqual(bench["shapes"], {"picture": [1, 3, 48, 48]})
        self.assertEqual((bench["threads"], bench["batch"], bench["iterations"], bench["warm_up"], bench["transfers"]), (1, 1, 20, 1, True))
        latency = bench["latency"]
        self.assertEqual(list(latency), ["min_ms", "mean_ms", "p25_ms", "median_ms", "p75_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms"])
        self.assertTrue(0 < latency["min_ms"] <= latency["p25_ms"] <= latency["median_ms"] <= latency["p99_ms"] <= latency["max_ms"])
        self.assertGreater(bench["throughput_per_s"], 0)
        self.assertIn("device_state", bench)
        self.assertAlmostEqual(sum(layer["share"] for layer in bench["layers"]), 1, places=6)
        for layer in bench["layers"]:
            self.assertEqual(list(layer)[:5], ["name", "op", "tactic", "median_us", "share"])
        self.assertEqual(len(json.loads((self.home.work / "times.json").read_text())["milliseconds"]), 20)
        plain = self.home.run("bench", self.engine(), "--json", "--iterations", "5", "--no-data-transfers", "--threads", "1").json()
        self.assertNotIn("layers", plain)
        self.assertFalse(plain["transfers"])
        self.assertExit(self.home.run("bench", self.engine(), "--shapes=picture:2x3x48x48"), 9, "1x3x48x48")

    def test_compare_with_the_model_and_with_what_was_saved(self):
        model = EXAMPLE / "shapes.onnx"
        self.assertExit(self.home.run("compare", self.engine(), model, "--input", EXAMPLE / "pictures", "--preprocess", EXAMPLE / "preprocess.toml"), 0)
        inside = self.home.run("compare", self.engine(), model, "--tensors", "--json")
        self.assertExit(inside, 0)
        tensors = inside.json()["tensors"]
        self.assertGreater(len(tensors), 2)
        self.assertLess(max(tensor["relative"] for tensor in tensors), 1e-4)
        self.assertExit(self.home.run("run", self.engine(), "--seed", "3", "--save-inputs", "in", "--output", "out"), 0)
        same = self.home.run("compare", self.engine(), "out", "--input", "in/picture.npy", "--json")
        self.assertExit(same, 0)
        self.assertEqual([output["differing"] for output in same.json()["outputs"]], [0])
        write_npy(self.home.work / "out/scores.npy", (1, 10), [0.5] * 10)
        self.assertExit(self.home.run("compare", self.engine(), "out", "--input", "in/picture.npy"), 1)

    def test_bench_beside_takes_turns(self):
        outcome = self.home.run("bench", self.engine(), "--beside", self.engine(), "--json", "--iterations", "50", "--warm-up", "20", "--threads", "1")
        beside = outcome.json()
        self.assertEqual((beside["schema"], beside["rounds"], len(beside["engines"])), ("enginery.bench.beside/1", 50, 2))
        self.assertEqual(beside["engines"][0]["ratio_to_first"], 1)
        self.assertLess(abs(beside["engines"][1]["ratio_to_first"] - 1), 0.5)  # the same file
        table = self.home.run("bench", self.engine(), "--beside", self.engine(), "--iterations", "2", "--threads", "1")
        self.assertIn("OF THE FIRST", table.out)
        self.assertExit(self.home.run("bench", self.engine(), "--beside", self.engine(), "--dump-profile"), 2, "--beside")

    def test_inspect_json_is_the_contract(self):
        outcome = self.home.run("inspect", self.engine(), "--json")
        self.assertExit(outcome, 0)
        engine = outcome.json()
        for name in ("content_digest", "sku", "precision", "threads", "layers", "profiles", "provenance", "memory"):
            self.assertIn(name, engine)
        self.assertGreater(engine["memory"]["weights_bytes"], 100000)
        self.assertGreater(engine["memory"]["arena_bytes"], 0)
        self.assertEqual(engine["threads"], 1)
        self.assertEqual(engine["content_digest"], self.built.json()["content_digest"])
        graph = self.home.run("inspect", EXAMPLE / "shapes.onnx")
        self.assertExit(graph, 0)
        self.assertIn("= conv(", graph.out)
        self.assertEqual(self.home.run("inspect", EXAMPLE / "shapes.onnx", "--json").json()["kind"], "model")

    def test_shapes_that_contradict_the_graph_are_exit_9_naming_the_node(self):
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "--shapes=picture:1x4x48x48"), 9, "conv_1")
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "--shapes=nope:1x4x48x48"), 9, "nope")
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "--shapes=picture"), 2)

    def test_trtexec_names_work(self):
        outcome = self.home.run("build", f"--onnx={EXAMPLE}/shapes.onnx", "--saveEngine=trt.engine", "--optShapes=picture:1x3x48x48",
                                "--builderOptimizationLevel=1", "--threads=1")
        self.assertExit(outcome, 0)
        self.assertExit(self.home.run("bench", "--loadEngine=trt.engine", "--iterations=2", "--warmUp=0", "--threads=1"), 0)
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "--int8"), 9, "int8")

    def test_catalog_lists_shows_tags_and_verifies(self):
        engines = self.home.run("catalog", "ls", "--json").json()["engines"]
        mine = [e for e in engines if e["engine"] == self.built.json()["engine"]]
        self.assertTrue(mine)
        self.assertExit(self.home.run("catalog", "tag", "shapes", "prod"), 0)
        self.assertIn("prod", [t["tag"] for t in self.home.run("catalog", "ls", "--json").json()["tags"]])
        digest = self.built.json()["engine"][:7 + 12]
        shown = self.home.run("catalog", "show", digest, "--json")
        self.assertExit(shown, 0)
        self.assertIn("model", [f["field"] for f in shown.json()["fields"]])
        self.assertExit(self.home.run("catalog", "pin", digest, "--reason", "test"), 0)
        self.assertExit(self.home.run("catalog", "unpin", digest), 0)
        self.assertExit(self.home.run("catalog", "show", "sha256:00000000"), 3)
        verified = self.home.run("catalog", "verify", "--json")
        self.assertExit(verified, 0)
        self.assertTrue(verified.json()["clean"])

    def test_another_skus_engine_can_be_built_and_says_so(self):
        skus = local_skus(self.home)
        low = self.home.run("build", EXAMPLE / "shapes.onnx", "--target", skus[-1], "--level", "1", "--threads", "1")
        self.assertExit(low, 0)
        self.assertEqual(low.out.strip(), f"./shapes.{skus[-1]}.engine")
        self.assertEqual(self.home.run("inspect", low.out.strip(), "--json").json()["sku"], skus[-1])
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "--target", "p4"), 7)


class Trust(HomeTest):
    def test_any_changed_added_or_missing_byte_is_exit_5(self):
        built = self.home.run("build", EXAMPLE / "shapes.onnx", "-o", "e.engine", "--level", "0", "--threads", "1")
        self.assertExit(built, 0)
        engine = self.home.work / "e.engine"
        self.assertExit(self.home.run("verify", engine), 0)
        good = engine.read_bytes()
        places = sorted({0, 7, 8, 63, 64, 80, len(good) // 2, len(good) - 1, len(good) - 64, len(good) - 97, len(good) - 104, *range(1000, len(good), len(good) // 12)})
        bad = self.home.work / "bad.engine"
        versions = [good[:i] + bytes([good[i] ^ 1]) + good[i + 1:] for i in places]
        versions += [good + b"\0", good[:-1], good[:len(good) // 2], good[:100], b"", good[:500] + b"x" + good[500:], good[1:], good + good]
        for i, version in enumerate(versions):
            bad.write_bytes(version)
            self.assertExit(self.home.run("verify", bad), 5)
            if i % 5 == 0:
                self.assertExit(self.home.run("inspect", bad), 5)
                self.assertExit(self.home.run("bench", bad), 5)
                self.assertExit(self.home.run("run", bad, "--input", "x.npy"), 5)
        bad.write_bytes(good)
        self.assertExit(self.home.run("verify", bad), 0)

    def test_an_unknown_key_is_exit_5_and_trusting_it_helps(self):
        other = Home()
        self.addCleanup(other.close)
        self.assertExit(other.run("build", EXAMPLE / "shapes.onnx", "-o", "theirs.engine", "--level", "0"), 0)
        theirs = other.work / "theirs.engine"
        key = other.run("keys", "show", "--json").json()["keys"][0]
        outcome = self.home.run("verify", theirs)
        self.assertExit(outcome, 5, key["id"], "enginery keys trust")
        (self.home.work / "their.pub").write_text(key["public"] + "\n")
        self.assertExit(self.home.run("keys", "trust", "their.pub"), 0)
        self.assertExit(self.home.run("verify", theirs), 0)
        self.assertExit(self.home.run("keys", "untrust", key["id"]), 0)
        self.assertExit(self.home.run("verify", theirs), 5)
        self.assertExit(self.home.run("keys", "untrust", key["id"]), 3)


if __name__ == "__main__":
    main()
