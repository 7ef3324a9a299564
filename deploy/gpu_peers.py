#!/usr/bin/env python3
"""PyTorch's figures beside ours: eager in a CUDA graph and torch.compile(mode="max-autotune"), fp16, channels last.

    gpu_peers.py --model resnet50 --batch 1 [--compile] [--out peers.csv]

Device-resident input, CUDA events, median of 100. Models are torchvision's, with random weights.
"""
import argparse
import csv
import os
import statistics
import time

import torch
import torchvision

NAMES = {"resnet50": "resnet50", "mobilenetv2": "mobilenet_v2", "googlenet": "googlenet", "vgg16": "vgg16", "squeezenet": "squeezenet1_1"}


def median_ms(call, rounds=100):
    for _ in range(10):
        call()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--out", default="peers.csv")
    o = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    extra = {"init_weights": False, "aux_logits": False} if o.model == "googlenet" else {}
    model = getattr(torchvision.models, NAMES[o.model])(weights=None, **extra).eval().half().cuda().to(memory_format=torch.channels_last)
    x = torch.randn(o.batch, 3, 224, 224, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
    rows = []
    with torch.inference_mode():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                model(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)
        rows.append(["eager+graph", median_ms(graph.replay), 0.0])
        if o.compile:
            started = time.time()
            compiled = torch.compile(model, mode="max-autotune")
            for _ in range(3):
                compiled(x)
            torch.cuda.synchronize()
            rows.append(["torch.compile", median_ms(lambda: compiled(x)), time.time() - started])
    fresh = not os.path.exists(o.out)
    with open(o.out, "a", newline="") as file:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(["model", "batch", "precision", "peer", "median_ms", "build_s", "torch", "cudnn"])
        for peer, ms, build in rows:
            writer.writerow([o.model, o.batch, "fp16", peer, f"{ms:.4f}", f"{build:.1f}", torch.__version__, torch.backends.cudnn.version()])
            print(f"{o.model} batch {o.batch} {peer}: {ms:.4f} ms (build {build:.1f} s)")


if __name__ == "__main__":
    main()
