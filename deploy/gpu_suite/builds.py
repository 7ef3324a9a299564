"""Build times, and how alike cold builds are."""
import concurrent.futures
import glob
import json
import os
import queue
import shutil
import sqlite3
import statistics
import sys
import time

from .common import BUNDLE, build_command, home_environment, program, report_of, rows_to, run
from .models import model_file

PROCESSES = 5  # that run engines side by side
HEADER = ["model", "precision", "build", "seconds", "measured", "reused", "median_ms", "content_digest"]


def bench_ms(engine, home, log, gpu):
    _, text = run([program("enginery"), "bench", engine, "--no-data-transfers", "--duration", "0.5", "--json"], log, 120, True, home_environment(home, gpu))
    return report_of(text)["latency"]["median_ms"]


def layers_of(engine, home, log):
    _, text = run([program("enginery"), "inspect", engine, "--json"], log, 60, True, home_environment(home))
    return {l["name"]: (l["tactic"], l["problem"]) for l in report_of(text)["layers"]}


def timings_of(home):
    """{problem: {tactic: median in microseconds}}: what this build measured."""
    found = {}
    for file in glob.glob(home + "/**/catalog.db", recursive=True):
        with sqlite3.connect(file) as database:
            rows = database.execute("SELECT k.bytes, t.entry FROM timing t JOIN timing_key k ON k.digest = t.problem")
            for key, entry in rows:
                problem, timing = key[key.rindex(b"problem") + len("problem") + 4:].decode(), json.loads(entry)  # the last field, after its length
                if timing.get("samples"):
                    found.setdefault(problem, {})[timing["tactic"]] = timing["median_us"]
    return found


def apart(build, layer, other_tactic):
    """How far the other tactic's median lies from the chosen one's, both measured in this build; None: it measured only one."""
    tactic, problem = build["layers"][layer]
    times = build["timings"].get(problem, {})
    return times[other_tactic] / times[tactic] - 1 if tactic in times and other_tactic in times else None


def part_builds(o):
    """Cold, warm and new-weights builds; pinned builds; what several cold builds choose (each with an empty data folder of its own)."""
    log = os.path.join(o.out, "builds.log")
    for name in o.models.split(","):
        path, _ = model_file(name)
        precision = o.precisions.split(",")[0]

        def build(what, home, extra=(), model=path, gpu=o.gpus.split(",")[0], timed=True):
            engine = f"/tmp/{what}-{name}-{os.getpid()}.engine"
            started = time.time()
            status, text = run(build_command(model, engine, o, precision, extra), log, o.limit, True, home_environment(home, gpu))
            if status != 0:
                return None
            seconds, built = time.time() - started, report_of(text)
            median = bench_ms(engine, home, log, gpu) if timed else 0
            rows_to(os.path.join(o.out, "builds.csv"), HEADER,
                    [[name, precision, what, f"{seconds:.1f}", built["timings_measured"], built["timings_reused"], median or "", built["content_digest"]]])
            print(f"{name} {precision} {what}: {seconds:.1f} s, {built['timings_measured']} measured, median {median or '-'} ms, {built['content_digest'][:24]}", flush=True)
            timings, layers = timings_of(home), layers_of(engine, home, log)
            rows_to(os.path.join(o.out, "timings.csv"), ["model", "build", "problem", "tactic", "median_us"],
                    [[name, what, p, t, f"{us:.4f}"] for p, times in timings.items() for t, us in times.items()])
            rows_to(os.path.join(o.out, "layers.csv"), ["model", "build", "layer", "tactic", "problem"], [[name, what, l, *chosen] for l, chosen in layers.items()])
            return {"what": what, "engine": engine, "home": home, "layers": layers, "timings": timings}

        home = f"/tmp/home-{name}-{os.getpid()}"
        run([program("enginery"), "keys", "new"], log, 60, True, home_environment(home))
        colds = []
        if o.cold == 0 or o.speed:
            colds.append(build("cold", home))
            build("warm", home, ["--rebuild"])
            build("pinned", home, ["--rebuild", "--error-on-timing-cache-miss"])
            if name not in ("squeezenet", "rfb320"):
                os.makedirs("/tmp/models-seed1", exist_ok=True)
                run([sys.executable, os.path.join(BUNDLE, "models", "make_models.py"), "/tmp/models-seed1", name, "--seed", "1"], log, 300, True)
                build("new-weights", home, model=f"/tmp/models-seed1/{name}.onnx")
        gpus = queue.SimpleQueue()  # those that are free; cold builds are spread over them
        for gpu in o.gpus.split(","):
            gpus.put(gpu)

        def cold_build(i):
            gpu = gpus.get()
            shutil.copytree(f"{home}/data/keys", f"{home}-{i}/data/keys")  # one signer: one bench compares them all
            try:
                return build(f"cold{i + 1}", f"{home}-{i}", gpu=gpu, timed=False)
            finally:
                gpus.put(gpu)

        with concurrent.futures.ThreadPoolExecutor(len(o.gpus.split(","))) as pool:
            colds += list(pool.map(cold_build, range(o.cold)))
        colds = [c for c in colds if c]
        if len(colds) > 1:
            stability(o, name, colds, log)


def stability(o, name, builds, log):
    """Nodes that keep the first build's tactic; where one changed, how far apart both builds measured the two; the engines' medians, taken in turns."""
    kept = total = 0
    changes = []
    first = builds[0]
    for other in builds[1:]:
        for layer, (tactic, _) in other["layers"].items():
            total += 1
            before = first["layers"].get(layer, ("", 0))[0]
            kept += before == tactic
            if before and before != tactic:
                changes.append([name, other["what"], layer, before, tactic, apart(first, layer, tactic), apart(other, layer, before)])
    rows_to(os.path.join(o.out, "changes.csv"), ["model", "build", "layer", "first_tactic", "tactic", "slower_in_first", "first_slower_in_build"], changes)
    known = [abs(x) for c in changes for x in c[5:] if x is not None]
    # Run for run in one process, since the H200 has two states some 6 % apart that change every few seconds; in several processes,
    # since where an engine's memory lies moves it by 1 %.
    env = home_environment(first["home"], o.gpus.split(",")[0])
    beside = [program("enginery"), "bench", first["engine"], "--beside", ",".join(b["engine"] for b in builds[1:]), "--no-data-transfers", "--duration", "0.3", "--json"]
    runs = [report_of(run(beside, log, 200, True, env)[1])["engines"] for _ in range(PROCESSES)]
    medians_ms = [statistics.median(e["latency"]["median_ms"] for e in same) for same in zip(*runs)]
    ratios = [statistics.median(e["ratio_to_first"] for e in same) for same in zip(*runs)]
    rows_to(os.path.join(o.out, "medians.csv"), ["model", "build", "median_ms", "ratio_to_first", "processes"],
            [[name, b["what"], f"{ms:.5f}", f"{ratio:.4f}", PROCESSES] for b, ms, ratio in zip(builds, medians_ms, ratios)])
    print(f"{name}: {len(builds)} cold builds keep the tactic of {100 * kept / total:.1f} % of the nodes; {len(changes)} changes, apart by at most "
          f"{100 * max(known, default=0):.1f} % (medians of one build; {len(known)} of {2 * len(changes)} known); engines in turns {medians_ms[0]:.4f} ms, "
          f"slowest to fastest {100 * (max(ratios) / min(ratios) - 1):.1f} % apart", flush=True)
