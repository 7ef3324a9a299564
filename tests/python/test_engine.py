"""Engines on arrays: what a run gives, where it reads and writes, and what each misuse raises."""
import gc
import threading
import time
import unittest
import weakref

import numpy

from package import HOME, enginery, small_engine


def sample(engine, seed=0):
    tensor = engine.inputs[0]
    return numpy.random.default_rng(seed).random(tensor.shape, dtype=numpy.float32)


class Runs(unittest.TestCase):
    def setUp(self):
        self.engine = small_engine()
        self.input, self.output = self.engine.inputs[0].name, self.engine.outputs[0].name

    def test_says_what_it_is(self):
        self.assertEqual(self.engine.inputs[0].shape, (1, 3, 48, 48))
        self.assertEqual(self.engine.inputs[0].dtype, numpy.float32)
        self.assertEqual(self.engine.info["name"], "shapes")
        self.assertEqual(self.engine.info["digest"], self.engine.report["engine"])
        self.assertIn("shapes", repr(self.engine))

    def test_gives_what_the_command_gives(self):
        values = sample(self.engine)
        numpy.save(HOME.work / "in.npy", values)
        self.engine.save(HOME.work / "s.engine")
        done = HOME.run("run", HOME.work / "s.engine", "--input", f"{self.input}={HOME.work / 'in.npy'}", "--output", HOME.work / "out")
        self.assertEqual(done.code, 0, done)
        expected = numpy.load(HOME.work / "out" / f"{self.output}.npy")
        numpy.testing.assert_array_equal(self.engine.run({self.input: values})[self.output], expected)

    def test_reads_arrays_that_are_not_contiguous(self):
        values = sample(self.engine)
        turned = numpy.asfortranarray(values)
        numpy.testing.assert_array_equal(self.engine.run({self.input: turned})[self.output], self.engine.run({self.input: values})[self.output])

    def test_reads_and_writes_where_the_arrays_lie(self):
        values, scores = sample(self.engine), numpy.zeros(self.engine.outputs[0].shape, numpy.float32)
        with self.engine.context() as context:
            for t in self.engine.outputs:
                context.set_output(t.name, scores if t.name == self.output else numpy.empty(t.shape, t.dtype))
            context.set_input(self.input, values)
            context.run()
            first = scores.copy()
            values[:] = sample(self.engine, 1)
            context.run()
        self.assertTrue(numpy.any(first != scores))
        numpy.testing.assert_array_equal(scores, self.engine.run({self.input: values})[self.output])

    def test_takes_what_has_dlpack_without_a_copy(self):
        class Foreign:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        values = sample(self.engine)
        context = self.engine.context()
        context.set_input(self.input, Foreign(values))
        self.assertTrue(numpy.shares_memory(context._bound[self.input], values))
        numpy.testing.assert_array_equal(context({self.input: Foreign(values)})[self.output], self.engine.run({self.input: values})[self.output])

    def test_serves_several_threads(self):
        expected = {seed: self.engine.run({self.input: sample(self.engine, seed)})[self.output] for seed in range(4)}
        wrong = []

        def work(seed):
            for _ in range(20):
                if not numpy.array_equal(self.engine.run({self.input: sample(self.engine, seed)})[self.output], expected[seed]):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in expected]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_profiles_its_layers(self):
        with self.engine.context() as context:
            context({self.input: sample(self.engine)})
            layers = context.profile(3)
        self.assertEqual(len(layers), self.engine.info["layers"])
        self.assertTrue(any(layer.median_us > 0 and layer.flops > 0 for layer in layers))

    def test_keeps_an_engine_while_a_context_lives(self):
        engine = enginery.load(self.engine.content)
        context, gone = engine.context(), weakref.ref(engine)
        del engine
        gc.collect()
        self.assertIsNotNone(gone())
        context({self.input: sample(self.engine)})

    def test_costs_little_beside_the_network(self):
        """A bound run costs what the C call costs and some microseconds; the bar leaves room for a busy machine."""
        context = self.engine.context()
        context({self.input: sample(self.engine)})
        context.run()
        from enginery._library import library
        # In turns: a shared machine has times of two speeds, and both calls must meet the better one.
        pairs = [(self.seconds(context.run), self.seconds(lambda: library().enginery_context_run(context._handle)))
                 for _ in range(400)]
        whole, bare = (min(times) for times in zip(*pairs))
        self.assertLess(whole - bare, 50e-6)

    @staticmethod
    def seconds(call):
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin


class Misuse(unittest.TestCase):
    def setUp(self):
        self.engine = small_engine()
        self.input, self.output = self.engine.inputs[0].name, self.engine.outputs[0].name

    def expect(self, code, text, call):
        with self.assertRaises(enginery.Error) as raised:
            call()
        self.assertEqual(raised.exception.code, code, raised.exception.message)
        self.assertIn(text, raised.exception.message)

    def test_of_a_run(self):
        good = sample(self.engine)
        self.expect("invalid_input", f"no array for input '{self.input}'", lambda: self.engine.run({}))
        self.expect("invalid_input", "no input is called 'x'", lambda: self.engine.run({self.input: good, "x": good}))
        self.expect("invalid_input", "float64", lambda: self.engine.run({self.input: good.astype(numpy.float64)}))
        self.expect("invalid_input", "[3, 48, 48]", lambda: self.engine.run({self.input: good[0]}))

    def test_of_a_context(self):
        context = self.engine.context()
        self.expect("usage", self.input, context.run)
        self.expect("invalid_input", "contiguous", lambda: context.set_output(self.output, numpy.empty(3, numpy.float32)))
        read_only = numpy.empty(self.engine.outputs[0].shape, numpy.float32)
        read_only.flags.writeable = False
        self.expect("invalid_input", "writeable", lambda: context.set_output(self.output, read_only))
        self.expect("usage", "", lambda: context.profile(3))
        context.close()
        context.close()
        self.expect("usage", "", context.run)

    def test_of_files(self):
        self.expect("not_found", "nowhere.engine", lambda: enginery.load("nowhere.engine"))
        cut = self.engine.content[:-100]
        self.expect("untrusted", "", lambda: enginery.load(cut))
        changed = bytearray(self.engine.content)
        changed[len(changed) // 2] ^= 1
        self.expect("untrusted", "", lambda: enginery.load(bytes(changed)))
        self.expect("untrusted", "", lambda: enginery.load(self.engine.content, keys=HOME.work))
        self.expect("usage", "loaded from", lambda: enginery.load(self.engine.content).save("x"))


if __name__ == "__main__":
    unittest.main()
