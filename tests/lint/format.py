#!/usr/bin/env python3
"""Checks that every source file is laid out as .clang-format says, with the version that the project is formatted with.

    format.py [SOURCE_DIR]      names the files that differ; exit status 1 when there is one, 77 without clang-format 16
    format.py --fix [SOURCE_DIR]      rewrites them
"""
import re
import shutil
import subprocess
import sys

import tree

VERSION = "16"


def program():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path and re.search(rf"version {VERSION}\.", subprocess.run([path, "--version"], capture_output=True, text=True).stdout):
            return path
    return None


def main():
    arguments = [a for a in sys.argv[1:] if a != "--fix"]
    root = arguments[0] if arguments else "."
    clang_format = program()
    if not clang_format:
        print(f"skipped: clang-format {VERSION} is not installed (apt-get install clang-format-{VERSION})")
        return 77
    files = [p for p in tree.sources(root) + tree.sources(root, tests=True) if not p.endswith(".inc")]
    options = ["-i"] if "--fix" in sys.argv else ["--dry-run"]
    done = subprocess.run([clang_format, *options, *files], cwd=root, capture_output=True, text=True)
    differing = sorted({m[1] for m in re.finditer(r"^(\S+?):\d+:\d+: (?:warning|error)", done.stderr, re.M)})
    for path in differing:
        print(f"{path}: differs from .clang-format (python3 tests/lint/format.py --fix)")
    if done.returncode:
        print(done.stderr)
    print(f"{len(files)} files read, {len(differing)} differ")
    return 1 if differing or done.returncode or not files else 0


if __name__ == "__main__":
    sys.exit(main())
