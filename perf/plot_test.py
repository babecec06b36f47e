#!/usr/bin/env python3
"""Tests of plot.py: pictures show the figures of their table, and those of this folder are of the table in README.md."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import plot

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = plot.HEAD + """
|---|---|---|---|---|
| S1 | sluice | 1.00 | 4.14 | 27,581 |
| S1 | nginx | 1.50 | 6.11 | 39,460 |
| S4 | sluice | 1.00 | 15.36 |  |
"""


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def figures_in(svg):
    """Returns the figures above the boxes; blanks begin the texts of the axes."""
    return sorted(text for text in plot.texts_in(svg) if re.fullmatch(r"\d[\d,]*(\.\d\d)?", text))


class Plot(unittest.TestCase):
    def test_pictures_have_the_figures_of_their_table(self):
        with tempfile.TemporaryDirectory() as folder:
            results = f"{folder}/results.md"
            with open(results, "w", encoding="utf-8") as file:
                file.write("before\n" + TABLE + "\nbehind\n")
            subprocess.run([sys.executable, f"{HERE}/load.py", "--plot", results], check=True, capture_output=True)
            expected = {"cpu": ["1.00", "1.00", "1.50"], "calls": ["15.36", "4.14", "6.11"], "instructions": ["27,581", "39,460"]}
            for name, figures in expected.items():
                self.assertEqual(figures_in(text_of(f"{folder}/pictures/{name}.svg")), figures)
            self.assertNotIn("S4", plot.texts_in(text_of(f"{folder}/pictures/instructions.svg")))

    def test_a_figure_that_was_not_measured_has_no_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = plot.plot(TABLE.replace("27,581", "").replace("39,460", ""), folder)
            self.assertEqual([os.path.basename(path) for path in paths], ["cpu.svg", "calls.svg"])

    def test_a_text_without_the_table_is_refused(self):
        with self.assertRaises(ValueError):
            plot.plot("| another | table |\n", "nowhere")

    def test_the_pictures_are_of_the_table_in_the_readme(self):
        rows = plot.rows_of(text_of(f"{HERE}/README.md"))
        for name, picture in plot.PICTURES.items():
            expected = sorted(row[picture.column] for row in rows if row[picture.column])
            self.assertEqual(figures_in(text_of(f"{HERE}/pictures/{name}.svg")), expected, f"perf/load.py --plot perf/README.md makes {name}.svg")


if __name__ == "__main__":
    unittest.main()
