#!/usr/bin/env python3
"""The installed library and command: what is there, what the library shows, that programs of others compile and run with it
alone, and that it can be removed."""
import os
import pathlib
import struct
import subprocess
import unittest

import installing
from installing import EXAMPLE, Home, read_npy, write_npy
from picture import halved_to_ppm

HERE = pathlib.Path(__file__).resolve().parent


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.prefix = cls.home.path / "prefix"
        installing.run(installing.CMAKE, "--install", installing.BUILD, "--prefix", cls.prefix)
        cls.manifest = (installing.BUILD / "install_manifest.txt").read_text()
        cls.library = next(cls.prefix.glob("lib/**/libenginery.so"))
        cls.header = cls.prefix / "include/enginery/enginery.h"
        cls.build_library = cls.library.with_name("libenginery-build.so")
        cls.build_header = cls.header.with_name("build.h")
        cls.engine = cls.home.work / "shapes.engine"
        built = cls.home.run("build", EXAMPLE / "shapes.onnx", "--level", "0", "-o", cls.engine)
        assert built.code == 0, built

    def user_env(self):
        """What a program of the user needs to find the library and the user's keys."""
        return {**self.home.env, "LD_LIBRARY_PATH": str(self.library.parent)}

    def flags(self, *what, package="enginery"):
        return installing.run("pkg-config", *what, package, env={"PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig")}).split()

    def compiled(self, source, *options, package="enginery"):
        """The C program of a source file, made with what pkg-config says of the package."""
        program = self.home.work / pathlib.Path(source).stem
        installing.run(installing.CC, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", source, *options, *self.flags("--cflags", "--libs", package=package),
                    "-o", program)
        return program

    def test_installs_the_command_with_pages_and_completion(self):
        env = {"MANWIDTH": "100", "LC_ALL": "C.UTF-8"}
        self.assertIn("0.1.0", installing.run(self.prefix / "bin/enginery", "--version"))
        page = installing.run("groff", "-man", "-Tutf8", "-ww", self.prefix / "share/man/man1/enginery-verify.1", env=env)
        self.assertIn("check an engine's signature and hashes", page)
        verbs = {p.stem.removeprefix("enginery-") for p in (self.prefix / "share/man/man1").glob("enginery-*.1")}
        self.assertLessEqual({"build", "run", "submit", "why-miss"}, verbs)
        self.assertNotIn("runner", verbs)
        installing.run("bash", "-n", self.prefix / "share/bash-completion/completions/enginery")
        for shell, file in (("zsh", "zsh/vendor-completions/_enginery"), ("fish", "fish/vendor_completions.d/enginery.fish")):
            self.assertEqual((self.prefix / "share" / file).read_text(), installing.run(self.prefix / "bin/enginery", "completion", shell))

    def test_shows_the_functions_of_its_header_and_nothing_else(self):
        self.assertEqual(installing.exported_functions(self.library), installing.declared_functions(self.header))
        self.assertEqual(installing.exported_functions(self.build_library), installing.declared_functions(self.build_header))

    def test_has_no_compiler_in_it(self):
        needed = installing.run("readelf", "-d", self.library)
        for name in ("protobuf", "onnx", "sqlite", "zmq"):
            self.assertNotIn(name, needed)
        self.assertIn("SONAME", needed)
        self.assertIn("[libenginery.so.0]", needed)

    def test_builds_without_a_socket_library(self):
        needed = installing.run("readelf", "-d", self.build_library)
        self.assertIn("[libenginery-build.so.0]", needed)
        self.assertIn("protobuf", needed)
        for name in ("zmq", "httplib"):
            self.assertNotIn(name, needed)

    def test_keeps_its_binary_interface(self):
        self.expect_interface(self.header, self.library, "enginery", "interface.txt")
        self.expect_interface(self.build_header, self.build_library, "enginery-build", "build_interface.txt")

    def expect_interface(self, header, library, package, golden):
        structs = installing.declared_structs(header)
        self.assertGreaterEqual(len(structs), 4)
        lines = [f"#include <enginery/{header.name}>", "#include <stdio.h>", "int main(void) {"]
        for name, fields in structs.items():
            lines.append(f'printf("struct {name} %zu\\n", sizeof({name}));')
            lines += [f'printf("  {f} at %zu\\n", offsetof({name}, {f}));' for f in fields]
        source = self.home.work / "layout.c"
        source.write_text("\n".join([*lines, "return 0; }", ""]))
        layout = installing.run(self.compiled(source, package=package), env=self.user_env())
        functions = "".join(f"function {name}\n" for name in installing.exported_functions(library))
        constants = "".join(f"constant {c}\n" for c in installing.declared_constants(header))
        installing.expect_golden(self, HERE / "golden" / golden, functions + constants + layout)

    def test_serves_a_c_program_that_pkg_config_compiles(self):
        program = self.compiled(HERE / "consumer.c")
        output = self.home.work / "output.bin"
        said = installing.run(program, self.engine, output, env=self.user_env())
        self.assertRegex(said, r"enginery 0\.1\.0 ran shapes for cpu-")
        scores = struct.unpack(f"<{output.stat().st_size // 4}f", output.read_bytes())
        self.assertEqual(len(scores), len((EXAMPLE / "labels.txt").read_text().split()))
        self.assertAlmostEqual(sum(scores), self.sum_of_command(), places=4)

    def sum_of_command(self):
        """The same run by the command: what the outputs of ones add up to."""
        ones = self.home.work / "ones.npy"
        write_npy(ones, (1, 3, 48, 48), [1.0] * (3 * 48 * 48))
        ran = self.home.run("run", self.engine, "--input", ones, "--output", self.home.work / "out")
        self.assertEqual(ran.code, 0, ran)
        (written,) = (self.home.work / "out").rglob("*.npy")
        return sum(read_npy(written)[2])

    def example(self, name):
        """The program of an installed example, built by CMake."""
        build, source = self.home.work / name, self.prefix / "share/doc/enginery/examples" / name
        installing.run(installing.CMAKE, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={installing.CXX}")
        installing.run(installing.CMAKE, "--build", build)
        return build / name

    def test_serves_the_example_that_builds_a_network_of_its_own(self):
        program, flat, star = self.example("edges"), self.home.work / "flat.ppm", self.home.work / "edges_of.ppm"
        flat.write_bytes(b"P6\n8 6\n255\n" + bytes([90]) * 144)
        star.write_bytes(halved_to_ppm(EXAMPLE / "pictures/star.png"))
        pixels = self.edges_of(program, flat)
        rows = [pixels[8 * i:8 * i + 8] for i in range(6)]
        self.assertEqual([row[1:7] for row in rows[1:5]], [bytes(6)] * 4)
        # Beyond its border a picture is black: there 90 four times, and 0.
        self.assertEqual(rows[2][0], 255)
        self.assertGreater(len(set(self.edges_of(program, star))), 20)
        with self.assertRaisesRegex(AssertionError, "exit code 1\nedges: the picture is no PPM"):
            installing.run(program, "/dev/null", "/dev/null", env=self.user_env())
        if os.environ.get("ENGINERY_PYTHON"):
            twin = self.home.work / "twin.pgm"
            self.run_python("edges/edges.py", star, twin)
            self.assertEqual(twin.read_bytes().split(b"255\n", 1)[1], self.edges_of(program, star))

    def run_python(self, script, *words):
        """What an installed example in Python says."""
        environment = {**self.user_env(), "PYTHONPATH": str(self.prefix / "lib/python3/dist-packages"),
                       "ENGINERY_BIN": str(self.prefix / "bin/enginery")}
        return installing.run(os.environ["ENGINERY_PYTHON"], self.prefix / "share/doc/enginery/examples" / script, *words, env=environment)

    def edges_of(self, program, picture):
        out = self.home.work / "edges.pgm"
        installing.run(program, picture, out, env=self.user_env())
        head, pixels = out.read_bytes().split(b"\n255\n", 1)
        width, height = map(int, head.removeprefix(b"P5\n").split())
        self.assertEqual(len(pixels), width * height)
        return pixels

    def test_serves_the_example_that_cmake_builds(self):
        program = self.example("classifier")
        for shape in ("star", "ring"):
            picture = self.home.work / f"{shape}.ppm"
            picture.write_bytes(halved_to_ppm(EXAMPLE / f"pictures/{shape}.png"))
            said = installing.run(program, self.engine, picture, EXAMPLE / "labels.txt", env=self.user_env())
            self.assertEqual(said.split()[0], shape)
            if os.environ.get("ENGINERY_PYTHON"):
                self.assertEqual(self.run_python("classifier/classifier.py", self.engine, picture, EXAMPLE / "labels.txt"), said)
        with self.assertRaisesRegex(AssertionError, "exit code 1\nclassifier: .*/no/such.engine.*No such file"):
            installing.run(program, "/no/such.engine", picture, EXAMPLE / "labels.txt", env=self.user_env())

    def test_serves_the_example_that_follows_a_camera(self):
        program, folder = self.example("camera"), self.home.work / "frames"
        folder.mkdir()
        shapes = ["star", "ring", "star", "star", "ring"]
        for number, shape in enumerate(shapes):
            (folder / f"{number}.ppm").write_bytes(halved_to_ppm(EXAMPLE / f"pictures/{shape}.png"))
        said = installing.run(program, self.engine, folder, EXAMPLE / "labels.txt", env=self.user_env())
        self.assertEqual([line.split()[:2] for line in said.splitlines()], [[f"{number}.ppm", shape] for number, shape in enumerate(shapes)])
        (folder / "3.ppm").write_bytes(b"P6\n2 2\n255\n" + bytes(12))
        with self.assertRaisesRegex(AssertionError, "exit code 1\n(.*\n){3}camera: .*3.ppm: expected a PPM file of the network's size"):
            installing.run(program, self.engine, folder, EXAMPLE / "labels.txt", env=self.user_env())

    def test_serves_the_example_that_compares_with_pytorch(self):
        python = os.environ.get("ENGINERY_PYTHON")
        if not python or subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
            self.skipTest("ENGINERY_PYTHON names no python with PyTorch")
        self.assertRegex(self.run_python("pytorch/compare.py"), r"^model for \S+: largest difference \S+\n$")

    def test_uninstall_leaves_nothing(self):
        prefix = self.home.path / "removed"
        installing.run(installing.CMAKE, "--install", installing.BUILD, "--prefix", prefix)
        self.assertGreater(len(installing.files_in(prefix)), 40)
        installing.run(installing.CMAKE, f"-DMANIFEST={installing.BUILD / 'install_manifest.txt'}", "-P", installing.ROOT / "cmake/install/uninstall.cmake")
        self.assertFalse(prefix.exists(), installing.files_in(prefix) if prefix.exists() else "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
