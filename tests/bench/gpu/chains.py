#!/usr/bin/env python3
"""The chains of operators.py on a GPU beside PyTorch, eager and torch.compile, each of these in a CUDA graph: device-resident, milliseconds.

    chains.py --enginery PATH [--level 3] [--csv FILE]

A replay of a graph costs PyTorch some microseconds by itself. Needs torch, numpy and onnx. From a bundle (deploy/gpu-bundle), whose libraries
and CUDA's are in the environment: LD_LIBRARY_PATH=bundle/lib:/usr/local/cuda/lib64 chains.py --enginery bundle/bin/enginery
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

import onnx
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import operators

CHAINS = ((operators.decode, lambda x, c: (torch.sigmoid(x) * c["two"]) ** 2 * c["anchors"]),
          (operators.picture, lambda x, c: -torch.sqrt(torch.abs((x - c["mean"]) / c["deviation"]))),
          (operators.mask, lambda x, c: (c["one"] - x.to(c["one"].dtype)) * c["low"]))


def graph_ms(call, replays=200):
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(5):
            call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        call()
    times = []
    for _ in range(replays):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def engine_ms(row, precision, options, folder):
    """The engine's median and its number of layers."""
    model, engine = os.path.join(folder, "row.onnx"), os.path.join(folder, "row.engine")
    onnx.save(row.model, model)
    subprocess.run([options.enginery, "build", model, "-o", engine, "--precision", precision, "--level", options.level], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([options.enginery, "bench", engine, "--no-data-transfers", "--dump-profile", "--json"], check=True, stdout=subprocess.PIPE)
    report = json.loads(done.stdout)
    return report["latency"]["median_ms"], len(report["layers"])


def peers_ms(row, function, precision):
    def on_device(array):
        t = torch.tensor(array).cuda()
        return t.half() if precision == "fp16" and t.is_floating_point() else t

    x = on_device(row.inputs()["x"])
    constants = {i.name: on_device(onnx.numpy_helper.to_array(i)) for i in row.model.graph.initializer}
    with torch.no_grad():
        compiled = torch.compile(function)
        compiled(x, constants)
        return graph_ms(lambda: function(x, constants)), graph_ms(lambda: compiled(x, constants))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--enginery", required=True)
    parser.add_argument("--level", default="3")
    parser.add_argument("--csv")
    options = parser.parse_args()
    table = [["row", "precision", "enginery_ms", "layers", "eager_graph_ms", "compile_graph_ms"]]
    with tempfile.TemporaryDirectory() as folder:
        for make, function in CHAINS:
            for precision in ("fp32", "fp16"):
                row = make()
                ours, layers = engine_ms(row, precision, options, folder)
                eager, compiled = peers_ms(row, function, precision)
                table.append([row.name, precision, f"{ours:.4f}", layers, f"{eager:.4f}", f"{compiled:.4f}"])
                print(*table[-1], flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
