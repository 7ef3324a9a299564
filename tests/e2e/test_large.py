"""A model whose weights, in a file beside it, are more than 2 GiB: built, loaded and run. Needs some 3 GB of disk for the model and 12 for what becomes
of it, 12 GiB of memory and minutes; ctest has it where ENGINERY_SLOW_TESTS is set."""
import random
from support import *

SIDE, PRODUCTS = 12288, 4  # 604 MB each
WEIGHT_BYTES = SIDE * SIDE * 4


def write_weights(path):
    """Rows of numbers between -1/64 and 1/64: half a million of them over and over, so that no row is like its neighbours."""
    rng = random.Random(5)
    block = struct.pack("<524287f", *(rng.uniform(-1, 1) / 64 for _ in range(524287)))
    with open(path, "wb") as file:
        left = PRODUCTS * WEIGHT_BYTES
        while left > 0:
            left -= file.write(block[:left])


def large_model():
    """x W0 W1 W2 W3, every weight at its place in one file."""
    weights, nodes = [], []
    for i in range(PRODUCTS):
        place = [("location", "weights.bin"), ("offset", i * WEIGHT_BYTES), ("length", WEIGHT_BYTES)]
        entries = b"".join(field(13, field(1, key) + field(2, str(value))) for key, value in place)
        weights.append(field(1, [SIDE, SIDE]) + field(2, 1) + field(8, f"w{i}") + entries + field(14, 1))
        nodes.append(node("MatMul", [f"t{i}" if i else "x", f"w{i}"], [f"t{i + 1}" if i < PRODUCTS - 1 else "y"]))
    return model(nodes, [value_info("x", [1, SIDE])], [value_info("y", [1, SIDE])], weights)


# Prints how much memory a process has more with the engine, mapped, and one context of it; then what both say that they take. All in bytes.
RESIDENT = """
import ctypes, sys
class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("keys_folder", ctypes.c_char_p)] + [(name, ctypes.c_int32) for name in ("threads", "gpu", "borrow", "map")]
class Info(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("texts", ctypes.c_void_p * 4), ("counts", ctypes.c_int32 * 4), ("weights", ctypes.c_int64),
                ("context", ctypes.c_int64)]
def resident():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
library = ctypes.CDLL(sys.argv[1])
engine, context, info = ctypes.c_void_p(), ctypes.c_void_p(), Info(ctypes.sizeof(Info))
before = resident()
options = Options(ctypes.sizeof(Options), sys.argv[2].encode(), 0, 0, 0, 1)
assert library.enginery_engine_load_file(sys.argv[3].encode(), ctypes.byref(options), ctypes.byref(engine)) == 0
assert library.enginery_context_create(engine, ctypes.byref(context)) == 0
assert library.enginery_engine_get_info(engine, ctypes.byref(info)) == 0
print(resident() - before, info.weights + info.context)
"""


class Large(HomeTest):
    def test_models_are_built_loaded_and_run(self):
        work = self.home.work
        (work / "large.onnx").write_bytes(large_model())
        write_weights(work / "weights.bin")
        outcome = self.home.run("build", "large.onnx", "-o", "large.engine", "--level", "0", "--threads", "2", "--json", timeout=1500)
        self.assertExit(outcome, 0)
        report = outcome.json()
        self.assertGreater(report["size_bytes"], PRODUCTS * WEIGHT_BYTES)
        self.assertLess(report["error"], 1e-3)  # verified against the reference
        (work / "weights.bin").unlink()
        write_npy(work / "x.npy", [1, SIDE], [1.0] * SIDE)
        self.assertExit(self.home.run("run", "large.engine", "--input", "x.npy", "--output", "out", timeout=300), 0)
        _, dims, values = read_npy(work / "out/y.npy")
        self.assertEqual(list(dims), [1, SIDE])
        self.assertTrue(all(abs(v) < 1e9 for v in values) and any(values))
        library, start = pathlib.Path(BIN).parents[1] / "lib/libenginery.so", time.monotonic()
        command = [sys.executable, "-c", RESIDENT, library, self.home.path / "home/data/keys", work / "large.engine"]
        resident, taken = map(int, subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout.split())
        print(f"{outcome.seconds:.0f} s to build; {resident >> 20} MiB resident, {taken >> 20} of them weights and arena; {time.monotonic() - start:.1f} s to load")
        self.assertLess(resident, 1.1 * taken)


if __name__ == "__main__":
    main()
