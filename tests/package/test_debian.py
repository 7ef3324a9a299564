#!/usr/bin/env python3
"""The Debian packages that cpack makes: which there are, what each holds and needs, and that unpacked they run."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import installing


@unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "dpkg-shlibdeps is not here (apt-get install dpkg-dev)")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="enginery-deb-")
        cls.addClassCleanup(folder.cleanup)
        installing.run(os.path.join(os.path.dirname(installing.CMAKE), "cpack"), "-G", "DEB", "-B", folder.name,
                       "--config", installing.BUILD / "CPackConfig.cmake")
        cls.folder = pathlib.Path(folder.name)
        cls.packages = {p.name.split("_")[0]: p for p in cls.folder.glob("*.deb")}

    def field(self, package, name):
        return installing.run("dpkg-deb", "-f", self.packages[package], name).strip()

    def files(self, package):
        listing = installing.run("dpkg-deb", "-c", self.packages[package]).splitlines()
        return {line.split()[5] for line in listing if not line.startswith("d")}

    def test_are_five(self):
        self.assertEqual(sorted(self.packages), ["enginery", "libenginery-build0", "libenginery-dev", "libenginery0", "python3-enginery"])
        for package in self.packages:
            self.assertEqual(self.field(package, "Version"), "0.1.0")

    def test_hold_what_their_names_say(self):
        command, library, dev = (self.files(p) for p in ("enginery", "libenginery0", "libenginery-dev"))
        self.assertLessEqual({"./usr/bin/enginery", "./usr/share/man/man1/enginery-build.1",
                              "./usr/share/bash-completion/completions/enginery", "./usr/share/zsh/vendor-completions/_enginery",
                              "./usr/share/fish/vendor_completions.d/enginery.fish"}, command)
        self.assertEqual({f.rsplit("/", 1)[1] for f in library}, {"libenginery.so.0", "libenginery.so.0.1.0"})
        self.assertEqual({f.rsplit("/", 1)[1] for f in self.files("libenginery-build0")}, {"libenginery-build.so.0", "libenginery-build.so.0.1.0"})
        self.assertLessEqual({"enginery.h", "enginery.hpp", "enginery.pc", "enginery-config.cmake", "libenginery.so",
                              "build.h", "build.hpp", "network.hpp", "enginery-build.pc", "libenginery-build.so"}, {f.rsplit("/", 1)[1] for f in dev})
        self.assertEqual(self.files("python3-enginery"), {f"./usr/lib/python3/dist-packages/enginery/{p.name}" for p in
                                                          (installing.ROOT / "python/enginery").iterdir() if p.is_file()})
        self.assertFalse(command & library | command & dev | library & dev)

    def test_need_the_libraries_that_they_use(self):
        self.assertRegex(self.field("libenginery0", "Depends"), r"libdnnl2.*libssl3|libssl3.*libdnnl2")
        self.assertNotIn("protobuf", self.field("libenginery0", "Depends"))
        self.assertIn("libprotobuf", self.field("enginery", "Depends"))
        self.assertIn("libprotobuf", self.field("libenginery-build0", "Depends"))
        self.assertNotRegex(self.field("libenginery-build0", "Depends"), "zmq|httplib")
        self.assertEqual(self.field("libenginery-dev", "Depends"), "libenginery0 (= 0.1.0), libenginery-build0 (= 0.1.0)")
        self.assertEqual(self.field("python3-enginery", "Depends"), "python3, python3-numpy, libenginery0 (>= 0.1.0)")
        self.assertEqual(self.field("python3-enginery", "Architecture"), "all")

    def test_tell_others_which_package_has_the_library(self):
        for library in ("libenginery", "libenginery-build"):
            shlibs = installing.run("dpkg-deb", "-I", self.packages[library + "0"], "shlibs")
            self.assertEqual(shlibs.split(None, 2), [library, "0", f"{library}0 (>= 0.1.0)\n"])

    def test_run_when_unpacked(self):
        root = self.folder / "root"
        for package in self.packages.values():
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        self.assertIn("0.1.0", installing.run(root / "usr/bin/enginery", "--version"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
