"""What the package tests share: commands, and an install of the build folder into a folder of its own.

ENGINERY_BUILD names the build folder, which must be built; CMAKE, CC and CXX the programs.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from support import EXAMPLE, Home, read_npy, write_npy  # noqa: E402,F401  homes and runs of the real binary

BUILD = pathlib.Path(os.environ.get("ENGINERY_BUILD", ROOT / "build/release"))
CMAKE = os.environ.get("CMAKE", "cmake")
CC = os.environ.get("CC", "gcc")
CXX = os.environ.get("CXX", "g++")


def run(*command, cwd=None, env=None):
    """The command's stdout; an AssertionError with its output where it fails."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, env={**os.environ, **(env or {})})
    assert done.returncode == 0, f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def files_in(folder):
    """Every file and link below it, as sorted relative paths."""
    return sorted(p.relative_to(folder).as_posix() for p in pathlib.Path(folder).rglob("*") if p.is_symlink() or not p.is_dir())


def exported_functions(library):
    """The names that a shared library shows, without their versions."""
    rows = [line.split() for line in run("nm", "-D", "--defined-only", library).splitlines()]
    return sorted({row[-1].split("@")[0] for row in rows if row[-2] != "A"})


def declared_structs(header):
    """{struct: its fields in order} of the C header."""
    text = re.sub(r"//[^\n]*", "", pathlib.Path(header).read_text())
    bodies = re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S)
    return {name: re.findall(r"(\w+);", body) for name, body in bodies}


def declared_functions(header):
    text = re.sub(r"//[^\n]*", "", pathlib.Path(header).read_text())
    return sorted(set(re.findall(r"^ENGINERY_API [^;(]*?(\w+)\(", text, re.M)))


def declared_constants(header):
    """'NAME = number' of every enumerator."""
    return re.findall(r"^  (ENGINERY_\w+ = \d+)", pathlib.Path(header).read_text(), re.M)


def expect_golden(test, file, text):
    """`text` is what the golden file holds; ENGINERY_UPDATE_GOLDEN=1 writes it."""
    if os.environ.get("ENGINERY_UPDATE_GOLDEN") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    test.assertEqual(file.read_text(), text, f"{file} differs (ENGINERY_UPDATE_GOLDEN=1 writes it)")
