#!/usr/bin/env python3
"""Checks the habits of CONTRIBUTING.md that a program can see.

    style.py [SOURCE_DIR]      prints one line a violation; exit status 1 when there is one

A file above 400 lines needs a row in LONG_FILES with its reason.
"""
import pathlib
import re
import sys

FOLDERS = ["engine", "tuner", "cache", "schemas", "pipeline", "coordinator", "worker", "builder", "cli", "tests"]
MAX_LINES = 420
MAX_COLUMNS = 180

LONG_FILES = {
}

# Headers that cost seconds in every file that sees them; a .cpp file includes them where it needs them.
HEAVY = ["nlohmann/json.hpp", "spdlog/", "CLI/", "httplib.h", "toml++/", "capnp/", "kj/", "onnx/", "dnnl.hpp", "zmq.hpp", "regex",
         "iostream", "sqlite3.h", "openssl/"]
HEAVY_ALLOWED = {
    "cache/sqlite.h": ["sqlite3.h"],  # the wrapper itself
    "schemas/codec_fields.h": ["kj/"],  # seen inside schemas only
    "engine/format/message.h": ["capnp/", "kj/"],  # the wrapper, seen inside format only
    "engine/tactics/cpu/onednn/library.h": ["dnnl.hpp"],  # the wrapper, seen inside onednn only
}


def check_header(path, text):
    if "#pragma once" not in text:
        yield f"{path}:1: no #pragma once"
    if not text.startswith("//"):
        yield f"{path}:1: no comment that says what it is"
    for match in re.finditer(r'^#include [<"]([^">]+)', text, re.M):
        heavy = [h for h in HEAVY if match[1] == h or h.endswith("/") and match[1].startswith(h)]
        if heavy and heavy[0] not in HEAVY_ALLOWED.get(path, []):
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[1]} is heavy: include it in the .cpp file"


def check(path, text):
    lines = text.splitlines()
    if path.endswith(".h"):
        yield from check_header(path, text)
    if len(lines) > MAX_LINES and path not in LONG_FILES:
        yield f"{path}: {len(lines)} lines, more than {MAX_LINES}: split it, or give its reason in tests/lint/style.py"
    if path in LONG_FILES and len(lines) <= MAX_LINES:
        yield f"{path}: short again; take it out of LONG_FILES"
    if "\r" in text:
        yield f"{path}: carriage returns"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and not re.match(r'\s*\{"', line):  # a table's rows stay rows
            yield f"{path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"
        if line != line.rstrip() or "\t" in line:
            yield f"{path}:{number}: a tab or trailing space"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*")) if p.suffix in (".h", ".cpp")]
    problems = []
    for file in files:
        problems += check(file.relative_to(root).as_posix(), file.read_text(errors="replace"))
    known = {f.relative_to(root).as_posix() for f in files}
    problems += [f"tests/lint/style.py: LONG_FILES names {path}, which does not exist" for path in LONG_FILES if path not in known]
    print("\n".join(problems) if problems else f"{len(files)} files keep the style")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
