"""The bars of reliability and what shows each: one row for every test or command; a bar may have several.

`program` and `filter` name a GoogleTest program of the build folder and its tests, `command` a command line instead (BUILD is the build
folder). `environment` makes the test as large as the bar asks. `figure` is a regular expression whose groups are the figure in what was
printed; `note` stands for it where nothing is printed. A row with neither program nor command is a bar that nothing shows.
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

ROWS = [
    Row("R1", "10,000 simulated kills of the coordinator: 0 acknowledged jobs lost, 0 double commits", SIM,
        "Simulator.ACoordinatorThatIsKilledAgainAndAgainLosesNothing", environment={"ENGINERY_SIM_CRASHES": "10000"},
        figure=r"coordinator: (\d+ crashes).*?(\d+ done).*?(\d+ commits)"),
    Row("R1", "200 real kills -9 of the coordinator, of a worker and of both", COORDINATOR,
        "Kill.TheCoordinator*:Kill.AWorker*:Kill.Both", environment={"ENGINERY_KILLS": "200"}, figure=r"(\d+ kills)"),
    Row("R2", "a killed worker's tuning: at most a quarter measured again", AGENT,
        "Agent.ResumesTheTuningOfAKilledRunner:Agent.LosesNoTimingWhenItIsKilled", note="asserted"),
    Row("R2", "a lost worker is seen within 20 s", COORDINATOR, "QueueTest.FindsAWorkerLostAfterItsSilence", note="15 s"),
    Row("R3", "a coordinator that restarts finds its running workers again", COORDINATOR, "Core.RunningWorkersReattachAfterARestart",
        note="one worker; 200 are not shown"),
    Row("R4", "a worker stopped for 5 minutes and continued: its report is refused, the job done once", COORDINATOR,
        "Kill.AStoppedWorkerThatGoesOnCommitsNothing", environment={"ENGINERY_FREEZE_S": "300"}, note="SIGSTOP, SIGCONT"),
    Row("R5", "frames lost, repeated, reordered, delayed: no lost job, quiet within 60 s", SIM, "Simulator.EveryRuleHoldsUnderFaults",
        figure=r"quiet ([\d.]+ s after the last fault)"),
    Row("R6", "identical submits are one execution", COORDINATOR, "Server.DoesIdenticalWorkInFlightOnce", note="one client at a time"),
    Row("R7", "100,000 queued jobs, 1,000 workers: submit >= 2,000/s, dispatch >= 1,200/s", COORDINATOR, "Load.*",
        environment={"ENGINERY_LOAD_JOBS": "100000", "ENGINERY_LOAD_WORKERS": "1000"}, figure=r"(\d+ submits, \d+ dispatches a processor second)"),
    Row("R8", "cache-hit submit to first byte: p50 <= 5 ms"),
    Row("R9", "blob egress with hashing >= 0.8 of one-pass SHA-256"),
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
    Row("R17", "collection under load"),
    Row("R18", "fuzzing of all readers of foreign bytes"),
    Row("R19", "hostile worker refused: forged digest, result for another's lease", COORDINATOR,
        "Bulk.RefusesABlobWhoseBytesHaveAnotherDigest:Core.AStaleEpoch*:ForgedOutput.*", note="asserted; attribution is not shown"),
    Row("R20", "hostile models contained"),
    Row("R21", "sandbox probe"),
    Row("R22", "any changed, added or missing byte of an engine is refused", FORMAT, "*", note="asserted"),
    Row("R23", "real Slurm"),
    Row("R24", "rolling upgrade"),
    Row("R25", "soak with chaos"),
    Row("R26", "at least a million simulated events a run, none open", SIM, "Simulator.EveryRuleHoldsUnderFaults",
        environment={"ENGINERY_SIM_EVENTS": "1000000"}, figure=r"(\d+ seeds) from \d+, (\d+ events)"),
]
