#!/usr/bin/env python3
"""The shape of the code in figures: size of files and functions, comments in headers, tests beside sources, folders.

    metrics.py [SOURCE_DIR]          prints the table; exit status 1 where a figure is beyond its limit
    metrics.py --json [SOURCE_DIR]   the same as one JSON document
"""
import collections
import json
import re
import statistics
import sys

import tree

# Folders that hold one pair of files for each operator, pass or kernel family may be larger.
FAMILY_FOLDERS = {"engine/ops": 50, "engine/passes": 60, "engine/kernels/cpu/isa": 50, "engine/tactics/cpu/kernel": 50, "engine/tactics/shapes": 50}
MAX_FOLDER_FILES = 35
MIN_TESTS = 0.6


def header_shares(root, paths):
    """(folder, comment lines, lines that are not blank) of the headers."""
    for path in paths:
        if not path.endswith(".h"):
            continue
        lines = [line.strip() for line in tree.read(root, path).splitlines() if line.strip()]
        yield path.rsplit("/", 1)[0], sum(line.startswith("//") for line in lines), len(lines)


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0


def measure(root):
    product, tests = tree.sources(root), tree.sources(root, tests=True)
    lines = {p: tree.read(root, p).count("\n") for p in product}
    test_lines = sum(tree.read(root, p).count("\n") for p in tests)
    functions = [(f.lines, f"{p}:{f.line} {f.name}") for p in product for f in tree.functions(tree.read(root, p))]
    shares = list(header_shares(root, product))
    comments, header_lines = sum(s[1] for s in shares), sum(s[2] for s in shares)
    code = {p: tree.without_comments(tree.read(root, p)) for p in product}
    raw = [f"{p}:{text.count(chr(10), 0, m.start()) + 1}" for p, text in code.items()
           for m in re.finditer(r"(?<!operator )\bnew\s+(?:\([^)]*\)\s*)?[A-Z]\w*", text)]
    raw += [f"{p}:{text.count(chr(10), 0, m.start()) + 1}" for p, text in code.items()
            for m in re.finditer(r"(?<!= )\bdelete\b(?!\s*;)", text)]
    folders = collections.Counter(p.rsplit("/", 1)[0] for p in product)
    crowded = [f"{f}: {n}" for f, n in sorted(folders.items()) if n > FAMILY_FOLDERS.get(f, MAX_FOLDER_FILES)]
    longest = max(functions)
    by_folder = collections.defaultdict(lambda: [0, 0])
    for folder, some, of in shares:
        by_folder[folder][0] += some
        by_folder[folder][1] += of
    # name, figure, limit (None: for reading only), whether it is within
    rows = [
        ("files", len(product), None, True),
        ("lines", sum(lines.values()), None, True),
        ("median file, lines", int(statistics.median(lines.values())), 110, None),
        ("90th percentile of files, lines", quantile(lines.values(), 0.9), 400, None),
        ("longest file, lines", max(lines.values()), 600, None),
        ("median function, lines", int(statistics.median(f[0] for f in functions)), 10, None),
        ("90th percentile of functions, lines", quantile([f[0] for f in functions], 0.9), 35, None),
        (f"longest function, lines ({longest[1]})", longest[0], 60, None),
        ("raw new and delete", len(raw), 0, None),
        ("folders with too many files", len(crowded), 0, None),
    ]
    rows = [(name, value, limit, ok if limit is None else value <= limit) for name, value, limit, ok in rows]
    share = comments / max(1, header_lines)
    ratio = test_lines / max(1, sum(lines.values()))
    rows.append(("comment lines of header lines, %", round(100 * share, 1), ">= 25", share >= 0.25))
    rows.append(("test lines to source lines", round(ratio, 2), f">= {MIN_TESTS}", ratio >= MIN_TESTS))
    details = {"raw new and delete": raw, "folders with too many files": crowded,
               "header comments by folder, %": {f: round(100 * a / b) for f, (a, b) in sorted(by_folder.items())},
               "functions above 60 lines": [f"{n} {where}" for n, where in sorted(functions, reverse=True) if n > 60]}
    return rows, details


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    rows, details = measure(arguments[0] if arguments else ".")
    if "--json" in sys.argv:
        print(json.dumps({"figures": {name: value for name, value, _, _ in rows}, "details": details}, indent=1))
    else:
        for name, value, limit, ok in rows:
            print(f"{'  ' if ok else '! '}{name:60} {value:>8}" + (f"   limit {limit}" if limit is not None else ""))
        for name, found in details.items():
            if found:
                print(f"{name}: {found}")
    return 0 if all(ok for _, _, _, ok in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
