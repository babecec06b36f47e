#!/usr/bin/env python3
"""Counts the instructions of finding one among many: the rule of a request, among up to 10,000 routes, and an endpoint, among up to 1,000.
See README.md.

Runs build/release/route_lookup and build/release/endpoint_choice under callgrind (valgrind). Exit status 1 if a look-up among the most
costs more than 1.5 times one among the fewest.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"route_lookup": ("routes", (10, 1000, 10000)), "endpoint_choice": ("endpoints", (10, 100, 1000))}
BOUND = 1.5


def instructions(binary, shape, size):
    """Returns the instructions of one look-up."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*lookUpAll*",
                   f"--callgrind-out-file={out}", binary, shape, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            sys.exit(f"{shape} with {size}: a look-up found nothing\n{done.stderr}")
        with open(out, encoding="utf-8") as file:
            total = int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])
    return total / int(done.stdout)


def measure(binary, shapes, what, sizes):
    """Prints a row for each shape. Returns False if one grows beyond the bound."""
    known = subprocess.run([binary], capture_output=True, text=True, check=True).stdout.split()
    print(f"| {what} | " + " | ".join(f"{size:,}" for size in sizes) + " | growth |")
    print("|---|" + "---|" * (len(sizes) + 1))
    good = True
    for shape in known:
        if shapes and shape not in shapes:
            continue
        counts = [instructions(binary, shape, size) for size in sizes]
        growth = counts[-1] / counts[0]
        good = good and growth <= BOUND
        verdict = "" if growth <= BOUND else " ABOVE"
        print(f"| {shape} | " + " | ".join(f"{count:,.0f}" for count in counts) + f" | {growth:.2f}{verdict} |", flush=True)
    print()
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(HERE, "..", "build", "release"), help="where the binaries are")
    parser.add_argument("--shapes", help="names separated by commas; default: all")
    options = parser.parse_args()
    shapes = options.shapes.split(",") if options.shapes else []
    results = [measure(os.path.join(options.folder, name), shapes, *each) for name, each in SIZES.items()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
