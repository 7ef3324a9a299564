"""The Python package on the GPU, with PyTorch's tensors through DLPack."""
import os
import sys

from .common import BUNDLE, build_command, environment, program, rows_to, run
from .models import model_file

# Medians in microseconds of one inference of one engine, its tensors on the GPU, by each way to ask for it; the ways in turns.
TIMES = """
import os, statistics, time, torch, enginery
engine = enginery.load(os.environ["ENGINERY_GPU_ENGINE"])
name, shape, output = engine.inputs[0].name, engine.inputs[0].shape, engine.outputs[0]
x, y, stream = torch.rand(shape, device="cuda"), torch.empty(output.shape, device="cuda"), torch.cuda.Stream()
context = engine.context()
context.set_input(name, x)
context.set_output(output.name, y)
def enqueue():
    context.enqueue(stream)
    stream.synchronize()
with torch.cuda.stream(stream):
    enqueue()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        context.enqueue(stream)
def replay():
    with torch.cuda.stream(stream):
        graph.replay()
    stream.synchronize()
ways = {"engine.run": lambda: engine.run({name: x}, {output.name: y}), "context.run": context.run, "context.enqueue": enqueue, "caller's graph": replay}
times = {way: [] for way in ways}
for _ in range(300):
    for way, call in ways.items():
        begin = time.perf_counter()
        call()
        times[way].append(time.perf_counter() - begin)
print("device", engine.info["median_us"])
for way, seconds in times.items():
    print(way.replace(" ", "_"), round(statistics.median(seconds) * 1e6, 2))
"""


def part_python(o):
    """The package's tests on PyTorch's tensors, and what a call from Python takes beside the engine's time on the device."""
    log = os.path.join(o.out, "python.log")
    engine = "/tmp/python.engine"
    status, text = run(build_command(model_file("squeezenet")[0], engine, o, "fp32", ["--shapes=data:1x3x227x227"]), log, o.limit, True)
    if status != 0:
        return status
    python = os.path.join(BUNDLE, "python")
    env = dict(environment(), PYTHONPATH=python, ENGINERY_LIBRARY=program("libenginery.so"), ENGINERY_BIN=program("enginery"), ENGINERY_GPU_ENGINE=engine)
    failed, text = run([sys.executable, "-m", "unittest", "-v", "test_torch_tensors"], log, 200, True, env)
    print(text[-2500:], flush=True)
    status, text = run([sys.executable, "-c", TIMES], log, 200, True, env)
    if status == 0:
        rows = [line.split() for line in text.splitlines() if len(line.split()) == 2]
        rows_to(os.path.join(o.out, "python.csv"), ["model", "way", "median_us"], [["squeezenet", *row] for row in rows])
        print("\n".join(f"{way:20} {us:>10} us" for way, us in rows), flush=True)
    return failed or status
