#!/usr/bin/env python3
"""Trains the shapes example and writes its files: shapes.onnx, labels.txt and pictures/. Needs NumPy only.

    OMP_NUM_THREADS=1 ./train.py [--epochs 10] [--pictures 12000] [--seed 1]

The test pictures are drawn with another seed than the training pictures; the accuracy on them is printed.
"""
import argparse
import os
import time

import numpy as np

import draw
import network
import onnx_file

FOLDER = os.path.dirname(os.path.abspath(__file__))
CLASSES = len(draw.LABELS)


def preprocess(pictures):
    """What preprocess.toml says: resize to half (exactly the mean of 2 x 2), (x - 128) / 128; here N x H x W x C."""
    n, h, w, c = pictures.shape
    half = np.floor(pictures.reshape(n, h // 2, 2, w // 2, 2, c).mean((2, 4), dtype=np.float32) + np.float32(.5))
    return (half - 128) * np.float32(1 / 128)


class Adam:
    def __init__(self, parameters):
        self.parameters, self.step = parameters, 0
        self.moments = [(np.zeros_like(p), np.zeros_like(p)) for p, _ in parameters]

    def update(self, rate):
        self.step += 1
        for (p, g), (m, v) in zip(self.parameters, self.moments):
            m += .1 * (g - m)
            v += .001 * (g * g - v)
            p -= rate * (m / (1 - .9 ** self.step)) / (np.sqrt(v / (1 - .999 ** self.step)) + 1e-8)


def train_step(layers, x, y):
    """Forward and backward; returns the mean cross-entropy."""
    for layer in layers:
        x = layer.forward(x, True)
    p = network.softmax(x)
    rows = np.arange(len(y))
    loss = -np.log(p[rows, y] + 1e-9).mean()
    p[rows, y] -= 1
    g = p / np.float32(len(y))
    for layer in reversed(layers):
        g = layer.backward(g)
    return loss


def train(layers, x, y, epochs, rng, batch=64):
    adam = Adam([p for layer in layers for p in layer.parameters()])
    steps = len(x) // batch * epochs
    for epoch in range(epochs):
        order, losses, start = rng.permutation(len(x)), [], time.time()
        for i in range(0, len(x) - batch + 1, batch):
            rows = order[i:i + batch]
            inputs = x[rows, :, ::rng.choice([1, -1])]  # mirrored half of the time: no shape changes its name
            losses.append(train_step(layers, inputs, y[rows]))
            adam.update(np.float32(.003 * .5 * (1 + np.cos(np.pi * adam.step / steps))))
        print(f"epoch {epoch + 1}/{epochs}: loss {np.mean(losses):.4f}, {time.time() - start:.0f} s", flush=True)


def write_pictures(layers, pictures, classes):
    """One picture of each class: the first that the network names right. The README's examples, not a test set."""
    os.makedirs(os.path.join(FOLDER, "pictures"), exist_ok=True)
    right = network.predict(layers, preprocess(pictures)).argmax(1) == classes
    for c, label in enumerate(draw.LABELS):
        draw.write_png(os.path.join(FOLDER, "pictures", label + ".png"), pictures[(classes == c) & right][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--pictures", type=int, default=12000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    start = time.time()
    pictures, classes = draw.draw_set(args.pictures, args.seed)
    test_pictures, test_classes = draw.draw_set(3000, args.seed + 1000)
    x, test_x = preprocess(pictures), preprocess(test_pictures)
    print(f"drew {len(x) + len(test_x)} pictures in {time.time() - start:.0f} s", flush=True)

    rng = np.random.default_rng(args.seed + 2000)
    layers = network.make_network(rng, CLASSES)
    train(layers, x, classes, args.epochs, rng)
    accuracy = (network.predict(layers, test_x).argmax(1) == test_classes).mean()
    print(f"test accuracy {100 * accuracy:.2f} % of {len(test_x)} pictures, {time.time() - start:.0f} s in all")

    onnx_file.write(os.path.join(FOLDER, "shapes.onnx"), layers, draw.SIZE // 2, CLASSES)
    with open(os.path.join(FOLDER, "labels.txt"), "w") as f:
        f.write("".join(label + "\n" for label in draw.LABELS))
    write_pictures(layers, *draw.draw_set(100, args.seed + 3000))


if __name__ == "__main__":
    main()
