#!/usr/bin/env python3
"""Counts what ARCHITECTURE.md says: in how many places of the product an existing step, message, kernel variant, ... is named.

    places.py [SOURCE_DIR]      prints one line a fault; exit status 1 when there is one
    places.py --list [DIR]      prints every place that is counted

The table "How to add ..." is the one source: a row with an example and a number is counted here, the others are prose.

    | what | example | places | where |

Every family of GPU kernels must have its variants as rows of one table, of which names and launches are derived: whatever the
family, a variant is one row.

What counts as naming the example is the row of KINDS. A folder of the example's name is one place, whatever lies in it, and so
is a .h with its .cpp. More places than the table says: something new has to be edited for each of its kind; give it back to the
list that it belongs to, or say so in the table. None: the example is gone; take another. Fewer is no fault, but the table can say
less now.
"""
import pathlib
import re
import sys

import tree

TABLE = "ARCHITECTURE.md"
HEADING = "## How to add"
ROW = re.compile(r"^\| *(?P<what>[^|]+?) *\| *`(?P<name>[^`|]+)` *\| *(?P<places>\d+) *\| *(?P<where>[^|]+?) *\|$")

# What is looked for, by the row's first words: patterns with NAME for the example, and the folders that are read ("" for all).
KINDS = {
    "a step": ("", [r"\bStepKind::NAME\b", r'"NAME"', r"\bNAME_step\b"]),
    "a message": ("schemas/", [r"\bNAME\b"]),
    "what a message does": ("coordinator/", [r"\bNAME\b"]),
    "a kernel variant": ("", [r"NAME"]),
    "a family of GPU kernels": ("", [r"\bNAME\b"]),
    "a tactic source": ("", [r'"NAME"', r"\bmake_NAME_source\b"]),
    "an operator": ("engine/", [r"\bNAME\b(?!\")"]),
    "a pass": ("engine/", [r"\bNAME\b"]),
    "an ONNX operator made of existing ones": ("engine/", [r'"NAME"']),
    "an importer": ("engine/", [r"\bmake_NAME_importer\b"]),
    "a function of the C interface": ("", [r"\bNAME\("]),
    "a verb": ("", [r"\bENGINERY_VERB\(NAME\b", r"\bmake_NAME\b", r'"NAME"']),
}
FAMILIES = "engine/tactics/cuda/kernel"
VARIANT_TABLE = re.compile(r"^constexpr \w+Variant (k\w+Variants)\[\] =", re.M)
SUFFIXES = (".h", ".cpp", ".cuh", ".inc", ".capnp", "CMakeLists.txt")


def rows(text):
    """(what, example, places) of the table's counted rows."""
    inside = False
    for line in text.splitlines():
        if line.startswith("## "):
            inside = line.startswith(HEADING)
        match = ROW.match(line) if inside else None
        if match:
            yield match["what"], match["name"], int(match["places"])


def without_line_comments(text):
    """Comments may name anything; what has to be edited is code."""
    return re.sub(r"(^|\s)(//|#(?! *include| *define| *if| *undef| *pragma)).*", r"\1", text)


def place_of(path, name):
    """A folder of the example's name is one place; a .h and its .cpp are one."""
    parts = path.split("/")
    for folder in (name, name.replace("-", "_")):
        if folder in parts[:-1]:
            return "/".join(parts[:parts.index(folder) + 1]) + "/"
    return re.sub(r"\.(h|cpp)$", ".{h,cpp}", path)


def places(root, what, name):
    folder, patterns = KINDS[what]
    literal = re.escape(name)
    found = set()
    for path in product_files(root):
        if not path.startswith(folder):
            continue
        text = without_line_comments((root / path).read_text(errors="replace"))
        if any(re.search(pattern.replace("NAME", literal), text) for pattern in patterns):
            found.add(place_of(path, name))
    return sorted(found)


def product_files(root):
    for folder in tree.FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.name.endswith(SUFFIXES):
                yield path.relative_to(root).as_posix()


def variant_tables(root):
    """A fault for each family of GPU kernels (a folder with a source of its own name) that has not exactly one table of variants."""
    for family in sorted(path for path in (root / FAMILIES).glob("*/") if (path / f"{path.name}.cpp").exists()):
        tables = [name for path in sorted(family.glob("*.cpp")) for name in VARIANT_TABLE.findall(path.read_text())]
        if len(tables) != 1:
            yield f"{family.relative_to(root)}: a variant must be one row of one table, there are {len(tables)}: {', '.join(tables)}"


def check(root):
    yield from variant_tables(root)
    table = root / TABLE
    counted = list(rows(table.read_text())) if table.exists() else []
    for kind in KINDS:
        if kind not in [what for what, _, _ in counted]:
            yield f"{TABLE}: the table '{HEADING[3:]} ...' has no counted row '{kind}'"
    for what, name, said in counted:
        if what not in KINDS:
            yield f"{TABLE}: nothing here knows how to count '{what}'"
            continue
        found = places(root, what, name)
        if len(found) > said or not found:
            listed = "".join(f"\n    {place}" for place in found)
            yield f"{TABLE}: {what} is in {said} places, it says; `{name}` is in {len(found)}:{listed}"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    root = pathlib.Path(arguments[0] if arguments else ".")
    if "--list" in sys.argv:
        for what, name, said in rows((root / TABLE).read_text()):
            print(f"{what}, `{name}`: {said}")
            for place in places(root, what, name) if what in KINDS else []:
                print(f"    {place}")
        return 0
    problems = list(check(root))
    print("\n".join(problems) if problems else f"{TABLE} says what has to be edited")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
