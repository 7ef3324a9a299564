"""What breaks on a farm and costs no job: a worker whose disk fails, a step that ends its processes, blobs that are damaged or gone.

And the verbs with which people look and help: workers, explain, retry, drain, undrain, workers --forget.
"""
import shutil
import signal
import sqlite3
import time

from support import *
from test_farm import farm_pids


def children(pid):
    """The processes that a process has started, whichever of its threads did."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            found += map(int, (task / "children").read_text().split())
        except OSError:
            pass
    return found


class PolicyTest(HomeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sku = local_skus(cls.home)[0]
        cls.up = cls.home.up("--skus", cls.sku, "--threads", "1")

    def submit(self, number, *words, code=0, name=None):
        file = self.home.work / f"{name or f'net{number}'}.onnx"
        file.write_bytes(small_model(number))
        outcome = self.home.run("submit", file, "--target", self.sku, "--level", "0", "--threads", "1", "--json", *words)
        self.assertExit(outcome, code)
        return outcome.json()

    def worker(self, name):
        """What `workers` says of a worker, or None."""
        rows = self.home.run("workers", "--json").json()["workers"]
        return next((row for row in rows if row["id"] == name), None)

    def wait_for_worker(self, name, state, seconds=60):
        def there():
            row = self.worker(name)
            return row and row["state"] == state and row

        return wait_for(there, seconds, f"worker {name} {state}")


class BrokenWorker(PolicyTest):
    def test_costs_no_job_is_quarantined_and_comes_back(self):
        folder = self.home.path / "bad"
        process = self.home.start("worker", "--sku", self.sku, "--name", "bad", "--data", folder)
        self.addCleanup(lambda: (process.kill(), process.wait(20)))
        self.wait_for_worker("bad", "idle")
        away = self.home.path / "away"
        folder.rename(away)
        folder.write_text("its disk is gone")

        jobs = [self.submit(i)["job"] for i in range(10)]
        for job in jobs:
            self.assertExit(self.home.run("wait", job), 0)
        reason = self.wait_for_worker("bad", "quarantined")["reason"]
        self.assertTrue("on no other worker" in reason or "self-test failed" in reason, reason)
        shown = self.home.run("workers")
        self.assertIn("bad is quarantined", shown.out + shown.err)
        wait_for(lambda: "self-test failed" in self.worker("bad")["reason"], 30, "a self-test that failed")

        folder.unlink()
        away.rename(folder)
        self.assertEqual(self.home.run("undrain", "bad", "--json").json(), {"schema": "enginery.undrain/1", "worker": "bad"})
        self.assertIsNone(self.wait_for_worker("bad", "idle", 10)["reason"])

        self.assertExit(self.home.run("workers", "--forget", "bad"), 2, "enginery drain")
        process.send_signal(signal.SIGKILL)
        self.wait_for_worker("bad", "lost", 40)
        self.assertExit(self.home.run("workers", "--forget", "bad"), 0)
        self.assertIsNone(self.worker("bad"))


class Killer(PolicyTest):
    def test_is_tried_three_times_in_all_and_the_next_submit_hears_it(self):
        worker = farm_pids(self.up)[f"worker {self.sku}"]
        job, killed, deadline = self.submit(1)["job"], set(), time.monotonic() + 60
        ended = self.home.start("wait", job, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while ended.poll() is None and time.monotonic() < deadline:
            for pid in children(worker):
                if pid not in killed:
                    kill(pid)
                    killed.add(pid)
        self.assertEqual(ended.wait(1), 1)
        attempts = [attempt["outcome"] for step in self.home.run("show", job, "--json").json()["steps"] for attempt in step["attempts"]]
        self.assertEqual(attempts[-3:], ["worker_lost"] * 3, attempts)  # a step may have been faster than the kills

        again = self.home.run("submit", self.home.work / "net1.onnx", "--target", self.sku, "--level", "0", "--threads", "1", "--wait")
        self.assertExit(again, 1, "enginery retry")
        for words in ("3 processes died", "signal 9", "it is not tried again for 23 h"):
            self.assertIn(words, again.out)
        self.assertLess(again.seconds, 5)
        self.assertIsNone(self.worker(self.home.run("workers", "--json").json()["workers"][0]["id"])["reason"], "one step says nothing about a worker")
        self.assertExit(self.home.run("retry", job, "--wait"), 0)
        self.assertEqual(self.submit(1, "--wait")["targets"][0]["source"], "cache")


class DamagedBlobs(PolicyTest):
    """A job that goes on from what an earlier one left, of which one blob is damaged or gone."""

    def blobs(self):
        return {name: bytes(digest) for name, digest in self.sql("SELECT name, digest FROM result_output WHERE digest NOT IN (SELECT digest FROM blob_part)")}

    def sql(self, text, *values):
        database = sqlite3.connect(self.database, timeout=20)
        try:
            with database:
                return database.execute(text, values).fetchall()
        finally:
            database.close()

    def damage(self, digest, how):
        (place,), = self.sql("SELECT place FROM blob WHERE digest = ?", digest)
        file = self.database.parent / "sha256" / digest.hex()[:2] / digest.hex()[2:]
        if place == 1 and how == "removed":
            file.unlink()
        elif place == 1:
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            file.chmod(0o644)
            file.write_bytes(data)
        elif how == "removed":
            self.sql("DELETE FROM blob WHERE digest = ?", digest)
            self.sql("DELETE FROM blob_bytes WHERE digest = ?", digest)
        else:
            (data,), = self.sql("SELECT bytes FROM blob_bytes WHERE digest = ?", digest)
            self.sql("UPDATE blob_bytes SET bytes = ? WHERE digest = ?", bytes([data[0] ^ 1]) + data[1:], digest)

    def forget_copies(self):
        """The worker reads from the farm again."""
        for folder in (self.home.path / "home/state").rglob("blobs"):
            shutil.rmtree(folder)

    def test_any_one_of_them_and_the_job_ends_done(self):
        self.submit(1, "--wait")
        self.database, = (self.home.path / "home").rglob("catalog.db")
        names = sorted(self.blobs())
        self.assertTrue({"choices", "content"} <= set(names), names)
        for i, (name, how) in enumerate((name, how) for name in names for how in ("flipped", "removed")):
            with self.subTest(name=name, how=how):
                self.forget_copies()
                self.damage(self.blobs()[name], how)
                job = self.submit(1, "--wait", name=f"other{i}")
                self.assertEqual(job["state"], "done")
                self.assertExit(self.home.run("fetch", job["job"], "-o", f"{i}.engine"), 0)
                self.assertExit(self.home.run("verify", f"{i}.engine"), 0)


if __name__ == "__main__":
    main()
