#!/usr/bin/env python3
"""compare.py: a model of PyTorch, exported to ONNX, built for this machine, and compared with PyTorch itself. Exit status 1 where they differ."""
import pathlib
import sys
import tempfile

import enginery
import torch


def make_model():
    """Two convolutions and a classifier over a picture of 32x32; any module in its place works alike."""
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                               torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.GELU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(32, 10), torch.nn.Softmax(-1)).eval()


def main():
    model, picture = make_model(), torch.rand(1, 3, 32, 32)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        path = pathlib.Path(folder) / "model.onnx"
        torch.onnx.export(model, (picture,), str(path), input_names=["picture"], output_names=["scores"], opset_version=17, dynamo=False)
        engine = enginery.build(path, level=1)
        expected = model(picture)
    scores = torch.from_numpy(engine.run({"picture": picture})["scores"])  # the tensor is read where it lies
    difference = float((scores - expected).abs().max())
    print(f"{engine.info['name']} for {engine.info['sku']}: largest difference {difference:.2g}")
    return int(not difference < 1e-4)


if __name__ == "__main__":
    sys.exit(main())
