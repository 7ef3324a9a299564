"""What every part uses: the bundle's programs and libraries, commands with their logs, CSV files."""
import csv
import glob
import json
import os
import signal
import subprocess
import sys
import time

BUNDLE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def environment():
    env = dict(os.environ)
    own = os.path.join(BUNDLE, "lib")
    wheels = []
    for prefix in {sys.prefix, os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))}:
        wheels += glob.glob(prefix + "/lib/python3*/site-packages/nvidia/*/lib")
        wheels += glob.glob(prefix + "/lib/python3*/site-packages/nvidia/cu1*/lib")
    toolkit = [p for p in ["/usr/local/cuda/lib64", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib"] if os.path.isdir(p)]
    env["LD_LIBRARY_PATH"] = ":".join([own] + toolkit + sorted(set(wheels)) + [p for p in env.get("LD_LIBRARY_PATH", "").split(":") if p])
    given = [p for p in env.get("ENGINERY_CUDA_LIBRARIES", "").split(":") if p]
    env["ENGINERY_CUDA_LIBRARIES"] = ":".join(given + sorted(set(wheels)) + toolkit)
    env.setdefault("ENGINERY_HOME", "/tmp/enginery-home")
    return env


def on_gpu(env, gpu):
    """The environment on that GPU, "" for those that are visible."""
    return dict(env, CUDA_VISIBLE_DEVICES=gpu) if gpu else env


def home_environment(folder, gpu=""):
    """With a data folder of its own, on that GPU."""
    return dict(on_gpu(environment(), gpu), ENGINERY_HOME=folder)


def run(command, log=None, limit=590, check=False, env=None):
    """(exit status, output); what it prints goes to `log` too."""
    started = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env or environment(),
                               errors="replace", start_new_session=True)
    try:
        text, _ = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:  # with what it started, which would go on using the GPU
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        status = 124
    if log:
        with open(log, "a") as file:
            file.write(f"$ {' '.join(command)}\n{text}\n[status {status}, {time.time() - started:.1f} s]\n")
    if check and status != 0:
        print(f"failed ({status}): {' '.join(command)}\n{text[-3000:]}")
    return status, text


def program(name):
    return os.path.join(BUNDLE, "bin", name)


def rows_to(path, header, rows):
    fresh = not os.path.exists(path)
    with open(path, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(header)
        writer.writerows(rows)


def report_of(text):
    """The JSON document in a command's output, which may have lines of its stderr before and after it."""
    return json.JSONDecoder().raw_decode(text[text.index("\n{") + 1 if "\n{" in text else text.index("{"):])[0]


def build_command(path, engine, o, precision, extra=()):
    command = [program("enginery"), "build", path, "-o", engine, f"--precision={precision}", "--level", str(o.level), "--json", *extra]
    return command + ([f"--tactic-sources={o.sources}"] if o.sources else [])
