#!/usr/bin/env python3
"""Two builds of enginery beside each other on one machine: has a change of the code cost speed?

    beside_build.py OLD_BUILD NEW_BUILD --models MODEL.onnx:NAME=DIMS ... [--rounds 5] [--out FILE.csv]

Takes turns, old and new, so that the machine's drift meets both alike. Rows: submits and dispatches per processor second
(coordinator_test, Load.*), seconds until `enginery up --detach` returns, seconds of a `build` that the catalog answers, and the
median latency in ms of an engine of level 0, which each build makes for itself in a catalog of its own. Each cell is the median of
the rounds; spread is the larger of both builds' (max - min) / median. The machine should be idle.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

FIELDS = ["what", "old", "new", "new_to_old", "spread", "rounds"]


def timed(command, environment):
    """Seconds of a command that must succeed."""
    start = time.monotonic()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.monotonic() - start


class Side:
    """One build folder with a data folder of its own."""

    def __init__(self, build, home):
        self.build, self.enginery = build, str(build / "bin/enginery")
        self.environment = dict(os.environ, ENGINERY_HOME=home)
        self.home = home

    def load(self):
        """(submits, dispatches) per processor second."""
        text = subprocess.run([self.build / "tests/coordinator/coordinator_test", "--gtest_filter=Load.*"],
                              check=True, capture_output=True, text=True).stdout
        return map(float, re.search(r"(\d+) submits, (\d+) dispatches", text).groups())

    def start(self):
        """Seconds until a farm answers."""
        with tempfile.TemporaryDirectory() as home:
            environment = dict(os.environ, ENGINERY_HOME=home)
            try:
                return timed([self.enginery, "up", "--detach"], environment)
            finally:
                subprocess.run([self.enginery, "down"], env=environment, capture_output=True)

    def engine_of(self, model):
        return os.path.join(self.home, pathlib.Path(model).stem + ".engine")

    def built(self, model, shapes):
        """Seconds of a build; the catalog answers all but the first."""
        return timed([self.enginery, "build", model, "--level", "0", f"--shapes={shapes}", "-o", self.engine_of(model)], self.environment)

    def latency(self, model):
        text = subprocess.run([self.enginery, "bench", self.engine_of(model), "--duration", "3", "--json"],
                              env=self.environment, check=True, capture_output=True, text=True).stdout
        return json.loads(text)["latency"]["median_ms"]


def measures(models):
    """name -> what a side measures in one round."""
    wanted = {"coordinator start, s": Side.start}
    for model, _, shapes in (m.partition(":") for m in models):
        name = pathlib.Path(model).stem
        wanted[f"cached build of {name}, s"] = lambda side, model=model, shapes=shapes: side.built(model, shapes)
        wanted[f"latency of {name}, ms"] = lambda side, model=model: side.latency(model)
    return wanted


def row_of(what, old, new):
    medians = [statistics.median(samples) for samples in (old, new)]
    spread = max((max(s) - min(s)) / m for s, m in zip((old, new), medians))
    return [what, *(f"{m:.4g}" for m in medians), f"{medians[1] / medians[0]:.3f}", f"{spread:.3f}", len(old)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--models", nargs="+", required=True, metavar="MODEL.onnx:NAME=DIMS")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as old_home, tempfile.TemporaryDirectory() as new_home:
        sides = Side(o.old, old_home), Side(o.new, new_home)
        samples = {}
        for side in sides:
            for model, _, shapes in (m.partition(":") for m in o.models):
                side.built(model, shapes)
        for _ in range(3 * o.rounds):  # short, so more of them
            for index, side in enumerate(sides):
                for what, value in zip(("submits per s", "dispatches per s"), side.load()):
                    samples.setdefault(what, ([], []))[index].append(value)
        for _ in range(o.rounds):
            for what, measure in measures(o.models).items():
                for index, side in enumerate(sides):
                    samples.setdefault(what, ([], []))[index].append(measure(side))
    rows = [row_of(what, *both) for what, both in samples.items()]
    with open(o.out, "w", newline="") if o.out else sys.stdout as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


if __name__ == "__main__":
    main()
