"""The `enginery` command, which builds engines and talks to farms."""
import json
import os
import shutil
import subprocess
from typing import Dict, List, Mapping, Optional, Sequence, Union

from ._error import EXIT_CODES, Error

Words = Union[str, Sequence[str]]


def command_path() -> str:
    """ENGINERY_BIN, or the command on the path. Raises Error: not_found."""
    path = os.environ.get("ENGINERY_BIN") or shutil.which("enginery")
    if not path:
        raise Error("not_found", "the command `enginery` is not on the path; install it, or name it in ENGINERY_BIN")
    return path


def run_command(*words: object, stdin: Optional[bytes] = None, allowed: Sequence[int] = ()) -> Dict:
    """What the command says as JSON; exit codes in `allowed` are no failures. Raises Error with the command's code and its last line."""
    arguments: List[str] = [command_path(), *(os.fspath(w) if isinstance(w, os.PathLike) else str(w) for w in words), "--json"]
    done = subprocess.run(arguments, input=stdin if stdin is not None else b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode == 0 or done.returncode in allowed:
        return json.loads(done.stdout or b"{}")
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    raise Error(EXIT_CODES.get(done.returncode, "failed"), lines[-1] if lines else f"enginery ended with code {done.returncode}")


def joined(words: Words) -> str:
    return words if isinstance(words, str) else ",".join(words)


def shapes_text(shapes: Optional[Mapping[str, Sequence[int]]]) -> List[str]:
    if not shapes:
        return []
    return ["--shapes=" + ",".join(f"{name}:{'x'.join(map(str, dims))}" for name, dims in shapes.items())]
