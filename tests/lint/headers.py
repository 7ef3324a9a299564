#!/usr/bin/env python3
"""Checks that every header of the product compiles alone: what it uses it includes, so that any file may include it first.

    headers.py SOURCE_DIR BUILD_DIR      prints the first errors of each header that does not; exit status 1 when there is one

The flags are those of BUILD_DIR's compile_commands.json. Headers of code that this build leaves out are passed over, and counted.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import tree


def flags_by_folder(build):
    """A compiler and its flags for each folder with compiled files, longest first."""
    out = {}
    for row in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        words = shlex.split(row["command"]) if "command" in row else row["arguments"]
        while not words[0].endswith(("g++", "clang++", "c++")) and "/ccache" in words[0] or words[0] == "ccache":
            words = words[1:]
        keep, skip = [], False
        for word in words[1:]:
            if skip:
                skip = False
                keep.append(word)
            elif word in ("-I", "-isystem", "-D", "-include"):
                skip = word != "-include"
                keep += [word] if word != "-include" else []
            elif word.startswith(("-I", "-D", "-std", "-isystem", "-m")) and "pch" not in word:
                keep.append(word)
        out.setdefault(str(pathlib.Path(row["file"]).parent), (words[0], keep))
    return out


def main():
    root, build = os.path.abspath(sys.argv[1]), sys.argv[2]
    flags = flags_by_folder(build)
    # Where several files are compiled as one, folders have no commands of their own: the widest search path serves them.
    every = max(flags.values(), key=lambda f: sum(o.startswith(("-I", "-isystem", "-D")) for o in f[1]))
    has_cuda = any("ENGINERY_HAVE_CUDA" in o for o in every[1])
    headers, left_out = [], 0
    for path in tree.sources(root):
        if not path.endswith(".h"):
            continue
        folder = str(pathlib.Path(root) / pathlib.Path(path).parent)
        own = flags.get(folder)
        if own is None and "/cuda" in path and not has_cuda:
            left_out += 1
            continue
        headers.append((path, own or every))

    def compile_alone(item):
        path, (compiler, options) = item
        command = [compiler, *options, "-fsyntax-only", "-w", "-x", "c++", os.path.join(root, path)]
        done = subprocess.run(command, cwd=build, capture_output=True, text=True)
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        return path, done.returncode, errors or done.stderr.splitlines()

    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, code, lines in pool.map(compile_alone, headers):
            if code:
                failed += 1
                print(f"{path}: does not compile alone:\n  " + "\n  ".join(lines[:3]))
    print(f"{len(headers)} headers compiled alone, {failed} do not; {left_out} of code that this build leaves out")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
