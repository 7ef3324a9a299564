"""RNN, LSTM and GRU as exporters write them, in every direction, with and without initial states and biases, as engines at levels 0 and 3.

What they must give is computed here, step by step, as ONNX defines it (RNN-14, LSTM-14, GRU-14): no other program is asked.
"""
import math
import random
import unittest

from support import *

STEPS, BATCH, INPUTS, HIDDEN = 3, 2, 3, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DIRECTIONS = {"forward": (1,), "reverse": (-1,), "bidirectional": (1, -1)}
BAR = 1e-5


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def product(row, matrix, first, count):
    """Rows first .. first + count of the matrix times the row."""
    return [sum(a * b for a, b in zip(row, matrix[first + i])) for i in range(count)]


def added(*rows):
    return [sum(values) for values in zip(*rows)]


class Weights:
    """One direction's: W [gates * hidden][inputs], R [gates * hidden][hidden], B [2][gates * hidden], h0 and c0 [batch][hidden]."""

    def __init__(self, kind, rng, has_bias, has_state):
        def matrix(rows, columns, scale=1.0):
            return [[rng.uniform(-scale, scale) for _ in range(columns)] for _ in range(rows)]
        n = GATES[kind] * HIDDEN
        self.w, self.r, self.b = matrix(n, INPUTS), matrix(n, HIDDEN), matrix(2, n, 0.5 if has_bias else 0)
        self.h, self.c = (matrix(BATCH, HIDDEN, 1 if has_state else 0) for _ in range(2))


def step(kind, weights, x, h, c, reset_first):
    """The next h and c of one row of the batch. Gates lie in ONNX's order: iofc, zrh."""
    def gate(number, state):
        first = number * HIDDEN
        bias = added(weights.b[0][first:first + HIDDEN], weights.b[1][first:first + HIDDEN])
        return added(product(x, weights.w, first, HIDDEN), product(state, weights.r, first, HIDDEN), bias)
    if kind == "RNN":
        return list(map(math.tanh, gate(0, h))), c
    if kind == "LSTM":
        i, o, f = (list(map(sigmoid, gate(g, h))) for g in range(3))
        new = list(map(math.tanh, gate(3, h)))
        c = [f_ * c_ + i_ * n_ for f_, c_, i_, n_ in zip(f, c, i, new)]
        return [o_ * math.tanh(c_) for o_, c_ in zip(o, c)], c
    z, r = (list(map(sigmoid, gate(g, h))) for g in range(2))
    if reset_first:  # linear_before_reset: what torch does
        first = 2 * HIDDEN
        recurrent = added(product(h, weights.r, first, HIDDEN), weights.b[1][first:first + HIDDEN])
        inner = added(product(x, weights.w, first, HIDDEN), weights.b[0][first:first + HIDDEN], [a * b for a, b in zip(r, recurrent)])
    else:
        inner = gate(2, [a * b for a, b in zip(r, h)])
    new = list(map(math.tanh, inner))
    return [(1 - z_) * n_ + z_ * h_ for z_, n_, h_ in zip(z, new, h)], c


def expected(kind, directions, weights, x, reset_first):
    """Y [steps, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden], flat."""
    y = [[None] * len(directions) for _ in range(STEPS)]
    last_h, last_c = [], []
    for d, (way, one) in enumerate(zip(directions, weights)):
        h, c = [list(row) for row in one.h], [list(row) for row in one.c]
        for t in range(STEPS)[::way]:
            for b in range(BATCH):
                h[b], c[b] = step(kind, one, x[t][b], h[b], c[b], reset_first)
            y[t][d] = [list(row) for row in h]
        last_h.append(h)
        last_c.append(c)
    return {"y": flat(y), "h": flat(last_h), "c": flat(last_c)}


def flat(values):
    return [v for part in values for v in flat(part)] if isinstance(values, list) else [values]


class Recurrent(HomeTest):
    def expect_right(self, kind, direction, *, has_bias=True, has_state=True, reset_first=False):
        name = f"{kind}-{direction}-{int(has_bias)}{int(has_state)}{int(reset_first)}"
        rng, ways = random.Random(name), DIRECTIONS[direction]
        n, d = GATES[kind] * HIDDEN, len(ways)
        weights = [Weights(kind, rng, has_bias, has_state) for _ in ways]
        x = [[[rng.uniform(-1, 1) for _ in range(INPUTS)] for _ in range(BATCH)] for _ in range(STEPS)]
        given = [tensor("W", (d, n, INPUTS), flat([o.w for o in weights])), tensor("R", (d, n, HIDDEN), flat([o.r for o in weights]))]
        inputs = ["x", "W", "R"]
        if has_bias or has_state:
            inputs.append("B" if has_bias else "")
            given += [tensor("B", (d, 2 * n), flat([o.b for o in weights]))] if has_bias else []
        if has_state:
            inputs += ["", "h0"] + (["c0"] if kind == "LSTM" else [])
            given.append(tensor("h0", (d, BATCH, HIDDEN), flat([o.h for o in weights])))
            given += [tensor("c0", (d, BATCH, HIDDEN), flat([o.c for o in weights]))] if kind == "LSTM" else []
        outputs = ["y", "h"] + (["c"] if kind == "LSTM" else [])
        attributes = {"hidden_size": HIDDEN, "direction": direction}
        if kind == "GRU":
            attributes["linear_before_reset"] = int(reset_first)
        shapes = {"y": (STEPS, d, BATCH, HIDDEN), "h": (d, BATCH, HIDDEN), "c": (d, BATCH, HIDDEN)}
        (self.home.work / "net.onnx").write_bytes(
            model([node(kind, inputs, outputs, **attributes)], [value_info("x", (STEPS, BATCH, INPUTS))], [value_info(o, shapes[o]) for o in outputs],
                  given, opset=14))
        write_npy(self.home.work / "x.npy", (STEPS, BATCH, INPUTS), flat(x))
        wanted = expected(kind, ways, weights, x, reset_first)
        for level in (0, 3):
            with self.subTest(network=name, level=level):
                engine = f"{name}-{level}.engine"
                self.assertExit(self.home.run("build", "net.onnx", "--name", name, "--level", level, "--threads", 1, "-o", engine), 0)
                self.assertExit(self.home.run("run", engine, "--input", "x.npy", "--threads", 1, "--output", engine + "-y"), 0)
                for output in outputs:
                    _, dims, values = read_npy(self.home.work / (engine + "-y") / f"{output}.npy")
                    self.assertEqual(tuple(dims), shapes[output])
                    self.assertLess(max(abs(a - b) for a, b in zip(values, wanted[output])), BAR, output)

    def test_rnn(self):
        self.expect_right("RNN", "forward", has_state=False)
        self.expect_right("RNN", "bidirectional")

    def test_lstm(self):
        self.expect_right("LSTM", "forward", has_bias=False)
        self.expect_right("LSTM", "reverse", has_state=False)
        self.expect_right("LSTM", "bidirectional")

    def test_gru(self):
        self.expect_right("GRU", "forward")
        self.expect_right("GRU", "reverse", reset_first=True, has_bias=False)
        self.expect_right("GRU", "bidirectional", reset_first=True)


if __name__ == "__main__":
    main()
