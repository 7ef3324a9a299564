#!/usr/bin/env python3
"""The lint programs find what they are for: each case is a small tree with one fault."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import places

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
        self.check("coordinator/core/a.h", '"tuner/b.h"', True)
        self.check("worker/a.h", '"cli/b.h"', True)
        self.check("worker/agent/a.h", '"coordinator/client/b.h"', False)
        self.check("worker/agent/a.h", '"coordinator/core/b.h"', True)
        self.check("cli/verbs/a.h", '"engine/ops/b.h"', True)  # not transitive in the farm half
        self.check("engine/passes/a.h", '"engine/import/b.h"', True)
        self.check("engine/tactics/cpu/onednn/a.h", '"engine/tactics/cpu/kernel/b.h"', True)
        self.check("engine/tactics/cuda/kernel/gemv/a.cuh", '"engine/tactics/cuda/kernel/pool/b.h"', True)
        self.check("engine/tactics/cuda/cudnn/a.h", '"engine/tactics/cuda/kernel/b.h"', True)
        self.check("engine/tactics/sources.cpp", '"engine/tactics/cpu/onednn/b.h"', False)
        self.check("engine/tactics/tactic.cpp", '"engine/tactics/cpu/onednn/b.h"', True)
        self.check("engine/base/a.h", '"enginery/types.h"', True)
        self.check("engine/include/enginery/types.h", '"engine/graph/b.h"', True)

    def test_wrapped_libraries(self):
        self.check("engine/data/preprocess_file.cpp", "<toml++/toml.h>", False)
        self.check("engine/data/npy.cpp", "<toml++/toml.h>", True)
        self.check("coordinator/core/a.cpp", "<cuda.h>", True)
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
        self.check(GOOD + "int a;\n" * 419, True)


class Unity(unittest.TestCase):
    def check(self, first, second, fails, target="a.dir", header=""):
        """`first` in a.cpp's anonymous namespace and `second` in b.cpp's; both of one program unless `target` is another; `header` in c.h."""
        files = {f"cache/{name}.cpp": f"namespace enginery {{\nnamespace {{\n\n{text}\n\n}}  // namespace\n}}\n"
                 for name, text in (("a", first), ("b", second))}
        files["cache/c.h"] = f"namespace enginery {{\n{header}\n}}\n"
        files["compile_commands.json"] = json.dumps([
            {"file": f"cache/{name}.cpp", "command": f"c++ -o cache/CMakeFiles/{folder}/{name}.cpp.o -c cache/{name}.cpp"}
            for name, folder in (("a", target), ("b", "a.dir"))])
        code, out = run("unity.py", files)
        self.assertEqual(code, 1 if fails else 0, out)

    def test_clashes(self):
        self.check("int one(const Dims& a) {", "bool one(const Dims& b) {", True)
        self.check("int one(const Dims& a) {", "int one(Dims a) {", False)
        self.check("int one(int a, std::pair<int, int> b = {}) {", "int one(int x,\n    std::pair<int, int> y) {", True)
        self.check("struct One {", "class One {", True)
        self.check("constexpr int kOne = 1;", "constexpr int64_t kOne{2};", True)
        self.check("using One = int;", "using One = int;", False)
        self.check("using One = int;", "using One = bool;", True)
        self.check("int one(int a) {", "int one(int a) {", False, "other.dir")
        self.check("struct One {", "struct Two {", True, header="struct One {")
        self.check("struct One {", "struct Two {", False, header="struct One;")

    def test_types_of_one_name_in_two_folders(self):
        for other, fails in (("struct One {\n};", True), ("struct One;", False), ("struct One::Inner {\n};", False), ("struct Two {\n};", False)):
            texts = {"cache/a": "struct One {\n};", "cli/b": other}
            files = {f"{name}.h": f"namespace enginery {{\n{text}\n}}\n" for name, text in texts.items()}
            files |= {f"{name}.cpp": "namespace enginery {\nnamespace {\n\nint zero() {\n}\n\n}  // namespace\n}\n" for name in texts}
            files["compile_commands.json"] = json.dumps(
                [{"file": f"{name}.cpp", "command": f"c++ -o {name}/CMakeFiles/{name[-1]}.dir/x.cpp.o -c {name}.cpp"} for name in texts])
            code, out = run("unity.py", files)
            self.assertEqual(code, 1 if fails else 0, out)


class Places(unittest.TestCase):
    """The counts of ARCHITECTURE.md: every kind has its row, and a small product in which each example has one place."""
    EXAMPLES = {"a step": "tune", "a message": "Ping", "what a message does": "Ping", "a kernel variant": "64x64", "a tactic source": "mine",
                "a family of GPU kernels": "kPoolFamily", "a verb": "retry", "an operator": "Pad", "a pass": "fold",
                "an ONNX operator made of existing ones": "Mish", "an importer": "onnx", "a function of the C interface": "enginery_run"}
    PRODUCT = {"pipeline/step.cpp": 'Step{StepKind::tune, "tune"};\n', "schemas/messages.inc": "REQUEST(Ping)\n",
               "coordinator/server.cpp": "void operator()(const Ping&);\n", "engine/tactics/variants.inc": "64x64\n", "engine/tactics/families.cpp": "&kPoolFamily,\n",
               "engine/tactics/mine/a.cpp": 'name = "mine";\n', "engine/tactics/mine/b.cpp": 'name = "mine";\n',
               "engine/ops/op.h": "Pad,\n", "engine/passes/pass.cpp": "fold,\n", "engine/import/onnx/read.cpp": '{"Mish", read},\n',
               "engine/import/importer.cpp": "make_onnx_importer();\n", "cli/verbs/retry.cpp": "auto make_retry() {}\n",
               "engine/include/enginery/enginery.h": "int enginery_run(int);\n"}

    def check(self, fails, more=None, counts=None, leave_out=None):
        rows = [f"| {what} | `{name}` | {(counts or {}).get(what, 1)} | somewhere |" for what, name in self.EXAMPLES.items()
                if what != leave_out]
        table = "\n".join(["## How to add ...", "", "| what | example | places | where |", "|---|---|--:|---|", *rows, "| a setting | | | prose |"])
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**self.PRODUCT, **(more or {}), "ARCHITECTURE.md": table + "\n"}.items():
                (pathlib.Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                (pathlib.Path(root) / path).write_text(text)
            problems = list(places.check(pathlib.Path(root)))
        self.assertEqual(bool(problems), fails, problems)

    def test_counts(self):
        self.check(False)
        self.check(True, more={"worker/steps.cpp": 'if (name == "tune") run();\n'})
        self.check(True, more={"schemas/codec.cpp": "write(Ping);\n"})
        self.check(True, more={"cli/verbs/verbs.h": "std::unique_ptr<Command> make_retry();\n"})
        self.check(True, more={"cli/options.cpp": 'known{"mine"};\n'})
        self.check(True, more={"engine/tactics/conv.cpp": 'if (id == "64x64") {}\n'})
        self.check(True, more={"engine/ops/moves.cpp": "is_same<T, Pad>\n"})  # a second list of operators
        self.check(True, more={"engine/passes/order.cpp": "before(fold);\n"})
        self.check(False, more={"worker/steps.cpp": 'if (name == "tune") run();\n'}, counts={"a step": 2})
        self.check(True, counts={"a verb": 0})
        self.check(False, counts={"a verb": 2})
        self.check(True, more={"cli/verbs/retry.cpp": "int other;\n"})  # the example is gone

    def test_what_does_not_count(self):
        self.check(False, more={"worker/a.cpp": '// after "tune" and make_retry\nint a;\n', "tests/a.cpp": '"tune"\n', "cli/README.md": '"tune"\n'})
        self.check(False, more={"cli/verbs/retry.h": "auto make_retry();\n"})  # a pair of files is one place

    def test_a_kind_without_a_row(self):
        self.check(True, leave_out="a verb")

    def test_every_family_has_one_table_of_variants(self):
        table = "constexpr PoolVariant kPoolVariants[] = {{1}};\n"
        family = "engine/tactics/cuda/kernel/pool/pool.cpp"
        self.check(False, more={family: table})
        self.check(False, more={family: "offer();\n", "engine/tactics/cuda/kernel/pool/variants.cpp": table})
        self.check(True, more={family: "offer(256);\n"})
        self.check(True, more={family: table, "engine/tactics/cuda/kernel/pool/more.cpp": table.replace("Pool", "Roi")})
        self.check(False, more={"engine/tactics/cuda/kernel/text/common.cuh": "float x;\n"})  # no family


if __name__ == "__main__":
    unittest.main()
