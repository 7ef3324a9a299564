"""Pictures for the example: an RGB PNG of 8 bits as a smaller PPM. Python's standard library alone."""
import pathlib
import struct
import zlib


def chunks(data):
    at = 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at:at + 4])
        yield data[at + 4:at + 8], data[at + 8:at + 8 + size]
        at += 12 + size


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda v: abs(guess - v))


def read_png(path):
    """(width, height, rows of RGB bytes)"""
    parts = list(chunks(pathlib.Path(path).read_bytes()))
    width, height, depth, colour = struct.unpack(">IIBB", parts[0][1][:10])
    assert (depth, colour) == (8, 2), path
    raw = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    stride, above, rows = 3 * width, bytes(3 * width), []
    for y in range(height):
        start = y * (stride + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for i in range(stride):
            left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
            row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]) & 0xff
        rows.append(bytes(row))
        above = rows[-1]
    return width, height, rows


def halved_to_ppm(png):
    """A PPM of half the width and height: each pixel the mean of four."""
    width, height, rows = read_png(png)
    pixels = bytearray()
    for y in range(0, height, 2):
        for x in range(0, width, 2):
            for at in range(3 * x, 3 * x + 3):
                pixels.append((rows[y][at] + rows[y][at + 3] + rows[y + 1][at] + rows[y + 1][at + 3] + 2) // 4)
    return f"P6\n{width // 2} {height // 2}\n255\n".encode() + bytes(pixels)
