"""What the package says of the libraries' functions and structs, against their C headers: ctypes believes what it is told."""
import ctypes
import re
import sys
import unittest

from package import ROOT

sys.path.insert(0, str(ROOT / "tests/package"))
import installing  # noqa: E402
from enginery import _build_library, _library  # noqa: E402
from enginery._engine import DTYPES  # noqa: E402
from enginery._error import STATUS_CODES  # noqa: E402

HEADERS = ROOT / "engine/include/enginery"
GOLDEN = ROOT / "tests/package/golden"
# C struct -> ours.
STRUCTS = {"enginery_load_options": _library.LoadOptions, "enginery_engine_info": _library.EngineInfo, "enginery_tensor_info": _library.TensorInfo,
           "enginery_layer_info": _library.LayerInfo, "enginery_attribute": _build_library.Attribute, "enginery_counted_axis": _build_library.CountedAxis, "enginery_layer": _build_library.Layer,
           "enginery_calibrator": _build_library.CalibratorStruct, "enginery_build_options": _build_library.BuildOptions, "enginery_build_report": _build_library.BuildReport}
NUMBERS = {"int32_t": ctypes.c_int32, "enginery_type": ctypes.c_int32, "enginery_memory": ctypes.c_int32, "int64_t": ctypes.c_int64,
           "size_t": ctypes.c_size_t, "double": ctypes.c_double, "enginery_tensor": ctypes.c_uint64}
FUNCTIONS = {"enginery_profile_fn": _library.PROFILE_FUNCTION, "enginery_bytes_fn": _build_library.BYTES_FUNCTION,
             "enginery_progress_fn": _build_library.PROGRESS_FUNCTION, "enginery_cancelled_fn": _build_library.CANCELLED_FUNCTION,
             "enginery_batch_fn": _build_library.BATCH_FUNCTION, "enginery_read_cache_fn": _build_library.READ_CACHE_FUNCTION}
HANDLES = ("enginery_engine", "enginery_context", "enginery_network")


def types_for(words):
    """Our types that serve a parameter which the header declares with these words."""
    base, stars = re.search(r"(\w+)\s*(\**)", words.replace("const ", "")).groups()
    if not stars:
        return [{**NUMBERS, **FUNCTIONS}[base]]
    if base in HANDLES or base == "void":
        pointer = [ctypes.c_void_p, ctypes.c_char_p] if base == "void" else [ctypes.c_void_p]
        return [ctypes.POINTER(ctypes.c_void_p)] if stars == "**" else pointer
    return [ctypes.c_char_p] if base == "char" else [ctypes.POINTER({**NUMBERS, **STRUCTS}[base])]


class Declarations(unittest.TestCase):
    LIBRARIES = [("enginery.h", "interface.txt", _library), ("build.h", "build_interface.txt", _build_library)]

    def test_have_the_headers_structs(self):
        """By the offsets that tests/package measures with a C compiler."""
        for _, golden, _ in self.LIBRARIES:
            for struct, fields in re.findall(r"^struct (\w+ \d+)\n((?:  .*\n)+)", (GOLDEN / golden).read_text(), re.M):
                name, size = struct.split()
                ours = STRUCTS[name]
                self.assertEqual((ctypes.sizeof(ours), "".join(f"  {f} at {getattr(ours, f).offset}\n" for f, _ in ours._fields_)), (int(size), fields), name)

    def test_have_the_headers_functions(self):
        for header, _, module in self.LIBRARIES:
            ours = {**module.FUNCTIONS, **module.TEXTS}
            self.assertLessEqual(set(ours), set(installing.declared_functions(HEADERS / header)))
            text = re.sub(r"//[^\n]*", "", (HEADERS / header).read_text())
            for name, parameters in ours.items():
                result, words = re.search(rf"ENGINERY_API ([^;(]*?)\b{name}\(([^)]*)\)", text).groups()
                self.assertEqual(result.strip(), "const char*" if name in module.TEXTS else "enginery_status", name)
                declared = [p.strip() for p in words.split(",") if p.strip() != "void"]
                self.assertEqual(len(declared), len(parameters), name)
                for parameter, our in zip(declared, parameters):
                    self.assertIn(our, types_for(parameter), f"{name}: {parameter}")

    def test_have_the_headers_numbers(self):
        numbers = dict(line.split(" = ") for line in installing.declared_constants(HEADERS / "enginery.h"))
        statuses = {int(n) for name, n in numbers.items() if name.startswith("ENGINERY_ERROR_")}
        self.assertEqual(set(STATUS_CODES), statuses)
        self.assertEqual([numbers.pop(f"ENGINERY_MEMORY_{kind}") for kind in ("HOST", "DEVICE")], [str(_library.MEMORY_HOST), str(_library.MEMORY_DEVICE)])
        lacking = {"bfloat16": "uint16", "float8e4m3fn": "uint8", "float8e4m3fnuz": "uint8", "float8e5m2": "uint8", "float8e5m2fnuz": "uint8",
                   "int4": "int8", "uint4": "uint8"}
        for name, number in numbers.items():
            short = name.removeprefix("ENGINERY_").lower()
            if not short.startswith("error") and short != "ok":
                self.assertEqual(DTYPES[int(number)], lacking.get(short, short))
        self.assertEqual(len(DTYPES), 1 + int(numbers["ENGINERY_UINT4"]))


if __name__ == "__main__":
    unittest.main()
