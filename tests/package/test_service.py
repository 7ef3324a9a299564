#!/usr/bin/env python3
"""The systemd units and the container file of deploy/service: that systemd takes them, that their commands are the real binary's, and
that what they install exists. They are started by nobody here: a test has no systemd of its own and no container."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import installing

SERVICE = installing.ROOT / "deploy/service"
BINARY = os.environ["ENGINERY_BIN"]
UNITS = {"enginery-coordinator.service": "enginery-coordinator.service", "enginery-worker@.service": "enginery-worker@cpu-avx2.service"}
MOST_EXPOSED = {"enginery-coordinator.service": 2.0, "enginery-worker@.service": 5.0}  # systemd's own scale, 0 to 10
COMMAND = re.compile(r"^(?:ExecStart=/usr/bin/|#.*?[: ])(enginery (?:coordinator|worker|keys) .*?)(?:\s+\(|$)")


def options_of(verb):
    shown = subprocess.run([BINARY, verb, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"--[a-z][a-z-]*", shown))


def joined(text):
    return text.replace("\\\n#", "").replace("\\\n", "")


class Service(unittest.TestCase):
    def test_commands_have_options_that_the_binary_knows(self):
        seen = []
        for name in [*UNITS, "Containerfile"]:
            for line in joined((SERVICE / name).read_text()).splitlines():
                found = COMMAND.match(line) or re.match(r"^#.*run .* enginery ((?:coordinator|worker) .*)$", line)
                if not found:
                    continue
                words = found.group(1).removeprefix("enginery ").split()
                for option in (w for w in words if w.startswith("--")):
                    seen.append(option)
                    self.assertIn(option, options_of(words[0]), f"{name}: {line}")
        self.assertGreater(len(seen), 6, "the units' commands were not found")

    def test_unit_variables_and_settings_are_known(self):
        known = subprocess.run([BINARY, "config", "show", "--origin"], capture_output=True, text=True).stdout
        text = (SERVICE / "config.toml").read_text()
        for setting in re.findall(r"^#? ?([a-z_]+) = ", text, re.M):
            self.assertIn(setting, known, "config.toml names a setting that `config show` lacks")

    def test_container_installs_the_listed_packages(self):
        lines = re.findall(r"sed -n '([^']+)' \S*packages.txt", (SERVICE / "Containerfile").read_text())
        self.assertEqual(len(lines), 2)
        listed = (installing.ROOT / "deploy/packages.txt").read_text()
        for expression, section in zip(lines, ("build", "run")):
            shown = subprocess.run(["sed", "-n", expression], input=listed, capture_output=True, text=True, check=True).stdout
            wanted = re.search(rf"^\[{section}\]\n(.*?)(?=^\[|\Z)", listed, re.S | re.M).group(1)
            packages = [line.split("#")[0].strip() for line in wanted.splitlines() if line.split("#")[0].strip()]
            self.assertEqual([line.strip() for line in shown.splitlines()], packages, section)
            self.assertTrue(packages)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not here (apt-get install systemd)")
    def test_units_are_taken_by_systemd(self):
        with tempfile.TemporaryDirectory(prefix="enginery-units-") as folder:
            for unit, instance in UNITS.items():
                with self.subTest(unit):
                    file = pathlib.Path(folder) / instance
                    file.write_text((SERVICE / unit).read_text().replace("/usr/bin/enginery", BINARY))
                    done = subprocess.run(["systemd-analyze", "verify", "--man=no", file], capture_output=True, text=True)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
                    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                                           f"--threshold={int(10 * MOST_EXPOSED[unit])}", file], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stdout[-300:])


if __name__ == "__main__":
    unittest.main()
