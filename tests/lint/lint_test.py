#!/usr/bin/env python3
"""The lint programs find what they are for: each case is a small tree with one fault."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
GOOD = "// What it is.\n#pragma once\n"


def run(program, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            (pathlib.Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(root) / path).write_text(text)
        done = subprocess.run([sys.executable, HERE / program, root], capture_output=True, text=True)
        return done.returncode, done.stdout


class Includes(unittest.TestCase):
    def check(self, path, include, fails):
        code, out = run("includes.py", {path: GOOD + f"#include {include}\n"})
        self.assertEqual(code, 1 if fails else 0, out)

    def test_direction(self):
        self.check("engine/graph/a.h", '"engine/ops/b.h"', False)
        self.check("engine/graph/a.h", '"engine/base/b.h"', False)
        self.check("engine/ops/a.h", '"engine/graph/b.h"', True)
        self.check("engine/ops/a.h", '"engine/data/b.h"', True)
        self.check("cache/a.h", '"engine/tensor/b.h"', True)
        self.check("coordinator/a.h", '"tuner/b.h"', True)
        self.check("worker/a.h", '"cli/b.h"', True)
        self.check("engine/passes/a.h", '"engine/import/b.h"', True)
        self.check("engine/base/a.h", '"enginery/types.h"', True)
        self.check("engine/include/enginery/types.h", '"engine/graph/b.h"', True)

    def test_wrapped_libraries(self):
        self.check("engine/data/preprocess_file.cpp", "<toml++/toml.h>", False)
        self.check("engine/data/npy.cpp", "<toml++/toml.h>", True)
        self.check("coordinator/a.cpp", "<cuda.h>", True)
        self.check("worker/a.cpp", "<zmq.h>", True)

    def test_unknown_folder(self):
        self.assertEqual(run("includes.py", {"engine/new/a.h": GOOD})[0], 1)


class Style(unittest.TestCase):
    def check(self, text, fails, path="cache/a.h"):
        code, out = run("style.py", {path: text})
        self.assertEqual(code, 1 if fails else 0, out)

    def test_habits(self):
        self.check(GOOD, False)
        self.check("#pragma once\n", True)
        self.check("// What it is.\n", True)
        self.check(GOOD + "#include <nlohmann/json.hpp>\n", True)
        self.check(GOOD + "#include <nlohmann/json_fwd.hpp>\n", False)
        self.check(GOOD + "#include <nlohmann/json.hpp>\n", False, "cache/a.cpp")
        self.check(GOOD + "int a; \n", True)
        self.check(GOOD + "//" + "x" * 180 + "\n", True)
        self.check(GOOD + "int a;\n" * 399, True)


if __name__ == "__main__":
    unittest.main()
