"""Draws the pictures of the shapes example: one coloured shape, turned, moved and scaled, on a noisy background.

Every picture is SIZE x SIZE RGB bytes; the network sees it at half that size (preprocess.toml). NumPy only.
"""
import struct
import zlib

import numpy as np

SIZE = 96
LABELS = ["arrow", "bar", "circle", "crescent", "cross", "heart", "ring", "square", "star", "triangle"]


def polygon(points, x, y):
    """Whether (x, y) lies inside, by the even-odd rule."""
    inside = np.zeros(x.shape, bool)
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        if y0 == y1:
            continue
        crosses = (y0 > y) != (y1 > y)
        inside ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return inside


def around(count, radii, start=np.pi / 2):
    """`count` points on circles whose radii repeat: the corners of regular polygons and stars."""
    angles = [start + 2 * np.pi * i / count for i in range(count)]
    return [(radii[i % len(radii)] * np.cos(a), radii[i % len(radii)] * np.sin(a)) for i, a in enumerate(angles)]


def shape_mask(label, x, y):
    """Which points of the plane the shape covers; all shapes fill about the unit circle."""
    r2 = x * x + y * y
    if label == "arrow":
        return polygon([(-1, -.25), (.1, -.25), (.1, -.7), (1, 0), (.1, .7), (.1, .25), (-1, .25)], x, y)
    if label == "bar":
        return (abs(x) < 1) & (abs(y) < .28)
    if label == "circle":
        return r2 < .8
    if label == "crescent":
        return (r2 < .9) & ((x - .5) ** 2 + y * y > .62)
    if label == "cross":
        return ((abs(x) < .26) & (abs(y) < .9)) | ((abs(y) < .26) & (abs(x) < .9))
    if label == "heart":
        u, v = 1.25 * x, 1.25 * y + .1
        return (u * u + v * v - 1) ** 3 - u * u * v ** 3 < 0
    if label == "ring":
        return (r2 < .9) & (r2 > .35)
    if label == "square":
        return (abs(x) < .72) & (abs(y) < .72)
    if label == "star":
        return polygon(around(10, [1, .42]), x, y)
    return polygon(around(3, [1]), x, y)


def draw(label, rng):
    """One picture, uint8[SIZE, SIZE, 3]."""
    scale, angle = rng.uniform(.42, .8), rng.uniform(0, 2 * np.pi)
    cx, cy = rng.uniform(-1, 1, 2) * (1 - scale) * .8
    grid = (np.arange(2 * SIZE) + .5) / SIZE - 1  # two samples a pixel and direction
    x, y = np.meshgrid((grid - cx) / scale, (grid - cy) / scale)
    c, s = np.cos(angle), np.sin(angle)
    mask = shape_mask(label, c * x + s * y, c * y - s * x).reshape(SIZE, 2, SIZE, 2).mean((1, 3))[..., None]

    while True:  # two colours that differ visibly
        front, back = rng.uniform(0, 255, (2, 3))
        if np.abs(front - back).max() > 90:
            break
    slope = np.linspace(-1, 1, SIZE)
    shade = (slope[:, None] * rng.uniform(-30, 30) + slope[None] * rng.uniform(-30, 30))[..., None]
    picture = back + (front - back) * mask + shade + rng.normal(0, rng.uniform(2, 22), (SIZE, SIZE, 3))
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def draw_set(count, seed):
    """`count` pictures with evenly spread classes: (uint8[count, SIZE, SIZE, 3], int64[count])."""
    rng = np.random.default_rng(seed)
    classes = np.arange(count) % len(LABELS)
    return np.stack([draw(LABELS[c], rng) for c in classes]), classes


def write_png(path, picture):
    """An 8-bit RGB PNG file, without a picture library."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))
