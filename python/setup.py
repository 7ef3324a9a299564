"""What of a wheel depends on the machine: with the libraries in it, it is of this platform; without, of Python alone.

    ENGINERY_BUILD=build/release pip wheel ./python      the libraries of a build folder
    ENGINERY_LIBRARY=... ENGINERY_BUILD_LIBRARY=... pip wheel ./python      these files; the second may be absent

They stand beside the modules, where the package looks first. What they need themselves (oneDNN, OpenSSL, OpenMP, for builds protobuf and
SQLite) comes from the system, so the wheel's tag is linux_x86_64 and no manylinux.
"""
import os
import pathlib
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

# Variable that names the library's file -> how the package calls it.
NAMES = {"ENGINERY_LIBRARY": "libenginery.so.0", "ENGINERY_BUILD_LIBRARY": "libenginery-build.so.0"}


def libraries():
    """{name in the package: file}. Ends with a message where a library that was asked for is not there."""
    folder = os.environ.get("ENGINERY_BUILD")
    named = {name: pathlib.Path(folder) / "lib" / name for name in NAMES.values()} if folder else {}
    named.update({name: pathlib.Path(os.environ[variable]) for variable, name in NAMES.items() if os.environ.get(variable)})
    for path in named.values():
        if not path.is_file():
            raise SystemExit(f"{path}: there is no such library; ENGINERY_BUILD names a build folder, {' and '.join(NAMES)} files")
    return named


LIBRARIES = libraries()


class BuildWithLibraries(build_py):
    """Puts the libraries beside the modules, and takes away those of an earlier wheel."""

    def run(self):
        package = pathlib.Path(self.build_lib) / "enginery"
        for name in NAMES.values():
            (package / name).unlink(missing_ok=True)
        super().run()
        for name, path in LIBRARIES.items():
            shutil.copyfile(path, package / name)


class OfPlatform(Distribution):
    def has_ext_modules(self):
        return bool(LIBRARIES)


class Wheel(bdist_wheel):
    """Any Python 3: ctypes needs no version of its own."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2]) if LIBRARIES else ("py3", "none", "any")


setup(cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": Wheel}, distclass=OfPlatform)
