"""What the end-to-end tests share: the real binary in a home of its own, a farm, and files to feed it.

ENGINERY_BIN names the binary. ENGINERY_SHARED names the folder with models and pictures (default: ../shared beside the source
tree); a test that needs it is skipped with a message where it is not there. Python's standard library alone.
"""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("ENGINERY_BIN", str(ROOT / "build/release/bin/enginery"))
SHARED = pathlib.Path(os.environ.get("ENGINERY_SHARED", ROOT.parent / "shared"))
EXAMPLE = ROOT / "deploy/examples/shapes"
TIMEOUT_S = 120


def shared(path):
    """A file of the shared folder, or the test is skipped."""
    file = SHARED / path
    if not file.exists():
        raise unittest.SkipTest(f"{file} is not there (ENGINERY_SHARED names the folder)")
    return file


class Outcome:
    def __init__(self, process, seconds):
        self.code, self.out, self.err, self.seconds = process.returncode, process.stdout, process.stderr, seconds

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit code {self.code}\nstdout: {self.out[-3000:]}\nstderr: {self.err[-3000:]}"


class Home:
    """A temporary ENGINERY_HOME (short path: sockets live in it) and a working folder."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="enginery-e2e-", dir="/tmp"))
        self.work = self.path / "work"
        self.work.mkdir()
        # Where the GPU libraries lie is the machine's, like PATH; everything else of enginery's is the home's.
        kept = {"ENGINERY_CUDA_LIBRARIES"}
        self.env = {k: v for k, v in os.environ.items() if k in kept or not k.startswith("ENGINERY_") and k != "NO_COLOR"}
        self.env["ENGINERY_HOME"] = str(self.path / "home")
        self.farm = None
        self.prefix = []  # before the binary: nsenter into a network namespace

    def run(self, *arguments, timeout=TIMEOUT_S, cwd=None, env=None, text=True, stdin=subprocess.DEVNULL, memory_bytes=None):
        def limit():
            import resource
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

        start = time.monotonic()
        process = subprocess.run([*self.prefix, BIN, *map(str, arguments)], capture_output=True, text=text, cwd=cwd or self.work, stdin=stdin,
                                 env={**self.env, **(env or {})}, timeout=timeout, preexec_fn=limit if memory_bytes else None)
        return Outcome(process, time.monotonic() - start)

    def start(self, *arguments, **more):
        return subprocess.Popen([*self.prefix, BIN, *map(str, arguments)], cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, text=True, **more)

    def up(self, *arguments):
        """Starts a farm in the background; returns what `up` printed."""
        outcome = self.run("up", "--detach", *arguments)
        assert outcome.code == 0, outcome
        self.farm = outcome
        return outcome

    def down(self):
        if self.farm:
            self.run("down")
            self.farm = None

    def close(self):
        self.down()
        for root, folders, _ in os.walk(self.path):
            for folder in folders:
                os.chmod(os.path.join(root, folder), 0o755)
        shutil.rmtree(self.path, ignore_errors=True)


class HomeTest(unittest.TestCase):
    """One home for each test class; tests use self.home."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)

    def assertExit(self, outcome, code, *words):
        """The exit code; and that stderr has one clear message with these words, without a crash's traces."""
        self.assertEqual(outcome.code, code, outcome)
        for word in words:
            self.assertIn(word, outcome.err, outcome)
        if code != 0:
            self.assertTrue(outcome.err.strip(), "no message")


def local_skus(home):
    return [s["sku"] for s in home.run("skus", "--local", "--json").json()["skus"] if s["kind"] == "cpu"]


def wait_for(condition, seconds=60, what="the condition"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come true within {seconds} s")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


# --- .npy ------------------------------------------------------------------------------------------------------------


def write_npy(path, dims, values, kind="f"):
    descr = {"f": "<f4", "q": "<i8"}[kind]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, dims))}{',' if len(dims) == 1 else ''}), }}"
    header = header.encode() + b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}{kind}", *values))


def read_npy(path):
    """(dtype text, dims, values)"""
    data = pathlib.Path(path).read_bytes()
    assert data[:6] == b"\x93NUMPY", path
    size = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + size].decode(), {"__builtins__": {}})
    assert not header["fortran_order"]
    count = 1
    for d in header["shape"]:
        count *= d
    kind = {"<f4": "f", "<i8": "q", "<i4": "i"}[header["descr"]]
    return header["descr"], header["shape"], struct.unpack(f"<{count}{kind}", data[10 + size:])


# --- ONNX: protobuf's wire format by hand --------------------------------------------------------------------------------


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([value & 0x7f | (0x80 if value > 0x7f else 0)])
        value >>= 7
        if not value:
            return out


def field(number, value):
    if isinstance(value, list):
        return b"".join(field(number, v) for v in value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)
    number, kind = {int: (3, 2), str: (4, 3), list: (8, 7), bytes: (5, 4)}[type(value)]  # bytes: a tensor
    return field(1, name) + field(number, value) + field(20, kind)


def tensor(name, dims, values):
    return field(1, list(dims)) + field(2, 1) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def int_tensor(name, dims, values):
    return field(1, list(dims)) + field(2, 7) + field(8, name) + field(9, struct.pack(f"<{len(values)}q", *values))


def external_tensor(name, dims, location):
    entry = field(1, "location") + field(2, location)
    return field(1, list(dims)) + field(2, 1) + field(8, name) + field(13, entry) + field(14, 1)


def value_info(name, dims, kind=1):
    shape = b"".join(field(1, field(2 if isinstance(d, str) else 1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def node(kind, inputs, outputs, **attributes):
    return (field(1, inputs) + field(2, outputs) + field(3, kind.lower() + "_" + outputs[0]) + field(4, kind) +
            field(5, [attribute(k, v) for k, v in attributes.items()]))


def model(nodes, inputs, outputs, weights=(), opset=13):
    graph = field(1, list(nodes)) + field(2, "graph") + field(5, list(weights)) + field(11, list(inputs)) + field(12, list(outputs))
    return field(1, 8) + field(2, "enginery e2e") + field(7, graph) + field(8, field(1, "") + field(2, opset))


def small_model(seed=0, batch="N", channels=8, layers=2):
    """A few convolutions: x float32[N x 3 x 16 x 16] to y; another seed gives other weights of the same structure."""
    nodes, weights, x, c = [], [], "x", 3
    state = seed * 7919 + 1
    for i in range(layers):
        values = []
        for _ in range(channels * c * 9):
            state = (state * 1103515245 + 12345) % (1 << 31)
            values.append(state / (1 << 31) - 0.5)
        weights.append(tensor(f"w{i}", (channels, c, 3, 3), values))
        nodes.append(node("Conv", [x, f"w{i}"], [f"c{i}"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        nodes.append(node("Relu", [f"c{i}"], [f"r{i}"]))
        x, c = f"r{i}", channels
    nodes.append(node("GlobalAveragePool", [x], ["p"]))
    nodes.append(node("Flatten", ["p"], ["y"], axis=1))
    return model(nodes, [value_info("x", [batch, 3, 16, 16])], [value_info("y", [batch, channels])], weights)


def main():
    if not os.access(BIN, os.X_OK):
        sys.exit(f"{BIN} is not there; ENGINERY_BIN names the binary")
    unittest.main(verbosity=2)
