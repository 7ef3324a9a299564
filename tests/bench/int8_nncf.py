#!/usr/bin/env python3
"""OpenVINO's NNCF on the models and pictures of int8_error.py and int8_accuracy.py: how far its networks in int8 are from float.

    int8_nncf.py --images FOLDER [--pictures 16] [--threads N] [--csv FILE] MODEL.onnx ... [--classifier SQUEEZENET.onnx --preprocess TOML]

A python with nncf, openvino, onnxruntime and pillow (PyPI) runs it; enginery has no part in it. nncf.quantize as it comes (fast bias
correction and smoothing of channels included), with its preset `performance` (symmetric) and `mixed` (asymmetric activations), run by OpenVINO
on the CPU. Rows as int8_error.py writes them, added to those of --csv:

    sqnr_db      of each output of MODEL, calibrated on the first --pictures of the split `calibration`, of as many of `evaluation`
    agreement    of the classifier, calibrated on all of `calibration`: pictures of `evaluation` with the first class of the float network, in %
    top1         pictures with the labelled class, in % (of the float network: preset `float`)
"""
import argparse
import csv
import os
import tomllib

import nncf
import numpy as np
import openvino

import int8_accuracy
import int8_error

PRESETS = {"performance": nncf.QuantizationPreset.PERFORMANCE, "mixed": nncf.QuantizationPreset.MIXED}


def quantised(path, calibration, preset, threads):
    """Outputs by name for rows, of the network that NNCF makes of the model."""
    model = openvino.Core().read_model(path)
    shape = model.input(0).partial_shape
    shape[0] = 1
    model.reshape(shape)
    made = nncf.quantize(model, nncf.Dataset([row[None] for row in calibration]), preset=PRESETS[preset], subset_size=len(calibration))
    compiled = openvino.Core().compile_model(made, "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"})
    names = [output.get_any_name() for output in compiled.outputs]

    def run(rows):
        each = [compiled(row[None]) for row in rows]
        return {name: np.concatenate([np.array(one[i]) for one in each]) for i, name in enumerate(names)}

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--images", required=True)
    parser.add_argument("--pictures", type=int, default=16)
    parser.add_argument("--classifier")
    parser.add_argument("--preprocess")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--csv")
    options = parser.parse_args()
    rows = []

    def add(*row):
        rows.append(row)
        print("{:20} {:12} {:11} {:9} {}: {}".format(*row), flush=True)

    for path in options.models:
        calibration, evaluation = (int8_error.split(options.images, s, options.pictures) for s in ("calibration", "evaluation"))
        expected = int8_error.by_onnxruntime(path, evaluation, options.threads)
        for preset in PRESETS:
            outputs = quantised(path, calibration, preset, options.threads)(evaluation)
            for name, reference in expected.items():
                add(os.path.basename(path), "nncf", preset, "sqnr_db", name, f"{int8_error.sqnr(reference, outputs[name]):.2f}")
    if options.classifier:
        with open(options.preprocess, "rb") as f:
            table = tomllib.load(f)["input"]
        labels = int8_accuracy.split_of(options.images, "evaluation")
        read = lambda name: int8_accuracy.picture(os.path.join(options.images, "imagenet", name), table)[0]
        calibration = [read(f) for f in sorted(int8_accuracy.split_of(options.images, "calibration"))]
        evaluation = [read(f) for f in labels]
        classes = lambda outputs: next(iter(outputs.values())).reshape(len(evaluation), -1).argmax(1)
        in_float = classes(int8_error.by_onnxruntime(options.classifier, evaluation, options.threads))
        top1 = lambda found: f"{100 * np.mean(found == np.array(list(labels.values()))):.2f}"
        name, of = os.path.basename(options.classifier), f"{len(evaluation)} pictures"
        add(name, "nncf", "float", "top1", of, top1(in_float))
        for preset in PRESETS:
            found = classes(quantised(options.classifier, calibration, preset, options.threads)(evaluation))
            add(name, "nncf", preset, "agreement", of, f"{100 * np.mean(found == in_float):.2f}")
            add(name, "nncf", preset, "top1", of, top1(found))
    if options.csv:
        with open(options.csv, "a", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
