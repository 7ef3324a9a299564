#!/usr/bin/env python3
"""Speed in 8 bits on a CPU: enginery in fp32 and int8 beside ONNX Runtime in fp32 and with Q/DQ, one model, batch 1, in turns.

    int8_speed.py --enginery BIN --model MODEL.onnx --qdq QDQ.onnx --table TABLE [--threads 1,2] [--rounds 4] [--seconds 2] [--csv FILE]

--qdq is what onnxruntime.quantization.quantize_static made of the model, preprocessed (quant_pre_process); --table what `enginery calibrate` wrote.
Engines are built at level 2 into a temporary catalog: fp32, int8 of the table, int8 of ONNX Runtime's file. Each turn lets one contender run for
--seconds; the table has the median of the turns' medians. Needs onnxruntime and NumPy, and a machine that does nothing else.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime


def session_of(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.force_spinning_stop", "1")  # between runs its threads leave the cores
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def time_session(session, seconds):
    """The median of an inference in ms."""
    asked = session.get_inputs()[0]
    shape = [n if isinstance(n, int) else 1 for n in asked.shape]
    feed = {asked.name: np.random.default_rng(1).random(shape, dtype=np.float32)}
    for _ in range(3):
        session.run(None, feed)
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        session.run(None, feed)
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def run(command, env):
    done = subprocess.run([*map(str, command)], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--enginery", "--model", "--qdq", "--table"):
        parser.add_argument(name, required=True)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--csv", type=pathlib.Path)
    o = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "ENGINERY_HOME": f"{folder}/home"}
        for threads in map(int, o.threads.split(",")):
            builds = {"enginery fp32": [o.model], "enginery int8, --calib": [o.model, "--int8", "--calib", o.table],
                      "enginery int8, Q/DQ of ONNX Runtime": [o.qdq, "--int8"]}
            engines = {}
            for i, (name, words) in enumerate(builds.items()):
                engines[name] = f"{folder}/{i}.{threads}.engine"
                run([o.enginery, "build", *words, "-o", engines[name], "--threads", threads, "--level", 2], env)
            version = onnxruntime.__version__
            sessions = {f"ONNX Runtime {version} fp32": session_of(o.model, threads), f"ONNX Runtime {version} Q/DQ": session_of(o.qdq, threads)}
            turns = {name: [] for name in [*engines, *sessions]}
            for _ in range(o.rounds):
                for name, engine in engines.items():
                    report = json.loads(run([o.enginery, "bench", engine, "--threads", threads, "--duration", o.seconds, "--json"], env))
                    turns[name].append(report["latency"]["median_ms"])
                for name, session in sessions.items():
                    turns[name].append(time_session(session, o.seconds))
            for name, medians in turns.items():
                rows.append([pathlib.Path(o.model).stem, threads, name, f"{statistics.median(medians):.2f}", " ".join(f"{m:.2f}" for m in medians)])
                print(*rows[-1], sep="\t", flush=True)
    if o.csv:
        with open(o.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([["model", "threads", "contender", "median_ms", "rounds_ms"], *rows])


if __name__ == "__main__":
    main()
