#!/usr/bin/env python3
"""Checks that includes follow the dependency rule of ARCHITECTURE.md, and that third-party headers stay behind
the files that wrap them.

    includes.py [SOURCE_DIR]      prints one line a violation; exit status 1 when there is one

Every folder with code is a room and has a row. In the engine a room may include what its row names and whatever those may
include; in the farm half only what its row names.
"""
import pathlib
import re
import sys

# The engine's rooms: each may include what its row names and whatever those may include in turn.
ENGINE = {
    "engine/base": [],
    "engine/tensor": ["engine/base"],
    "engine/data": ["engine/tensor"],  # seen by cli, tuner, worker and python; not by the compiler
    "engine/ops": ["engine/tensor"],
    "engine/graph": ["engine/ops"],
    "engine/import": ["engine/graph"],
    "engine/import/onnx": ["engine/import", "engine/import/onnx/sizes"],
    "engine/import/onnx/sizes": ["engine/graph"],
    "engine/import/onnx/operators": ["engine/import/onnx"],
    "engine/import/saved": ["engine/import"],
    "engine/passes": ["engine/graph"],
    "engine/device": ["engine/tensor"],
    "engine/device/cpu": ["engine/device"],
    "engine/device/cuda": ["engine/device"],
    "engine/options": ["engine/device", "engine/device/cpu"],
    "engine/kernels/cpu": ["engine/device/cpu", "engine/ops"],
    "engine/kernels/cpu/isa": ["engine/kernels/cpu"],
    "engine/kernels/cpu/isa/moving": ["engine/kernels/cpu/isa"],
    "engine/kernels/cpu/isa/products": ["engine/kernels/cpu/isa"],
    "engine/kernels/cpu/tiles": ["engine/kernels/cpu", "engine/kernels/cpu/isa"],
    "engine/kernels/cuda": ["engine/device/cuda"],
    "engine/tactics": ["engine/device", "engine/ops"],
    "engine/tactics/shapes": ["engine/tactics"],
    "engine/tactics/cpu/kernel": ["engine/tactics/shapes", "engine/kernels/cpu", "engine/kernels/cpu/isa",
                                  "engine/kernels/cpu/isa/moving", "engine/kernels/cpu/isa/products",
                                  "engine/kernels/cpu/tiles"],
    "engine/tactics/cpu/onednn": ["engine/tactics/shapes", "engine/device/cpu"],
    "engine/tactics/cpu/reference": ["engine/tactics"],
    "engine/tactics/cpu/widening": ["engine/tactics"],
    "engine/tactics/cuda/launch": ["engine/tactics/shapes", "engine/device/cuda"],
    "engine/tactics/cuda/kernel/text": ["engine/tactics/shapes"],
    "engine/tactics/cuda/kernel": ["engine/tactics/cuda/launch", "engine/kernels/cuda", "engine/tactics/cuda/kernel/text"],
    # One folder a kernel family: it sees what the families share, and no other family.
    **{f"engine/tactics/cuda/kernel/{family}": ["engine/tactics/cuda/kernel"] for family in (
        "arg_extreme", "attention", "batched_gemm", "cast", "conv_direct", "conv_mma", "conv_pool", "conv_simt", "copy", "cum_sum", "deconv", "depthwise", "discrete", "float64", "gather", "gemv", "indexed", "lrn",
        "normalize", "pointwise", "pool", "quantize", "reduce", "reformat", "resample", "select", "softmax", "top_k", "view", "volume")},
    "engine/tactics/cuda/cudnn": ["engine/tactics/cuda/launch"],
    "engine/tactics/cuda/cublaslt": ["engine/tactics/cuda/launch"],
    "engine/tactics/cuda/host_step": ["engine/tactics/cpu/reference", "engine/device/cuda"],
    "engine/plan": ["engine/tactics", "engine/tactics/shapes", "engine/graph"],
    "engine/format": ["engine/plan", "engine/tactics/shapes"],
    "engine/runtime": ["engine/format"],
    "engine/c_api": ["engine/runtime"],
    "engine/compile": ["engine/runtime", "engine/import", "engine/passes", "engine/options"],
}

