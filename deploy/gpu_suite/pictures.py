"""SqueezeNet on the 500 pictures."""
import csv
import glob
import os

from .common import BUNDLE, build_command, program, rows_to, run
from .models import model_file, reference_outputs


def part_pictures(o):
    """SqueezeNet on the 500 pictures: top-1 beside ONNX Runtime's, the error, the share that is right."""
    import numpy as np
    from PIL import Image
    log = os.path.join(o.out, "pictures.log")
    path, input_name = model_file("squeezenet")
    files = sorted(glob.glob(os.path.join(BUNDLE, "images", "imagenet", "*")))
    with open(os.path.join(BUNDLE, "images", "labels.csv")) as f:
        wanted = {row["file"]: int(row["class"]) for row in csv.DictReader(f)}
    rows = []
    for file in files:
        picture = np.asarray(Image.open(file).convert("RGB"), np.float32)
        top, left = (picture.shape[0] - 227) // 2, (picture.shape[1] - 227) // 2
        bgr = picture[top:top + 227, left:left + 227, ::-1] - np.array([104, 117, 123], np.float32)
        rows.append(np.ascontiguousarray(bgr.transpose(2, 0, 1)))
    pictures = np.stack(rows)
    (r,) = (y.reshape(len(files), -1) for y in reference_outputs(path, input_name, pictures).values())
    with open("/tmp/preprocess.toml", "w") as f:
        f.write('[input]\ncrop = [227, 227]\ncolor = "bgr"\nmean = [104, 117, 123]\n')
    np.save("/tmp/pictures.npy", pictures)
    best_two = np.sort(r, axis=1)[:, -2:]
    tie = best_two[:, 1] - best_two[:, 0] < 1e-3
    truth = np.array([wanted[os.path.basename(f)] for f in files])
    for precision in o.precisions.split(","):
        engine = f"/tmp/pictures-{precision}.engine"
        run(build_command(path, engine, o, precision, ["--shapes=data:1x3x227x227"]), log, o.limit, True)
        for what, options in {"jpeg": [os.path.join(BUNDLE, "images", "imagenet"), "--preprocess", "/tmp/preprocess.toml"], "npy": ["/tmp/pictures.npy"]}.items():
            out = f"/tmp/pictures-{precision}-{what}"
            status, text = run([program("enginery"), "run", engine, "--output", out, "--input", *options], log, 200, True)
            y = np.load(glob.glob(out + "/*.npy")[0]).reshape(r.shape)
            error = float(np.abs(y - r).max() / np.abs(r).max())
            same = int(((y.argmax(1) == r.argmax(1)) | tie).sum())
            right = float((y.argmax(1) == truth).mean())
            rows_to(os.path.join(o.out, "pictures.csv"), ["precision", "from", "pictures", "same_top1_or_tie", "ties", "right", "error"],
                    [[precision, what, len(files), same, int(tie.sum()), right, f"{error:.3e}"]])
            print(f"squeezenet {precision} from {what}: {same} of {len(files)} with the reference's top-1 ({tie.sum()} ties), {100 * right:.1f} % right, error {error:.2e}", flush=True)
