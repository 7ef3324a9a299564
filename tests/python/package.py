"""What the tests of the Python package share: the package of this source tree, and a home for catalog and keys."""
import atexit
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/e2e")]
from support import EXAMPLE, Home  # noqa: E402,F401

HOME = Home()
atexit.register(HOME.close)
os.environ["ENGINERY_HOME"] = str(HOME.path / "home")
MODEL = EXAMPLE / "shapes.onnx"

import enginery  # noqa: E402

_engine = None


def small_engine():
    """The example network, untuned; built once."""
    global _engine
    if _engine is None:
        _engine = enginery.build(MODEL, level=0, threads=1)
    return _engine
