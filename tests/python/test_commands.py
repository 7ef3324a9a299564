"""Builds and farms through the command, and the declarations of the package against the C header."""
import ctypes
import pathlib
import re
import sys
import unittest

import numpy

from package import HOME, MODEL, ROOT, enginery, small_engine

sys.path.insert(0, str(ROOT / "tests/package"))
import installing  # noqa: E402
from enginery import _library  # noqa: E402


class Builds(unittest.TestCase):
    def test_a_model_from_bytes_with_other_shapes(self):
        engine = enginery.build(MODEL.read_bytes(), level=0, shapes={"picture": (2, 3, 48, 48)}, name="two")
        self.assertEqual((engine.inputs[0].shape[0], engine.info["name"]), (2, "two"))
        self.assertEqual(engine.run({"picture": numpy.zeros((2, 3, 48, 48), numpy.float32)})[engine.outputs[0].name].shape[0], 2)

    def test_says_why_not(self):
        for call, code, text in [(lambda: enginery.build("nowhere.onnx"), "not_found", "nowhere.onnx"),
                                 (lambda: enginery.build(b"no model"), "invalid_input", ""),
                                 (lambda: enginery.build(MODEL, target="h201"), "usage", "h200"),
                                 (lambda: enginery.Farm("ipc:///nowhere/at.all").workers(), "unreachable", "")]:
            with self.assertRaises(enginery.Error) as raised:
                call()
            self.assertEqual(raised.exception.code, code, raised.exception.message)
            self.assertIn(text, raised.exception.message)


class OnAFarm(unittest.TestCase):
    def test_a_job_from_its_submission_to_a_run(self):
        sku = small_engine().info["sku"]
        HOME.up("--skus", sku, "--threads", "1")
        self.addCleanup(HOME.run, "down")
        farm = enginery.Farm()
        self.assertEqual([w["sku"] for w in farm.workers()], [sku])
        job = farm.submit(MODEL, targets=[sku], level=0).wait(60)
        self.assertEqual((job.state, [t["sku"] for t in job.targets]), ("done", [sku]))
        values = numpy.ones((1, 3, 48, 48), numpy.float32)
        engine = job.fetch(sku)
        path = farm.job(job.id).fetch(sku, HOME.work / "fetched.engine")
        name = engine.outputs[0].name
        numpy.testing.assert_array_equal(engine.run({"picture": values})[name], enginery.load(path).run({"picture": values})[name])
        with self.assertRaises(enginery.Error) as raised:
            farm.job("j999")
        self.assertEqual(raised.exception.code, "not_found")


class Declarations(unittest.TestCase):
    """ctypes believes what it is told."""
    HEADER = ROOT / "engine/include/enginery/enginery.h"

    def test_have_the_headers_structs(self):
        structs = installing.declared_structs(self.HEADER)
        for struct, name in [(_library.LoadOptions, "enginery_load_options"), (_library.EngineInfo, "enginery_engine_info"),
                             (_library.TensorInfo, "enginery_tensor_info"), (_library.LayerInfo, "enginery_layer_info")]:
            self.assertEqual([field for field, _ in struct._fields_], structs[name])

    def test_have_the_headers_functions(self):
        text = re.sub(r"//[^\n]*", "", self.HEADER.read_text())
        for name, parameters in {**_library.FUNCTIONS, **_library.TEXTS}.items():
            found = re.search(rf"ENGINERY_API [^;(]*?\b{name}\(([^)]*)\)", text)
            self.assertIsNotNone(found, name)
            declared = [p for p in found.group(1).split(",") if p.strip() != "void"]
            self.assertEqual(len(declared), len(parameters), name)
            for words, ours in zip(declared, parameters):
                self.assertEqual("int32_t" in words or "enginery_type" in words, ours is ctypes.c_int32, f"{name}: {words}")

    def test_have_the_headers_numbers(self):
        numbers = dict(line.split(" = ") for line in installing.declared_constants(self.HEADER))
        statuses = {int(n) for name, n in numbers.items() if name.startswith("ENGINERY_ERROR_")}
        from enginery._error import STATUS_CODES
        self.assertEqual(set(STATUS_CODES), statuses)
        from enginery._engine import DTYPES
        for name, number in numbers.items():
            short = name.removeprefix("ENGINERY_").lower()
            if not short.startswith("error") and short not in ("ok", "bfloat16"):
                self.assertEqual(DTYPES[int(number)], short)


if __name__ == "__main__":
    unittest.main()
