#!/usr/bin/env python3
"""The kernel identity: what changes the hash of the sources, and what a declaration does to the identity in keys."""
import pathlib
import re
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "cmake" / "kernel_identity.cmake"
CODE = 'int width() {\n  return 4;  // elements\n}\nconst char* text = "http://a // no comment";\n'


class Identity(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("engine/kernels/identity.txt", "# comment\nsources 0 00aa -\ncpu 0 00cc -\ngpu 0 00bb -\n")
        self.write("engine/tactics/cuda/kernel/a.cpp", CODE)
        self.write("engine/kernels/cpu/b.cpp", "int other = 1;\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def run_script(self, *options):
        return subprocess.run(["cmake", f"-DROOT={self.root}", *options, "-P", str(SCRIPT)], capture_output=True, text=True)

    def hash_of(self, scope):
        return re.search(scope + ": sources ([0-9a-f]{16}) ", self.run_script().stderr)[1]

    def test_code_alone_is_hashed(self):
        before = self.hash_of("sources")
        self.write("engine/tactics/cuda/kernel/a.cpp", "// Moved.\n#include <new>\n" + CODE.replace("elements", "in elements").replace("{\n", "\n{ "))
        self.assertEqual(self.hash_of("sources"), before, "a comment, an include and white space")
        (self.root / "engine/tactics/cuda/kernel/a.cpp").rename(self.root / "engine/kernels/z.cpp")
        self.assertEqual(self.hash_of("sources"), before, "another place")
        self.write("engine/kernels/z.cpp", CODE.replace("width", "height"))
        self.assertNotEqual(self.hash_of("sources"), before, "an identifier")
        self.write("engine/kernels/z.cpp", CODE.replace("no comment", "some comment"))
        self.assertNotEqual(self.hash_of("sources"), before, "a string that looks like a comment")

    def test_gpu_timings_do_not_depend_on_cpu_kernels(self):
        sources, gpu = self.hash_of("sources"), self.hash_of("gpu")
        self.write("engine/kernels/cpu/b.cpp", "int other = 2;\n")
        self.assertNotEqual(self.hash_of("sources"), sources)
        self.assertEqual(self.hash_of("gpu"), gpu)

    def test_timings_depend_on_what_packs_and_launches(self):
        self.write("engine/tactics/shapes/c.cpp", "int c = 1;\n")
        self.write("engine/tactics/cuda/cudnn/d.cpp", "int d = 1;\n")
        cpu, gpu = self.hash_of("cpu"), self.hash_of("gpu")
        self.write("engine/tactics/cuda/cudnn/d.cpp", "int d = 2;\n")
        self.assertEqual(self.hash_of("cpu"), cpu)
        self.assertNotEqual(self.hash_of("gpu"), gpu, "the graphs of cuDNN")
        gpu = self.hash_of("gpu")
        self.write("engine/tactics/shapes/c.cpp", "int c = 2;\n")
        self.assertNotEqual(self.hash_of("cpu"), cpu)
        self.assertNotEqual(self.hash_of("gpu"), gpu)

    def test_same_keeps_the_identity_and_new_replaces_it(self):
        self.assertEqual(self.run_script().returncode, 1, "undeclared sources pass")
        self.assertEqual(self.run_script("-DDECLARE=same", "-DREASON=moved").returncode, 0)
        self.assertIn("have the identity 00aa", self.run_script().stderr)
        self.write("engine/tactics/cuda/kernel/a.cpp", "int another = 5;\n")
        self.assertEqual(self.run_script().returncode, 1, "undeclared sources pass")
        self.assertEqual(self.run_script("-DDECLARE=new", "-DREASON=other code").returncode, 0)
        self.assertNotIn("00aa", self.run_script().stderr)
        text = (self.root / "engine/kernels/identity.txt").read_text()
        self.assertEqual(text.count("\nsources "), 1)
        self.assertTrue(text.startswith("# comment"))
        self.assertEqual(self.run_script("-DDECLARE=same").returncode, 1, "a declaration without a reason")


if __name__ == "__main__":
    unittest.main()
