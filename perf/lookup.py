#!/usr/bin/env python3
"""Counts the instructions of finding the rule of a request, with 10, 1,000 and 10,000 routes. See README.md.

Runs build/release/route_lookup under callgrind (valgrind). Exit status 1 if a look-up among the most routes
costs more than 1.5 times one among the fewest.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = (10, 1000, 10000)
BOUND = 1.5


def instructions(binary, shape, routes):
    """Returns the instructions of one look-up."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*lookUpAll*",
                   f"--callgrind-out-file={out}", binary, shape, str(routes)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            sys.exit(f"{shape} with {routes} routes: a request did not find its rule\n{done.stderr}")
        with open(out, encoding="utf-8") as file:
            total = int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])
    return total / int(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "build", "release", "route_lookup"))
    parser.add_argument("--shapes", help="names separated by commas; default: all")
    options = parser.parse_args()
    known = subprocess.run([options.binary], capture_output=True, text=True, check=True).stdout.split()
    print("| routes | " + " | ".join(f"{size:,}" for size in SIZES) + " | growth |")
    print("|---|" + "---|" * (len(SIZES) + 1))
    good = True
    for shape in options.shapes.split(",") if options.shapes else known:
        counts = [instructions(options.binary, shape, size) for size in SIZES]
        growth = counts[-1] / counts[0]
        good = good and growth <= BOUND
        verdict = "" if growth <= BOUND else " ABOVE"
        print(f"| {shape} | " + " | ".join(f"{count:,.0f}" for count in counts) + f" | {growth:.2f}{verdict} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
