#!/usr/bin/env python3
"""Runs the tests of this folder with a python that has NumPy: ENGINERY_PYTHON, or this one. Exit code 77 where neither has it."""
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
for python in filter(None, [os.environ.get("ENGINERY_PYTHON"), sys.executable]):
    if subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
        environment = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1] / "python")}
        sys.exit(subprocess.run([python, "-m", "unittest", "discover", "-v", "-s", FOLDER], env=environment, check=False).returncode)
print("skipped: no python with NumPy (ENGINERY_PYTHON names one)")
sys.exit(77)
