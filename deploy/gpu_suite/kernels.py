"""Single tactics: conformance natively and as PTX of other SMs, compute-sanitizer, layers timed alone; what the machine has."""
import concurrent.futures
import csv
import itertools
import os
import re
import statistics
import sys
import time

from .common import BUNDLE, environment, on_gpu, program, rows_to, run


def part_probe(o):
    log = os.path.join(o.out, "probe.log")
    for command in (["nvidia-smi"], [sys.executable, "-c", "import torch; print(torch.__version__, torch.backends.cudnn.version(), torch.cuda.get_device_name())"],
                    ["ldd", program("enginery")], [program("enginery"), "version"], [program("enginery"), "doctor"], [program("enginery"), "skus", "--local"],
                    ["nvidia-smi", "--query-gpu=pci.device_id,clocks.max.sm,clocks.max.memory,ecc.mode.current,mig.mode.current", "--format=csv"]):
        status, text = run(command, log, 120)
        print(f"$ {' '.join(command)} -> {status}\n{text[:2500]}")
    print(environment()["ENGINERY_CUDA_LIBRARIES"])


def gtest(o, name, extra_env, label):
    """Runs a GoogleTest program in shards side by side; most of a conformance test is compiling and the reference."""
    env = environment()
    env.update(extra_env, GTEST_TOTAL_SHARDS=str(o.shards))
    gpus = o.gpus.split(",")

    def shard(index):
        log = os.path.join(o.out, f"{label}-{index}.log")
        return run([program(name), f"--gtest_filter={o.filter}"], log, o.limit, env=on_gpu(dict(env, GTEST_SHARD_INDEX=str(index)), gpus[index % len(gpus)]))

    with concurrent.futures.ThreadPoolExecutor(o.shards) as pool:
        done = list(pool.map(shard, range(o.shards)))
    status, text = max(s for s, _ in done), "".join(t for _, t in done)
    rows = [[label, test, verdict, ms] for verdict, test, ms in re.findall(r"\[ +(OK|FAILED|SKIPPED) +\] (\S+?),? .*?\((\d+) ms\)", text)]
    rows_to(os.path.join(o.out, "conformance.csv"), ["run", "test", "verdict", "ms"], rows)
    bad = [r[1] for r in rows if r[2] == "FAILED"]
    print(f"{label}: status {status}, {len(rows)} tests, {len(bad)} failed: {' '.join(bad[:40])}", flush=True)
    for block in re.findall(r"(?ms)^\S+: Failure\n.*?(?=^\S+: Failure|^\[ )", text)[:o.show]:
        print(block[:900])
    if not rows:
        print(text[-3000:])
    return status


def part_conformance(o):
    return gtest(o, "tactics_conformance", {"ENGINERY_TEST_SKU": "gpu"}, "native")


def part_ptx(o):
    worst = 0
    for sm in o.sms.split(","):
        env = {"ENGINERY_TEST_SKU": "gpu", "ENGINERY_TEST_PTX": sm, "ENGINERY_TEST_PTX_FOLDER": os.path.join(BUNDLE, "ptx")}
        worst = max(worst, gtest(o, "tactics_conformance", env, f"ptx_sm{sm}"))
    return worst


def conformance_problems(env):
    """Names of the conformance suite's problems."""
    _, text = run([program("tactics_conformance"), "--gtest_list_tests"], env=env)
    return re.findall(r"(?m)^  GiveWhatTheReferenceGives/(\w+)", text)


def part_sanitize(o):
    """compute-sanitizer over every problem of the conformance suite: memcheck with every source; racecheck, synccheck and initcheck
    with our kernels (the libraries' own take minutes each). A process a problem: the GPU waits for the host."""
    every = dict(environment(), ENGINERY_TEST_SKU="gpu")
    own = dict(every, ENGINERY_TEST_SOURCE="kernel")
    env = {"memcheck": every, "racecheck": own, "synccheck": own, "initcheck": own}
    problems = conformance_problems(every) if o.filter == "*" else o.filter.split(",")
    gpus = itertools.cycle(o.gpus.split(","))

    def check(case):
        tool, problem, gpu = case
        started = time.time()
        status, text = run(["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", program("tactics_conformance"), f"--gtest_filter=*/{problem}"],
                           os.path.join(o.out, f"sanitize_{tool}_{problem}.log"), o.limit, env=on_gpu(env[tool], gpu))
        summary = (re.findall(r"ERROR SUMMARY.*|RACECHECK SUMMARY.*", text) or ["none"])[-1]
        passed = len(re.findall(r"\[ +OK +\]", text))
        rows_to(os.path.join(o.out, "sanitize.csv"), ["tool", "problem", "status", "tests_passed", "summary", "seconds"],
                [[tool, problem, status, passed, summary, f"{time.time() - started:.0f}"]])
        print(f"{tool} {problem}: status {status}, {passed} passed, {summary} ({time.time() - started:.0f} s)", flush=True)
        return status

    cases = [(tool, problem, next(gpus)) for tool in o.tools.split(",") for problem in problems]
    with concurrent.futures.ThreadPoolExecutor(o.shards) as pool:
        return max(pool.map(check, cases))


def part_layers(o):
    for precision in o.precisions.split(","):
        for batch in o.batches.split(","):
            status, text = run([program("gpu_layers_bench"), "--batch", batch, "--precision", precision, "--out",
                                os.path.join(o.out, "layers.csv")] + (["--every"] if o.every else []), os.path.join(o.out, "layers.log"), o.limit)
            print(f"batch {batch} {precision}: status {status}\n{text[-6000:]}")


def part_steadiness(o):
    """Close tactics against each other: how their ratio differs between labs, over time and between processes. What a tie must be."""
    for process in range(1, 4):
        raw = os.path.join(o.out, f"steadiness-{process}.csv")
        status, text = run([program("steadiness_bench"), "--out", raw], os.path.join(o.out, "steadiness.log"), 120, True)
        if status != 0:
            return status
        times, first = {}, {}  # visit by visit; the tactic that ratios are taken to
        with open(raw, newline="") as file:
            for r in csv.DictReader(file):
                times.setdefault((r["problem"], r["lab"], r["tactic"]), []).append(float(r["median_us"]))
                first.setdefault(r["problem"], r["tactic"])
        rows = []
        for (problem, lab, tactic), us in times.items():
            ratios = [one / other for one, other in zip(us, times[problem, lab, first[problem]])]
            rows.append([process, problem, tactic, lab, f"{statistics.median(us):.4f}", *(f"{f(ratios):.4f}" for f in (statistics.median, min, max))])
        rows_to(os.path.join(o.out, "steadiness.csv"), ["process", "problem", "tactic", "lab", "median_us", "ratio_to_first", "least_ratio", "most_ratio"], rows)
        over_time = max(float(r[7]) - float(r[6]) for r in rows)
        between_labs = max(max(s) - min(s) for s in ([float(r[5]) for r in rows if r[1:3] == [p, t]] for p, t in {(r[1], r[2]) for r in rows}))
        print(f"process {process}: a ratio moves by up to {100 * over_time:.1f} % over time in one lab, {100 * between_labs:.1f} % between labs", flush=True)
    return 0
