"""What a model's inputs and outputs may be: real inputs for a build's verification, none at all, no rows, names that are no file names."""
from support import *

INT64 = 7


class BuildOnRealInputs(HomeTest):
    """`build --input` and `--preprocess`: verification on these instead of made-up data."""

    def build(self, model, *words):
        return self.home.run("build", model, "-o", "m.engine", "--level", "0", "--threads", "1", "--json", *words)

    def gather(self):
        """Row id * id - 9 of a table of four rows: of small ids only 3 fits (and -3), which nothing made up is."""
        nodes = [node("Mul", ["id", "id"], ["square"]), node("Sub", ["square", "nine"], ["row"]), node("Gather", ["table", "row"], ["y"])]
        table = tensor("table", [4, 2], range(8))
        return model(nodes, [value_info("id", [2], INT64)], [value_info("y", [2, 2])], [table, int_tensor("nine", [1], [9])])

    def ids(self, name, *values):
        write_npy(self.home.work / name, (len(values),), values, "q")
        return name

    def test_pictures_are_prepared_and_compared_on(self):
        model = EXAMPLE / "shapes.onnx"
        outcome = self.build(model, "--input", f"picture={EXAMPLE}/pictures/star.png", "--preprocess", EXAMPLE / "preprocess.toml", "--rebuild")
        self.assertExit(outcome, 0)
        self.assertGreater(outcome.json()["error"], 0, "floats that were compared")
        self.assertExit(self.build(model, "--input", EXAMPLE / "pictures/star.png"), 9, "star.png")

    def test_data_that_nothing_made_up_replaces(self):
        (self.home.work / "gather.onnx").write_bytes(self.gather())
        unverified = self.build("gather.onnx")
        self.assertExit(unverified, 0, "--input gives real ones")
        self.assertIsNone(unverified.json()["error"])
        verified = self.build("gather.onnx", "--input", self.ids("ids.npy", 3, -3))
        self.assertExit(verified, 0)
        self.assertEqual(verified.json()["error"], 0)
        self.assertNotIn("--input gives real ones", verified.err)

    def test_data_that_the_model_refuses_builds_nothing(self):
        (self.home.work / "refused.onnx").write_bytes(self.gather())
        outcome = self.home.run("build", "refused.onnx", "-o", "refused.engine", "--level", "0", "--input", self.ids("bad.npy", 3, 5))
        self.assertExit(outcome, 9, "--input", "gather", "index 16 is outside [-4, 4)")
        self.assertFalse((self.home.work / "refused.engine").exists())

    def test_files_that_do_not_fit(self):
        (self.home.work / "fit.onnx").write_bytes(self.gather())
        write_npy(self.home.work / "floats.npy", (2,), [3, 3])
        cases = [(["--input", "none.npy"], 3, "none.npy"),
                 (["--input", "floats.npy"], 9, "floats.npy"),
                 (["--input", f"other={self.ids('ok.npy', 3, 3)}"], 2, "no input 'other'"),
                 (["--input", self.ids("empty.npy")], 9, "holds no rows"),
                 (["--input", "ok.npy", "--provisional"], 2, "an untuned engine is not verified"),
                 (["--preprocess", EXAMPLE / "preprocess.toml"], 2, "there is no --input")]
        for words, code, message in cases:
            with self.subTest(message):
                self.assertExit(self.build("fit.onnx", *words), code, message)


class UnusualSignatures(HomeTest):
    def engine(self, content):
        (self.home.work / "m.onnx").write_bytes(content)
        built = self.home.run("build", "m.onnx", "-o", "m.engine", "--level", "0", "--threads", "1")
        self.assertExit(built, 0)

    def run_engine(self, *words):
        outcome = self.home.run("run", "m.engine", "--threads", "1", "--output", "out", "--json", *words)
        self.assertExit(outcome, 0)
        return outcome.json()

    def test_a_model_of_constants_alone_runs_once(self):
        nodes = [node("Relu", ["c"], ["y"])]
        self.engine(model(nodes, [], [value_info("y", [3])], [tensor("c", [3], [-1, 2, 3])]))
        report = self.run_engine()
        self.assertEqual(report["rows"], 1)
        self.assertEqual(read_npy(self.home.work / "out/y.npy")[2], (0, 2, 3))
        self.assertExit(self.home.run("run", "m.engine", "--input", "x.npy"), 2, "the model has no inputs")

    def test_inputs_without_rows_give_outputs_without_rows(self):
        self.engine(model([node("Relu", ["x"], ["y"])], [value_info("x", [2, 3])], [value_info("y", [2, 3])]))
        write_npy(self.home.work / "none.npy", (0, 3), [])
        report = self.run_engine("--input", "none.npy")
        self.assertEqual((report["rows"], report["outputs"][0]["dims"]), (0, [0, 3]))
        self.assertEqual(read_npy(self.home.work / "out/y.npy"), ("<f4", (0, 3), ()))
        self.assertEqual((self.home.work / "out/inputs.txt").read_text(), "")

    def test_outputs_whose_names_are_no_file_names_keep_files_apart(self):
        nodes = [node("Relu", ["x"], ["y/a"]), node("Neg", ["x"], ["y_a"])]
        self.engine(model(nodes, [value_info("x", [1, 2])], [value_info("y/a", [1, 2]), value_info("y_a", [1, 2])]))
        write_npy(self.home.work / "x.npy", (1, 2), [-1, 2])
        files = {o["name"]: o["file"] for o in self.run_engine("--input", "x.npy")["outputs"]}
        self.assertEqual(files, {"y/a": "out/y_a.2.npy", "y_a": "out/y_a.npy"})
        self.assertEqual(read_npy(self.home.work / files["y/a"])[2], (0, 2))
        self.assertEqual(read_npy(self.home.work / files["y_a"])[2], (1, -2))

    def test_an_output_keeps_its_name_when_an_inner_value_was_called_so_first(self):
        """LpNormalization is read as several nodes, whose values are named after it: `p/reduce` among them."""
        nodes = [node("LpNormalization", ["x"], ["n"], axis=1), node("Relu", ["x"], ["r"])]
        inner = self.inner_names(nodes)
        self.assertTrue(inner)
        wanted = inner[0]
        self.engine(model(nodes[:1] + [node("Relu", ["x"], [wanted])], [value_info("x", [1, 2])], [value_info("n", [1, 2]), value_info(wanted, [1, 2])]))
        report = self.home.run("inspect", "m.engine", "--json").json()
        self.assertIn(wanted, json.dumps(report))
        write_npy(self.home.work / "x.npy", (1, 2), [-1, 2])
        self.assertEqual({o["name"] for o in self.run_engine("--input", "x.npy")["outputs"]}, {"n", wanted})

    def inner_names(self, nodes):
        """The values that reading made beside those of the file."""
        (self.home.work / "inner.onnx").write_bytes(model(nodes, [value_info("x", [1, 2])], [value_info("n", [1, 2]), value_info("r", [1, 2])]))
        text = self.home.run("inspect", "inner.onnx").out
        made = [line.split("=")[0].strip(" %") for line in text.splitlines() if "= " in line and "constant" not in line]
        return [name for name in made if "/" in name]


if __name__ == "__main__":
    main()
