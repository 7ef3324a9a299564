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


class Large(HomeTest):
    def peak(self, *arguments):
        """Runs the command; the most memory that it had at once, in bytes."""
        process = self.home.start(*arguments, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss * 1024

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
        resident = self.peak("run", "large.engine", "--input", "x.npy", "--output", "out")
        _, dims, values = read_npy(work / "out/y.npy")
        self.assertEqual(list(dims), [1, SIDE])
        self.assertTrue(all(abs(v) < 1e9 for v in values) and any(values))
        print(f"{outcome.seconds:.0f} s to build, {resident / 2**20:.0f} MiB resident for {report['size_bytes'] / 2**20:.0f} MiB of engine")
        self.assertLess(resident, 1.1 * report["size_bytes"])


if __name__ == "__main__":
    main()
