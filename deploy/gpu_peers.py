#!/usr/bin/env python3
"""PyTorch's figures beside ours in one run: eager in a CUDA graph, torch.compile(mode="max-autotune") and an engine, fp16.

    gpu_peers.py --model resnet50 --batch 1 [--compile] [--enginery BIN --engine FILE] [--out peers.csv]

Device-resident input, channels last, CUDA events; the contenders take turns over several rounds, a figure is the median of the rounds'
medians. Models are torchvision's, with random weights; deit_tiny and vit_b16 are its vision transformer in the sizes of transformer_models.py.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import time

import torch
import torchvision

NAMES = {"resnet50": "resnet50", "mobilenetv2": "mobilenet_v2", "googlenet": "googlenet", "vgg16": "vgg16", "squeezenet": "squeezenet1_1"}
TRANSFORMERS = {"deit_tiny": (192, 3), "vit_b16": (768, 12)}  # width, heads
ROUNDS = 5


def make_model(name):
    if name in TRANSFORMERS:
        width, heads = TRANSFORMERS[name]
        return torchvision.models.VisionTransformer(image_size=224, patch_size=16, num_layers=12, num_heads=heads, hidden_dim=width, mlp_dim=4 * width)
    extra = {"init_weights": False, "aux_logits": False} if name == "googlenet" else {}
    return getattr(torchvision.models, NAMES[name])(weights=None, **extra)


def median_ms(call, launches=100):
    for _ in range(10):
        call()
    times = []
    for _ in range(launches):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def engine_ms(enginery, engine):
    done = subprocess.run([enginery, "bench", engine, "--no-data-transfers", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["latency"]["median_ms"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--enginery")
    parser.add_argument("--engine")
    parser.add_argument("--out", default="peers.csv")
    o = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    model = make_model(o.model).eval().half().cuda().to(memory_format=torch.channels_last)
    x = torch.randn(o.batch, 3, 224, 224, device="cuda", dtype=torch.half).to(memory_format=torch.channels_last)
    contenders, build_s = {}, {}
    with torch.inference_mode():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                model(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)
        contenders["eager+graph"] = lambda: median_ms(graph.replay)
        if o.compile:
            started = time.time()
            compiled = torch.compile(model, mode="max-autotune")
            for _ in range(3):
                compiled(x)
            torch.cuda.synchronize()
            build_s["torch.compile"] = time.time() - started
            contenders["torch.compile"] = lambda: median_ms(lambda: compiled(x))
        if o.engine:
            contenders["enginery"] = lambda: engine_ms(o.enginery, o.engine)
        times = {name: [] for name in contenders}
        for _ in range(ROUNDS):
            for name, measure in contenders.items():
                times[name].append(measure())
    fresh = not os.path.exists(o.out)
    with open(o.out, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(["model", "batch", "precision", "contender", "median_ms", "least_ms", "most_ms", "rounds", "build_s", "device", "torch", "cudnn"])
        for name, ms in times.items():
            writer.writerow([o.model, o.batch, "fp16", name, f"{statistics.median(ms):.4f}", f"{min(ms):.4f}", f"{max(ms):.4f}", ROUNDS,
                             f"{build_s.get(name, 0):.1f}", torch.cuda.get_device_name(), torch.__version__, torch.backends.cudnn.version()])
            print(f"{o.model} batch {o.batch} {name}: {statistics.median(ms):.4f} ms ({min(ms):.4f} to {max(ms):.4f})")


if __name__ == "__main__":
    main()
