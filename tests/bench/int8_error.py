#!/usr/bin/env python3
"""How far networks in int8 are from float, enginery's beside ONNX Runtime's quantize_static, on pictures that calibrated neither.

    int8_error.py --enginery PATH --images FOLDER [--pictures 32] [--threads N] [--csv FILE] MODEL.onnx ... [--faces RFB.onnx]

Models take N x 3 x 224 x 224 (RGB, middle crop, (x - 127) / 64). The first --pictures of FOLDER's split `calibration` calibrate, as many of
`evaluation` are counted:

    sqnr     of each output, in decibels: 10 log10(sum r^2 / sum (y - r)^2), r of ONNX Runtime in float

--faces: RFB-320 on FOLDER/faces, calibrated on every other picture and counted on the rest, then the other way round. `matched`: boxes above
0.7 (non-maximum suppression at 0.3) of the float model that have one of the quantised with IoU >= 0.9, in percent; bar 98 for mse.

enginery's engine is what `calibrate --to-qdq` writes, built at level 0: every product that can be is computed with the rounding of 8 bits, and
nothing is chosen by time; `mse+bias` is mse with --bias-correction. ONNX Runtime: QDQ, int8 weights per channel, uint8 activations. Exit status 1 when the bar is missed.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from PIL import Image

CALIBRATORS = ["mse", "mse+bias", "entropy", "minmax"]
METHODS = [CalibrationMethod.MinMax, CalibrationMethod.Entropy, CalibrationMethod.Percentile]
FACE_BAR, SCORE, SUPPRESS, SAME = 98.0, 0.7, 0.3, 0.9


def picture(path, height, width, crop, mean, scale):
    with Image.open(path) as image:
        rgb = image.convert("RGB")
        if crop:
            left, top = (rgb.width - width) // 2, (rgb.height - height) // 2
            rgb = rgb.crop((left, top, left + width, top + height))
        else:
            rgb = rgb.resize((width, height), Image.BILINEAR)
        pixels = (np.asarray(rgb, np.float32) - mean) * np.float32(scale)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], np.float32)


def session_of(path, threads):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    settings.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])


def by_onnxruntime(path, rows, threads):
    session = session_of(path, threads)
    name, outputs = session.get_inputs()[0].name, [o.name for o in session.get_outputs()]
    each = [session.run(None, {name: row[None]}) for row in rows]
    return {n: np.concatenate([one[i] for one in each]) for i, n in enumerate(outputs)}


class Reader(CalibrationDataReader):
    def __init__(self, path, rows):
        name = session_of(path, 1).get_inputs()[0].name
        self.feeds = iter([{name: row[None]} for row in rows])

    def get_next(self):
        return next(self.feeds, None)


def ask(options, *words):
    done = subprocess.run([options.enginery, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")


def by_enginery(options, model, calibrator, calibration, evaluation):
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        np.save(path("calibration.npy"), calibration)
        np.save(path("evaluation.npy"), evaluation)
        threads = ["--threads", str(options.threads)]
        ask(options, "calibrate", model, "--data", path("calibration.npy"), "--calibrator", calibrator.split("+")[0], *threads, "-o", path("table"), "--to-qdq",
            path("qdq.onnx"), *(["--bias-correction"] if "+bias" in calibrator else []))
        ask(options, "build", path("qdq.onnx"), "-o", path("engine"), "--int8", "--level", "0", *threads)
        ask(options, "run", path("engine"), "--input", path("evaluation.npy"), "--output", path("out"))
        return {f[:-4]: np.load(os.path.join(path("out"), f)) for f in os.listdir(path("out")) if f.endswith(".npy")}


def raised(model, folder):
    """The model in operator set 13 at least, which Q/DQ with a scale for each channel needs."""
    loaded = onnx.load(model)
    if loaded.opset_import[0].version >= 13:
        return model
    constants = {i.name for i in loaded.graph.initializer}
    real = [v for v in loaded.graph.input if v.name not in constants]
    del loaded.graph.input[:]
    loaded.graph.input.extend(real)
    path = os.path.join(folder, os.path.basename(model))
    onnx.save(onnx.version_converter.convert_version(loaded, 13), path)
    return path


def quantised(options, model, calibration, evaluation):
    """(program, calibrator, outputs by name) of each way."""
    for calibrator in CALIBRATORS:
        yield "enginery", calibrator, by_enginery(options, model, calibrator, calibration, evaluation)
    for method in METHODS:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "peer.onnx")
            quantize_static(model, out, Reader(model, calibration), quant_format=QuantFormat.QDQ, per_channel=True,
                            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, calibrate_method=method)
            yield "onnxruntime", method.name.lower(), by_onnxruntime(out, evaluation, options.threads)


def sqnr(expected, given):
    expected, given = expected.astype(np.float64), given.reshape(expected.shape).astype(np.float64)
    noise = ((expected - given) ** 2).sum()
    return float("inf") if noise == 0 else 10 * np.log10((expected ** 2).sum() / noise)


def overlap(box, boxes):
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    both = np.prod(np.clip(high - low, 0, None), axis=1)
    area = lambda b: (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    return both / (area(box) + area(boxes) - both)


def faces_of(scores, boxes):
    kept = np.flatnonzero(scores[:, 1] > SCORE)
    kept = kept[np.argsort(-scores[kept, 1], kind="stable")]
    out = []
    while len(kept):
        out.append(boxes[kept[0]])
        kept = kept[1:][overlap(boxes[kept[0]], boxes[kept[1:]]) <= SUPPRESS]
    return np.array(out).reshape(-1, 4)


def matched(expected, given):
    found = total = 0
    for i in range(len(expected["scores"])):
        real, got = (faces_of(o["scores"][i], o["boxes"][i]) for o in (expected, given))
        total += len(real)
        found += sum(len(got) > 0 and overlap(box, got).max() >= SAME for box in real)
    return found, total


def split(images, name, count):
    with open(os.path.join(images, "labels.csv")) as f:
        files = sorted(r["file"] for r in csv.DictReader(f) if r["split"] == name)[:count]
    return np.concatenate([picture(os.path.join(images, "imagenet", f), 224, 224, True, 127, 1 / 64) for f in files])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--enginery", required=True)
    parser.add_argument("--images", required=True)
    parser.add_argument("--pictures", type=int, default=32)
    parser.add_argument("--faces")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--csv")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    rows, missed = [], False

    def add(*row):
        rows.append(row)
        print("{:20} {:12} {:11} {:8} {}: {}".format(*row), flush=True)

    for model in options.models:
        calibration, evaluation = (split(options.images, s, options.pictures) for s in ("calibration", "evaluation"))
        expected = by_onnxruntime(model, evaluation, options.threads)
        for program, calibrator, outputs in quantised(options, model, calibration, evaluation):
            for name, reference in expected.items():
                add(os.path.basename(model), program, calibrator, "sqnr_db", name, f"{sqnr(reference, outputs[name]):.2f}")
    if options.faces:
        folder = os.path.join(options.images, "faces")
        scratch = tempfile.TemporaryDirectory()
        model = raised(options.faces, scratch.name)
        all_rows = np.concatenate([picture(os.path.join(folder, f), 240, 320, False, 127, 1 / 128) for f in sorted(os.listdir(folder))])
        counts = {}
        for half in (0, 1):
            calibration, evaluation = all_rows[half::2], all_rows[1 - half::2]
            expected = by_onnxruntime(model, evaluation, options.threads)
            for program, calibrator, outputs in quantised(options, model, calibration, evaluation):
                found, total = matched(expected, outputs)
                before = counts.get((program, calibrator), (0, 0))
                counts[program, calibrator] = (before[0] + found, before[1] + total)
        for (program, calibrator), (found, total) in counts.items():
            percent = 100 * found / total
            missed = missed or ((program, calibrator) == ("enginery", "mse") and percent < FACE_BAR)
            add(os.path.basename(options.faces), program, calibrator, "matched", f"boxes of {total}", f"{percent:.2f}")
    if options.csv:
        with open(options.csv, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([["model", "program", "calibrator", "figure", "of", "value"], *rows])
    print("MISSED" if missed else "bar held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
