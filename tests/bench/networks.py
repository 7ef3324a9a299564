#!/usr/bin/env python3
"""Which networks of timm, torchvision and transformers run, from the exported file to the numbers, and how far from ONNX Runtime they are.

    networks.py [--enginery PATH] [--only NAME,NAM*,...] [--jobs 1] [--cores 2] [--exporters torchscript,dynamo] [--folder DIR] [--levels 0,...]
                [--precisions fp32,...] [--skus SKU,...] [--limit 300] [--csv FILE]

One network of each family (network_list.py), random weights of one seed, exported by PyTorch (operator set 17 by TorchScript; dynamo's own), then
`build` and `run` on random inputs. A row: nodes of the file, seconds of the export and of the build, layers that the reference computes, the
largest error over the output's largest element (of the worst output), and what came of it: `runs`, `differs` (an error above MOST),
`not built` or `not run` with the message's first line, `not exported`, or `no peer` where ONNX Runtime itself refuses the file. --folder keeps what was exported, and takes it from
there; without --enginery that is all. Needs torch, torchvision, timm, transformers, onnx, onnxruntime, onnxscript. Exit status 1 unless every row that has a peer runs.
"""
import argparse
import concurrent.futures
import csv
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

from network_list import NETWORKS

MOST = {"fp32": 1e-3, "fp16": 1e-2, "bf16": 5e-2}
HEADER = ["network", "exporter", "nodes", "export_s", "sku", "precision", "level", "build_s", "by_reference", "error", "state"]


def prepare(model):
    """`model` for inference; weights of (nearly) nothing, behind which every error would hide, are drawn."""
    import torch
    for parameter in model.parameters():
        if parameter.is_floating_point() and parameter.abs().max() < 1e-3:
            torch.nn.init.normal_(parameter, std=0.02)
    return model.eval()


def tensors_of(result):
    """The tensors of what a model returned, in order; caches of keys and values are left out."""
    import torch
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        result = [value for key, value in result.items() if key not in ("past_key_values", "cache_params", "loss")]
    return [t for part in result for t in tensors_of(part)] if isinstance(result, (list, tuple)) else []


def export(name, exporter, folder):
    """Writes model.onnx and inputs.npz to `folder`."""
    import torch
    warnings.simplefilter("ignore")
    torch.manual_seed(1)
    torch.set_num_threads(2)
    model, inputs = NETWORKS[name]()
    model = prepare(model)

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *args):
            return tuple(tensors_of(self.model(**dict(zip(inputs, args))) if all(inputs) else self.model(*args)))

    names = [key or "images" for key in inputs]
    modern = {"dynamo": True, "external_data": False} if exporter == "dynamo" else {"dynamo": False, "opset_version": 17}
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.inference_mode() if exporter == "torchscript" else torch.no_grad():
        torch.onnx.export(Plain().eval(), tuple(inputs.values()), folder + "/model.onnx", input_names=names, **modern)
    np.savez(folder + "/inputs.npz", **{key: value.numpy() for key, value in zip(names, inputs.values())})


def oracle(folder):
    """Runs ONNX Runtime on an exported folder; writes expected.npz. Returns its complaint, or nothing."""
    import onnxruntime
    try:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 2
        options.log_severity_level = 4
        # Its fusions moved timm's BiT by 2.8e-3 on a CPU with AMX; without them it agreed with the reference to 1e-5.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(folder + "/model.onnx", options, providers=["CPUExecutionProvider"])
        inputs = np.load(folder + "/inputs.npz")
        taken = {i.name: inputs[i.name] for i in session.get_inputs()}
        outputs = session.run(None, taken)
    except Exception as error:
        return str(error).splitlines()[0]
    np.savez(folder + "/expected.npz", **{o.name: y for o, y in zip(session.get_outputs(), outputs)})
    np.savez(folder + "/inputs.npz", **taken)  # an exporter drops inputs that nothing reads
    return ""


def export_and_run(name, exporter, folder):
    """What a process of its own does: the export, then the peer; writes how it went to `state`."""
    state = ""
    try:
        export(name, exporter, folder)
    except BaseException as error:  # whatever an exporter raises is a row of the table
        state = f"not exported: {' '.join(f'{type(error).__name__}: {error}'.split())[:160]}"
    if not state:
        complaint = oracle(folder)
        state = f"no peer: {complaint[:160]}" if complaint else ""
    with open(folder + "/state", "w") as file:
        file.write(state)


def exported(name, exporter, folder, limit):
    """(seconds, what is wrong with the export or the peer)."""
    started = time.time()
    if not os.path.exists(folder + "/state"):
        os.makedirs(folder, exist_ok=True)
        status, text = command([sys.executable, __file__, "--export", name, exporter, folder], limit)
        with open(folder + "/export.log", "w") as file:
            file.write(text)
        if not os.path.exists(folder + "/state"):
            return time.time() - started, f"not exported: {first_complaint(text) if status == -1 else f'the process ended with {status}'}"
    return time.time() - started, open(folder + "/state").read()


def locks_of(folder, level):
    """The environment of a build: level 0 measures nothing, so that builds side by side need not take turns on a device."""
    return dict(os.environ, ENGINERY_LOCKS=folder) if level == "0" else None


