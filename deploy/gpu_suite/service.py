"""The farm with a GPU worker, and what goes wrong on purpose."""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

from .common import BUNDLE, environment, program, report_of, rows_to, run
from .models import model_file, sample_input


class FullMemory:
    """Another process that holds the GPU's memory but for so many MiB."""

    def __init__(self, mebibytes_left):
        program = (f"import torch, time\nfree = torch.cuda.mem_get_info()[0]\nx = torch.empty(free - ({mebibytes_left} << 20), dtype=torch.uint8, device='cuda')\n"
                   "print('ready', flush=True)\ntime.sleep(120)")
        self.process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def hiding(libraries):
    """A command's prefix that hides every file of these libraries from it, wherever it may look (needs root)."""
    if not libraries:
        return []
    folders = environment()["ENGINERY_CUDA_LIBRARIES"].split(":") + ["/usr/lib/x86_64-linux-gnu", "/usr/local/cuda/lib64"]
    files = sorted({os.path.realpath(f) for folder in folders for name in libraries for f in glob.glob(f"{folder}/lib{name}*.so*")})
    hide = " && ".join(f"mount --bind /dev/null {f}" for f in files) or "true"
    return ["unshare", "-m", "sh", "-c", hide + ' && exec "$@"', "sh"]


def part_errors(o):
    """What goes wrong on purpose: exit status and message of each."""
    log = os.path.join(o.out, "errors.log")
    enginery, model = program("enginery"), model_file("squeezenet")[0]
    shapes = "--shapes=data:1x3x227x227"
    engine, kernels = "/tmp/errors.engine", "/tmp/errors-kernels.engine"
    run([enginery, "build", model, "-o", engine, "--precision=fp16", shapes], log, 300, True)  # tuned: with tactics of cuDNN
    run([enginery, "build", model, "-o", kernels, "--precision=fp16", shapes, "--level", "0", "--tactic-sources=-cudnn,-cublaslt"], log, 300, True)
    run([enginery, "build", model, "-o", "/tmp/t4.engine", "--target", "t4", "--provisional", "--precision=fp16", shapes], log, 300, True)
    import numpy as np
    np.save("/tmp/errors.npy", sample_input("squeezenet", model, 1))
    cases = [
        ("no cuDNN, an engine that needs it", ["run", engine, "--input", "/tmp/errors.npy"], environment(), ["cudnn"]),
        ("no cuDNN, build", ["build", model, "-o", "/tmp/x.engine", "--precision=fp16", shapes, "--level", "0", "--rebuild"], environment(), ["cudnn"]),
        ("the driver alone, an engine of our kernels", ["run", kernels, "--input", "/tmp/errors.npy"], environment(), ["cudnn", "cublas", "nvrtc", "cudart"]),
        ("no device, run", ["run", engine, "--input", "/tmp/errors.npy"], dict(environment(), CUDA_VISIBLE_DEVICES="")),
        ("no device, build", ["build", model, "--target", "h200", "-o", "/tmp/x.engine", shapes], dict(environment(), CUDA_VISIBLE_DEVICES="")),
        ("an engine of another SKU", ["run", "/tmp/t4.engine", "--input", "/tmp/errors.npy"], environment()),
        ("an unknown SKU", ["build", model, "--target", "h2000", "-o", "/tmp/x.engine"], environment()),
    ]
    rows = []

    def try_all(list_of_cases):
        for what, arguments, env, *hidden in list_of_cases:
            started = time.time()
            status, text = run(hiding(hidden[0] if hidden else []) + [enginery, *arguments], log, 200, env=env)
            message = [l for l in text.splitlines() if l.startswith("enginery")] or text.splitlines()[-1:] or [""]
            rows.append([what, status, f"{time.time() - started:.1f}", message[-1][:400]])
            print(f"{what}: exit {status}: {message[-1][:300]}", flush=True)

    run_it = ["run", engine, "--input", "/tmp/errors.npy"]
    build_it = ["build", model, "-o", "/tmp/x.engine", "--precision=fp16", "--shapes=data:512x3x227x227", "--level", "2", "--rebuild"]
    for mebibytes_left, what, arguments in ((200, "device memory full, run", run_it), (1500, "device memory nearly full, build at batch 512", build_it)):
        with FullMemory(mebibytes_left):
            try_all([(what, arguments, environment())])
    try_all(cases)
    rows_to(os.path.join(o.out, "errors.csv"), ["case", "exit", "seconds", "message"], rows)