# The farm's rooms: each may include what its row names, and nothing else.
FARM = {
    "tuner/timing": ["engine/base", "engine/device"],
    "tuner/calibrate": ["engine/base"],
    "tuner/collect": ["engine/base", "engine/tensor", "engine/data", "engine/graph", "engine/passes", "engine/device", "engine/tactics", "engine/plan", "engine/runtime",
                      "tuner", "tuner/calibrate"],
    "tuner/accuracy": ["engine/base", "engine/tensor", "engine/data", "engine/graph", "engine/compile", "engine/runtime", "tuner/collect"],
    "tuner/effort": ["engine/base", "engine/tactics", "engine/plan"],
    "tuner/explain": ["engine/base", "engine/tactics", "engine/plan", "tuner", "tuner/effort", "tuner/timing"],
    "tuner/gate": ["engine/base", "engine/device", "engine/ops", "engine/tactics", "engine/tactics/shapes", "engine/tensor"],
    "tuner/race": ["engine/base", "engine/device", "tuner/timing"],
    "tuner": ["tuner/effort", "tuner/gate", "tuner/race", "tuner/timing", "engine/base", "engine/device", "engine/tactics", "engine/tactics/cpu/reference", "engine/plan", "engine/runtime"],
    "cache": ["engine/base"],
    "schemas": ["engine/base"],
    "pipeline": ["engine/base", "engine/options", "cache", "schemas"],
    "coordinator/client": ["engine/base", "schemas"],
    "coordinator/views": ["engine/base", "schemas"],
    "coordinator/web": ["engine/base", "schemas", "coordinator/views"],
    "coordinator/access": ["engine/base", "cache", "schemas", "coordinator/client"],
    "coordinator/store": ["engine/base", "cache", "schemas", "pipeline"],
    "coordinator/catalog": ["engine/base", "cache", "coordinator/store"],
    "coordinator/core": ["engine/base", "schemas", "pipeline", "coordinator/store"],
    "coordinator/server": ["engine/base", "cache", "schemas", "pipeline", "coordinator/access", "coordinator/client",
                           "coordinator/core", "coordinator/store", "coordinator/catalog", "coordinator/web"],
    "worker/runner": ["engine/base", "engine/device", "schemas", "pipeline", "tuner/timing"],
    "worker/timing": ["engine/base", "cache", "schemas", "pipeline", "tuner/timing", "worker/runner"],
    "worker/agent": ["engine/base", "engine/options", "cache", "schemas", "pipeline", "coordinator/client",
                     "worker/runner", "worker/timing"],
    "worker/steps": ["engine/base", "engine/device", "engine/compile", "engine/options", "schemas", "pipeline", "tuner", "tuner/accuracy", "tuner/calibrate", "tuner/collect", "tuner/timing",
                     "worker/runner", "worker/timing"],
    "worker": ["engine/base", "engine/device", "engine/format", "engine/options", "cache", "schemas", "pipeline", "coordinator/core", "coordinator/store",
               "engine/plan", "tuner/explain", "tuner/timing", "worker/runner", "worker/steps", "worker/timing"],
    "builder": ["engine/base", "engine/tensor", "engine/data", "engine/ops", "engine/graph", "engine/import/saved", "engine/device", "engine/options", "engine/tactics", "engine/compile",
                "engine/c_api", "tuner/calibrate", "tuner/collect", "cache", "worker", "worker/runner", "worker/steps"],
    "cli/output": ["engine/base", "schemas", "coordinator/views"],
    "cli/process": ["engine/base", "cli/output"],
    "cli/options": ["engine/base", "engine/device", "engine/options", "engine/tactics", "cli/output"],
    "cli/farm": ["engine/base", "engine/device", "engine/options", "engine/compile", "tuner/calibrate", "schemas", "pipeline", "coordinator/client", "coordinator/views", "cli/output",
                 "cli/process", "cli/options"],
    "cli/local": ["engine/base", "engine/tensor", "engine/data", "engine/graph", "engine/device", "engine/format", "engine/options", "engine/runtime", "engine/compile", "tuner/calibrate", "tuner/collect", "cache", "schemas", "pipeline", "coordinator/access",
                  "coordinator/catalog", "coordinator/client", "worker/runner", "cli/output", "cli/process", "cli/options", "cli/farm"],
    "cli/explain": ["engine/base", "engine/plan", "tuner/explain", "cli/output"],
    "cli/calibration": ["engine/base", "engine/data", "engine/options", "engine/compile", "tuner/accuracy", "tuner/calibrate", "tuner/collect", "cache", "schemas", "pipeline", "worker/runner",
                        "cli/output", "cli/process", "cli/options", "cli/farm", "cli/local"],
    "cli/verbs": ["engine/base", "engine/data", "engine/device", "engine/format", "engine/graph", "engine/import/onnx", "engine/options",
                  "engine/compile", "tuner/calibrate", "tuner/collect", "coordinator/client", "coordinator/server", "coordinator/views", "coordinator/web", "worker", "worker/agent", "worker/runner",
                  "worker/steps", "cli/output", "cli/process", "cli/options", "cli/farm", "cli/local", "cli/calibration", "cli/explain"],
    "cli": ["engine/base", "cli/output", "cli/options", "cli/verbs"],
}

