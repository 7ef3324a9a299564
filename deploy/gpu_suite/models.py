"""Whole models: their files and inputs, accuracy beside ONNX Runtime, speed beside PyTorch."""
import os
import re
import sys
import time

from .common import BUNDLE, build_command, program, report_of, rows_to, run

HEADER = ["model", "batch", "precision", "sources", "level", "build_s", "timings_measured", "error", "spread", "median_ms", "layers_sum_us", "state"]


def model_file(name):
    """The model's file and the name of its input."""
    fixed = {"squeezenet": ("squeezenet1.1.onnx", "data"), "rfb320": ("rfb320.onnx", "input")}
    if name in fixed:
        return os.path.join(BUNDLE, "models", fixed[name][0]), fixed[name][1]
    path = f"/tmp/models/{name}.onnx"
    if not os.path.exists(path):
        os.makedirs("/tmp/models", exist_ok=True)
        run([sys.executable, os.path.join(BUNDLE, "models", "make_models.py"), "/tmp/models", name, "--inputs"], limit=300, check=True)
    import onnx
    return path, onnx.load(path, load_external_data=False).graph.input[0].name


def sample_input(name, path, batch):
    import numpy as np
    archive = path.replace(".onnx", ".input.npz")
    if os.path.exists(archive):
        with np.load(archive) as data:
            x = data[data.files[0]]
        return np.concatenate([x] * (-(-batch // len(x))))[:batch]
    shape = {"squeezenet": (3, 227, 227), "rfb320": (3, 240, 320)}[name]
    rng = np.random.default_rng(1)
    y = np.zeros((batch,) + shape, np.float32)
    for size in (4, 16, 64):  # structure at several scales
        coarse = rng.standard_normal((batch, shape[0], size, size)).astype(np.float32)
        rows, columns = np.arange(shape[1]) * size // shape[1], np.arange(shape[2]) * size // shape[2]
        y += coarse[:, :, rows][:, :, :, columns]
    return y * (40 if name == "squeezenet" else 0.4)


def reference_outputs(path, input_name, x):
    import numpy as np
    import onnxruntime
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    fixed = session.get_inputs()[0].shape[0]
    step = fixed if isinstance(fixed, int) else len(x)
    parts = [session.run(None, {input_name: x[i:i + step]}) for i in range(0, len(x), step)]
    return {o.name: np.concatenate([p[i] for p in parts]) for i, o in enumerate(session.get_outputs())}


def distance(folder, expected):
    """performance.md section 5: the error, and over several rows the error beside how much the rows differ."""
    import numpy as np
    error = spread = 0.0
    for output, r in expected.items():
        y = np.load(folder + "/" + re.sub(r"[^A-Za-z0-9._-]", "_", output) + ".npy").reshape(r.shape)
        error = max(error, float(np.abs(y - r).max() / np.abs(r).max()))
        if len(r) > 1:
            spread = max(spread, float(np.abs(y - r).max() / np.abs(r - r.mean(axis=0, keepdims=True)).max()))
    return error, spread


def part_models(o):
    import numpy as np
    log = os.path.join(o.out, "models.log")
    for name in o.models.split(","):
        path, input_name = model_file(name)
        for batch in map(int, o.batches.split(",")):
            if name == "rfb320" and batch != 1:
                continue
            x = sample_input(name, path, batch)
            folder = f"/tmp/run-{name}-{batch}-{os.getpid()}"
            os.makedirs(folder, exist_ok=True)
            np.save(folder + "/x.npy", x)
            expected = reference_outputs(path, input_name, x)
            for precision in o.precisions.split(","):
                engine = f"{folder}/{precision}.engine"
                shape = "x".join(map(str, x.shape))
                started = time.time()
                status, text = run(build_command(path, engine, o, precision, [f"--shapes={input_name}:{shape}", "--rebuild"]), log, o.limit)
                build_s = time.time() - started
                row = [name, batch, precision, o.sources, o.level, f"{build_s:.1f}"]
                if status != 0:
                    print(f"{name} {batch} {precision}: build failed ({status}): {text[-1500:]}")
                    rows_to(os.path.join(o.out, "models.csv"), HEADER, [row + ["", "", "", "", "", "failed"]])
                    continue
                built = report_of(text)
                run([program("enginery"), "run", engine, "--input", folder + "/x.npy", "--output", folder + "/y"], log, 120, True)
                error, spread = distance(folder + "/y", expected)
                status, text = run([program("enginery"), "bench", engine, "--no-data-transfers", "--dump-profile", "--json"], log, 120, True)
                report = report_of(text)
                latency, layers_us = report["latency"]["median_ms"], report["layers_sum_us"]
                rows_to(os.path.join(o.out, "profile.csv"), ["model", "batch", "precision", "sources", "layer", "op", "tactic", "median_us", "roofline_share"],
                        [[name, batch, precision, o.sources, l["name"], l["op"], l["tactic"], f"{l['median_us']:.3f}", l["roofline_share"]] for l in report["layers"]])
                rows_to(os.path.join(o.out, "models.csv"), HEADER, [row + [built["timings_measured"], f"{error:.3e}", f"{spread:.3e}", latency, f"{layers_us:.1f}", "ok"]])
                print(f"{name} batch {batch} {precision} {o.sources}: build {build_s:.1f} s ({built['timings_measured']} measured), error {error:.2e}, "
                      f"spread {spread:.2e}, median {latency:.4f} ms, layers {layers_us:.1f} us", flush=True)


def part_peers(o):
    """Our engine beside PyTorch, one command a model and batch."""
    log = os.path.join(o.out, "peers.log")
    for name in o.models.split(","):
        for batch in o.batches.split(","):
            path, input_name = model_file(name)
            engine = f"/tmp/peer-{name}-{batch}-{os.getpid()}.engine"
            command = [sys.executable, os.path.join(BUNDLE, "gpu_peers.py"), "--model", name, "--batch", batch, "--out", os.path.join(o.out, "peers.csv"),
                       "--enginery", program("enginery"), "--engine", engine]
            shapes = f"--shapes={input_name}:{batch}x3x224x224"
            status, text = run(build_command(path, engine, o, "fp16", [shapes]), log, o.limit, True)
            status, text = run(command + (["--compile"] if o.compile else []), log, o.limit, True)
            print(f"{name} batch {batch}: status {status}\n" + "\n".join(text.splitlines()[-3:]), flush=True)
