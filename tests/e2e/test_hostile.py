"""Inputs that mean harm or are broken: one clear message, the contract's exit code, within 20 s and 2 GB, nothing half-written."""
import os
import pathlib
import random
import resource
import signal
import subprocess
import unittest

from support import *

LIMIT_S = 20
LIMIT_BYTES = 2 << 30


def resident_limit(command, **more):
    """Runs a command; its outcome and the most memory that it had resident."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    outcome = command(**more)
    return outcome, max(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, before) * 1024


class Models(HomeTest):
    def refuse(self, model, code=9, *words, name="bad.onnx"):
        file = self.home.work / name
        file.write_bytes(model)
        for verb in (["build", file, "-o", "never.engine", "--level", "0"], ["submit", file, "--target", "this"]):
            outcome, peak = resident_limit(lambda: self.home.run(*verb, timeout=LIMIT_S + 20))
            self.assertExit(outcome, code, *words)
            self.assertLess(outcome.seconds, LIMIT_S)
            self.assertLess(peak, LIMIT_BYTES)
            self.assertLessEqual(len(outcome.err.splitlines()), 12, "more than one clear message")
        self.assertFalse((self.home.work / "never.engine").exists())

    def test_empty_and_random_bytes(self):
        self.refuse(b"")
        generator = random.Random(1)
        for size in (1, 100, 100000):
            self.refuse(generator.randbytes(size))

    def test_truncated(self):
        whole = (EXAMPLE / "shapes.onnx").read_bytes()
        for size in (10, len(whole) // 2, len(whole) - 1):
            self.refuse(whole[:size])

    def test_a_cycle(self):
        nodes = [node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"])]
        self.refuse(model(nodes, [value_info("x", [1, 4])], [value_info("b", [1, 4])]))

    def test_unknown_operators_are_all_named(self):
        nodes = [node("Frobnicate", ["x"], ["a"]), node("Relu", ["a"], ["b"]), node("Mystify", ["b"], ["y"])]
        self.refuse(model(nodes, [value_info("x", [1, 4])], [value_info("y", [1, 4])]), 9, "Frobnicate", "Mystify")

    def test_a_dimension_of_2_to_the_40(self):
        self.refuse(model([node("Relu", ["x"], ["y"])], [value_info("x", [1 << 40])], [value_info("y", [1 << 40])]))
        self.refuse(model([node("Relu", ["x"], ["y"])], [value_info("x", [1 << 31, 1 << 31])], [value_info("y", [1 << 31, 1 << 31])]))
        self.refuse(model([node("Relu", ["x"], ["y"])], [value_info("x", [-5, 3])], [value_info("y", [-5, 3])]))

    def test_a_million_nodes(self):
        chain = [node("Relu", ["x"], ["v0"])] + [node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(1_000_000)]
        self.refuse(model(chain, [value_info("x", [1, 4])], [value_info("v1000000", [1, 4])]))

    def test_external_data_outside_the_folder(self):
        (self.home.path / "secret.bin").write_bytes(b"\0" * 64)
        (self.home.work / "a").mkdir()
        for location in ("../secret.bin", str(self.home.path / "secret.bin"), "a/../../secret.bin"):
            graph = model([node("Add", ["x", "w"], ["y"])], [value_info("x", [4, 4])], [value_info("y", [4, 4])], [external_tensor("w", [4, 4], location)])
            self.refuse(graph)

    def test_external_data_through_a_symbolic_link(self):
        (self.home.path / "secret.bin").write_bytes(b"\0" * 64)
        link = self.home.work / "link.bin"
        link.symlink_to(self.home.path / "secret.bin")
        graph = model([node("Add", ["x", "w"], ["y"])], [value_info("x", [4, 4])], [value_info("y", [4, 4])], [external_tensor("w", [4, 4], "link.bin")])
        self.refuse(graph)

    def test_external_data_that_is_missing(self):
        graph = model([node("Add", ["x", "w"], ["y"])], [value_info("x", [4, 4])], [value_info("y", [4, 4])], [external_tensor("w", [4, 4], "gone.bin")])
        file = self.home.work / "external.onnx"
        file.write_bytes(graph)
        for words in (["build", file, "--level", "0"], ["submit", file, "--target", "this"], ["inspect", file]):
            self.assertExit(self.home.run(*words), 3, "gone.bin")

    def test_weights_of_the_wrong_length(self):
        short = field(1, [4, 4]) + field(2, 1) + field(8, "w") + field(9, b"\0" * 12)
        self.refuse(model([node("Add", ["x", "w"], ["y"])], [value_info("x", [4, 4])], [value_info("y", [4, 4])], [short]))

    def test_a_folder_is_no_model(self):
        (self.home.work / "folder.onnx").mkdir()
        outcome = self.home.run("build", "folder.onnx")
        self.assertIn(outcome.code, (3, 9), outcome)


class Storage(HomeTest):
    def build(self, home_folder, **more):
        return self.home.run("build", EXAMPLE / "shapes.onnx", "-o", "s.engine", "--level", "0", env={"ENGINERY_HOME": str(home_folder)}, **more)

    def test_a_home_that_cannot_be_made(self):
        outcome = self.build("/proc/enginery")
        self.assertExit(outcome, 10, "/proc/enginery")
        self.assertLess(outcome.seconds, LIMIT_S)

    def test_a_file_in_the_way(self):
        (self.home.path / "file").write_text("")
        self.assertExit(self.build(self.home.path / "file"), 10)

    def mounted(self, options):
        folder = self.home.path / "mount"
        folder.mkdir(exist_ok=True)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode != 0:
            self.skipTest("a small tmpfs cannot be mounted here (it takes root)")
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        return folder

    def test_a_full_folder(self):
        folder = self.mounted("size=256k")
        outcome = self.build(folder)
        self.assertExit(outcome, 10)
        self.assertLess(outcome.seconds, LIMIT_S)
        self.assertFalse((self.home.work / "s.engine").exists())
        left = [f for f in folder.rglob("*") if f.is_file() and "tmp" in f.relative_to(folder).parts]
        self.assertEqual(left, [], "half-written files stayed")

    def test_a_read_only_folder(self):
        folder = self.mounted("size=16m")
        self.assertExit(self.build(folder), 0)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        outcome = self.home.run("build", EXAMPLE / "shapes.onnx", "-o", "t.engine", "--level", "0", "--name", "other", env={"ENGINERY_HOME": str(folder)})
        self.assertExit(outcome, 10)
        self.assertExit(self.home.run("coordinator", env={"ENGINERY_HOME": str(folder)}), 10)

    def test_an_output_that_cannot_be_written(self):
        for output in ("/proc/x.engine", "no/such/folder/x.engine"):
            outcome = self.home.run("build", EXAMPLE / "shapes.onnx", "-o", output, "--level", "0")
            self.assertExit(outcome, 10)

    def test_a_full_stdout_is_told(self):
        with open("/dev/full", "w") as full:
            process = subprocess.run([BIN, "skus", "--local"], stdout=full, stderr=subprocess.PIPE, text=True, env=self.home.env)
        self.assertEqual(process.returncode, 10, process.stderr)

    def test_ctrl_c_ends_a_build_and_leaves_nothing(self):
        (self.home.work / "large.onnx").write_bytes(small_model(3, batch=1, channels=64, layers=6))
        process = self.home.start("build", "large.onnx", "-o", "large.engine", "--level", "5", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertIn(process.returncode, (6, 130, -2), line + err)
        self.assertFalse((self.home.work / "large.engine").exists())
        self.assertExit(self.home.run("catalog", "verify"), 0)


if __name__ == "__main__":
    main()
