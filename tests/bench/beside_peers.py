#!/usr/bin/env python3
"""Speed beside ONNX Runtime and OpenVINO, in one run: the same threads, the same input, interleaved rounds.

    beside_peers.py --enginery PATH [--threads 2] [--rounds 7] [--seconds 1] [--shapes data:1x3x227x227] [--sku SKU] [--precision bf16]
                    [--level 2] [--csv FILE] [--layers FOLDER] MODEL.onnx [MODEL.onnx@SHAPES ...]

--precision is what enginery may compute in (default fp32). With anything but fp32 OpenVINO computes as it does by default: in bf16 where the
CPU has it. ONNX Runtime computes in what the file says.

Each round lets each engine run for `seconds`, one after the other, so that drift of the clock hits all alike; the table
gives the median of the rounds' medians with their quartiles, and the ratio to the fastest peer. A model may carry its own shapes after '@'.
Enginery is measured through `enginery bench --json` (host buffers in, host buffers out), the peers through their Python
API on the same kind of buffers. Initialisers that a file lists as graph inputs are made constants for the peers, which
else would fold nothing. Layers of models on which enginery is slower go to FOLDER as CSV.
"""
import argparse
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx


def parse_shapes(text):
    shapes = {}
    for part in filter(None, text.split(",")):
        name, dims = part.rsplit(":", 1)
        shapes[name] = [int(d) for d in dims.split("x")]
    return shapes


def clean_model(path, shapes):
    """The model without initialisers among its inputs, with its inputs' sizes fixed."""
    model = onnx.load(path)
    names = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    for value in model.graph.input:  # the copies, not `inputs`
        dims = value.type.tensor_type.shape.dim
        for i, dim in enumerate(dims):
            size = shapes[value.name][i] if value.name in shapes else (dim.dim_value or 1)
            dim.Clear()
            dim.dim_value = size
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return model


def make_inputs(model, seed=1):
    rng = np.random.default_rng(seed)
    out = {}
    for value in model.graph.input:
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            out[value.name] = rng.standard_normal(dims, dtype=np.float32)
        else:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            out[value.name] = np.zeros(dims, dtype)
    return out


def run_for(seconds, once):
    samples, end = [], time.perf_counter() + seconds
    for _ in range(3):
        once()
    while time.perf_counter() < end or len(samples) < 5:
        start = time.perf_counter()
        once()
        samples.append((time.perf_counter() - start) * 1e3)
    return statistics.median(samples)


def onnxruntime_runner(model, inputs, threads, _precision):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return "ONNX Runtime " + onnxruntime.__version__, lambda: session.run(None, inputs)


def openvino_runner(model, inputs, threads, precision):
    import openvino
    core = openvino.Core()
    hints = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    if precision == "fp32":
        hints["INFERENCE_PRECISION_HINT"] = "f32"
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", hints)
    request = compiled.create_infer_request()
    tensors = [openvino.Tensor(inputs[(i.names & inputs.keys()).pop()], shared_memory=True) for i in compiled.inputs]
    for port, tensor in zip(compiled.inputs, tensors):
        request.set_tensor(port, tensor)
    computes = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
    return f"OpenVINO {openvino.__version__.split('-')[0]} {computes}", request.infer


class Enginery:
    """An engine built once and timed by `enginery bench`, a process a round."""

    def __init__(self, path, shapes, options, folder):
        self.binary = options.enginery
        self.engine = os.path.join(folder, os.path.basename(path) + ".engine")
        command = [self.binary, "build", path, "-o", self.engine, "--threads", str(options.threads), "--precision", options.precision]
        command += ["--shapes", shapes] if shapes else []
        command += ["--target", options.sku] if options.sku else []
        command += ["--level", options.level] if options.level else []
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.build_seconds = time.perf_counter() - start

    def bench(self, *options):
        done = subprocess.run([self.binary, "bench", self.engine, "--json", *options], check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def median_ms(self, seconds):
        return self.bench("--duration", str(seconds))["latency"]["median_ms"]


def quartiles(samples):
    if len(samples) < 2:
        return samples[0], samples[0], samples[0]
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, middle, high


def measure(path, shapes_text, options, folder):
    shapes = parse_shapes(shapes_text)
    model = clean_model(path, shapes)
    inputs = make_inputs(model)
    ours = Enginery(path, shapes_text, options, folder)
    contestants = {"enginery": lambda: ours.median_ms(options.seconds)}
    for make in (onnxruntime_runner, openvino_runner):
        try:
            name, once = make(model, inputs, options.threads, options.precision)
        except ImportError as e:
            print(f"skipped: {e}", file=sys.stderr)
            continue
        contestants[name] = lambda once=once: run_for(options.seconds, once)
    samples = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, once in contestants.items():
            samples[name].append(once())
    return ours, samples


def cpu_name():
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    parser.add_argument("--enginery", required=True)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--shapes", default="")
    parser.add_argument("--sku", default="")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--level", default="")
    parser.add_argument("--csv")
    parser.add_argument("--layers")
    options = parser.parse_args()
    rows = []
    print(f"{cpu_name()}, {options.threads} threads, {options.precision}; median of {options.rounds} rounds [quartiles], ms")
    with tempfile.TemporaryDirectory() as folder:
        for argument in options.models:
            path, _, own = argument.partition("@")
            shapes = own or options.shapes
            ours, samples = measure(path, shapes, options, folder)
            name = os.path.splitext(os.path.basename(path))[0] + (" " + shapes if shapes else "")
            medians = {k: quartiles(v)[1] for k, v in samples.items()}
            best_peer = min((v for k, v in medians.items() if k != "enginery"), default=float("nan"))
            for contestant, values in samples.items():
                low, middle, high = quartiles(values)
                rows.append([name, contestant, options.threads, f"{middle:.3f}", f"{low:.3f}", f"{high:.3f}",
                             f"{middle / best_peer:.3f}", cpu_name(), time.strftime("%Y-%m-%d")])
                print(f"{name:40} {contestant:24} {middle:9.3f} [{low:.3f} {high:.3f}]  x{middle / best_peer:.2f}")
            print(f"{name:40} {'(build)':24} {ours.build_seconds:9.1f} s", flush=True)
            if options.layers and medians["enginery"] > best_peer:
                os.makedirs(options.layers, exist_ok=True)
                profile = ours.bench("--duration", "1", "--dump-profile")["layers"]
                with open(os.path.join(options.layers, os.path.basename(path) + ".layers.csv"), "w", newline="") as f:
                    writer = csv.DictWriter(f, fieldnames=["name", "op", "tactic", "median_us", "share"], extrasaction="ignore")
                    writer.writeheader()
                    writer.writerows(profile)
    if options.csv:
        with open(options.csv, "w", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(["model", "engine", "threads", "median_ms", "q1_ms", "q3_ms", "ratio_to_best_peer", "cpu", "date"])
            writer.writerows(rows)


if __name__ == "__main__":
    main()
