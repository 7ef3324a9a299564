"""The source files of a checkout and how they are read, shared by the lint programs.

Everything works on text that clang-format has laid out (lint_format checks that): a definition's body ends with a brace in the
column in which its first line begins.
"""
import pathlib
import re
from dataclasses import dataclass

FOLDERS = ["engine", "tuner", "cache", "schemas", "pipeline", "coordinator", "worker", "builder", "cli"]
CODE = (".h", ".cpp", ".cuh", ".inc")


def sources(root, tests=False):
    """Paths of all code from the root, in order: the product's, or with `tests` the tests'."""
    root = pathlib.Path(root)
    folders = ["tests"] if tests else FOLDERS
    return [p.relative_to(root).as_posix() for f in folders for p in sorted((root / f).rglob("*"))
            if p.suffix in CODE and "build" not in p.relative_to(root).parts]


def read(root, path):
    return (pathlib.Path(root) / path).read_text(errors="replace")


def without_comments(text):
    """The text with comments and the insides of string literals blanked; lines and columns stay."""
    def blank(match):
        token = match[0]
        if token.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", token)
        if token.startswith('R"'):
            return re.sub(r"[^\n]", " ", token)
        return token[0] + " " * (len(token) - 2) + token[-1]
    pattern = r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, blank, text, flags=re.S)


def comments(text):
    """(line number, text) of every // comment."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r'(?:^|\s)//(.*)', re.sub(r'"(?:\\.|[^"\\])*"', '""', line))
        if found:
            yield number, found[1].strip()


@dataclass
class Function:
    name: str
    line: int   # of its first line
    lines: int  # from there to its closing brace


NOT_FUNCTIONS = re.compile(r"^\s*(namespace|class|struct|union|enum|extern|if|for|while|switch|else|do|try|catch|return|case|public|private)\b")


def functions(text):
    """The functions that a formatted file defines, methods in classes included, lambdas not."""
    lines = without_comments(text).splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        indent = len(line) - len(line.lstrip())
        if not line.strip() or line.lstrip().startswith("#") or NOT_FUNCTIONS.match(line):
            at += 1
            continue
        # A definition's head: up to the line that ends in '{', without a ';' in between.
        head = at
        while head < len(lines) and not re.search(r"[{;}]\s*$", lines[head]):
            head += 1
            if head < len(lines) and not lines[head].strip():
                break
        text_of_head = " ".join(lines[at:head + 1])
        is_function = (head < len(lines) and lines[head].rstrip().endswith("{") and "(" in text_of_head
                       and not re.search(r"=\s*(\[[^\]]*\][^{]*)?\{\s*$", text_of_head) and indent <= 4)
        if not is_function:
            at = max(head, at) + 1 if lines[at].strip().endswith(("{", ";", "}")) else at + 1
            continue
        end = head + 1
        closing = re.compile(r"^ {%d}\}" % indent)
        while end < len(lines) and not closing.match(lines[end]):
            end += 1
        name = re.search(r"([~\w:]+)\s*\(", text_of_head)
        yield Function(name[1] if name else "?", at + 1, end - at + 1)
        at = end + 1
