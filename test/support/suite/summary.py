#!/usr/bin/env python3
"""Sums up a run of the suite: a line per test in a file, the slowest hundred, what each folder costs, what was skipped and why, what failed.

    summary.py --junit build/dev/ctest.xml --reports build/dev/reports --cpu build/dev/cpu.txt --out build/dev/tests.tsv

ctest counts a binary that runs in one process as one; here each of its tests counts, from the reports of run_binary.py. The entries of
ctest that are one test each come from its JUnit file, and their CPU from what `time` has written of each process. The last line is
`N passed, N failed, N skipped`. Exit status 1 if anything failed, or if a report is missing.
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import typing
import xml.etree.ElementTree as ElementTree

from run_binary import reason_of_skip

SLOWEST = 100
TOLD_LINES, TOLD_COLUMNS = 12, 400  # of the output of each failed test
ONE_TEST = re.compile(r"(\S+) --gtest_filter=(\S+)")


class Test(typing.NamedTuple):
    name: str
    verdict: str
    seconds: float
    cpu: float = 0.0
    reason: str = ""  # for which it was skipped
    folder: str = ""


def read_reports(folder):
    """Returns the tests of all shards, the verdicts in each report by the report's name, and the CPU of each folder that is no test's."""
    tests, reported, rest = [], {}, collections.Counter()
    for path in sorted(glob.glob(os.path.join(folder, "*.tsv"))):
        verdicts = reported.setdefault(os.path.basename(path)[:-len(".tsv")], set())
        with open(path, encoding="utf-8") as file:
            for line in file:
                name, verdict, seconds, cpu, reason = line.rstrip("\n").split("\t")
                # integration.kubernetes.Suite.Name is in test/integration/kubernetes
                inside = "test/" + name.rsplit(".", 1 if verdict == "rest" else 2)[0].replace(".", "/")
                if verdict == "rest":
                    rest[inside] += float(cpu)
                    continue
                tests.append(Test(name, verdict, float(seconds), float(cpu), reason, inside))
                verdicts.add(verdict)
    return tests, reported, rest


def verdict_of(case):
    """Returns the verdict on an entry of ctest that is one test. One that did not run, and did not skip itself, has failed."""
    skipped = case.find("skipped")
    if case.get("status") == "run" and skipped is None:
        return "passed"
    if case.get("status") == "disabled":
        return "skipped"
    reason = (skipped.get("message") or "") if skipped is not None else ""
    return "skipped" if reason.startswith(("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION")) else "failed"


def read_junit(path, reported, costs):
    """Returns the entries of ctest that are one test each, and the shards that failed although none of their tests did."""
    tests = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name, verdict, seconds = case.get("name"), verdict_of(case), float(case.get("time") or 0)
        if not name.startswith("suite."):
            cpu, folder = costs.get(name.partition(".")[2], (0.0, ""))
            reason = reason_of_skip(case.findtext("system-out") or "") if verdict == "skipped" else ""
            tests.append(Test(name, verdict, seconds, cpu, reason, folder or "test/" + name.split(".")[0]))
        elif verdict != "passed" and "failed" not in reported.get(name[len("suite."):], ()):
            tests.append(Test(name, "failed", seconds))
        elif name[len("suite."):] not in reported:
            tests.append(Test(name, "failed", 0.0))
    return tests


def folders_of(binary):
    """Returns {test: folder of its file} of a GoogleTest binary."""
    with tempfile.NamedTemporaryFile("r", suffix=".json", encoding="utf-8") as listing:
        subprocess.run([binary, "--gtest_list_tests", f"--gtest_output=json:{listing.name}"], capture_output=True, check=False)
        suites = json.load(listing)["testsuites"]
    found = {}
    for suite in suites:
        for test in suite["testsuite"]:
            inside = re.search(r"(?:^|/)(test/.*)/[^/]*$", test["file"])
            found[f"{suite['name']}.{test['name']}"] = inside[1] if inside else ""
    return found


def outputs_of_failures(paths):
    """Returns the outputs of all entries that have failed, one after the other."""
    cases = (case for path in paths for case in ElementTree.parse(path).getroot().iter("testcase"))
    return "\n".join(case.findtext("system-out") or "" for case in cases if verdict_of(case) == "failed")


def why(test, outputs):
    """Returns the first lines that a failed test wrote behind GoogleTest's word for it; those it wrote last if it has not come to that."""
    name = ".".join(test.name.split(".")[-2:])
    begin = outputs.rfind(f"[ RUN      ] {name}\n")
    if begin < 0:
        return []
    own = outputs[begin:].split(f"] {name}", 2)[1].splitlines()[1:]
    at = next((number for number, line in enumerate(own) if re.search(r": Failure$", line)), None)
    told = own[-TOLD_LINES:] if at is None else own[at:at + TOLD_LINES]
    return [line[:TOLD_COLUMNS] for line in told if line.strip() and not line.startswith("[  FAILED")]


def read_costs(path):
    """Returns {test: (seconds of CPU, folder)} of the processes that ran one test each."""
    costs, folders = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            user, system, command = line.split(" ", 2)
            one = ONE_TEST.match(command)
            if not one:
                continue  # it listed its tests
            binary, test = one.groups()
            if binary not in folders:
                folders[binary] = folders_of(binary)
            costs[test] = (float(user) + float(system), folders[binary].get(test, ""))
    return costs


def print_folders(tests, rest):
    cpu, count = rest.copy(), collections.Counter()
    for test in tests:
        cpu[test.folder] += test.cpu
        count[test.folder] += 1
    print("\nSeconds of CPU and tests of each folder:")
    for folder, seconds in cpu.most_common():
        print(f"  {seconds:7.1f} {count[folder]:7d}  {folder}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--junit", required=True, action="append")
    parser.add_argument("--reports", required=True)
    parser.add_argument("--cpu", help="lines `user system command` that `time` wrote")
    parser.add_argument("--out", required=True)
    parser.add_argument("--not-run", action="append", default=[], help="what was not begun, with its reason; counts as skipped")
    options = parser.parse_args()
    tests, reported, rest = read_reports(options.reports)
    costs = read_costs(options.cpu) if options.cpu else {}
    tests = sorted(tests + [test for path in options.junit for test in read_junit(path, reported, costs)])
    with open(options.out, "w", encoding="utf-8") as file:
        file.writelines(f"{test.name}\t{test.verdict}\t{test.seconds:.3f}\t{test.cpu:.2f}\t{test.folder}\n" for test in tests)

    print(f"\nThe slowest {SLOWEST} of {len(tests)} tests, with their seconds and those of CPU (all of them: {options.out}):")
    for test in sorted(tests, key=lambda test: -test.seconds)[:SLOWEST]:
        print(f"  {test.seconds:8.2f} {test.cpu:8.2f}  {test.name}")
    print_folders(tests, rest)
    skipped = [f"{test.name}: {test.reason or 'it says no reason'}" for test in tests if test.verdict == "skipped"] + options.not_run
    failed = [test.name for test in tests if test.verdict == "failed"]
    for title, lines in (("What was skipped:", skipped), ("The following tests FAILED:", failed)):
        if lines:
            print("\n" + "\n".join([title, *(f"  {line}" for line in lines)]))
    outputs = outputs_of_failures(options.junit) if failed else ""
    for test in tests:
        if test.verdict == "failed":
            print("\n".join([f"\n{test.name}:", *(f"  {line}" for line in why(test, outputs))]))
    passed = sum(test.verdict == "passed" for test in tests)
    print(f"\n{passed} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
