#!/usr/bin/env python3
"""How far an engine's outputs are from ONNX Runtime's: spec/performance.md section 5's distances, per output tensor.

    accuracy.py --enginery PATH [--sku SKU] [--threads 2] [--csv FILE] MODEL.onnx INPUT.npz|INPUT.npy [MODEL INPUT ...]

    error    max|y - r| / max|r|                     bar 1e-3 for fp32 on a CPU
    spread   max|y - r| / max|r - mean of r over the inputs|, at most ten times the bar: an engine that ignores its input fails

Each model is built at the batch sizes of --batches (default 1,8) where its batch dimension is symbolic, and run on all
samples of its input. Exit status 1 when a bar is missed.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

BAR = 1e-3


def load_inputs(path):
    if path.endswith(".npz"):
        with np.load(path) as archive:
            return {k: archive[k] for k in archive.files}
    return {None: np.load(path)}


def real_inputs(model):
    initializers = {i.name for i in model.graph.initializer}
    return [v for v in model.graph.input if v.name not in initializers]


def reference(path, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    fixed = session.get_inputs()[0].shape[0]
    count = len(next(iter(feeds.values())))
    step = fixed if isinstance(fixed, int) else count
    parts = [session.run(None, {k: v[i:i + step] for k, v in feeds.items()}) for i in range(0, count, step)]
    return {name: np.concatenate([part[i] for part in parts]) for i, name in enumerate(names)}


def distances(y, r):
    scale = np.abs(r).max()
    error = np.abs(y - r).max() / scale
    around = np.abs(r - r.mean(axis=0, keepdims=True)).max() if r.shape[0] > 1 else scale
    return error, np.abs(y - r).max() / around


def check(options, path, input_path, folder):
    model = onnx.load(path, load_external_data=False)
    inputs = real_inputs(model)
    feeds = load_inputs(input_path)
    if None in feeds:
        feeds = {inputs[0].name: feeds[None]}
    symbolic = not inputs[0].type.tensor_type.shape.dim[0].dim_value
    expected = reference(path, feeds)
    rows = []
    for batch in [int(b) for b in options.batches.split(",")] if symbolic else [inputs[0].type.tensor_type.shape.dim[0].dim_value]:
        engine, out = os.path.join(folder, "e"), os.path.join(folder, "out")
        shapes = ",".join(f"{n}:" + "x".join(map(str, (batch, *a.shape[1:]))) for n, a in feeds.items())
        command = [options.enginery, "build", path, "-o", engine, "--shapes", shapes, "--threads", str(options.threads)]
        subprocess.run(command + (["--target", options.sku] if options.sku else []), check=True, stdout=subprocess.DEVNULL)
        command = [options.enginery, "run", engine, "--output", out]
        for name, array in feeds.items():
            np.save(os.path.join(folder, name + ".npy"), array)
            command += ["--input", f"{name}={os.path.join(folder, name + '.npy')}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for name, r in expected.items():
            error, spread = distances(np.load(os.path.join(out, name + ".npy")).reshape(r.shape), r)
            good = error <= BAR and spread <= 10 * BAR
            rows.append([os.path.basename(path), batch, name, f"{error:.2e}", f"{spread:.2e}", "ok" if good else "MISSED"])
            print("{:24} batch {:3} {:12} error {} spread {}  {}".format(*rows[-1]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="MODEL INPUT")
    parser.add_argument("--enginery", required=True)
    parser.add_argument("--sku", default="")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--csv")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path, input_path in zip(options.pairs[::2], options.pairs[1::2]):
            rows += check(options, path, input_path, folder)
    if options.csv:
        with open(options.csv, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([["model", "batch", "output", "error", "spread", "verdict"], *rows])
    return 1 if any(r[-1] != "ok" for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
