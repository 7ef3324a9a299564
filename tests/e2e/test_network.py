"""Three hosts on one: coordinator, workers and a client each in a network namespace of its own, over TCP with CURVE.

    farm 10.77.1.1 ---- 10.77.1.2 lab          farm also has 10.77.2.1 ---- 10.77.2.2 desk

`up --listen` on the farm and `join TOKEN` on the lab, end to end: model in at the desk, engine out. Then loss and delay, a cable
that is pulled and put back, and every key that must be refused. As root, or in a user namespace; skipped where the kernel has
neither.
"""
import shutil
import subprocess

from support import *

CONTROL = "tcp://10.77.1.1:7701"


def run(*words, check=True):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise unittest.SkipTest(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done


class Host:
    """A network namespace, kept by a process that sleeps in it, and a home."""

    def __init__(self, case):
        self.keeper = subprocess.Popen(["unshare", "-n", "sleep", "3600"], stdin=subprocess.DEVNULL)
        case.addClassCleanup(self.end)
        outside = os.readlink("/proc/self/ns/net")
        wait_for(lambda: os.readlink(f"/proc/{self.keeper.pid}/ns/net") != outside, 10, "the namespace")
        self.home = Home()
        case.addClassCleanup(self.home.close)
        self.inside = ["nsenter", "-t", str(self.keeper.pid), "-n"]
        self.home.prefix = self.inside
        self.do("ip", "link", "set", "lo", "up")

    def do(self, *words, check=True):
        return run(*self.inside, *words, check=check)

    def end(self):
        self.keeper.kill()
        self.keeper.wait()


def cable(farm, other, net, farm_end, other_end):
    """A link between two hosts; the other one reaches everything through the farm."""
    farm.do("ip", "link", "add", farm_end, "type", "veth", "peer", "name", other_end, "netns", str(other.keeper.pid))
    for host, end, last in ((farm, farm_end, 1), (other, other_end, 2)):
        host.do("ip", "addr", "add", f"10.77.{net}.{last}/24", "dev", end)
        host.do("ip", "link", "set", end, "up")
    other.do("ip", "route", "add", "default", "via", f"10.77.{net}.1")


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("unshare") or not shutil.which("ip"):
            raise unittest.SkipTest("unshare or ip is not installed")
        probe = run("unshare", "-n", "ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1", check=False)
        if probe.returncode != 0:
            raise unittest.SkipTest(f"no network namespaces with veth here: {probe.stderr.strip()}")
        cls.farm, cls.lab, cls.desk = Host(cls), Host(cls), Host(cls)
        cable(cls.farm, cls.lab, 1, "to-lab", "to-farm")
        cable(cls.farm, cls.desk, 2, "to-desk", "to-farm")
        skus = [s["sku"] for s in cls.farm.home.run("skus", "--local", "--json").json()["skus"] if s["kind"] == "cpu"]
        cls.here, cls.there = skus[0], skus[-1]
        cls.up = cls.farm.home.up("--listen", CONTROL, "--skus", cls.here, "--threads", "1")
        cls.token = [line.split()[1] for line in cls.up.out.splitlines() if line.startswith("join ")][0]
        cls.joined = cls.lab.home.run("join", cls.token, "--name", "lab", "--skus", cls.there, "--threads", "1", "--detach")
        cls.lab.home.farm = cls.joined
        cls.key = cls.new_key("client", "alice")

    @classmethod
    def new_key(cls, kind, name, *more):
        """A key made on the farm's host and brought to the desk."""
        file = cls.desk.home.work / f"{name}.key"
        made = cls.farm.home.run("keys", kind, "new", name, "-o", file, *more)
        assert made.code == 0, made
        return file

    def ask(self, *words, key=None, **more):
        return self.desk.home.run(*words, "--key", key or self.key, **more)

    def submit(self, name, *more):
        return self.ask("submit", EXAMPLE / "shapes.onnx", "--name", name, "--target", self.there, "--level", "0", "--threads", "1",
                        "--json", *more)

    def assertRefused(self, outcome, *words):
        self.assertEqual(outcome.code, 5, outcome)
        for word in words:
            self.assertIn(word, outcome.err, outcome)

    def log_of_farm(self):
        return (self.farm.home.path / "home/state/up.log").read_text(errors="replace")

    def test_01_two_commands_bring_up_a_second_host(self):
        self.assertEqual(self.up.out.splitlines()[-1], "ready")
        self.assertEqual(self.joined.code, 0, self.joined)
        workers = self.ask("workers", "--json").json()["workers"]
        self.assertIn(f"lab/{self.there}", [w["id"] for w in workers])

    def test_02_model_in_at_the_desk_engine_out(self):
        job = self.submit("shapes", "--wait")
        self.assertEqual(job.code, 0, job)
        shown = self.ask("show", job.json()["job"], "--json").json()
        workers = {a["worker"] for s in shown["steps"] for a in s["attempts"] if s["name"] in ("tune", "assemble", "verify", "profile")}
        self.assertEqual(workers, {f"lab/{self.there}"}, shown)
        farm_key = self.farm.home.run("keys", "show", "--json").json()["keys"][0]["public"]
        self.assertEqual(self.desk.home.run("keys", "trust", farm_key).code, 0)
        fetched = self.ask("fetch", "shapes", "--target", self.there, "-o", self.desk.home.work / "shapes.engine")
        self.assertEqual(fetched.code, 0, fetched)
        ran = self.desk.home.run("run", "shapes.engine", "--input", EXAMPLE / "pictures/star.png", "--preprocess",
                                 EXAMPLE / "preprocess.toml", "--labels", EXAMPLE / "labels.txt", "--top", "1")
        self.assertEqual(ran.code, 0, ran)
        self.assertIn("star", ran.out)

    def test_03_loss_and_delay_change_nothing_but_the_time(self):
        shape = ("root", "netem", "delay", "10ms", "5ms", "loss", "2%")
        tried = self.lab.do("tc", "qdisc", "add", "dev", "to-farm", *shape, check=False)
        if tried.returncode != 0:
            self.skipTest(f"the kernel has no netem: {tried.stderr.strip()}")
        try:
            job = self.submit("lossy", "--wait")
            self.assertEqual(job.code, 0, job)
        finally:
            self.lab.do("tc", "qdisc", "del", "dev", "to-farm", "root")

    def test_04_a_partition_heals(self):
        job = self.submit("parted").json()["job"]
        wait_for(lambda: any(s["attempts"] for s in self.ask("show", job, "--json").json()["steps"]), 60, "a step at the lab")
        self.lab.do("ip", "link", "set", "to-farm", "down")
        time.sleep(6)
        self.lab.do("ip", "link", "set", "to-farm", "up")
        self.lab.do("ip", "route", "replace", "default", "via", "10.77.1.1")
        outcome = self.ask("wait", job, "--json", timeout=240)
        self.assertEqual(outcome.code, 0, outcome)
        steps = self.ask("show", job, "--json").json()["steps"]
        self.assertTrue(all(s["commits"] <= 1 for s in steps), steps)

    def test_05_an_unknown_client_is_refused_and_named(self):
        stranger = self.desk.home.work / "stranger.key"
        lines = pathlib.Path(self.key).read_text().splitlines()
        secret = "1" * 64
        stranger.write_text("\n".join(f"secret {secret}" if line.startswith("secret ") else line for line in lines) + "\n")
        stranger.chmod(0o600)
        refused = self.ask("jobs", key=stranger)
        self.assertRefused(refused, "enginery keys allow")
        number = refused.err.split("refuses key ")[1][:16]
        self.assertIn(number, self.log_of_farm())
        self.assertIn("10.77.2.2", self.log_of_farm())

    def test_06_another_coordinators_key_is_not_spoken_to(self):
        other = self.desk.home.work / "other.key"
        lines = pathlib.Path(self.key).read_text().splitlines()
        other.write_text("\n".join("coordinator " + "2" * 64 if line.startswith("coordinator ") else line for line in lines) + "\n")
        other.chmod(0o600)
        self.assertEqual(self.ask("jobs", key=other).code, 4)
        self.assertIn("does not hold the key", self.ask("jobs", key=other).err)

    def test_07_a_workers_key_does_not_submit_and_a_submitters_does_not_work(self):
        worker = self.new_key("worker", "shed")
        refused = self.ask("submit", EXAMPLE / "shapes.onnx", "--target", self.there, key=worker)
        self.assertRefused(refused, "'shed' (role work)", "needs the role submit", "enginery keys allow")
        refused = self.ask("worker", "--sku", self.here, timeout=60)
        self.assertRefused(refused, "'alice' (role submit,fetch)", "needs the role work")
        self.assertIn("'shed'", self.log_of_farm())

    def test_08_a_key_cannot_take_anothers_name(self):
        worker = self.new_key("worker", "barn")
        self.assertRefused(self.ask("worker", "--sku", self.there, "--name", f"lab/{self.there}", key=worker, timeout=60), "is called 'barn'")

    def test_09_a_revoked_key_is_refused_at_once(self):
        bob = self.new_key("client", "bob")
        self.assertEqual(self.ask("jobs", key=bob).code, 0)
        self.assertEqual(self.farm.home.run("keys", "revoke", "bob").code, 0)
        self.assertRefused(self.ask("jobs", key=bob), "enginery keys allow")
        self.assertIn("'bob' has been revoked", self.log_of_farm())

    def test_10_a_token_is_good_once(self):
        self.desk.home.run("join", "--skus", self.here)  # no token: this host has joined nothing
        used = self.desk.home.run("join", self.token, "--skus", self.here)
        self.assertRefused(used, "has been used", "enginery keys token")
        self.assertExitCode(self.desk.home.run("join", self.token[:-3]), 2, "copy the whole line")

    def test_11_without_a_key_nobody_gets_in(self):
        refused = self.desk.home.run("jobs", "--coordinator", CONTROL)
        self.assertRefused(refused, "--key FILE", "enginery keys client new")
        plain = self.desk.home.run("jobs", "--coordinator", CONTROL, "--insecure")
        self.assertExitCode(plain, 4, "asks for a key")

    def test_12_a_firewall_that_drops_packets_is_named(self):
        self.farm.do("ip", "route", "add", "blackhole", "10.77.2.2/32")
        try:
            self.assertExitCode(self.ask("jobs"), 4, CONTROL, "firewall drops the packets")
        finally:
            self.farm.do("ip", "route", "del", "blackhole", "10.77.2.2/32")
        self.assertEqual(self.ask("jobs").code, 0)

    def test_13_a_host_without_a_coordinator_says_so(self):
        self.assertExitCode(self.ask("jobs", "--coordinator", "tcp://10.77.1.1:9"), 4, "nobody listens there", "enginery up --listen")

    def assertExitCode(self, outcome, code, *words):
        self.assertEqual(outcome.code, code, outcome)
        for word in words:
            self.assertIn(word, outcome.err, outcome)


if __name__ == "__main__":
    if os.geteuid() != 0 and "ENGINERY_E2E_INSIDE" not in os.environ:
        # Root of a user namespace of one's own may make networks.
        os.environ["ENGINERY_E2E_INSIDE"] = "1"
        if subprocess.run(["unshare", "-Urn", "true"], capture_output=True).returncode == 0:
            os.execvp("unshare", ["unshare", "-Urn", "--", sys.executable, *sys.argv])
    main()
