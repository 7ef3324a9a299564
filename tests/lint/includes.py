#!/usr/bin/env python3
"""Checks that includes follow the dependency rule of ARCHITECTURE.md, and that third-party headers stay behind
the files that wrap them.

    includes.py [SOURCE_DIR]      prints one line a violation; exit status 1 when there is one

Each folder names the folders directly below it; it may include those and whatever they may include.
"""
import pathlib
import re
import sys

BELOW = {
    "engine/base": [],
    "engine/tensor": ["engine/base"],
    "engine/data": ["engine/tensor"],  # seen by cli, tuner, worker and python; not by the compiler
    "engine/ops": ["engine/tensor"],
    "engine/graph": ["engine/ops"],
    "engine/import": ["engine/graph"],
    "engine/passes": ["engine/graph"],
    "engine/device": ["engine/tensor"],
    "engine/kernels": ["engine/device", "engine/graph"],
    "engine/tactics": ["engine/kernels"],
    "engine/plan": ["engine/tactics", "engine/passes"],
    "engine/format": ["engine/plan"],
    "engine/runtime": ["engine/format"],
    "engine/compile": ["engine/runtime", "engine/import"],
    "engine/python": ["engine/compile", "engine/data"],
    "tuner": ["engine/compile", "engine/data"],
    "cache": ["engine/base"],
    "schemas": ["engine/base"],
    "coordinator": ["schemas", "cache"],
    "worker": ["tuner", "coordinator"],
    "cli": ["worker"],
    "tests": ["cli"],
}

# Public headers, include/enginery/*.h: the folder whose level each one has.
PUBLIC = {"result.h": "engine/base", "types.h": "engine/tensor", "engine.h": "engine/runtime"}
PUBLIC_DEFAULT = "engine/compile"

# Third-party headers and the only places that may include them (tests may include anything).
WRAPPED = {
    r"toml\+\+/": ["engine/data/preprocess_file.cpp", "cli/"],
    r"spdlog/": ["engine/base/log.cpp"],
    r"(onnx/|google/protobuf)": ["engine/import/"],
    r"(dnnl|oneapi/)": ["engine/tactics/", "engine/device/"],
    r"(cuda|nvrtc|cudnn|cublas)[A-Za-z_]*\.h": ["engine/device/", "engine/kernels/", "engine/tactics/"],
    r"sqlite3\.h": ["cache/", "coordinator/"],
    r"zmq": ["coordinator/"],
    r"(capnp/|kj/)": ["schemas/", "engine/format/"],
    r"CLI/": ["cli/"],
    r"httplib\.h": ["coordinator/web/", "cli/"],
    r"(jpeglib|jerror|png)\.h": ["engine/data/"],
    r"openssl/": ["engine/base/"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def closure(folder):
    seen, todo = {folder}, [folder]
    while todo:
        for below in BELOW[todo.pop()]:
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen


def folder_of(path):
    """The entry of BELOW that a path from the repository root belongs to, or None."""
    parts = path.split("/")
    for length in (2, 1):
        if "/".join(parts[:length]) in BELOW:
            return "/".join(parts[:length])
    return None


def target_of(include):
    if include.startswith("enginery/"):
        return PUBLIC.get(include.split("/", 1)[1], PUBLIC_DEFAULT)
    return folder_of(include)


def check(path, text):
    source = PUBLIC.get(path.rsplit("/", 1)[1], PUBLIC_DEFAULT) if path.startswith("engine/include/") else folder_of(path)
    allowed = closure(source)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        target = target_of(match[2])
        if target and target not in allowed:
            yield f'{path}:{line}: {source} may not include "{match[2]}"'
        for pattern, places in WRAPPED.items():
            if target is None and re.match(pattern, match[2]) and not path.startswith((*places, "tests/")):
                yield f"{path}:{line}: <{match[2]}> belongs behind {' '.join(places)}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = [p for folder in sorted({f.split("/")[0] for f in BELOW}) for p in sorted((root / folder).rglob("*"))
             if p.suffix in (".h", ".cpp")]
    problems = []
    for file in files:
        path = file.relative_to(root).as_posix()
        if path.startswith("engine/include/") or folder_of(path):
            problems += check(path, file.read_text(errors="replace"))
        else:
            problems.append(f"{path}: its folder has no entry in tests/lint/includes.py")
    print("\n".join(problems) if problems else f"{len(files)} files follow the dependency rule")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