# Files that see more than their room: the lists that everything is wired in.
WIRING = {
    "engine/device/device.cpp": ["engine/device/cpu", "engine/device/cuda"],
    "engine/device/cpu/cpu_device.cpp": [],
    "engine/import/importer.cpp": ["engine/import/onnx", "engine/import/saved"],
    "engine/import/onnx/block_reader.cpp": ["engine/import/onnx/operators"],
    "engine/tactics/sources.cpp": ["engine/kernels/cuda", "engine/tactics/cpu/kernel", "engine/tactics/cpu/onednn",
                                   "engine/tactics/cpu/reference", "engine/tactics/cpu/widening", "engine/tactics/cuda/kernel", "engine/tactics/cuda/cudnn",
                                   "engine/tactics/cuda/cublaslt", "engine/tactics/cuda/host_step"],
}
BELOW = {**ENGINE, **FARM}

# Public headers, include/enginery/*.h: the folder whose level each one has.
PUBLIC = {"result.h": "engine/base", "types.h": "engine/tensor", "memory.h": "engine/tensor", "engine.h": "engine/runtime", "enginery.h": "engine/c_api", "build.h": "builder"}
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


def engine_closure(room):
    seen, todo = {room}, [room]
    while todo:
        for below in ENGINE[todo.pop()]:
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen


def allowed_of(path, room):
    """The rooms that a file may include."""
    allowed = engine_closure(room) if room in ENGINE else {room, *FARM[room]}
    for extra in WIRING.get(path, []):
        allowed |= engine_closure(extra) if extra in ENGINE else {extra}
    return allowed


def room_of(path):
    """The room that a path from the repository root lies in: its folder, which must have a row; None outside of them."""
    folder = path.rsplit("/", 1)[0] if "/" in path else ""
    return folder if folder in BELOW else None


def target_of(include):
    if include.startswith("enginery/"):
        return PUBLIC.get(include.split("/", 1)[1], PUBLIC_DEFAULT)
    return room_of(include)


def check(path, text):
    if path.startswith("tests/"):
        return
    public = path.startswith("engine/include/")
    source = PUBLIC.get(path.rsplit("/", 1)[1], PUBLIC_DEFAULT) if public else room_of(path)
    allowed = allowed_of(path, source)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        target = target_of(match[2])
        if target and target not in allowed and not match[2].startswith("enginery/"):
            yield f'{path}:{line}: {source} may not include "{match[2]}"'
        elif target and match[2].startswith("enginery/") and source in ENGINE and target not in allowed:
            yield f'{path}:{line}: {source} may not include "{match[2]}"'
        for pattern, places in WRAPPED.items():
            if target is None and re.match(pattern, match[2]) and not path.startswith((*places, "tests/")):
                yield f"{path}:{line}: <{match[2]}> belongs behind {' '.join(places)}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = [p for folder in sorted({f.split("/")[0] for f in BELOW}) for p in sorted((root / folder).rglob("*"))
             if p.suffix in (".h", ".cpp", ".cuh")]
    problems = []
    for file in files:
        path = file.relative_to(root).as_posix()
        if path.startswith("engine/include/") or room_of(path):
            problems += check(path, file.read_text(errors="replace"))
        else:
            problems.append(f"{path}: its folder has no entry in tests/lint/includes.py")
    print("\n".join(problems) if problems else f"{len(files)} files follow the dependency rule")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
