"""A convolutional network with its backward pass, NumPy only, activations N x H x W x C.

A layer has forward(x, training), backward(gradient) and parameters(): a list of (value, gradient) pairs.
"""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


class Conv:
    """3 x 3, padding 1, no bias (batch normalisation follows)."""

    def __init__(self, rng, cin, cout, stride=1):
        self.w = (rng.standard_normal((3, 3, cin, cout)) * (2 / (9 * cin)) ** .5).astype(np.float32)
        self.dw, self.stride = np.zeros_like(self.w), stride

    def forward(self, x, training):
        s = self.stride
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = sliding_window_view(padded, (3, 3), (1, 2))[:, ::s, ::s]  # N, H, W, C, 3, 3
        n, h, w, c = windows.shape[:4]
        columns = np.ascontiguousarray(windows.transpose(0, 1, 2, 4, 5, 3)).reshape(n * h * w, 9 * c)
        if training:
            self.columns, self.input_shape, self.output_shape = columns, x.shape, (n, h, w)
        return (columns @ self.w.reshape(9 * c, -1)).reshape(n, h, w, -1)

    def backward(self, g):
        n, h, w = self.output_shape
        s, c = self.stride, self.input_shape[3]
        flat = g.reshape(n * h * w, -1)
        self.dw[...] = (self.columns.T @ flat).reshape(self.dw.shape)
        columns = (flat @ self.w.reshape(9 * c, -1).T).reshape(n, h, w, 3, 3, c)
        padded = np.zeros((n, self.input_shape[1] + 2, self.input_shape[2] + 2, c), np.float32)
        for ky in range(3):
            for kx in range(3):
                padded[:, ky:ky + s * h:s, kx:kx + s * w:s] += columns[:, :, :, ky, kx]
        return padded[:, 1:-1, 1:-1]

    def parameters(self):
        return [(self.w, self.dw)]


class BatchNorm:
    epsilon = 1e-5

    def __init__(self, channels):
        self.gamma, self.beta = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        self.dgamma, self.dbeta = np.zeros_like(self.gamma), np.zeros_like(self.beta)
        self.mean, self.var = np.zeros(channels, np.float32), np.ones(channels, np.float32)

    def forward(self, x, training):
        if not training:
            return (x - self.mean) * (self.gamma / np.sqrt(self.var + self.epsilon)) + self.beta
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        self.mean += .1 * (mean - self.mean)
        self.var += .1 * (var - self.var)
        self.inverse = 1 / np.sqrt(var + self.epsilon)
        self.normal = (x - mean) * self.inverse
        return self.normal * self.gamma + self.beta

    def backward(self, g):
        count = g.size // g.shape[3]
        self.dgamma[...], self.dbeta[...] = (g * self.normal).sum((0, 1, 2)), g.sum((0, 1, 2))
        return (self.gamma * self.inverse) * (g - self.dbeta / count - self.normal * (self.dgamma / count))

    def parameters(self):
        return [(self.gamma, self.dgamma), (self.beta, self.dbeta)]


class Relu:
    def forward(self, x, training):
        out = np.maximum(x, 0)
        if training:
            self.positive = out > 0
        return out

    def backward(self, g):
        return g * self.positive

    def parameters(self):
        return []


class MaxPool:
    """2 x 2, stride 2."""

    def forward(self, x, training):
        n, h, w, c = x.shape
        blocks = x.reshape(n, h // 2, 2, w // 2, 2, c)
        out = blocks.max((2, 4))
        if training:
            self.is_max = blocks == out[:, :, None, :, None]
        return out

    def backward(self, g):
        n, h, _, w, _, c = self.is_max.shape
        return (self.is_max * g[:, :, None, :, None]).reshape(n, 2 * h, 2 * w, c)

    def parameters(self):
        return []


class Residual:
    """relu(x + layers(x))."""

    def __init__(self, layers):
        self.layers, self.relu = layers, Relu()

    def forward(self, x, training):
        y = x
        for layer in self.layers:
            y = layer.forward(y, training)
        return self.relu.forward(x + y, training)

    def backward(self, g):
        g = inner = self.relu.backward(g)
        for layer in reversed(self.layers):
            inner = layer.backward(inner)
        return g + inner

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]


class Head:
    """Global average pool, then a fully connected layer: logits."""

    def __init__(self, rng, channels, classes):
        self.w = (rng.standard_normal((channels, classes)) / channels ** .5).astype(np.float32)
        self.b = np.zeros(classes, np.float32)
        self.dw, self.db = np.zeros_like(self.w), np.zeros_like(self.b)

    def forward(self, x, training):
        self.shape, self.pooled = x.shape, x.mean((1, 2))
        return self.pooled @ self.w + self.b

    def backward(self, g):
        self.dw[...], self.db[...] = self.pooled.T @ g, g.sum(0)
        n, h, w, c = self.shape
        return np.broadcast_to((g @ self.w.T / (h * w))[:, None, None], (n, h, w, c)).astype(np.float32)

    def parameters(self):
        return [(self.w, self.dw), (self.b, self.db)]


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def make_network(rng, classes):
    def block(c):
        return Residual([Conv(rng, c, c), BatchNorm(c), Relu(), Conv(rng, c, c), BatchNorm(c)])
    return [Conv(rng, 3, 16, 2), BatchNorm(16), Relu(), Conv(rng, 16, 32), BatchNorm(32), Relu(), MaxPool(), block(32),
            Conv(rng, 32, 64, 2), BatchNorm(64), Relu(), block(64), Head(rng, 64, classes)]


def predict(layers, x, batch=200):
    out = []
    for i in range(0, len(x), batch):
        y = x[i:i + batch]
        for layer in layers:
            y = layer.forward(y, False)
        out.append(softmax(y))
    return np.concatenate(out)
