#!/usr/bin/env python3
"""A classifier's accuracy in int8 beside its accuracy in float and ONNX Runtime's quantize_static on the same pictures.

    int8_accuracy.py --enginery PATH --images FOLDER --preprocess TOML [--counts 5,10,50,250] [--threads N] [--csv FILE] MODEL.onnx

FOLDER has labels.csv (file,class,split) and imagenet/: pictures of split `calibration` calibrate, those of `evaluation` are counted.
Engines: float; every calibrator on --counts of the calibration pictures and on all of them. A count beyond them takes pictures of
`evaluation` (drawn with seed 1), and then only the rest is counted. Then ONNX Runtime (where it is installed): float, and
quantize_static with QDQ, int8 weights per channel, uint8 activations, every method of its own.

    top1         pictures whose first class is the label, of all
    agreement    pictures whose first class is that of the same program in float

Bar, for mse on all calibration pictures: top-1 at most 0.5 points below float, agreement at least 97 %. Exit status 1 when it is missed.
"""
import argparse
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import tomllib

import numpy as np

CALIBRATORS = ["mse", "entropy", "entropy2", "minmax", "percentile", "legacy"]
TOP1_BAR, AGREEMENT_BAR = 0.5, 97.0


def split_of(images, split):
    with open(os.path.join(images, "labels.csv")) as f:
        return {r["file"]: int(r["class"]) for r in csv.DictReader(f) if r["split"] == split}


def folder_of(images, files, folder):
    os.makedirs(folder)
    for name in files:
        os.symlink(os.path.abspath(os.path.join(images, "imagenet", name)), os.path.join(folder, name))
    return folder


class Enginery:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.calibration = sorted(split_of(options.images, "calibration"))
        self.eval = folder_of(options.images, split_of(options.images, "evaluation"), os.path.join(folder, "eval"))

    def ask(self, *words):
        done = subprocess.run([self.options.enginery, *words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def calibrating(self, count):
        """So many pictures: of those that calibrate, then of those that are counted."""
        draw = random.Random(1)
        more = sorted(split_of(self.options.images, "evaluation"))
        if count <= len(self.calibration):
            return draw.sample(self.calibration, count)
        return self.calibration + draw.sample(more, count - len(self.calibration))

    def classes(self, calibrator=None, pictures=()):
        """The first class of every evaluation picture, and the engine's precision."""
        engine = os.path.join(self.folder, "engine")
        command = ["build", self.options.model, "-o", engine, "--threads", str(self.options.threads)]
        if calibrator:
            data = folder_of(self.options.images, pictures, tempfile.mktemp(dir=self.folder))
            command += ["--int8", "--calib-data", data, "--preprocess", self.options.preprocess, "--calibrator", calibrator]
        self.ask(*command)
        table = self.ask("run", engine, "--input", self.eval, "--preprocess", self.options.preprocess, "--top", "1")
        rows = [line.split("\t") for line in table.splitlines() if line.count("\t") >= 3]
        layers = json.loads(self.ask("inspect", engine, "--json"))["layers"]
        precision = "int8" if any("quantize" in layer["op"] for layer in layers) else "fp32"
        return {row[0]: int(row[2]) for row in rows}, precision


def picture(path, table):
    from PIL import Image
    height, width = table["crop"]
    with Image.open(path) as image:
        rgb = image.convert("RGB")
        left, top = (rgb.width - width) // 2, (rgb.height - height) // 2
        pixels = np.asarray(rgb.crop((left, top, left + width, top + height)), np.float32)
    if table.get("color") == "bgr":
        pixels = pixels[..., ::-1]
    pixels = (pixels - np.array(table["mean"], np.float32)) * np.float32(table.get("scale", 1))
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], np.float32)


def peer_rows(options, folder):
    """Classes of ONNX Runtime by what it is called: in float, then quantised by each method."""
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
    with open(options.preprocess, "rb") as f:
        table = tomllib.load(f)["input"]
    read = lambda name: picture(os.path.join(options.images, "imagenet", name), table)
    calibration, evaluation = (sorted(split_of(options.images, s)) for s in ("calibration", "evaluation"))

    class Reader(CalibrationDataReader):
        def __init__(self, name):
            self.feeds = iter([{name: read(file)} for file in calibration])

        def get_next(self):
            return next(self.feeds, None)

    def classes(path):
        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 3
        settings.intra_op_num_threads = options.threads
        session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        return {file: int(session.run(None, {name: read(file)})[0].reshape(-1).argmax()) for file in evaluation}, name

    found, name = classes(options.model)
    yield "onnxruntime", "fp32", "", found
    for method in (CalibrationMethod.MinMax, CalibrationMethod.Entropy, CalibrationMethod.Percentile):
        out = os.path.join(folder, "peer.onnx")
        quantize_static(options.model, out, Reader(name), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, calibrate_method=method)
        yield "onnxruntime", "int8", method.name, classes(out)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--enginery", required=True)
    parser.add_argument("--images", required=True)
    parser.add_argument("--preprocess", required=True)
    parser.add_argument("--counts", default="5,10,50,250")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--csv")
    options = parser.parse_args()
    labels = split_of(options.images, "evaluation")
    pictures = len(split_of(options.images, "calibration"))
    counts = [int(n) for n in options.counts.split(",")]
    rows, missed = [], False

    def add(program, precision, calibrator, seen, classes, in_float):
        """Of the pictures that no calibration has seen: top-1, of the float network, too, and agreement."""
        held = {f: c for f, c in labels.items() if f not in seen}
        share = lambda right: 100 * sum(right) / len(held)
        top1 = share(classes[f] == c for f, c in held.items())
        float_top1 = share(in_float[f] == c for f, c in held.items())
        agreement = share(classes[f] == in_float[f] for f in held)
        rows.append([program, precision, calibrator, len(seen), len(held), f"{top1:.2f}", f"{float_top1:.2f}", f"{agreement:.2f}"])
        print("{:12} {:5} {:11} {:>3} calibrate, {} counted: top-1 {} % (float {} %), agreement {} %".format(*rows[-1]), flush=True)
        return top1, float_top1, agreement

    with tempfile.TemporaryDirectory() as folder:
        enginery = Enginery(options, folder)
        in_float, precision = enginery.classes()
        add("enginery", precision, "", [], in_float, in_float)
        for count, calibrator in itertools.product(sorted({*counts, pictures}), CALIBRATORS):
            seen = enginery.calibrating(count)
            classes, precision = enginery.classes(calibrator, seen)
            top1, float_top1, agreement = add("enginery", precision, calibrator, seen, classes, in_float)
            if (calibrator, count) == ("mse", pictures):
                missed = precision != "int8" or top1 < float_top1 - TOP1_BAR or agreement < AGREEMENT_BAR
        try:
            peer_float = None
            for program, precision, method, classes in peer_rows(options, folder):
                peer_float = peer_float or classes
                add(program, precision, method.lower(), enginery.calibration if method else [], classes, peer_float)
        except ImportError as error:
            print(f"ONNX Runtime is left out: {error}", file=sys.stderr)
    if options.csv:
        with open(options.csv, "w", newline="") as f:
            names = ["program", "precision", "calibrator", "calibration_pictures", "pictures", "top1_percent", "top1_float_percent",
                     "agreement_percent"]
            csv.writer(f, lineterminator="\n").writerows([names, *rows])
    print("MISSED" if missed else "bar held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
