"""One engine's tuning on a farm: by one worker, and shared by a worker on each GPU."""
import datetime
import json
import os
import signal
import shutil
import subprocess
import time

from .common import environment, program, report_of, rows_to, run
from .models import model_file

HEADER = ["model", "precision", "workers", "build_s", "tune_s", "measured", "latency_ms", "engine", "assistants", "killed"]


class Farm:
    """A coordinator and a worker for each visible GPU, with nothing in their folders."""

    def __init__(self, name, log):
        self.home, self.log = f"/tmp/shared-{os.getpid()}-{name}", log
        shutil.rmtree(self.home, ignore_errors=True)
        self.env = dict(environment(), ENGINERY_HOME=self.home, XDG_RUNTIME_DIR=self.home + "/run")
        os.makedirs(self.home + "/run", mode=0o700)

    def enginery(self, *arguments, limit=200):
        return run([program("enginery"), *arguments], self.log, limit, env=self.env)

    def __enter__(self):
        status, text = self.enginery("up", "--detach")
        if status != 0:
            raise SystemExit(f"no farm: {text[-1000:]}")
        return self

    def __exit__(self, *_):
        self.enginery("down")

    def workers(self):
        return report_of(self.enginery("workers", "--json")[1])["workers"]

    def submit(self, path, o, precision, workers):
        """Starts a build that nothing is known of; gives its job's number."""
        status, text = self.enginery("submit", path, "--target", "this", f"--precision={precision}", "--level", str(o.level),
                                     "--tuning-workers", str(workers))
        if status != 0:
            raise SystemExit(f"refused: {text[-1000:]}")
        return text.split()[-1]


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def tuning_of(job):
    """The seconds of the tuning's attempts, and how many workers assisted."""
    steps = {s["name"]: s for s in job["steps"]}
    attempts = steps["tune"]["attempts"]
    seconds = sum((at(a["ended"]) - at(a["started"])).total_seconds() for a in attempts)
    return seconds, sum(name.startswith("tune assistant") for name in steps)


def kill_an_assistant(farm, job):
    """Ends a worker that measures for another one, in the middle; whether there was one."""
    for _ in range(300):
        why = report_of(farm.enginery("explain", job, "--json")[1])
        candidates = [c for target in why["targets"] for c in target["candidates"]]
        victims = [c["worker"] for c in candidates if "measures for it" in c["reason"] and ": 0 " not in c["reason"]]
        pids = [w["pid"] for w in farm.workers() if w["id"] in victims]
        if pids:
            os.kill(pids[0], signal.SIGKILL)
            return True
        time.sleep(0.1)
    return False


def build(o, name, path, precision, workers, kill, log):
    with Farm(f"{name}-{workers}-{kill}", log) as farm:
        started = time.time()
        job = farm.submit(path, o, precision, workers)
        killed = kill and kill_an_assistant(farm, job)
        status, text = farm.enginery("wait", job, "--json", limit=o.limit)
        seconds = time.time() - started
        if status != 0:
            print(f"{name} on {workers}: exit {status}: {text[-1500:]}")
            return None
        view = report_of(farm.enginery("show", job, "--json")[1])
        with open(os.path.join(o.out, f"shared-{name}-{workers}-{'killed' if kill else 'calm'}.json"), "w") as file:
            json.dump(view, file, indent=1)
        with open(os.path.join(o.out, f"shared-{name}-{workers}-{'killed' if kill else 'calm'}.log"), "w") as file:
            file.write(farm.enginery("logs", job)[1])
        target = view["targets"][0]
        tune_s, assistants = tuning_of(view)
        row = [name, precision, workers, f"{seconds:.1f}", f"{tune_s:.1f}", target["timings_measured"], target["latency_ms"], target["engine"], assistants,
               "yes" if killed else "no"]
        rows_to(os.path.join(o.out, "shared.csv"), HEADER, [row])
        print(f"{name} {precision} on {workers} worker(s){', one killed' if killed else ''}: {seconds:.1f} s, tuning {tune_s:.1f} s, "
              f"{assistants} assistant(s), {row[6]} ms", flush=True)
        return seconds, tune_s


def part_shared(o):
    """Cold builds on 1, 2, 4, ... workers, each on an empty farm; one more on all of them with an assistant killed in the middle."""
    log = os.path.join(o.out, "shared.log")
    gpus = len([line for line in subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines() if line.startswith("GPU ")])
    counts = [n for n in (1, 2, 4, 8) if n <= max(1, gpus)]
    failed = 0
    for name in o.models.split(","):
        path, _ = model_file(name)
        precision = o.precisions.split(",")[0]
        times = {n: build(o, name, path, precision, n, False, log) for n in counts}
        failed += sum(t is None for t in times.values())
        if times[1]:
            for n in counts[1:]:
                if times[n]:
                    print(f"{name}: {n} workers: {times[1][0] / times[n][0]:.2f} x the build, {times[1][1] / times[n][1]:.2f} x the tuning", flush=True)
        if counts[-1] > 1:
            failed += build(o, name, path, precision, counts[-1], True, log) is None
    return failed
