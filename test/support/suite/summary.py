#!/usr/bin/env python3
"""Sums up a run of the suite: a line per test in a file, the slowest twenty, what failed, and ctest's closing lines over all tests.

    summary.py --junit build/dev/ctest.xml --reports build/dev/reports --out build/dev/tests.tsv

ctest counts a binary that runs in one process as one; here each of its tests counts, from the reports of run_binary.py. The entries of
ctest that are one test each come from its JUnit file. Exit status 1 if anything failed, or if a report is missing.
"""
import argparse
import glob
import os
import sys
import xml.etree.ElementTree as ElementTree

SLOWEST = 20


def read_reports(folder):
    """Returns the tests of all shards, and the verdicts in each report by the report's name."""
    tests, reported = [], {}
    for path in sorted(glob.glob(os.path.join(folder, "*.tsv"))):
        verdicts = reported.setdefault(os.path.basename(path)[:-len(".tsv")], set())
        with open(path, encoding="utf-8") as file:
            for line in file:
                name, verdict, seconds = line.rstrip("\n").split("\t")
                tests.append((name, verdict, float(seconds)))
                verdicts.add(verdict)
    return tests, reported


def verdict_of(case):
    """Returns the verdict on an entry of ctest that is one test. One that did not run, and did not skip itself, has failed."""
    skipped = case.find("skipped")
    if case.get("status") == "run" and skipped is None:
        return "passed"
    if case.get("status") == "disabled":
        return "skipped"
    reason = (skipped.get("message") or "") if skipped is not None else ""
    return "skipped" if reason.startswith(("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION")) else "failed"


def read_junit(path, reported):
    """Returns the entries of ctest that are one test each, and the shards that failed although none of their tests did."""
    tests = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name, verdict = case.get("name"), verdict_of(case)
        if not name.startswith("suite."):
            tests.append((name, verdict, float(case.get("time") or 0)))
        elif verdict != "passed" and "failed" not in reported.get(name[len("suite."):], ()):
            tests.append((name, "failed", float(case.get("time") or 0)))
        elif name[len("suite."):] not in reported:
            tests.append((name, "failed", 0.0))
    return tests


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--junit", required=True)
    parser.add_argument("--reports", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    tests, reported = read_reports(options.reports)
    tests = sorted(tests + read_junit(options.junit, reported))
    with open(options.out, "w", encoding="utf-8") as file:
        file.writelines(f"{name}\t{verdict}\t{seconds:.3f}\n" for name, verdict, seconds in tests)

    print(f"\nThe slowest {SLOWEST} of {len(tests)} tests (all of them: {options.out}):")
    for name, _, seconds in sorted(tests, key=lambda test: -test[2])[:SLOWEST]:
        print(f"  {seconds:8.2f} s  {name}")
    failed = [name for name, verdict, _ in tests if verdict == "failed"]
    skipped = [name for name, verdict, _ in tests if verdict == "skipped"]
    for title, names in (("skipped", skipped), ("FAILED", failed)):
        if names:
            print(f"\nThe following tests {'were skipped' if title == 'skipped' else 'FAILED'}:")
            print("\n".join(f"  {name}" for name in names))
    if skipped:
        print(f"\nTests that were skipped: {len(skipped)}")
    ran = len(tests) - len(skipped)
    passed = 100 * (ran - len(failed)) // ran if ran else 0
    print(f"\n{passed}% tests passed, {len(failed)} tests failed out of {ran}")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