def command(words, limit, environment=None):
    """(status, what it printed)."""
    try:
        result = subprocess.run(words, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return -1, f"no end within {limit} s"
    return result.returncode, result.stdout + result.stderr


def first_complaint(text):
    lines = [line for line in text.splitlines() if re.search(r"error|unsupported|not supported|no end", line)] or text.splitlines()[-1:]
    return " ".join(lines[:1])[:240]


def worst_error(folder, got):
    expected, worst = np.load(folder + "/expected.npz"), 0.0
    for key in expected.files:
        want, path = expected[key], f"{got}/{re.sub('[^A-Za-z0-9_.-]', '_', key)}.npy"
        have = np.load(path)
        if have.shape != want.shape:
            return float("nan")
        want, have = want.astype(np.float64), have.astype(np.float64)
        wild = ~np.isfinite(want)
        if not np.array_equal(want[wild], have[wild], equal_nan=True):
            return float("inf")
        scale = np.abs(want[~wild]).max(initial=0.0) or 1.0
        worst = max(worst, float(np.abs(want[~wild] - have[~wild]).max(initial=0.0) / scale))
    return worst


def layers_by_reference(engine, o):
    """How many layers of an engine no tactic but the reference computes."""
    listed = subprocess.run([o.enginery, "inspect", engine, "--json"], capture_output=True, text=True, check=True).stdout
    return sum(layer["tactic"].startswith("reference") for layer in json.loads(listed)["layers"])


def check(folder, sku, precision, level, o):
    """(seconds of the build, layers by the reference, error, state) of an exported network."""
    engine, inputs = folder + "/engine", np.load(folder + "/inputs.npz")
    options = []
    for key in inputs.files:
        np.save(f"{folder}/in_{key}.npy", inputs[key])
        options += ["--input", f"{key}={folder}/in_{key}.npy"]
    started = time.time()
    build = [o.enginery, "build", folder + "/model.onnx", "--level", level, "--precision", precision, "--output", engine, *options]
    status, text = command(build + (["--target", sku] if sku else []), o.limit, locks_of(folder, level))
    seconds = f"{time.time() - started:.1f}"
    if status:
        return seconds, "", "", f"not built: {first_complaint(text)}"
    by_reference = layers_by_reference(engine, o)
    shutil.rmtree(folder + "/got", ignore_errors=True)
    status, text = command([o.enginery, "run", engine, *options, "--output", folder + "/got"], o.limit)
    os.remove(engine)
    if status:
        return seconds, by_reference, "", f"not run: {first_complaint(text)}"
    error = worst_error(folder, folder + "/got")
    return seconds, by_reference, f"{error:.2e}", "runs" if error <= MOST[precision] else "differs"


def rows_of(name, exporter, o, temporary):
    folder = f"{o.folder or temporary}/{name}.{exporter}"
    export_s, state = exported(name, exporter, folder, o.limit)
    row = [name, exporter, "", f"{export_s:.1f}"]
    rows = [row + [""] * 6 + [state or "exported"]]
    if not state and o.enginery:
        import onnx
        row[2] = len(onnx.load(folder + "/model.onnx", load_external_data=False).graph.node)
        rows = []
        for build in itertools.product(o.skus.split(","), o.precisions.split(","), o.levels.split(",")):
            try:
                result = check(folder, *build, o)
            except (OSError, ValueError) as failure:  # an output is missing, or no array
                result = "", "", "", f"not compared: {failure}"
            rows.append(row + [*build, *result])
    if not o.folder:
        shutil.rmtree(folder)
    for row in rows:
        print(*row, flush=True)
    return rows


def keep_to_cores(places, each):
    """The calling thread, and what it starts, on its own `each` of the cores (where there are as many)."""
    cores, place = sorted(os.sched_getaffinity(os.getpid())), next(places)
    mine = cores[place * each:(place + 1) * each]
    if mine:
        os.sched_setaffinity(0, mine)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--enginery")
    parser.add_argument("--only", default="", help="names, or beginnings that end in *")
    parser.add_argument("--exporters", default="torchscript,dynamo")
    parser.add_argument("--jobs", type=int, default=1, help="networks at a time, each on its own --cores")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--folder", default="")
    parser.add_argument("--levels", default="0")
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--skus", default="", help="nothing: this machine's own")
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--csv")
    parser.add_argument("--export", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    o = options()
    if o.export:
        return export_and_run(*o.export)
    wanted = o.only.split(",")
    names = [n for n in NETWORKS if any(n == w or (w.endswith("*") and n.startswith(w[:-1])) for w in wanted)] if o.only else list(NETWORKS)
    rows = []
    places = itertools.count()
    with tempfile.TemporaryDirectory() as temporary, \
            concurrent.futures.ThreadPoolExecutor(o.jobs, initializer=keep_to_cores, initargs=(places, o.cores)) as pool:
        os.environ.setdefault("ENGINERY_HOME", temporary + "/home")
        coming = [pool.submit(rows_of, name, exporter, o, temporary) for name in names for exporter in o.exporters.split(",")]
        for future in coming:
            rows += future.result()
            if o.csv:
                with open(o.csv, "w", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([HEADER] + rows)
    held = [row for row in rows if not row[-1].startswith(("not exported", "no peer"))]
    good = sum(row[-1] == "runs" for row in held)
    print(f"{good} of {len(held)} run; {len(rows) - len(held)} were not exported or have no peer")
    return good != len(held)


if __name__ == "__main__":
    sys.exit(main())
