#!/usr/bin/env python3
"""Wheels of the Python package: with the libraries inside and of this platform, or of Python alone; what is in them runs in an environment that has
nothing else of enginery. ENGINERY_PYTHON is the python that makes them: it has NumPy, setuptools and what gives it wheels."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import installing
from installing import EXAMPLE, Home

PYTHON = os.environ.get("ENGINERY_PYTHON") or sys.executable
# What a user of the wheel writes; ENGINE is a file, and the libraries must be the package's own.
PROGRAM = """
import sys
import numpy, enginery
engine = enginery.load(sys.argv[1])
x = numpy.ones(engine.inputs[0].shape, numpy.float32)
scores = engine.run({engine.inputs[0].name: x})[engine.outputs[0].name]
print(float(scores.sum()))
network = enginery.Network("two")
t = network.add_input("t", "float32", (1, 4))
network.mark_output(network.add_elementwise(t, t, "add"), "y")
config = enginery.BuildConfig(level=0, threads=1)
print(enginery.Builder(config).build_engine(network, engine.info["sku"]).run({"t": numpy.ones((1, 4), numpy.float32)})["y"].tolist())
print(*sorted({line.split()[-1] for line in open("/proc/self/maps") if "libenginery" in line}))
"""


def makes_wheels():
    code = ("import numpy, setuptools, pip\ntry:\n import setuptools.command.bdist_wheel\nexcept ImportError:\n import wheel\n")
    return subprocess.run([PYTHON, "-c", code], capture_output=True, check=False).returncode == 0


def wheel_of(folder, **variables):
    """The wheel that pip makes of a copy of the sources, so that the tree stays as it is."""
    sources = folder / "sources"
    shutil.copytree(installing.ROOT / "python", sources, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"), dirs_exist_ok=True)
    env = {**{k: v for k, v in os.environ.items() if k not in ("ENGINERY_BUILD", "ENGINERY_LIBRARY", "ENGINERY_BUILD_LIBRARY")}, **variables}
    done = subprocess.run([PYTHON, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", folder / "wheels", sources], env=env,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (folder / "wheels").glob("*.whl")
    return wheel


@unittest.skipUnless(makes_wheels(), f"{PYTHON} has no NumPy, setuptools or wheel")
class Wheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="enginery-wheel-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment_with(self, wheel):
        """The python of a new environment: the wheel, and NumPy from the python that runs this."""
        installing.run(PYTHON, "-m", "venv", "--without-pip", self.folder / "venv")
        python = self.folder / "venv/bin/python"
        packages = pathlib.Path(installing.run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        installing.run(PYTHON, "-m", "pip", "install", "--no-deps", "--no-index", "--target", packages, wheel)
        numpy = installing.run(PYTHON, "-c", "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parents[1])").strip()
        for part in pathlib.Path(numpy).glob("numpy*"):
            (packages / part.name).symlink_to(part)
        return python, packages

    def test_with_the_libraries_run_where_nothing_else_is(self):
        wheel = wheel_of(self.folder, ENGINERY_BUILD=str(installing.BUILD))
        self.assertRegex(wheel.name, r"^enginery-0\.1\.0-py3-none-linux_\w+\.whl$")
        python, packages = self.environment_with(wheel)
        home = Home()
        self.addCleanup(home.close)
        engine = home.work / "shapes.engine"
        built = home.run("build", EXAMPLE / "shapes.onnx", "--level", "0", "-o", engine)
        self.assertEqual(built.code, 0, built)
        env = {k: v for k, v in home.env.items() if not k.startswith(("ENGINERY_LIB", "ENGINERY_BUILD", "ENGINERY_BIN", "LD_", "PYTHON"))}
        done = subprocess.run([python, "-I", "-c", PROGRAM, engine], env=env, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        scores, doubled, mapped = done.stdout.splitlines()
        self.assertGreater(abs(float(scores)), 0)
        self.assertEqual(doubled, "[[2.0, 2.0, 2.0, 2.0]]")
        self.assertEqual(mapped.split(), [str(packages / "enginery" / name) for name in ("libenginery-build.so.0", "libenginery.so.0")])

    def test_without_are_of_python_alone(self):
        wheel = wheel_of(self.folder)
        self.assertEqual(wheel.name, "enginery-0.1.0-py3-none-any.whl")
        with zipfile.ZipFile(wheel) as content:
            self.assertFalse([name for name in content.namelist() if ".so" in name])
            modules = {name.removeprefix("enginery/") for name in content.namelist() if name.startswith("enginery/")}
        self.assertEqual(modules, {p.name for p in (installing.ROOT / "python/enginery").iterdir() if p.is_file()})

    def test_of_a_library_that_is_not_there_are_not_made(self):
        with self.assertRaisesRegex(AssertionError, "/no/libenginery.so: there is no such library"):
            wheel_of(self.folder, ENGINERY_LIBRARY="/no/libenginery.so")


if __name__ == "__main__":
    unittest.main(verbosity=2)
