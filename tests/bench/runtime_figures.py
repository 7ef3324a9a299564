#!/usr/bin/env python3
"""What a program pays for an engine: its load, its resident memory, and what a call from C and from Python takes beside the device's own time.

    runtime_figures.py --build build/release [--csv FILE] [--runs 3000] [--rounds 5] [--engine FILE.engine] [--under "chrt -f 10"] [MODEL.onnx@SHAPES ...]

The overhead is that of one Relu of four numbers, whose work is some nanoseconds: what is left is the call. Rounds of C and of Python alternate, each a
process of its own; the table has the median of the rounds' medians. Models are built at level 0 into a temporary catalog, with two threads, loaded from a
file, once read and once mapped. `--engine`: a signed file more, with the user's keys. `--under`: a command in front of what is
measured, such as the one that gives it a busy machine's cores at once. Needs cc and NumPy.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = """
import sys, time, statistics, numpy, enginery
engine = enginery.load(sys.argv[1], keys=sys.argv[2])
context = engine.context()
x = {t.name: numpy.zeros(t.shape, t.dtype) for t in engine.inputs}
y = {t.name: numpy.zeros(t.shape, t.dtype) for t in engine.outputs}
context(x, y)
for call in (context.run, lambda: context(x, y), lambda: engine.run(x)):
    times = []
    for _ in range(int(sys.argv[3])):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    print(statistics.median(times) * 1e6)
"""


def output(command, env):
    return [float(word) for word in subprocess.run([*map(str, command)], env=env, check=True, capture_output=True, text=True).stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine")
    parser.add_argument("--under", default="")
    parser.add_argument("models", nargs="*")
    o = parser.parse_args()
    rows, under = [], o.under.split()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        env = {**os.environ, "ENGINERY_HOME": str(work / "home"), "PYTHONPATH": str(ROOT / "python"), "ENGINERY_LIBRARY": str(o.build / "lib/libenginery.so"),
               "ENGINERY_BUILD_LIBRARY": str(o.build / "lib/libenginery-build.so"), "ENGINERY_BIN": str(o.build / "bin/enginery")}
        keys = work / "home/data/keys"
        program = work / "runtime_figures"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-I", ROOT / "engine/include", HERE / "runtime_figures.c", "-o", program, "-L", o.build / "lib",
                        "-lenginery", f"-Wl,-rpath,{(o.build / 'lib').resolve()}"], check=True)

        def build(model, shapes, engine, threads):
            built = subprocess.run([o.build / "bin/enginery", "build", model, "-o", engine, "--level", "0", "--threads", str(threads),
                                    *([f"--shapes={shapes}"] if shapes else [])], env=env, check=False, capture_output=True, text=True)
            if built.returncode != 0:
                sys.exit(built.stderr)

        small = work / "relu.network"
        subprocess.run([sys.executable, "-c", "import sys, enginery\nn = enginery.Network('relu')\nx = n.add_input('x', 'float32', (1, 4))\n"
                        "n.mark_output(n.add_activation(x, 'relu'), 'y')\nopen(sys.argv[1], 'wb').write(n.save())", small], env=env, check=True)
        build(small, "", work / "relu.engine", 1)
        c, python = [], []
        for _ in range(o.rounds):
            c.append(output([*under, program, work / "relu.engine", keys, o.runs], env)[6])
            python.append(output([*under, sys.executable, "-c", PYTHON, work / "relu.engine", keys, o.runs], env))
        in_c = statistics.median(c)
        rows.append(["call", "relu of 4 numbers", "enginery_context_run (C)", f"{in_c:.2f}", "us", f"{min(c):.2f}..{max(c):.2f}"])
        for i, way in enumerate(["context.run()", "context(inputs, outputs)", "engine.run(inputs)"]):
            us = [times[i] for times in python]
            rows.append(["call", "relu of 4 numbers", f"{way} (Python), above C", f"{statistics.median(us) - in_c:.2f}", "us", f"{min(us):.2f}..{max(us):.2f}"])
        engines = [(o.engine, o.engine, os.path.expanduser("~/.local/share/enginery/keys"))] if o.engine else []
        for model in o.models:
            path, _, shapes = model.partition("@")
            build(path, shapes, work / (pathlib.Path(path).stem + ".engine"), 2)
            engines.append((pathlib.Path(path).stem, work / (pathlib.Path(path).stem + ".engine"), keys))
        for name, engine, keys_of in engines:
            for how in ([], ["mapped"]):
                runs = [output([*under, program, engine, keys_of, 3, *how], env) for _ in range(o.rounds)]
                load, weights, arena, loaded, resident, anonymous = (statistics.median(column) for column in list(zip(*runs))[:6])
                word = "mapped" if how else "read"
                loads = [run[0] for run in runs]
                rows.append(["load", name, word, f"{load:.1f}", "ms", f"{min(loads):.1f}..{max(loads):.1f}"])
                rows.append(["resident after loading", name, word, f"{loaded / (weights + arena):.3f}", "of weights plus arena", f"{loaded / 2**20:.1f} MiB"])
                rows.append(["resident after a run", name, word, f"{resident / (weights + arena):.3f}", "of weights plus arena",
                             f"{resident / 2**20:.1f} MiB, {anonymous / 2**20:.1f} of it anonymous; weights {weights / 2**20:.1f}, arena {arena / 2**20:.1f}"])
    for row in rows:
        print(" | ".join(row))
    if o.csv:
        with open(o.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["figure", "subject", "how", "value", "unit", "range"], *rows])


if __name__ == "__main__":
    main()
