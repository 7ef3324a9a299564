"""The farm with a GPU worker, and what goes wrong on purpose."""
import os
import subprocess
import sys
import time

from .common import BUNDLE, environment, program, rows_to, run
from .models import model_file, sample_input


def part_errors(o):
    """What goes wrong on purpose: exit status and message of each."""
    log = os.path.join(o.out, "errors.log")
    enginery, model = program("enginery"), model_file("squeezenet")[0]
    shapes = "--shapes=data:1x3x227x227"
    engine, kernels = "/tmp/errors.engine", "/tmp/errors-kernels.engine"
    run([enginery, "build", model, "-o", engine, "--precision=fp16", shapes, "--level", "2"], log, 300, True)
    run([enginery, "build", model, "-o", kernels, "--precision=fp16", shapes, "--level", "0", "--tactic-sources=-cudnn,-cublaslt"], log, 300, True)
    run([enginery, "build", model, "-o", "/tmp/t4.engine", "--target", "t4", "--provisional", "--precision=fp16", shapes], log, 300, True)
    import numpy as np
    np.save("/tmp/errors.npy", sample_input("squeezenet", model, 1))
    without = {k: v for k, v in environment().items() if k not in ("ENGINERY_CUDA_LIBRARIES", "VIRTUAL_ENV")}
    without.update(LD_LIBRARY_PATH=os.path.join(BUNDLE, "lib"), PATH="/usr/bin:/bin", CUDA_HOME="/nonexistent")
    cases = [
        ("no cuDNN, an engine that needs it", ["run", engine, "--input", "/tmp/errors.npy"], without),
        ("the driver alone, an engine of our kernels", ["run", kernels, "--input", "/tmp/errors.npy"], without),
        ("no device, run", ["run", engine, "--input", "/tmp/errors.npy"], dict(environment(), CUDA_VISIBLE_DEVICES="")),
        ("no device, build", ["build", model, "--target", "h200", "-o", "/tmp/x.engine", shapes], dict(environment(), CUDA_VISIBLE_DEVICES="")),
        ("an engine of another SKU", ["run", "/tmp/t4.engine", "--input", "/tmp/errors.npy"], environment()),
        ("an unknown SKU", ["build", model, "--target", "h2000", "-o", "/tmp/x.engine"], environment()),
        ("a faulting tactic, injected", ["build", model, "-o", "/tmp/y.engine", "--precision=fp16", shapes, "--level", "4", "--rebuild", "--json",
                                         "--tactic-sources=-cudnn,-cublaslt"], dict(environment(), ENGINERY_INJECT_FAULT="1")),
    ]
    hog = subprocess.Popen([sys.executable, "-c", "import torch,time\nfree=torch.cuda.mem_get_info()[0]\nx=torch.empty(free-(600<<20),dtype=torch.uint8,device='cuda')\nprint('ready',flush=True)\ntime.sleep(60)"],
                           stdout=subprocess.PIPE, text=True)
    hog.stdout.readline()
    cases_full = [("device memory full, run", ["run", engine, "--input", "/tmp/errors.npy"], environment()),
                  ("device memory full, build", ["build", model, "-o", "/tmp/x.engine", "--precision=fp16", "--shapes=data:512x3x227x227", "--rebuild"], environment())]
    rows = []

    def try_all(list_of_cases):
        for what, arguments, env in list_of_cases:
            started = time.time()
            status, text = run([enginery, *arguments], log, 200, env=env)
            message = [l for l in text.splitlines() if l.startswith("enginery")] or text.splitlines()[-1:] or [""]
            rows.append([what, status, f"{time.time() - started:.1f}", message[-1][:400]])
            print(f"{what}: exit {status}: {message[-1][:300]}", flush=True)

    try_all(cases_full)
    hog.kill()
    hog.wait()
    try_all(cases)
    rows_to(os.path.join(o.out, "errors.csv"), ["case", "exit", "seconds", "message"], rows)


def part_farm(o):
    log = os.path.join(o.out, "farm.log")
    enginery = program("enginery")
    run([enginery, "down"], log, 60)
    steps = [[enginery, "up", "--detach"], [enginery, "skus"],
             [enginery, "submit", model_file("squeezenet")[0], "--target", "this", "--precision=fp16", "--wait"],
             [enginery, "submit", model_file("squeezenet")[0], "--target", "this", "--precision=fp16", "--wait", "--json"],
             [enginery, "submit", model_file("squeezenet")[0], "--target", "v100-sxm2-16g,p4,orin-nx-16g,this", "--provisional", "--wait", "--json"],
             [enginery, "catalog", "verify"], [enginery, "down"]]
    rows = []
    for step in steps:
        started = time.time()
        status, text = run(step, log, 300)
        rows.append([" ".join(step[1:]), status, f"{time.time() - started:.1f}"])
        print(f"$ enginery {' '.join(step[1:])} -> {status}\n{text[-1200:]}")
    rows_to(os.path.join(o.out, "farm.csv"), ["command", "status", "seconds"], rows)
