"""Networks as timm, torchvision and transformers export them, with random weights: built, checked and timed beside PyTorch, fp16."""
import functools
import itertools
import json
import os
import statistics
import time

from .common import build_command, program, report_of, rows_to, run

HEADER = ["model", "batch", "exporter", "precision", "level", "build_s", "timings_measured", "error", "host_steps", "contender", "median_ms", "least_ms", "most_ms", "state"]
ROUNDS = 5
TOKENS = 128


def picture_model(make):
    def load(batch):
        import torch
        return make(), {"images": torch.randn(batch, 3, 224, 224)}, "logits"
    return load


def from_timm(name):
    def make():
        import timm
        return timm.create_model(name, pretrained=False)
    return picture_model(make)


def from_torchvision(name):
    def make():
        import torchvision
        extra = {"init_weights": True, "aux_logits": False} if name == "googlenet" else {}
        return getattr(torchvision.models, name)(weights=None, **extra)
    return picture_model(make)


def one_output(model, pick):
    """`model` as a module of one tensor output, with ids (and a mask where the model takes one) in the order of its inputs."""
    import torch

    class OneOutput(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask=None):
            return pick(self.model(input_ids=input_ids, attention_mask=attention_mask))

    return OneOutput()


def load_bert(batch):
    import torch
    from transformers import BertConfig, BertModel
    mask = torch.ones(batch, TOKENS, dtype=torch.int64)
    mask[0, TOKENS * 3 // 4:] = 0
    return (one_output(BertModel(BertConfig(), add_pooling_layer=False), lambda y: y.last_hidden_state),
            {"input_ids": torch.randint(0, 30522, (batch, TOKENS)), "attention_mask": mask}, "hidden")


def load_gpt2(batch):
    import torch
    from transformers import GPT2Config, GPT2Model
    # With a mask: without one transformers looks for packed sequences by torch.diff, which the TorchScript exporter lacks.
    inputs = {"input_ids": torch.randint(0, 50257, (batch, TOKENS)), "attention_mask": torch.ones(batch, TOKENS, dtype=torch.int64)}
    return one_output(GPT2Model(GPT2Config(use_cache=False)), lambda y: y.last_hidden_state), inputs, "hidden"


LOADERS = {
    "deit_tiny": from_timm("deit_tiny_patch16_224"), "efficientnet_b0": from_timm("efficientnet_b0"), "convnext_tiny": from_timm("convnext_tiny"),
    "ecaresnet26t": from_timm("ecaresnet26t"), "mobilenetv3": from_timm("mobilenetv3_large_100"), "vit_b16": from_torchvision("vit_b_16"), "swin_t": from_torchvision("swin_t"),
    "resnet50": from_torchvision("resnet50"), "googlenet": from_torchvision("googlenet"), "squeezenet": from_torchvision("squeezenet1_1"),
    "cspresnet50": from_timm("cspresnet50"), "densenet121": from_torchvision("densenet121"),
    "bert": load_bert, "gpt2": load_gpt2,
}


class Exported:
    """A model at one batch: its file, its inputs as arrays, what PyTorch makes of them in fp32 (on a GPU where there is one), and its
    contenders in fp16."""

    def __init__(self, name, batch, exporter):
        import numpy as np
        import torch
        torch.manual_seed(1)
        torch.backends.cudnn.allow_tf32 = False
        model, inputs, output = LOADERS[name](batch)
        for parameter in model.parameters():  # a head of zeros would hide every error
            if not parameter.any():
                torch.nn.init.normal_(parameter, std=0.02)
        self.model, self.inputs, self.output = model.eval(), inputs, output
        self.folder = f"/tmp/exported-{name}-{batch}-{exporter}"
        self.path = self.folder + "/model.onnx"
        os.makedirs(self.folder, exist_ok=True)
        modern = {"dynamo": True, "external_data": False} if exporter == "dynamo" else {"dynamo": False, "opset_version": 17, "do_constant_folding": True}
        torch.backends.mha.set_fastpath_enabled(False)  # its operator has no counterpart in ONNX
        with torch.inference_mode():
            torch.onnx.export(self.model, tuple(inputs.values()), self.path, input_names=list(inputs), output_names=[output], **modern)
            torch.backends.mha.set_fastpath_enabled(True)
            place = "cuda" if torch.cuda.is_available() else "cpu"
            self.expected = self.model.to(place)(*(x.to(place) for x in inputs.values())).float().cpu().numpy()
        for key, x in inputs.items():
            np.save(f"{self.folder}/{key}.npy", x.numpy())

    def input_options(self):
        return [word for key in self.inputs for word in ("--input", f"{key}={self.folder}/{key}.npy")]

    def error(self, folder):
        import numpy as np
        y = np.load(f"{folder}/{self.output}.npy").reshape(self.expected.shape)
        return float(np.abs(y - self.expected).max() / np.abs(self.expected).max())

    def contenders(self, mode):
        """Calls that give a median in ms of device-resident runs: eager in a CUDA graph, and torch.compile where a mode of it is asked for."""
        import torch
        from gpu_peers import median_ms
        half = self.model.half()
        inputs = [x.cuda().half() if x.is_floating_point() else x.cuda() for x in self.inputs.values()]
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                half(*inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            half(*inputs)
        calls = {"eager+graph": lambda: median_ms(graph.replay)}
        if mode:
            started = time.time()
            fast = torch.compile(half, mode=mode)
            for _ in range(3):
                fast(*inputs)
            torch.cuda.synchronize()
            print(f"torch.compile {mode}: {time.time() - started:.1f} s", flush=True)
            calls[f"torch.compile {mode}"] = lambda: median_ms(lambda: fast(*inputs))
        return calls


def engine_ms(engine):
    status, text = run([program("enginery"), "bench", engine, "--no-data-transfers", "--duration", "1", "--json"], None, 120, True)
    return report_of(text)["latency"]["median_ms"] if status == 0 else float("nan")


def build_and_check(exported, o, precision, exporter, log):
    """(the engine's file or None, the columns of a row up to host_steps)."""
    engine = f"{exported.folder}/{precision}{o.level}.engine"
    started = time.time()
    status, text = run(build_command(exported.path, engine, o, precision, ["--rebuild", "--verbose", *exported.input_options()]), log, o.limit)
    seconds = f"{time.time() - started:.1f}"
    if status != 0:
        print(f"build failed ({status}): {text[-1500:]}", flush=True)
        return None, [exporter, precision, o.level, seconds, "", "", ""]
    built = report_of(text)
    status, text = run([program("enginery"), "run", engine, *exported.input_options(), "--output", engine + ".y"], log, 120, True)
    error = exported.error(engine + ".y") if status == 0 else float("nan")
    status, text = run([program("enginery"), "bench", engine, "--no-data-transfers", "--dump-profile", "--duration", "1", "--json"], log, 120, True)
    layers = report_of(text)["layers"] if status == 0 else []
    rows_to(os.path.join(o.out, "exported-profile.csv"), ["model", "precision", "layer", "op", "tactic", "median_us", "roofline_share"],
            [[os.path.basename(exported.folder), precision, l["name"], l["op"], l["tactic"], f"{l['median_us']:.3f}", l["roofline_share"]] for l in layers])
    host = sum(l["tactic"].startswith(("reference", "host")) for l in layers)
    with open(os.path.join(o.out, "exported-builds.jsonl"), "a") as file:
        file.write(json.dumps({"model": exported.folder, **{k: v for k, v in built.items() if k != "layers"}}) + "\n")
    return engine, [exporter, precision, o.level, seconds, built["timings_measured"], f"{error:.3e}", host]


def report(o, row):
    rows_to(os.path.join(o.out, "exported.csv"), HEADER, [row])


def compare(o, name, batch, exporter, log):
    """One network through one exporter: its engines, and its contenders unless only errors are wanted, in turns."""
    import torch
    started = time.time()
    try:
        exported = Exported(name, batch, exporter)
    except Exception as error:  # an exporter's own failure is a row of the table
        print(f"{name} {batch} {exporter}: export failed: {type(error).__name__} {str(error)[-600:]}", flush=True)
        return report(o, [name, batch, exporter] + [""] * 10 + ["export failed"])
    print(f"{name} {batch} {exporter}: exported in {time.time() - started:.1f} s", flush=True)
    calls, columns = {}, {}
    for precision in o.precisions.split(","):
        engine, built = build_and_check(exported, o, precision, exporter, log)
        print(name, batch, *built, flush=True)
        if not engine:
            report(o, [name, batch, *built, "", "", "", "", "build failed"])
            continue
        calls[f"enginery {precision}"], columns[f"enginery {precision}"] = functools.partial(engine_ms, engine), built
    with torch.inference_mode():
        if not o.only_errors:
            calls.update(exported.contenders(o.compile_mode if o.compile else ""))
        times = {key: [] for key in calls}
        for _ in range(1 if o.only_errors else ROUNDS):
            for key, call in calls.items():
                times[key].append(call())
    for key, ms in times.items():
        figures = [f"{statistics.median(ms):.4f}", f"{min(ms):.4f}", f"{max(ms):.4f}"]
        report(o, [name, batch, *columns.get(key, [exporter, "fp16", "", "", "", "", ""]), key, *figures, "ok"])
        print(f"{name} batch {batch} {exporter} {key}: {figures[0]} ms ({figures[1]} to {figures[2]})", flush=True)


def part_exported(o):
    """--models, --batches, --precisions, --exporters torchscript,dynamo, --compile [--compile-mode reduce-overhead], --only-errors: no contenders."""
    import torch
    log = os.path.join(o.out, "exported.log")
    for name, batch, exporter in itertools.product(o.models.split(","), map(int, o.batches.split(",")), o.exporters.split(",")):
        compare(o, name, batch, exporter, log)
        torch.cuda.empty_cache()
