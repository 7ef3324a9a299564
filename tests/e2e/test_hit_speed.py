"""What a command costs whose answer the farm has, beside the start of its process (the second half of R8).

ENGINERY_COMMANDS=100 with ENGINERY_COMMAND_MS=15 on a machine that does nothing else is the bar; by default it only catches a command
that sleeps or builds.
"""
import os
import statistics
import unittest

from support import *

COMMANDS = int(os.environ.get("ENGINERY_COMMANDS", "10"))
MOST_MS = float(os.environ.get("ENGINERY_COMMAND_MS", "1000"))


class HitSpeed(HomeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sku = local_skus(cls.home)[0]
        cls.home.up("--skus", cls.sku, "--threads", "1")
        (cls.home.work / "net.onnx").write_bytes(small_model(0))
        cls.submit = ["submit", "net.onnx", "--target", cls.sku, "--level", "2", "--threads", "1", "--wait", "--json"]
        cls.job = cls.home.run(*cls.submit).json()

    def milliseconds(self, *words):
        outcome = self.home.run(*words)
        self.assertExit(outcome, 0)
        return outcome.seconds * 1e3, outcome

    def test_a_command_that_the_catalog_answers_takes_milliseconds(self):
        taken = {"start": [], "submit": [], "fetch": []}
        for _ in range(COMMANDS):
            taken["start"].append(self.milliseconds("--version")[0])
            ms, outcome = self.milliseconds(*self.submit)
            taken["submit"].append(ms)
            self.assertEqual(outcome.json()["targets"][0]["source"], "cache")
            taken["fetch"].append(self.milliseconds("fetch", self.job["job"], "-o", self.home.work / "out.engine")[0])
        start, submit, fetch = (statistics.median(times) for times in taken.values())
        print(f"start {start:.1f} ms; submit --wait: {submit - start:.1f} ms more; fetch: {fetch - start:.1f} ms more (medians of {COMMANDS})")
        self.assertLessEqual(submit - start, MOST_MS)
        self.assertLessEqual(fetch - start, MOST_MS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
