#!/usr/bin/env python3
"""classifier.py ENGINE PICTURE.ppm LABELS: the label of the highest score. The picture (P6) has the network's size, and its numbers
are made as deploy/examples/shapes was trained; yours may differ."""
import sys

import enginery
import numpy


def read_ppm(path, shape):
    """The three planes of a picture, as the network was trained (preprocess.toml)."""
    with open(path, "rb") as file:
        magic, size, _most, pixels = file.readline().strip(), file.readline().split(), file.readline(), file.read()
    width, height = map(int, size or (0, 0))
    if magic != b"P6" or (1, 3, height, width) != shape:
        sys.exit("classifier.py: the picture has another size than the network, or is no PPM file")
    planes = numpy.frombuffer(pixels, numpy.uint8).reshape(height, width, 3).transpose(2, 0, 1)
    return ((planes.astype(numpy.float32) - 128) * numpy.float32(0.0078125))[None]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    engine = enginery.load(sys.argv[1])
    picture = read_ppm(sys.argv[2], engine.inputs[0].shape)
    scores = engine.run({engine.inputs[0].name: picture})[engine.outputs[0].name].ravel()
    with open(sys.argv[3], encoding="utf-8") as file:
        labels = file.read().splitlines()
    print(f"{labels[scores.argmax()]} {scores.max():.3f}")


if __name__ == "__main__":
    try:
        main()
    except enginery.Error as error:
        sys.exit(f"classifier.py: {error}")