def part_faults(o):
    """Builds among tactics that hang or fault (tests/worker/programs/gpu_faults.cpp)."""
    log = os.path.join(o.out, "faults.log")
    rows = []
    for fault in ("fault", "hang"):
        started = time.time()
        status, text = run([program("gpu_faults"), fault, o.precisions], log, 280)
        said = [line for line in text.splitlines() if "planted" in line] or text.splitlines()[-1:] or [""]
        rows.append([fault, status, f"{time.time() - started:.1f}", said[-1][:300]])
        print(f"{fault}: exit {status}: {said[-1][:300]}", flush=True)
    rows_to(os.path.join(o.out, "faults.csv"), ["planted", "exit", "seconds", "said"], rows)
    return max(row[1] for row in rows)


def calibration_options():
    """Options of an int8 submit: the pictures' split of their labels.csv, the preprocessing and the rest's labels. None without pictures."""
    images = os.path.join(BUNDLE, "images")
    labels = os.path.join(images, "labels.csv")
    if not os.path.exists(os.path.join(images, "imagenet")):
        print("no pictures in this bundle: nothing is calibrated")
        return None
    work = tempfile.mkdtemp()
    with open(labels) as f:
        for row in csv.DictReader(f):
            folder = os.path.join(work, row["split"])
            os.makedirs(folder, exist_ok=True)
            os.symlink(os.path.join(images, "imagenet", row["file"]), os.path.join(folder, row["file"]))
    preprocess = os.path.join(work, "preprocess.toml")
    with open(preprocess, "w") as f:
        f.write('[input]\ncrop = [227, 227]\ncolor = "bgr"\nmean = [104, 117, 123]\n')
    calibrated = ["--precision=fp16,int8", "--calib-data", f"{work}/calibration", "--preprocess", preprocess, "--wait", "--json"]
    checked = ["--accuracy-data", f"{work}/evaluation", "--accuracy-labels", labels, "--max-accuracy-drop", "1%"]
    return calibrated, checked


def part_farm(o):
    """Submits to a coordinator with this card's worker: fp16, then int8 with its top-1, and engines for cards that are elsewhere."""
    log = os.path.join(o.out, "farm.log")
    enginery = program("enginery")
    run([enginery, "down"], log, 60)
    squeezenet = model_file("squeezenet")[0]
    elsewhere = "v100-sxm2-16g,p4,t4,orin-nx-16g"
    steps = [[enginery, "up", "--detach"], [enginery, "skus"],
             [enginery, "submit", squeezenet, "--target", "this", "--precision=fp16", "--wait"],
             [enginery, "submit", squeezenet, "--target", "this", "--precision=fp16", "--wait", "--json"],
             [enginery, "submit", squeezenet, "--target", elsewhere + ",cpu-avx2", "--provisional", "--wait", "--json"]]
    if options := calibration_options():
        calibrated, checked = options
        steps += [[enginery, "submit", squeezenet, "--target", "this", "--shapes=data:1x3x227x227", *calibrated, *checked],
                  [enginery, "submit", squeezenet, "--target", elsewhere, "--provisional", *calibrated]]
    steps += [[enginery, "catalog", "verify"], [enginery, "workers"], [enginery, "down"]]
    rows, targets = [], []
    env = environment()
    for step in steps:
        started = time.time()
        status, text = run(step, log, 300, env=env)
        rows.append([" ".join(step[1:]), status, f"{time.time() - started:.1f}"])
        print(f"$ enginery {' '.join(step[1:])} -> {status}\n{text[-1200:]}")
        if "--json" in step:
            targets += [["int8" if "--calib-data" in step else "fp16", t["sku"], t["state"], t["provisional"], t["latency_ms"], t["timings_measured"],
                         json.dumps(t["accuracy"]), t["calibration"], (t["error"] or {}).get("message", "")] for t in report_of(text)["targets"]]
    rows_to(os.path.join(o.out, "farm.csv"), ["command", "status", "seconds"], rows)
    rows_to(os.path.join(o.out, "farm-targets.csv"),
            ["precision", "sku", "state", "provisional", "latency_ms", "timings_measured", "accuracy", "calibration", "error"], targets)
