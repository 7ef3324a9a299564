"""The bars of reliability and what shows each: one row for every test or command; a bar may have several.

`program` and `filter` name a GoogleTest program of the build folder and its tests, `command` a command line instead (BUILD is the build
folder, SOURCE the checkout). `environment` makes the test as large as the bar asks. `figure` is a regular expression whose groups are
the figure in what was printed; `note` stands for it where nothing is printed. A row with neither program nor command is a bar that nothing shows.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    bar: str
    wanted: str
    program: str = ""
    filter: str = "*"
    command: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    figure: str = ""
    note: str = ""


SIM = "tests/sim/sim_test"
DISK = "tests/disk/disk_test"
COORDINATOR = "tests/coordinator/coordinator_test"
CACHE = "tests/cache/cache_test"
AGENT = "tests/worker/agent/worker_agent_test"
FORMAT = "tests/engine/format/format_test"
SCHEMAS = "tests/schemas/schemas_test"
RUNNER = "tests/worker/runner/worker_runner_test"
LOCAL = "tests/worker/local/worker_build_test"
FUZZ = "SOURCE/tests/fuzz/corpus"

ROWS = [
    Row("R1", "10,000 simulated kills of the coordinator: 0 acknowledged jobs lost, 0 double commits", SIM,
        "Simulator.ACoordinatorThatIsKilledAgainAndAgainLosesNothing", environment={"ENGINERY_SIM_CRASHES": "10000"},
        figure=r"coordinator: (\d+ crashes).*?(\d+ done).*?(\d+ commits)"),
    Row("R1", "200 real kills -9 of the coordinator, of a worker and of both", COORDINATOR,
        "Kill.TheCoordinator*:Kill.AWorker*:Kill.Both", environment={"ENGINERY_KILLS": "200"}, figure=r"(\d+ kills)"),
    Row("R2", "a killed worker's tuning: at most a quarter measured again", AGENT,
        "Agent.ResumesTheTuningOfAKilledRunner:Agent.LosesNoTimingWhenItIsKilled", note="asserted"),
    Row("R2", "a lost worker is seen within 20 s", COORDINATOR, "QueueTest.FindsAWorkerLostAfterItsSilence", note="15 s"),
    Row("R3", "a coordinator that restarts finds its 200 running workers again within 15 s, none begins anew", AGENT, "AgentCrowd.*",
        environment={"ENGINERY_AGENTS": "200"}, figure=r"(\d+ of \d+ agents back after [\d.]+ s)"),
    Row("R4", "a worker stopped for 5 minutes and continued: its report is refused, the job done once", COORDINATOR,
        "Kill.AStoppedWorkerThatGoesOnCommitsNothing", environment={"ENGINERY_FREEZE_S": "300"}, note="SIGSTOP, SIGCONT"),
    Row("R5", "frames lost, repeated, reordered, delayed: no lost job, quiet within 60 s", SIM, "Simulator.EveryRuleHoldsUnderFaults",
        figure=r"quiet ([\d.]+ s after the last fault)"),
    Row("R6", "100 identical submits from 10 clients at once: 1 execution, 100 equal answers", COORDINATOR, "IdenticalWork.*",
        figure=r"(\d+ submits of \d+ clients, \d+ execution)"),
    Row("R7", "100,000 queued jobs, 1,000 workers, core and database alone", COORDINATOR, "Load.*",
        environment={"ENGINERY_LOAD_JOBS": "100000", "ENGINERY_LOAD_WORKERS": "1000"}, figure=r"(\d+ submits, \d+ dispatches a processor second)"),
    Row("R7", "the same over sockets: submit >= 2,000/s, dispatch >= 1,200/s, <= 1 GB", COORDINATOR, "SocketLoad.*",
        environment={"ENGINERY_LOAD_JOBS": "100000", "ENGINERY_LOAD_WORKERS": "1000", "ENGINERY_LOAD_RATES": "1"},
        figure=r"over sockets: (.*)"),
    Row("R8", "cache-hit submit to first byte: p50 <= 2 ms", COORDINATOR, "HitSpeed.*",
        environment={"ENGINERY_HITS": "1000", "ENGINERY_HIT_MS": "2"}, figure=r"hits: (p50 [\d.]+ ms, p99 [\d.]+ ms)"),
    Row("R8", "a command that the catalog answers: <= 15 ms beside the start of its process", command=("python3", "SOURCE/tests/e2e/test_hit_speed.py"),
        environment={"ENGINERY_COMMANDS": "100", "ENGINERY_COMMAND_MS": "15"}, figure=r"(start .*\))"),
    Row("R9", "blob egress with hashing >= 0.8 of one-pass SHA-256", COORDINATOR, "BulkSpeed.*", environment={"ENGINERY_BULK_MB": "1000"},
        figure=r"(plain|with CURVE): (hash \d+ MB/s).*(egress \d+ MB/s \([\d.]+ of the hash\))"),
    Row("R10", "damaged or lost blobs: found when read, never an answer, built again", CACHE,
        "VerifyTest.*:*BlobStoreTest.Detects*", note="asserted"),
    Row("R10", "any blob of a running job lost or damaged: the job ends done", COORDINATOR, "InputGone.*", note="asserted"),
    Row("R11", "a coordinator on a full, failing or slow disk: typed errors, nothing corrupted, goes on by itself", DISK, "*BadDisk*:SlowDisk*",
        note="ENOSPC, EIO, 100 ms a sync"),
    Row("R12", "a power cut after any call of a catalog's life: opens clean, keeps what it acknowledged", DISK, "PowerCut.*",
        figure=r"(\d+ calls), (\d+ promises), (\d+ different disks)"),
    Row("R13", "a model that kills its process: 3 kills in all, the next submit hears it at once", COORDINATOR, "*Killer*", note="3 kills"),
    Row("R14", "a small client beside a greedy one waits for its share", SIM, "Simulator.AGreedyClientDelaysASmallOneByItsShareOnly",
        note="asserted on 12 seeds"),
    Row("R16", "clock jumps of two hours: no mass expiry", SIM, "Simulator.EveryRuleHoldsUnderFaults", figure=r"(\d+ events)"),
    Row("R17", "collection under load: nothing pinned, leased or new lost, pause <= 50 ms", CACHE, "GcUnderLoad.*",
        environment={"ENGINERY_GC_BLOBS": "5000"}, figure=r"(\d+ of \d+ blobs collected), (longest pause [\d.]+ ms)"),
    Row("R18", "fuzzing: the engine loader", command=("BUILD/tests/fuzz/engine_edits", "--kept", f"{FUZZ}/engine", "--found", "BUILD/fuzz"),
        note="20,000 edits; what has been tried so far: tests/fuzz/runs.csv"),
    Row("R18", "fuzzing: the ONNX importer", command=("BUILD/tests/fuzz/onnx_edits", "--kept", f"{FUZZ}/onnx", "--found", "BUILD/fuzz"),
        note="20,000 edits"),
    Row("R18", "fuzzing: signed bundles, exports of timings, timing cache files", command=("BUILD/tests/fuzz/imports_edits", "--found", "BUILD/fuzz"),
        note="20,000 edits; there is no importer of Caffe, Darknet or TensorFlow"),
    Row("R18", "fuzzing: files of histograms, tables of INT8 scales", command=("BUILD/tests/fuzz/calibration_edits", "--found", "BUILD/fuzz"), note="20,000 edits"),
    Row("R18", "the envelope: bits flipped, noise, pointers beyond the frame", SCHEMAS, "Codec.*:HostileFrames.*", note="asserted"),
    Row("R19", "hostile worker refused: forged digest, result for another's lease", COORDINATOR,
        "Bulk.RefusesABlobWhoseBytesHaveAnotherDigest:Core.AStaleEpoch*:ForgedOutput.*", note="asserted"),
    Row("R19", "attributed: a huge log, a line in another's log, a report in another's name", COORDINATOR,
        "LogStore.SaysWhoWroteAHugeLog:NetworkTest.AKeyWritesToTheLogsOfItsOwnWorkersSteps:NetworkTest.AWorkersNameIsItsKeys", note="asserted"),
    Row("R20", "hostile models contained: one message within 20 s and 2 GB, nothing half-written", command=("python3", "SOURCE/tests/e2e/test_hostile.py"),
        note="asserted; the client refuses them, what a worker would meet is shown by R21"),
    Row("R21", "sandbox: no network, no host files, no other process, no key, memory cap", RUNNER, "Sandbox.*", note="asserted"),
    Row("R21", "the same for a local build: signing key and catalog out of reach", LOCAL, "SandboxedBuild.*", note="asserted"),
    Row("R22", "any changed, added or missing byte of an engine is refused", FORMAT, "*", note="asserted"),
    Row("R23", "real Slurm"),
    Row("R24", "a catalog of an earlier version is read as it was, its frames for ever", COORDINATOR, "OldFarmTest.*:OldWorker.*",
        note="a worker of the version before by its recorded frames; its program is not started"),
    Row("R25", "soak of 100,000 jobs: memory, descriptors, files, database flat", COORDINATOR, "Soak.JobAfterJob*",
        environment={"ENGINERY_SOAK_JOBS": "100000", "ENGINERY_SOAK_KEPT": "2000"}, figure=r"((?:after a third|at the end): .*)",
        note="without chaos, which R1, R5 and R11 add"),
    Row("R25", "a start < 2 s after 1,000,000 ended jobs", COORDINATOR, "Soak.StartsFast*",
        environment={"ENGINERY_SOAK_ENDED": "1000000", "ENGINERY_SOAK_KEPT": "20000"}, figure=r"(after (?:half|all) of them: .*|start after .*)"),
    Row("R26", "at least a million simulated events a run, none open", SIM, "Simulator.EveryRuleHoldsUnderFaults",
        environment={"ENGINERY_SIM_EVENTS": "1000000"}, figure=r"(\d+ seeds) from \d+, (\d+ events)"),
]
