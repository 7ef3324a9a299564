"""Networks in int8 beside themselves in fp16: calibrated here on seeded inputs, built, checked and timed."""
import os
import time

from .common import build_command, program, report_of, rows_to, run
from .models import distance, model_file, reference_outputs, sample_input

HEADER = ["model", "batch", "precision", "sources", "level", "build_s", "timings_measured", "median_ms", "images_s", "layers_sum_us", "error", "sqnr_db", "state"]
MOST_CHECKED = 8  # rows beside ONNX Runtime in float32


def decibels(folder, expected):
    """The least signal to noise ratio of all outputs."""
    import numpy as np
    least = float("inf")
    for output, r in expected.items():
        y = np.load(f"{folder}/{output}.npy").reshape(r.shape).astype(np.float64)
        noise = ((y - r) ** 2).sum()
        least = min(least, float(10 * np.log10((r.astype(np.float64) ** 2).sum() / noise)) if noise else float("inf"))
    return least


def calibration_table(name, path, log):
    """The model's INT8 scales, from its seeded inputs."""
    import numpy as np
    table, data = f"/tmp/models/{name}.table", f"/tmp/models/{name}.calibration.npy"
    if not os.path.exists(table):
        os.makedirs("/tmp/models", exist_ok=True)
        np.save(data, sample_input(name, path, 4))
        run([program("enginery"), "calibrate", path, "--data", data, "-o", table], log, 120, True)
    return table


def timed(engine, log):
    """Latency in milliseconds, and the sum of its layers in microseconds with the layers."""
    _, text = run([program("enginery"), "bench", engine, "--no-data-transfers", "--dump-profile", "--json", "--duration", "1"], log, 120, True)
    report = report_of(text)
    return report["latency"]["median_ms"], report["layers_sum_us"], report["layers"]


def errors(engine, folder, x, expected, log):
    """The error and the signal to noise ratio on rows that ONNX Runtime computed in float32; the engine runs whole batches."""
    import numpy as np
    np.save(folder + "/x.npy", x)
    run([program("enginery"), "run", engine, "--input", folder + "/x.npy", "--output", engine + ".y"], log, 120, True)
    for output, r in expected.items():
        y = np.load(f"{engine}.y/{output}.npy")
        np.save(f"{engine}.y/{output}.npy", y[:len(r)])
    return distance(engine + ".y", expected)[0], decibels(engine + ".y", expected)


def part_int8(o):
    """Each model at each batch in fp16 and in int8 (--precisions fp16,int8): build time, images a second, error."""
    log = os.path.join(o.out, "int8.log")
    for name in o.models.split(","):
        path, input_name = model_file(name)
        table = calibration_table(name, path, log)
        for batch in map(int, o.batches.split(",")):
            folder = f"/tmp/int8-{name}-{batch}"
            os.makedirs(folder, exist_ok=True)
            x = sample_input(name, path, batch)
            expected = reference_outputs(path, input_name, x[:MOST_CHECKED])
            shapes = f"--shapes={input_name}:{'x'.join(map(str, x.shape))}"
            for precision in o.precisions.split(","):
                row = [name, batch, precision, o.sources, o.level]
                engine = f"{folder}/{precision}.engine"
                allowed, extra = ("fp16,int8", [shapes, "--calib", table]) if precision == "int8" else (precision, [shapes])
                started = time.time()
                status, text = run(build_command(path, engine, o, allowed, extra), log, o.limit)
                row.append(f"{time.time() - started:.1f}")
                if status != 0:
                    print(f"{name} {batch} {precision}: build failed ({status}) after {row[-1]} s: {text[-1500:]}", flush=True)
                    rows_to(os.path.join(o.out, "int8.csv"), HEADER, [row + [""] * 6 + ["failed"]])
                    continue
                latency, layers_us, layers = timed(engine, log)
                rows_to(os.path.join(o.out, "int8-profile.csv"), ["model", "batch", "precision", "layer", "op", "tactic", "median_us", "roofline_share"],
                        [[name, batch, precision, l["name"], l["op"], l["tactic"], f"{l['median_us']:.3f}", l["roofline_share"]] for l in layers])
                error, ratio = errors(engine, folder, x, expected, log)
                row += [report_of(text)["timings_measured"], f"{latency:.4f}", f"{1000 * batch / latency:.0f}", f"{layers_us:.1f}", f"{error:.3e}", f"{ratio:.1f}", "ok"]
                rows_to(os.path.join(o.out, "int8.csv"), HEADER, [row])
                print(f"{name} batch {batch} {precision} {o.sources}: build {row[5]} s ({row[6]} measured), median {latency:.4f} ms, {row[8]} images/s, "
                      f"layers {layers_us:.1f} us, error {error:.2e}, {ratio:.1f} dB", flush=True)
