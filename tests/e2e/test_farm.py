"""The farm through the real binary: up, submit, wait, fetch and every line of cli.md's contract about them."""
import json
import os
import signal
import subprocess
import time

from support import *

JOB_STATES = {"queued", "running", "done", "failed", "cancelled"}


def farm_pids(up):
    """{child name: pid} out of what `up` printed."""
    return {line.rsplit(" pid ", 1)[0]: int(line.rsplit(" pid ", 1)[1]) for line in up.out.splitlines() if " pid " in line}


class Farm(HomeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.skus = local_skus(cls.home)[:2]
        cls.up = cls.home.up("--skus", ",".join(cls.skus), "--threads", "1")
        (cls.home.work / "net.onnx").write_bytes(small_model(0))

    def submit(self, *words, code=0):
        outcome = self.home.run("submit", *words, "--level", "2", "--threads", "1", "--json")
        self.assertExit(outcome, code)
        return outcome.json()

    def test_01_up_prints_ready_and_each_childs_pid(self):
        self.assertEqual(self.up.out.splitlines()[-1], "ready")
        pids = farm_pids(self.up)
        self.assertEqual(set(pids), {"coordinator"} | {f"worker {sku}" for sku in self.skus})
        self.assertTrue(all(alive(pid) for pid in pids.values()))
        self.assertExit(self.home.run("up"), 10, "enginery down")
        self.assertExit(self.home.run("coordinator", "--listen", f"ipc://{self.home.path}/other.sock", "--bulk-listen", f"ipc://{self.home.path}/ob.sock"), 10)

    def test_02_skus_and_workers_json(self):
        skus = self.home.run("skus", "--json").json()
        self.assertEqual(skus["schema"], "enginery.skus/1")
        ours = {s["sku"]: s for s in skus["skus"] if s["workers"]}
        self.assertEqual(set(ours), set(self.skus))
        for sku in ours.values():
            self.assertEqual((sku["kind"], sku["this"], sku["workers"]), ("cpu", True, 1))
        workers = self.home.run("workers", "--json").json()["workers"]
        self.assertEqual({w["sku"] for w in workers}, set(self.skus))
        for worker in workers:
            for name in ("id", "sku", "state", "pid", "job", "step", "last_seen_s"):
                self.assertIn(name, worker)
            self.assertIn(worker["pid"], farm_pids(self.up).values())

    def test_03_submit_builds_for_every_target(self):
        targets = ",".join(self.skus)
        dry = self.submit("net.onnx", "--target", targets, "--dry-run")
        self.assertIsNone(dry["job"])
        self.assertEqual(self.home.run("jobs", "--json").json()["jobs"], [])
        job = self.submit("net.onnx", "--target", targets, "--wait")
        self.assertEqual((job["schema"], job["state"]), ("enginery.job/1", "done"))
        self.assertEqual(job["model"]["name"], "net")
        self.assertTrue(job["model"]["digest"].startswith("sha256:"))
        self.assertEqual([t["sku"] for t in job["targets"]], self.skus)
        for target in job["targets"]:
            self.assertEqual((target["state"], target["source"], target["provisional"], target["error"]), ("done", "built", False, None))
            self.assertTrue(target["engine"].startswith("sha256:"))
            self.assertGreater(target["latency_ms"], 0)
            self.assertGreater(target["size_bytes"], 1000)
            self.assertGreater(target["timings_measured"] + target["timings_reused"], 0)
        type(self).job = job

    def test_03b_a_calibration_travels_with_the_job(self):
        write_npy(self.home.work / "rows.npy", (4, 3, 16, 16), [i * 7919 % 255 / 127 - 1 for i in range(4 * 3 * 16 * 16)])
        self.assertExit(self.home.run("calibrate", "net.onnx", "--data", "rows.npy", "--threads", "1", "--histograms", "net.hist", "-o", "net.table"), 0)
        of_table = self.submit("net.onnx", "--target", self.skus[0], "--int8", "--calib", "net.table", "--wait", "--name", "net8")
        self.assertEqual(of_table["state"], "done")
        again = self.submit("net.onnx", "--target", self.skus[0], "--int8", "--calib", "net.table", "--wait", "--name", "net8")
        self.assertEqual(again["targets"][0]["source"], "cache")
        of_histograms = self.submit("net.onnx", "--target", self.skus[0], "--int8", "--calib", "net.hist", "--calibrator", "minmax", "--wait", "--name", "net8")
        self.assertEqual((of_histograms["state"], of_histograms["targets"][0]["timings_measured"]), ("done", 0))
        (self.home.work / "other.table").write_text("TRT-8601-MinMaxCalibration\nnothing: 3f800000\n")
        self.assertExit(self.home.run("submit", "net.onnx", "--target", self.skus[0], "--int8", "--calib", "other.table"), 9, "of another model")

    def test_04_show_has_steps_and_at_most_one_commit_each(self):
        shown = self.home.run("show", self.job["job"], "--json").json()
        self.assertEqual(shown["targets"], self.job["targets"])
        names = {s["name"] for s in shown["steps"]}
        self.assertTrue({"validate", "tune", "assemble", "verify", "profile", "sign"} <= names, names)
        for step in shown["steps"]:
            self.assertLessEqual(step["commits"], 1)
            for name in ("sku", "name", "key", "epoch", "attempts", "commits"):
                self.assertIn(name, step)
            for attempt in step["attempts"]:
                self.assertEqual(set(attempt) & {"worker", "started", "ended", "outcome"}, {"worker", "started", "ended", "outcome"})
        self.assertExit(self.home.run("show", "no-such-job"), 3)

    def test_05_jobs_logs_wait_explain(self):
        jobs = self.home.run("jobs", "--json").json()["jobs"]
        mine = [j for j in jobs if j["id"] == self.job["job"]][0]
        self.assertEqual((mine["state"], mine["done"], mine["total"], mine["model"]), ("done", 2, 2, "net"))
        self.assertTrue(mine["submitted"])
        log = self.home.run("logs", self.job["job"], "-f")
        self.assertExit(log, 0)
        self.assertTrue(log.out.strip(), "an empty log")
        self.assertExit(self.home.run("wait", self.job["job"]), 0)
        self.assertExit(self.home.run("explain", self.job["job"], "--json"), 0)
        for verb in ("wait", "logs", "explain", "cancel", "retry"):
            self.assertExit(self.home.run(verb, "no-such-job"), 3)
        self.assertExit(self.home.run("retry", self.job["job"]), 2, "nothing to retry")

    def test_06_the_same_submit_again_is_answered_from_the_catalog(self):
        again = self.submit("net.onnx", "--target", ",".join(self.skus), "--wait")
        self.assertEqual([t["source"] for t in again["targets"]], ["cache", "cache"])
        self.assertEqual([t["engine"] for t in again["targets"]], [t["engine"] for t in self.job["targets"]])
        dry = self.submit("net.onnx", "--target", ",".join(self.skus), "--dry-run")
        self.assertEqual([t["source"] for t in dry["targets"]], ["cache", "cache"])

    def test_07_other_weights_measure_nothing(self):
        (self.home.work / "net1.onnx").write_bytes(small_model(1))
        job = self.submit("net1.onnx", "--target", ",".join(self.skus), "--wait", "--tag", "prod")
        self.assertEqual([t["timings_measured"] for t in job["targets"]], [0, 0])
        self.assertEqual([t["source"] for t in job["targets"]], ["built", "built"])
        type(self).other = job

    def test_08_fetch_by_name_tag_digest_and_job(self):
        this = self.skus[0]
        fetched = self.home.run("fetch", "net", "--json")
        self.assertExit(fetched, 0)
        answer = fetched.json()
        self.assertEqual({k: answer[k] for k in ("name", "sku", "path", "provisional")}, {"name": "net", "sku": this, "path": f"./net.{this}.engine", "provisional": False})
        self.assertEqual(answer["engine"], self.job["targets"][0]["engine"])
        plain = self.home.run("fetch", "net", "--target", self.skus[1], "-o", "low.engine")
        self.assertEqual(plain.out, "low.engine\n")
        self.assertExit(self.home.run("verify", "low.engine"), 0)
        digest = self.job["targets"][1]["engine"]
        self.assertEqual(self.home.run("fetch", digest[:7 + 10], "-o", "d.engine", "--json").json()["sku"], self.skus[1])
        self.assertEqual(self.home.run("fetch", self.job["job"], "-o", "j.engine", "--json").json()["engine"], self.job["targets"][0]["engine"])
        self.assertEqual(self.home.run("fetch", "net1@prod", "-o", "t.engine", "--json").json()["engine"], self.other["targets"][0]["engine"])
        self.assertExit(self.home.run("fetch", "net@nope"), 3)
        self.assertExit(self.home.run("fetch", "nope"), 3)
        self.assertExit(self.home.run("fetch", "net", "--target", "p4"), 3, self.skus[0])
        self.assertExit(self.home.run("fetch", "net", "--target", "p44"), 2)
        self.assertIn("is taken", self.home.run("fetch", "net", "--explain", "-o", "e.engine").err)

    def test_09_a_fetched_engine_runs(self):
        self.assertExit(self.home.run("fetch", "net", "-o", "run.engine"), 0)
        write_npy(self.home.work / "x.npy", (2, 3, 16, 16), [(i % 17) / 17 for i in range(2 * 3 * 256)])
        self.assertExit(self.home.run("run", "run.engine", "--input", "x.npy", "--output", "y"), 0)
        self.assertEqual(read_npy(self.home.work / "y/y.npy")[1], (2, 8))

    def test_10_a_local_build_finds_what_the_farm_built(self):
        outcome = self.home.run("build", "net.onnx", "--target", self.skus[1], "--level", "2", "--threads", "1", "--json", "-o", "l.engine")
        self.assertExit(outcome, 0)
        self.assertEqual((outcome.json()["source"], outcome.json()["engine"]), ("cache", self.job["targets"][1]["engine"]))

    def test_11_why_miss_names_the_field(self):
        target = self.other["targets"][0]
        miss = self.home.run("why-miss", self.other["job"], "--json")
        self.assertExit(miss, 0)
        for name in ("key", "nearest", "differs"):
            self.assertIn(name, miss.json())
        fields = {d["field"] for d in self.home.run("why-miss", target["key"], "--json").json()["differs"]}
        self.assertEqual(fields, {"model", "name"})

    def test_12_targets_that_nobody_offers(self):
        outcome = self.home.run("submit", "net.onnx", "--target", "p4", "--level", "2")
        self.assertExit(outcome, 2, "p4", "--wait-for-workers")
        job = self.home.run("submit", "net.onnx", "--target", "p4", "--level", "2", "--threads", "1", "--wait-for-workers", "--json").json()
        self.assertEqual(job["targets"][0]["state"], "queued")
        timed = self.home.run("wait", job["job"], "--timeout", "1")
        self.assertExit(timed, 6, "enginery wait " + job["job"])
        self.assertTrue(self.home.run("explain", job["job"]).out.strip())
        self.assertExit(self.home.run("cancel", job["job"]), 0)
        self.assertExit(self.home.run("wait", job["job"]), 6, "1 cancelled")
        self.assertEqual(self.home.run("show", job["job"], "--json").json()["targets"][0]["state"], "cancelled")

    def test_13_ctrl_c_detaches_and_says_how_to_attach_again(self):
        process = self.home.start("submit", "net.onnx", "--target", "t4", "--level", "2", "--wait-for-workers", "--wait", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = process.stderr.readline()
        while not line.startswith("job "):
            line = process.stderr.readline()
        job = line.split()[1]
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 6, err)
        self.assertIn("enginery wait " + job, err)
        self.assertEqual(self.home.run("show", job, "--json").json()["state"] in JOB_STATES, True)
        self.home.run("cancel", job)

    def test_14_the_catalog_is_clean(self):
        verified = self.home.run("catalog", "verify", "--json")
        self.assertExit(verified, 0)
        self.assertTrue(verified.json()["clean"])

    def test_15_with_every_worker_stopped_the_catalog_still_answers(self):
        self.home.down()
        coordinator = self.home.start("coordinator", stdout=subprocess.PIPE)
        self.addCleanup(lambda: (coordinator.terminate(), coordinator.wait(20), coordinator.stdout.close()))
        self.assertTrue(coordinator.stdout.readline().startswith("listening"))
        again = self.submit("net.onnx", "--target", ",".join(self.skus), "--wait")
        self.assertEqual([t["source"] for t in again["targets"]], ["cache", "cache"])


class UpAndDown(HomeTest):
    def test_children_die_with_up_however_it_ends(self):
        sku = local_skus(self.home)[-1]
        for how in (signal.SIGTERM, signal.SIGKILL):
            process = self.home.start("up", "--skus", sku, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            lines = []
            while not lines or lines[-1] != "ready\n":
                lines.append(process.stdout.readline())
                self.assertTrue(lines[-1], lines)
            pids = [int(line.rsplit(" ", 1)[1]) for line in lines if " pid " in line]
            self.assertEqual(len(pids), 2)
            process.send_signal(how)
            process.wait(30)
            process.stdout.close()
            wait_for(lambda: not any(alive(pid) for pid in pids), 15, "the children's end")

    def test_a_child_that_died_is_started_again(self):
        sku = local_skus(self.home)[-1]
        up = self.home.up("--skus", sku)
        for child in ("coordinator", f"worker {sku}"):
            old = farm_pids(up)[child]
            kill(old)

            def replaced():
                workers = self.home.run("workers", "--json")
                rows = workers.json()["workers"] if workers.code == 0 else []
                return any(w["sku"] == sku and w["state"] != "lost" and w["pid"] != (old if child != "coordinator" else 0) for w in rows)

            wait_for(replaced, 40, f"the new {child}")
        down = self.home.run("down")
        self.assertExit(down, 0)
        self.home.farm = None
        self.assertExit(self.home.run("down"), 3)


if __name__ == "__main__":
    main()
