"""A farm: one job builds a model for many devices. `enginery submit`, `wait`, `show` and `fetch`."""
import os
import pathlib
import tempfile
from typing import Dict, List, Mapping, Optional, Sequence, Union

from ._command import Words, joined, run_command, shapes_text
from ._engine import Engine, load


class Farm:
    """A coordinator: `address` as `enginery up` prints it (default: the one of this machine), `key` the file that opens one on the network."""

    def __init__(self, address: Optional[str] = None, key: Optional[os.PathLike] = None):
        self.options: List[str] = [*(["--coordinator", address] if address else []), *(["--key", os.fspath(key)] if key else [])]

    def submit(self, model: Union[str, os.PathLike, bytes], targets: Words = "this", precision: Words = "fp32", level: int = 3,
               shapes: Optional[Mapping[str, Sequence[int]]] = None, *, name: Optional[str] = None, options: Sequence[str] = ()) -> "Job":
        """Hands the model in for all targets (SKUs) and comes back at once. Raises Error: unreachable, invalid_input, not_found, usage (a SKU
        that no worker has offered)."""
        from_memory = isinstance(model, (bytes, bytearray))
        words = ["submit", "-" if from_memory else os.fspath(model), "--target", joined(targets), "--level", level, *shapes_text(shapes), *options]
        if joined(precision) != "fp32":
            words += ["--precision", joined(precision)]
        words += ["--name", name] if name else []
        report = run_command(*words, *self.options, stdin=bytes(model) if from_memory else None)
        return Job(self, report["job"], report)

    def job(self, job: str) -> "Job":
        """One that was submitted before. Raises Error: not_found."""
        return Job(self, job, run_command("show", job, *self.options))

    def jobs(self) -> List[Dict]:
        return run_command("jobs", *self.options)["jobs"]

    def workers(self) -> List[Dict]:
        return run_command("workers", *self.options)["workers"]


class Job:
    """`id`, and `report`: the document enginery.job/1 as it was last asked for."""

    def __init__(self, farm: Farm, job: str, report: Dict):
        self.farm, self.id, self.report = farm, job, report

    @property
    def state(self) -> str:
        return self.report["state"]

    @property
    def targets(self) -> List[Dict]:
        return self.report["targets"]

    def refresh(self) -> "Job":
        self.report = run_command("show", self.id, *self.farm.options)
        return self

    def wait(self, timeout: Optional[float] = None) -> "Job":
        """Until the job has ended: `targets` says what became of each. Raises Error: timed_out (the job goes on), failed (every target did),
        partial (some did; `fetch` has the others)."""
        run_command("wait", self.id, *(["--timeout", timeout] if timeout else []), *self.farm.options)
        return self.refresh()

    def cancel(self) -> "Job":
        run_command("cancel", self.id, *self.farm.options)
        return self.refresh()

    def fetch(self, target: str = "this", path: Optional[os.PathLike] = None) -> Union[Engine, pathlib.Path]:
        """With `path`: writes the target's engine there, for whatever device, and gives the path. Without: the engine loaded here. Raises Error:
        not_found (no such target, or not built), incompatible (without `path`: an engine of another device)."""
        where = ["--target", target, *self.farm.options]
        if path is not None:
            return pathlib.Path(run_command("fetch", self.id, "-o", path, *where)["path"])
        with tempfile.TemporaryDirectory(prefix="enginery-") as folder:
            file = pathlib.Path(folder) / "fetched.engine"
            run_command("fetch", self.id, "-o", file, *where)
            content = file.read_bytes()
        engine = load(content)
        engine.content = content
        return engine
