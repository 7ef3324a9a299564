"""SqueezeNet on the 500 shared pictures: from the JPEG files through --preprocess and from an .npy, top-1 as ONNX Runtime's.

Level 0 (no measuring): what is checked are the numbers. A build that is not optimised takes the first hundred pictures. Skipped where the
shared folder is not there.
"""
import csv
import os
import unittest

from support import *

PREPROCESS = """[input]
crop = [227, 227]
color = "bgr"
mean = [104, 117, 123]
"""
PICTURES, RIGHT = (100, 75) if os.environ.get("ENGINERY_UNOPTIMISED") else (500, 306)


class SqueezeNet(HomeTest):
    @classmethod
    def setUpClass(cls):
        model, cls.pictures = shared("models/squeezenet1.1.onnx"), shared("images/imagenet")
        with open(shared("images/labels.csv")) as f:
            cls.wanted = {row["file"]: row["class"] for row in csv.DictReader(f)}
        super().setUpClass()
        built = cls.home.run("build", model, "-o", "squeezenet.engine", "--level", "0", "--threads", "1", "--json")
        if built.code != 0:
            raise AssertionError(built)
        (cls.home.work / "preprocess.toml").write_text(PREPROCESS)
        folder = cls.home.work / "pictures"
        folder.mkdir()
        for picture in sorted(cls.pictures.iterdir())[:PICTURES]:
            (folder / picture.name).symlink_to(picture)

    def test_pictures_from_a_folder(self):
        outcome = self.home.run("run", "squeezenet.engine", "--input", "pictures", "--preprocess", "preprocess.toml", "--top", "1",
                                "--labels", shared("images/classes.txt"), "--output", "out", "--threads", "1", timeout=500)
        self.assertExit(outcome, 0)
        rows = [line.split("\t") for line in outcome.out.splitlines()]
        self.assertEqual(len(rows), PICTURES)
        right = sum(self.wanted[row[0]] == row[2] for row in rows)
        self.assertAlmostEqual(right, RIGHT, delta=1)  # one tie more or less
        files = (self.home.work / "out/inputs.txt").read_text().split()
        self.assertEqual(files, [row[0] for row in rows])

    def test_an_npy_of_rows_gives_what_the_rows_alone_give(self):
        values = [((i * 7919) % 255) - 117.0 for i in range(3 * 3 * 227 * 227)]
        write_npy(self.home.work / "three.npy", (3, 3, 227, 227), values)
        self.assertExit(self.home.run("run", "squeezenet.engine", "--input", "three.npy", "--output", "all"), 0)
        write_npy(self.home.work / "last.npy", (1, 3, 227, 227), values[2 * 3 * 227 * 227:])
        self.assertExit(self.home.run("run", "squeezenet.engine", "--input", "last.npy", "--output", "last"), 0)
        (every,), (last,) = ([p for p in (self.home.work / d).glob("*.npy")] for d in ("all", "last"))
        whole, row = read_npy(every), read_npy(last)
        self.assertEqual(whole[1][0], 3)
        self.assertEqual(whole[2][-len(row[2]):], row[2])


if __name__ == "__main__":
    main()
