"""The exit codes that need a farm or another device to be seen: untuned engines, 7 (another SKU), 8 (some SKUs failed), 1 (all failed)."""
import subprocess
import sys
import unittest

from support import *

FARM_TARGETS = ["v100-sxm2-16g", "p4", "orin-nx-16g"]


def lacks_compiler(outcome):
    """Why the target could not be compiled for, where no NVRTC serves its SM or the binary has no GPU code; else ''."""
    lacking = outcome.code == 7 and any(word in outcome.err for word in ("NVRTC", "libnvrtc", "no GPU support"))
    return outcome.err.strip().splitlines()[-1] if lacking else ""


def needs_compiler(outcome):
    if lacks_compiler(outcome):
        raise unittest.SkipTest(lacks_compiler(outcome))


def times(value, path=""):
    """Every field of a JSON document that is a time and is known."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if (name.endswith(("_us", "_ms")) or name == "us") and inner is not None:
                yield f"{path}.{name} = {inner}"
            yield from times(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from times(inner, f"{path}[{i}]")


class Untuned(HomeTest):
    """`build --provisional`: an engine for a device that is not here."""

    def build(self, sku):
        outcome = self.home.run("build", EXAMPLE / "shapes.onnx", "--target", sku, "--provisional", "-o", f"{sku}.engine", "--json")
        needs_compiler(outcome)
        self.assertExit(outcome, 0)
        return outcome.json()

    def check(self, sku):
        built = self.build(sku)
        self.assertEqual((built["sku"], built["provisional"], built["timings_measured"], built["timings_reused"]), (sku, True, 0, 0))
        self.assertIsNone(built["error"], "nothing was compared: there is no device to run it on")
        engine = self.home.work / f"{sku}.engine"
        shown = self.home.run("inspect", engine)
        self.assertExit(shown, 0)
        self.assertIn("(untuned)", shown.out.splitlines()[0])
        self.assertNotIn(" ms when built", shown.out)
        inspected = self.home.run("inspect", engine, "--json").json()
        self.assertTrue(inspected["provisional"])
        self.assertTrue(inspected["layers"])
        for document in (built, inspected, self.home.run("catalog", "ls", "--json").json()):
            self.assertEqual(list(times(document)), [])
        self.assertExit(self.home.run("verify", engine), 0)

    def test_v100(self):
        self.check("v100-sxm2-16g")

    def test_p4(self):
        self.check("p4")

    def test_t4(self):
        self.check("t4")

    def test_orin(self):
        self.check("orin-nx-16g")

    def test_h200(self):
        self.check("h200")

    def test_a_cpu_that_is_here_can_be_left_untuned_too(self):
        self.check(local_skus(self.home)[-1])

    def test_without_its_device_only_an_untuned_engine_can_be_built(self):
        sku = next((s for s in ("p4", "v100-sxm2-16g") if s not in self.home.run("skus", "--local", "--names").out.split()))
        self.assertExit(self.home.run("build", EXAMPLE / "shapes.onnx", "--target", sku, "-o", "never.engine"), 7, sku, "--provisional")
        self.assertFalse((self.home.work / "never.engine").exists())

    def test_an_engine_for_another_sku_is_exit_7_wherever_it_would_run(self):
        here = self.home.run("skus", "--local", "--names").out.split()
        sku = next(s for s in ("orin-nx-16g", "t4") if s not in here)
        self.build(sku)
        write_npy(self.home.work / "picture.npy", (1, 3, 48, 48), [0.0] * (3 * 48 * 48))
        for words in (["run", f"{sku}.engine", "--input", "picture.npy", "--output", "out"], ["bench", f"{sku}.engine"]):
            self.assertExit(self.home.run(*words), 7, f"an engine for {sku}")
        self.assertFalse((self.home.work / "out").exists(), "nothing is written for an engine that does not run")


class UntunedFarm(HomeTest):
    def test_untuned_targets_beside_a_tuned_one(self):
        (self.home.work / "probe.onnx").write_bytes(small_model(0))  # another model: the farm's own is to be built by the farm
        here = self.home.run("skus", "--local", "--names").out.split()
        probes = {sku: self.home.run("build", "probe.onnx", "--target", sku, "--provisional") for sku in FARM_TARGETS if sku not in here}
        targets = [sku for sku, probe in probes.items() if not lacks_compiler(probe)]
        if not targets:
            needs_compiler(probes[FARM_TARGETS[-1]])
        for sku in set(probes) - set(targets):
            print(f"left out: {lacks_compiler(probes[sku])}", file=sys.stderr)
        cpu = local_skus(self.home)[0]
        targets.append("this" if here[0] == cpu else cpu)  # where `this` is a GPU, this farm has no worker for it
        self.home.up("--skus", cpu, "--threads", "1")
        submitted = self.home.run("submit", EXAMPLE / "shapes.onnx", "--target", ",".join(targets), "--provisional", "--wait",
                                  "--threads", "1", "--level", "2", "--json")
        self.assertExit(submitted, 0)
        job = submitted.json()
        tuned = [t for t in job["targets"] if not t["provisional"]]
        untuned = [t for t in job["targets"] if t["provisional"]]
        self.assertEqual([t["sku"] for t in tuned], [cpu])
        self.assertEqual([t["sku"] for t in untuned], targets[:-1])
        self.assertGreater(tuned[0]["latency_ms"], 0)
        self.assertEqual(list(times(untuned)), [])
        steps = self.home.run("show", job["job"], "--json").json()["steps"]
        self.assertEqual({s["name"] for s in steps if s["sku"] in targets[:-1]} - {"assemble", "sign", "validate"}, set())
        for target in untuned:
            self.assertEqual((target["state"], target["timings_measured"]), ("done", 0))
            fetched = self.home.run("fetch", "shapes", "--target", target["sku"], "-o", "fetched.engine", "--json")
            self.assertExit(fetched, 0, "untuned")
            self.assertTrue(fetched.json()["provisional"])
            inspected = self.home.run("inspect", "fetched.engine", "--json").json()
            self.assertEqual((inspected["sku"], inspected["provisional"], list(times(inspected))), (target["sku"], True, []))


class SomeFail(HomeTest):
    """A farm of two SKUs, one of whose workers cannot lock its device: every step that measures there fails."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        skus = local_skus(cls.home)
        if len(skus) < 2:
            raise unittest.SkipTest("this machine has one CPU SKU only")
        cls.good, cls.bad = skus[-1], skus[-2]
        cls.home.up("--skus", cls.good, "--threads", "1")
        # Later than `up`: its folder for locks is no folder.
        environment = {**cls.home.env, "ENGINERY_LOCKS": str(cls.home.path / "no-such-folder")}
        cls.worker = subprocess.Popen([BIN, "worker", "--sku", cls.bad, "--data", str(cls.home.path / "bad"), "--threads", "1"], env=environment,
                                      cwd=cls.home.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(lambda: (cls.worker.terminate(), cls.worker.wait(30)))
        wait_for(lambda: cls.bad in [w["sku"] for w in cls.home.run("workers", "--json").json()["workers"]], 30, "the second worker")
        (cls.home.work / "net.onnx").write_bytes(small_model(0))

    def submit(self, *words):
        outcome = self.home.run("submit", "net.onnx", "--level", "0", "--threads", "1", *words)
        self.assertExit(outcome, 0)
        return outcome.out.strip()

    def test_8_when_some_fail_and_1_when_all_do(self):
        both = self.submit("--target", f"{self.good},{self.bad}")
        one = self.submit("--target", self.bad, "--name", "alone")
        partial = self.home.run("wait", both, "--json")
        self.assertExit(partial, 8, "enginery retry " + both)
        states = {t["sku"]: t["state"] for t in partial.json()["targets"]}
        self.assertEqual(states, {self.good: "done", self.bad: "failed"})
        error = next(t["error"] for t in partial.json()["targets"] if t["sku"] == self.bad)
        self.assertEqual(error["code"], "storage")
        self.assertIn("lock", error["message"])
        self.assertExit(self.home.run("wait", one), 1, "enginery retry " + one)
        # What succeeded can be fetched; what failed is not there.
        self.assertExit(self.home.run("fetch", "net", "--target", self.good, "-o", "net.engine"), 0)
        self.assertExit(self.home.run("fetch", "net", "--target", self.bad), 3)
        # Asked again, the good target comes from the catalog and the other fails again.
        self.assertExit(self.home.run("submit", "net.onnx", "--level", "0", "--threads", "1", "--target", f"{self.good},{self.bad}", "--wait"), 8)

    def test_8_when_the_rest_is_cancelled_and_6_when_nothing_is_done(self):
        job = self.submit("--target", f"{self.good},p4", "--wait-for-workers", "--name", "cancelled")
        wait_for(lambda: "done" in [t["state"] for t in self.home.run("show", job, "--json").json()["targets"]], 60, "the first target")
        self.assertExit(self.home.run("cancel", job), 0)
        self.assertExit(self.home.run("wait", job), 8)
        other = self.submit("--target", "p4", "--wait-for-workers", "--name", "nothing")
        self.assertExit(self.home.run("cancel", other), 0)
        self.assertExit(self.home.run("wait", other), 6)


if __name__ == "__main__":
    main()
