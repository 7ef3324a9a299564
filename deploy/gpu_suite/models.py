"""Whole models: their files and inputs, accuracy beside ONNX Runtime, speed beside PyTorch."""
import argparse
import concurrent.futures
import itertools
import os
import re
import sys
import tempfile
import time

from .common import BUNDLE, build_command, home_environment, program, report_of, rows_to, run

TRANSFORMERS = ("deit_tiny", "vit_b16", "convnext_like")  # those of transformer_models.py
HEADER = ["model", "batch", "precision", "sources", "level", "build_s", "timings_measured", "error", "spread", "median_ms", "layers_sum_us", "state"]


def model_file(name):
    """The model's file and the name of its input."""
    fixed = {"squeezenet": ("squeezenet1.1.onnx", "data"), "rfb320": ("rfb320.onnx", "input")}
    if name in fixed:
        return os.path.join(BUNDLE, "models", fixed[name][0]), fixed[name][1]
    path = f"/tmp/models/{name}.onnx"
    if not os.path.exists(path):
        os.makedirs("/tmp/models", exist_ok=True)
        maker = os.path.join(BUNDLE, "transformer_models.py" if name in TRANSFORMERS else os.path.join("models", "make_models.py"))
        run([sys.executable, maker, "/tmp/models", name, "--inputs"], limit=300, check=True)
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
    """ONNX Runtime's outputs for a batch, by name; in pieces where the model fixes its batch."""
    import numpy as np
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # RFB-320 lists its weights as inputs: a warning each
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
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


class Case:
    """A model with its input at one batch, and what ONNX Runtime makes of it."""

    def __init__(self, name, batch):
        import numpy as np
        self.name, self.batch = name, batch
        self.path, self.input_name = model_file(name)
        self.folder = f"/tmp/run-{name}-{batch}-{os.getpid()}"
        os.makedirs(self.folder, exist_ok=True)
        x = sample_input(name, self.path, batch)
        np.save(self.folder + "/x.npy", x)
        self.shapes = f"--shapes={self.input_name}:{'x'.join(map(str, x.shape))}"
        self.expected = reference_outputs(self.path, self.input_name, x)

    def build_and_run(self, o, precision, log, env=None):
        """The engine's file, what the build reports (None when it failed), seconds, error and spread."""
        engine = f"{self.folder}/{precision}{o.level}{o.sources}.engine"
        started = time.time()
        status, text = run(build_command(self.path, engine, o, precision, [self.shapes, "--rebuild"]), log, o.limit, env=env)
        seconds = time.time() - started
        if status != 0:
            print(f"{self.name} {self.batch} {precision} {o.sources}: build failed ({status}): {text[-1500:]}", flush=True)
            return engine, None, seconds, 0, 0
        run([program("enginery"), "run", engine, "--input", self.folder + "/x.npy", "--output", engine + ".y"], log, 120, True, env)
        return engine, report_of(text), seconds, *distance(engine + ".y", self.expected)


def part_models(o):
    log = os.path.join(o.out, "models.log")
    for name in o.models.split(","):
        for batch in map(int, o.batches.split(",")):
            case = Case(name, batch)
            for precision in o.precisions.split(","):
                engine, built, build_s, error, spread = case.build_and_run(o, precision, log)
                row = [name, batch, precision, o.sources, o.level, f"{build_s:.1f}"]
                if not built:
                    rows_to(os.path.join(o.out, "models.csv"), HEADER, [row + ["", "", "", "", "", "failed"]])
                    continue
                status, text = run([program("enginery"), "bench", engine, "--no-data-transfers", "--dump-profile", "--json"], log, 120, True)
                report = report_of(text)
                latency, layers_us = report["latency"]["median_ms"], report["layers_sum_us"]
                rows_to(os.path.join(o.out, "profile.csv"), ["model", "batch", "precision", "sources", "layer", "op", "tactic", "median_us", "roofline_share"],
                        [[name, batch, precision, o.sources, l["name"], l["op"], l["tactic"], f"{l['median_us']:.3f}", l["roofline_share"]] for l in report["layers"]])
                rows_to(os.path.join(o.out, "models.csv"), HEADER, [row + [built["timings_measured"], f"{error:.3e}", f"{spread:.3e}", latency, f"{layers_us:.1f}", "ok"]])
                print(f"{name} batch {batch} {precision} {o.sources}: build {build_s:.1f} s ({built['timings_measured']} measured), error {error:.2e}, "
                      f"spread {spread:.2e}, median {latency:.4f} ms, layers {layers_us:.1f} us", flush=True)


BARS = {"fp32": 1e-4, "tf32": 1e-2, "fp16": 1e-2}  # performance.md section 5, on a GPU


def part_parity(o):
    """Every model, precision and batch, with the libraries and without: is the error within the bar? Untuned (level 0) all run side by
    side; tuned, the cells of one model and batch follow one another on one GPU and share its timings. Only errors count here, so nobody
    waits for a device to be its own: each has its own locks, and the times of these builds say nothing."""
    log = os.path.join(o.out, "parity.log")
    cells = []
    for name in ("squeezenet", "rfb320", "mobilenetv2", "resnet50"):
        for batch in (1, 8, 128):
            for precision in ("fp16",) if batch == 128 else ("fp16", "tf32", "fp32"):
                cells += [(name, batch, precision, sources) for sources in ("", "-cudnn,-cublaslt")]
    cells = [c for c in cells if re.search("" if o.filter == "*" else o.filter, "-".join(map(str, c)))]
    cases = {key: Case(*key) for key in dict.fromkeys(c[:2] for c in cells)}
    gpus = itertools.cycle(o.gpus.split(","))
    environments = {key: home_environment(f"/tmp/parity-{gpu}", gpu) for key, gpu in zip(cases, gpus)}

    def check(cell):
        name, batch, precision, sources = cell
        asked = argparse.Namespace(level=o.level, sources=sources, limit=o.limit)
        with tempfile.TemporaryDirectory(prefix="parity-locks-") as locks:
            env = dict(environments[name, batch], ENGINERY_LOCKS=locks)
            _, built, seconds, error, spread = cases[name, batch].build_and_run(asked, precision, log, env)
        within = bool(built) and error <= BARS[precision] and spread <= 10 * BARS[precision]
        rows_to(os.path.join(o.out, "parity.csv"), ["level", "model", "batch", "precision", "sources", "build_s", "error", "spread", "within_bar"],
                [[o.level, name, batch, precision, sources, f"{seconds:.1f}", f"{error:.3e}", f"{spread:.3e}", "yes" if within else "no"]])
        return within

    groups = [[c] for c in cells] if o.level == 0 else [[c for c in cells if c[:2] == key] for key in cases]
    with concurrent.futures.ThreadPoolExecutor(o.shards) as pool:
        within = dict(w for done in pool.map(lambda group: [(c, check(c)) for c in group], groups) for w in done)
    print(f"parity: {sum(within.values())} of {len(cells)} within the bar; not: {[c for c in cells if not within[c]]}", flush=True)
    return 0 if all(within.values()) else 1


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
