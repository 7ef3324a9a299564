#!/usr/bin/env python3
"""edges.py IN.ppm OUT.pgm: the edges of a picture, by a network of our own. It is put together layer by layer, built for this machine, and run."""
import sys

import enginery
import numpy


def build_edges(height, width):
    """Sobel's two kernels over the mean of three channels, then the length of what they give."""
    network = enginery.Network("edges")
    sobel = numpy.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], numpy.float32) / numpy.float32(3)
    kernels = numpy.stack([numpy.stack([kernel] * 3) for kernel in (sobel, sobel.T)])
    x = network.add_input("picture", "float32", (1, 3, height, width))
    slopes = network.add_convolution(x, network.add_constant(kernels, "kernels"), padding=(1, 1), name="slopes")
    squares = network.add_elementwise(slopes, slopes, "mul", name="squares")
    length = network.add_unary(network.add_reduce(squares, "sum", [1], name="sum"), "sqrt", name="length")
    network.mark_output(network.add_activation(length, "clip", 0, 255, name="bounded"), "edges")
    return enginery.Builder(enginery.BuildConfig(level=1)).build_engine(network)


def read_ppm(path):
    with open(path, "rb") as file:
        magic, size, _most, pixels = file.readline().strip(), file.readline().split(), file.readline(), file.read()
    if magic != b"P6":
        sys.exit("edges.py: the picture is no PPM file (P6)")
    width, height = map(int, size)
    return numpy.frombuffer(pixels, numpy.uint8).reshape(height, width, 3)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    picture = read_ppm(sys.argv[1]).transpose(2, 0, 1)[None].astype(numpy.float32)
    edges = build_edges(*picture.shape[2:]).run({"picture": picture})["edges"][0, 0]
    with open(sys.argv[2], "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % edges.shape[::-1] + (edges + 0.5).astype(numpy.uint8).tobytes())


if __name__ == "__main__":
    main()
