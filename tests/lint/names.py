#!/usr/bin/env python3
"""Checks that what comments and READMEs name exists: files, constants (kName), macros (ENGINERY_NAME) and functions (name()).

    names.py [SOURCE_DIR]      prints one line a name that is nowhere; exit status 1 when there is one
"""
import pathlib
import re
import sys

import tree

FILE = re.compile(r"(?<![\w/.*<{$-])((?:[\w-]+/)*[\w-]+\.(?:h|cpp|cuh|inc|py|capnp|cmake|md))(?![\w*])")
CONSTANT = re.compile(r"\bk[A-Z]\w+\b")
MACRO = re.compile(r"\bENGINERY_[A-Z_0-9]+\b")
CALL = re.compile(r"(?<![\w.:>-])([a-z]\w*_\w+)\(\)")
# Names of others: standards, libraries, files that a user or CMake makes.
FOREIGN = {"cuda.h", "nvrtc.h", "cudnn.h", "cudnn_graph.h", "cublasLt.h", "cuda_runtime_api.h", "version.h", "dnnl.h",
           "onnx.proto", "json.hpp", "kernel_texts.cpp", "engine.capnp.h", "zmq.h"}


def text_files(root):
    root = pathlib.Path(root)
    skip = {"build", ".git"}
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.is_file() and not skip.intersection(parts) and (
                path.suffix in {*tree.CODE, ".md", ".txt", ".py", ".capnp", ".cmake", ".in", ".json", ".csv", ".toml"}
                or parts[0] in ("deploy", ".ci") or path.suffix == ""):
            yield path.relative_to(root).as_posix()


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    paths = list(text_files(root))
    names = {p.rsplit("/", 1)[-1] for p in paths} | FOREIGN
    endings = {"/" + p for p in paths}
    code_paths = tree.sources(root) + tree.sources(root, tests=True)
    code = {p: tree.read(root, p) for p in code_paths}
    others = {p: tree.read(root, p) for p in paths if p not in code}
    known = set()
    for text in code.values():
        known.update(re.findall(r"\w+", re.sub(r"//[^\n]*", "", text)))
    for path, text in others.items():
        if not path.endswith(".md"):
            known.update(re.findall(r"\w+", text))

    def missing(line):
        for name in FILE.findall(line):
            if name not in names and not ("/" in name and any(e.endswith("/" + name) for e in endings)):
                yield name
        for pattern in (CONSTANT, MACRO):
            yield from (n for n in pattern.findall(line) if n not in known)
        yield from (n + "()" for n in CALL.findall(line) if n not in known)

    problems = []
    for path, text in code.items():
        for number, comment in tree.comments(text):
            problems += [f"{path}:{number}: the comment names {name}, which does not exist" for name in missing(comment)]
    for path, text in others.items():
        if path.endswith(".md") and not path.startswith("CHANGELOG"):
            for number, line in enumerate(text.splitlines(), 1):
                problems += [f"{path}:{number}: names {name}, which does not exist" for name in missing(line)]
    print("\n".join(problems) if problems else f"{len(code)} files name what exists")
    return 1 if problems or not code else 0


if __name__ == "__main__":
    sys.exit(main())
