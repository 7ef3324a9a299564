#!/usr/bin/env python3
"""Plants known bugs one at a time and says which of them the tests catch: a measure of the tests, not of the code.

    run.py                       every row of mutations/*.jsonl
    run.py --only NAME ...       those whose name contains one of the words
    run.py --list                checks only that every row's pattern stands once in its file; needs no build
    run.py --changed REV         only rows whose file has changed since a revision
    run.py --shard 1/2           every second row, beginning with the first: two shards run side by side, each in a tree of its own
    run.py -j 1                  at most so many compilers at once

Works in a git worktree of HEAD below build/mutation, with a build folder of its own: the checkout is not touched. It builds the
programs that the chosen rows need. A row is one JSON object a line: name, file, pattern (stands once in the file), replacement, tests (a regular expression of ctest names), filter
(GoogleTest's, may be empty) and catches, the test case that names the rule. A bug counts as caught when a test fails; as caught by
name when the case of `catches` is among those that fail. One that does not compile is an error of the row.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = ROOT / "tests/mutation/mutations"
NEEDED = 0.95  # share of the rows that must be caught


def read_rows():
    rows = []
    for file in sorted(ROWS.glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if line.strip():
                row = json.loads(line)
                row["place"] = f"{file.name}:{number}"
                rows.append(row)
    return rows


def problem_of(row, root):
    """Why a row cannot be planted, or None."""
    missing = [f for f in ("name", "file", "pattern", "replacement", "tests") if f not in row]
    if missing:
        return f"lacks {', '.join(missing)}"
    path = root / row["file"]
    if not path.is_file():
        return f"{row['file']} does not exist"
    count = path.read_text().count(row["pattern"])
    return None if count == 1 else f"its pattern stands {count} times in {row['file']}"


class Build:
    """A worktree of HEAD and its build folder."""

    def __init__(self, shard, jobs):
        self.jobs = ["-j", str(jobs)] if jobs else []
        self.tree = ROOT / f"build/mutation/tree{shard}"
        self.build = self.tree / "build/dev"

    def ninja(self, targets, **how):
        return subprocess.run(["ninja", "-C", self.build, *self.jobs, *targets], **how)

    def prepare(self, rows):
        head = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip()
        if not self.tree.exists():
            subprocess.run(["git", "-C", ROOT, "worktree", "prune"], check=True)
            subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", self.tree, head], check=True)
        subprocess.run(["git", "-C", self.tree, "checkout", "--quiet", "--force", "--detach", head], check=True)
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
                        "-DENGINERY_BENCHMARKS=OFF", "-DENGINERY_WERROR=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"],
                       check=True, stdout=subprocess.DEVNULL)
        listed = subprocess.check_output(["ninja", "-C", self.build, "-t", "targets", "all"], text=True)
        self.targets = {line.split(":")[0] for line in listed.splitlines()}
        wanted = {program for regex in {row["tests"] for row in rows} for program in self.programs(regex)}
        self.ninja(sorted(wanted), check=True)

    def programs(self, regex):
        """Build targets of the tests that match, built or not: ctest itself knows no command that is not there yet."""
        paths = set()
        for file in self.build.rglob("CTestTestfile.cmake"):
            for name, command in re.findall(r"^add_test\((?:\[=\[)?(.+?)(?:\]=\])? (.*)\)$", file.read_text(), re.M):
                if re.search(regex, name):
                    paths |= {os.path.relpath(word, self.build) for word in re.findall(r'"([^"]+)"', command) if str(self.build) in word}
        return sorted(paths & self.targets) or ["enginery"]

    def try_row(self, row):
        """(what became of it, seconds)."""
        path = self.tree / row["file"]
        original = path.read_text()
        start = time.monotonic()
        path.write_text(original.replace(row["pattern"], row["replacement"]))
        try:
            done = self.ninja(self.programs(row["tests"]), capture_output=True, text=True, errors="replace")
            if done.returncode:
                return "does not compile", time.monotonic() - start
            environment = dict(os.environ, GTEST_FILTER=row.get("filter") or "*")
            try:
                tested = subprocess.run(["ctest", "--test-dir", self.build, "--output-on-failure", "-R", row["tests"]],
                                        capture_output=True, text=True, errors="replace", env=environment, timeout=900)
            except subprocess.TimeoutExpired:
                return "caught", time.monotonic() - start
            if "No tests were found" in tested.stdout + tested.stderr or "***Not Run" in tested.stdout:
                return "no such test", time.monotonic() - start
            if tested.returncode == 0:
                return "survived", time.monotonic() - start
            named = row.get("catches") and row["catches"] in tested.stdout
            return "caught by name" if named else "caught", time.monotonic() - start
        finally:
            path.write_text(original)


def shard_of(text):
    """(1, 2) of "1/2"; a ValueError, which argparse reports, for anything that is no shard."""
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise ValueError(text)
    return number, count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--changed", metavar="REV")
    parser.add_argument("--shard", type=shard_of, default=(1, 1), metavar="K/N")
    parser.add_argument("-j", "--jobs", type=int, metavar="N")
    arguments = parser.parse_args()
    rows = read_rows()
    if arguments.only:
        rows = [r for r in rows if any(word in r["name"] for word in arguments.only)]
    if arguments.changed:
        changed = subprocess.check_output(["git", "-C", ROOT, "diff", "--name-only", arguments.changed], text=True).split()
        rows = [r for r in rows if r["file"] in changed]
    problems = [f"{r['place']}: {r.get('name', '?')}: {problem}" for r in rows if (problem := problem_of(r, ROOT))]
    names = [r.get("name") for r in rows]
    problems += [f"{r['place']}: the name '{r['name']}' is taken" for i, r in enumerate(rows) if r.get("name") in names[:i]]
    for problem in problems:
        print(problem)
    if arguments.list or problems:
        print(f"{len(rows)} bugs, {len(problems)} rows that cannot be planted")
        return 1 if problems or not rows else 0

    shard, shards = arguments.shard
    rows = rows[shard - 1::shards]
    build = Build(shard, arguments.jobs)
    build.prepare(rows)
    ends = {}
    for number, row in enumerate(rows, 1):
        end, seconds = build.try_row(row)
        ends.setdefault(end, []).append(row["name"])
        print(f"{number:3}/{len(rows)}  {end:16} {seconds:6.1f} s  {row['name']}  ({row['file']})", flush=True)
    caught = len(ends.get("caught by name", [])) + len(ends.get("caught", []))
    share = caught / len(rows) if rows else 0
    print(f"{caught} of {len(rows)} caught ({100 * share:.0f} %), {len(ends.get('caught by name', []))} by the test that names the rule")
    for end in ("survived", "does not compile", "no such test"):
        for name in ends.get(end, []):
            print(f"  {end}: {name}")
    return 0 if share >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
