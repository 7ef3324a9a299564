#!/usr/bin/env python3
"""Finds what would clash if the files of a target were compiled as one, as builds from nothing do (cmake/settings.cmake).

    unity.py [SOURCE_DIR [BUILD_DIR]]      prints one line a clash; exit status 1 when there is one

Which files are compiled as one changes with every file that is added, so a type, a constant or a function of the same name and
parameters must not be in the anonymous namespaces of two files of one target, nor a type of a header beside them in one. BUILD_DIR's compile_commands.json says what a target's
files are; it may itself be of such a build.

Two types of one name outside of anonymous namespaces clash wherever the files lie, but for those of tests: a program that links both has one
destructor for the two, and the linker does not say so.
"""
import collections
import json
import pathlib
import re
import sys

ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.M | re.S)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{$", re.M)
ALIAS = re.compile(r"^using (\w+) = ([^;]+);", re.M)
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b(?!;)", re.M)
DEFINED = re.compile(TYPE.pattern + r"(?!::|<)", re.M)  # neither a nested type nor a specialisation
CONSTANT = re.compile(r"^(?:constexpr|const|static|thread_local)\b[^;({=]*?\b(\w+)(?:\[\w*\])*(?: =|\{)", re.M)
FUNCTION = re.compile(r"^(?!using|typedef|return|static_assert|struct|class|enum|TEST|INSTANTIATE)[A-Za-z][\w:<>,&* ]*[ &*](\w+)\(", re.M)


def parameters(text, start):
    """The types of the parameters whose list opens just before `start`: 'const Dims&,int'."""
    depth, part, parts = 0, "", []
    for c in text[start:]:
        if c == ")" and depth == 0:
            break
        depth += (c in "(<[{") - (c in ")>]}")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    parts.append(part)
    types = [re.sub(r"\s*=.*", "", " ".join(p.split())) for p in parts]
    return ",".join(re.sub(r"(?<=[\w>&*.])\s+\w+(\[\w*\])?$|(?<=[&*.])\w+$", "", t) for t in types)


def definitions(text):
    """Each (key, text) that a file's anonymous namespaces define: two files must not give one key, unless with the same text."""
    for block in ANONYMOUS.finditer(text):
        body = block[1]
        outer = ([""] + [match[1] + "::" for match in NAMESPACE.finditer(text, 0, block.start())])[-1]
        for match in ALIAS.finditer(body):
            yield outer + match[1], match[2]
        for match in list(TYPE.finditer(body)) + list(CONSTANT.finditer(body)):
            yield outer + match[1], None
        for match in FUNCTION.finditer(body):
            yield f"{outer}{match[1]}({parameters(body, match.end())})", None


def hidden(files):
    """Each (file, type, header): a type in the anonymous namespace of one of a target's files hides that of a header beside them."""
    of_headers = {}
    for header in sorted(h for folder in {f.parent for f in files} for h in folder.glob("*.h")):
        of_headers |= {match[1]: header for match in TYPE.finditer(header.read_text(errors="replace"))}
    for file in files:
        for block in ANONYMOUS.finditer(file.read_text(errors="replace")):
            for match in TYPE.finditer(block[1]):
                if match[1] in of_headers:
                    yield file, match[1], of_headers[match[1]]


def of_one_name(source, files):
    """Each (file, type, other file): two types of one name, of the product's files and the headers beside them."""
    texts = set(files) | {h for folder in {f.parent for f in files} for h in folder.glob("*.h")}
    first = {}
    for file in sorted(f for f in texts if not f.is_relative_to(source / "tests")):
        text = ANONYMOUS.sub("", file.read_text(errors="replace"))
        for match in DEFINED.finditer(text):
            outer = ([""] + [n[1] + "::" for n in NAMESPACE.finditer(text, 0, match.start())])[-1]
            other = first.setdefault(outer + match[1], file)
            if other != file:
                yield file, match[1], other


def targets(source, build):
    """{target: its .cpp files}, of the build's own list of commands."""
    files = collections.defaultdict(set)
    for command in json.loads((build / "compile_commands.json").read_text()):
        target = re.search(r"-o (\S+?/CMakeFiles/[^/]+\.dir)/", command["command"])
        file = source / command["file"]
        many = re.findall(r'^#include "(.+)"', file.read_text(), re.M) if re.fullmatch(r"unity_\d+_cxx\.cxx", file.name) else [file]
        for one in map(pathlib.Path, many):
            if target and one.is_relative_to(source) and not one.is_relative_to(build / "_deps"):
                files[target[1]].add(one)
    return files


def main():
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    build = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else source
    problems, count = [], 0
    of_targets = targets(source, build)
    every = {f for files in of_targets.values() for f in files if f.exists() and (build == source or not f.is_relative_to(build))}
    for file, name, other in of_one_name(source, every):
        problems.append(f"{file.relative_to(source).as_posix()}: {name} is a type of {other.relative_to(source).as_posix()}, too: give it another name")
    for files in of_targets.values():
        first, files = {}, sorted(f for f in files if f.exists())  # generated files may not be built yet
        for file, name, header in hidden(files):
            problems.append(f"{file.relative_to(source).as_posix()}: {name} is a type of {header.relative_to(source).as_posix()}, too: give it another name")
        for file in files:
            name = file.relative_to(source).as_posix()
            for key, text in dict(definitions(file.read_text(errors="replace"))).items():
                count += 1
                other, other_text = first.setdefault(key, (name, text))
                if other != name and (text is None or text != other_text):
                    problems.append(f"{name}: {key} is in the anonymous namespace of {other}, too: give it another name")
    print("\n".join(problems) if problems else f"{count} names, none twice in a target")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
