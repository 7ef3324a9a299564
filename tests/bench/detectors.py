#!/usr/bin/env python3
"""Which of torchvision's detectors run, from the exported file to the boxes, and how far from ONNX Runtime they are.

    detectors.py --enginery PATH [--models NAME,...] [--exporter torchscript|dynamo] [--folder DIR] [--pictures 3] [--csv FILE]

Each network is exported (pictures of 320 x 320, operator set 17) with random weights of one seed, whose last layers are scaled so that what is found
depends on the picture; then `doctor`, `build --level 0` and `run` on made-up pictures. A row: nodes of the file, the first step that stops
and why (or `runs`), what ONNX Runtime finds in each picture, and the largest error of all outputs, over the output's largest element;
another number of boxes or another label is `differs`; boxes of equal scores may change places. NAME-raw
leaves out what follows the last layer: pasting the masks into the picture, looking for the key points in their maps. --folder keeps what was exported, and takes it from there. Needs torch,
torchvision, onnx, onnxruntime, onnxscript. Exit status 1 when a network stops or differs.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest.mock
import warnings

import numpy as np
import onnxruntime
import torch
from torchvision.models import detection

SIZE, MOST = 320, 1e-3
TWO_STAGES = dict(min_size=SIZE, max_size=SIZE, rpn_pre_nms_top_n_test=100, rpn_post_nms_top_n_test=30, box_detections_per_img=10)
ONE_STAGE = dict(topk_candidates=100, detections_per_img=80, num_classes=21)
NETWORKS = {
    "fasterrcnn_resnet50_fpn": dict(TWO_STAGES, num_classes=21, box_score_thresh=0.48),
    "maskrcnn_resnet50_fpn": dict(TWO_STAGES, num_classes=21, box_score_thresh=0.48),
    "keypointrcnn_resnet50_fpn": dict(TWO_STAGES, box_score_thresh=0.05),
    "maskrcnn_resnet50_fpn-raw": dict(TWO_STAGES, num_classes=21, box_score_thresh=0.48),
    "keypointrcnn_resnet50_fpn-raw": dict(TWO_STAGES, box_score_thresh=0.05),
    "retinanet_resnet50_fpn": dict(ONE_STAGE, min_size=SIZE, max_size=SIZE, score_thresh=0.7),
    "fcos_resnet50_fpn": dict(ONE_STAGE, min_size=SIZE, max_size=SIZE, score_thresh=0.7),
    "ssd300_vgg16": dict(ONE_STAGE, score_thresh=0.995),
    "ssdlite320_mobilenet_v3_large": dict(ONE_STAGE, score_thresh=0.9),
}
# Last layers and the spread that their outputs get; the rest of a network keeps its random weights.
SPREADS = [(r"cls_logits|cls_score|bbox_ctrness|classification_head\.module_list", 2.0), (r"bbox_pred|bbox_reg|regression_head\.module_list", 0.4),
           (r"mask_fcn_logits|kps_score", 2.0)]


def picture(seed):
    """3 x SIZE x SIZE of blurred noise in [0, 1]."""
    coarse = torch.from_numpy(np.random.default_rng(seed).random((1, 3, 10, 10), np.float32))
    return torch.nn.functional.interpolate(coarse, size=(SIZE, SIZE), mode="bicubic").clamp(0, 1)[0]


def spread_of(name, module):
    has_outputs = isinstance(module, (torch.nn.Conv2d, torch.nn.ConvTranspose2d, torch.nn.Linear))
    return next((s for pattern, s in SPREADS if has_outputs and re.search(pattern, name)), None)


def network(name):
    torch.manual_seed(0)
    model = getattr(detection, name.removesuffix("-raw"))(weights=None, weights_backbone=None, **NETWORKS[name]).eval()
    if name.endswith("-raw"):
        model.transform.postprocess = lambda result, *_: result

    last = {n: m for n, m in model.named_modules() if spread_of(n, m)}
    for _ in range(2):  # what a second stage sees depends on the first stage's scales
        spreads = {}

        def note(module, _, out):
            by_channel = out.transpose(0, 1).flatten(1)
            if by_channel.shape[1] > 1:
                spreads[module] = max(spreads.get(module, 0.0), float(by_channel.std(dim=1).max()))

        hooks = [m.register_forward_hook(note) for m in last.values()]
        with torch.no_grad():
            model([picture(0)])
        for hook in hooks:
            hook.remove()
        for name, module in last.items():
            if spreads.get(module, 0) > 0:
                module.weight.data *= spread_of(name, module) / spreads[module]
    return model


def heat_maps(logits, boxes):
    """In the place of what looks for the key points in the maps, box by box."""
    return [logits], [logits.amax((2, 3))]


def export(name, exporter, path):
    model, example = network(name), [picture(0)]
    looks = heat_maps if name.endswith("-raw") else detection.roi_heads.keypointrcnn_inference
    with torch.no_grad(), warnings.catch_warnings(), unittest.mock.patch.object(detection.roi_heads, "keypointrcnn_inference", looks):
        warnings.simplefilter("ignore")
        outputs = list(model(example)[0])
        if exporter == "dynamo":
            torch.onnx.export(model, (example,), path, dynamo=True, opset_version=18, output_names=outputs, verbose=False)
        else:
            torch.onnx.export(model, (example,), path, dynamo=False, opset_version=17, input_names=["picture"], output_names=outputs)


class Stopped(Exception):
    pass


def ask(options, *words):
    done = subprocess.run([options.enginery, *words], capture_output=True, text=True)
    if done.returncode:
        raise Stopped(f"{words[0]}: {(done.stdout + done.stderr).strip()}")
    return done.stdout


def by_onnxruntime(model, pictures):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return [dict(zip(names, session.run(None, {session.get_inputs()[0].name: p}))) for p in pictures]


def by_enginery(options, model, pictures, folder):
    engine = os.path.join(folder, "engine")
    ask(options, "build", model, "-o", engine, "--level", "0")
    results = []
    for i, one in enumerate(pictures):
        source, out = os.path.join(folder, f"{i}.npy"), os.path.join(folder, f"out{i}")
        np.save(source, one)
        ask(options, "run", engine, "--input", source, "--output", out)
        results.append({f[:-4]: np.load(os.path.join(out, f)) for f in os.listdir(out) if f.endswith(".npy")})
    return results


def in_order_of(expected, given):
    """Given, boxes whose scores are equal but for rounding in the order in which they are expected."""
    if any(given[name].shape != wanted.shape for name, wanted in expected.items()):
        return given
    order, left = [], list(range(len(given["scores"])))
    for score, box in zip(expected["scores"], expected["boxes"]):
        close = [i for i in left if abs(given["scores"][i] - score) < 1e-5] or left
        order.append(min(close, key=lambda i: np.abs(given["boxes"][i] - box).max()))
        left.remove(order[-1])
    return {name: value[order] for name, value in given.items()}


def error(expected, given):
    """Of all outputs the largest; None where a size or a whole number differs."""
    largest, given = 0.0, in_order_of(expected, given)
    for name, wanted in expected.items():
        found = given.get(name)
        if found is None or found.shape != wanted.shape:
            return None
        if wanted.dtype.kind not in "f":
            if not np.array_equal(wanted, found):
                return None
        elif wanted.size:
            largest = max(largest, float(np.abs(wanted - found).max() / max(np.abs(wanted).max(), 1e-6)))
    return largest


def tried(options, name, folder):
    """(nodes, found, what came of it, error)"""
    model = os.path.join(options.folder or folder, f"{name}.{options.exporter}.onnx")
    try:
        if not os.path.exists(model):
            export(name, options.exporter, model)
    except Exception as reason:  # whatever an exporter raises
        return "", "", f"export: {type(reason).__name__}: {str(reason).strip()}", ""
    pictures = [picture(100 + i).numpy() for i in range(options.pictures)]
    nodes = ""
    try:
        nodes = re.search(r"(\d+) nodes", ask(options, "doctor", model)).group(1)
        found = by_enginery(options, model, pictures, folder)
    except Stopped as reason:
        return nodes, "", str(reason), ""
    wanted = by_onnxruntime(model, pictures)
    errors = [error(w, f) for w, f in zip(wanted, found)]
    counts = " ".join(str(len(w["boxes"])) for w in wanted)
    if None in errors:
        return nodes, counts, "differs", ""
    return nodes, counts, "runs" if max(errors) <= MOST else "differs", f"{max(errors):.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--enginery", required=True)
    parser.add_argument("--models", default=",".join(NETWORKS))
    parser.add_argument("--exporter", choices=["torchscript", "dynamo"], default="torchscript")
    parser.add_argument("--folder")
    parser.add_argument("--pictures", type=int, default=3)
    parser.add_argument("--csv")
    options = parser.parse_args()
    rows = []
    for name in options.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            rows.append((name, options.exporter, *tried(options, name, folder)))
        print("  ".join(str(cell) for cell in rows[-1]), flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file).writerows([("network", "exporter", "nodes", "boxes", "outcome", "error"), *rows])
    return 0 if all(row[4] == "runs" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
