#!/usr/bin/env python3
"""Runs the tests of one GoogleTest binary in one process, and writes a line per test into a report.

    run_binary.py --binary build/dev/http_test --prefix http --report build/dev/reports/http.1.tsv --shard 1/2

A test that ends the process, or that takes longer than --timeout, is named; those behind it run in a new process. The output of a
test is shown only if it fails. Exit status 1 if a test failed, 2 if the binary cannot be run.
"""
import argparse
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

# A test may leave a line of its own unfinished, so the marks need not stand at the beginning of one.
BEGIN = re.compile(r"\[ RUN      \] (\S+)$")
END = re.compile(r"\[(       OK |  FAILED  |  SKIPPED )\] (\S+?)(?:, where .*)? \((\d+) ms\)$")
VERDICTS = {"       OK ": "passed", "  FAILED  ": "failed", "  SKIPPED ": "skipped"}


class Report:
    """One line per test: its name with the prefix, the verdict, seconds."""

    def __init__(self, path, prefix):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.file = open(path, "w", encoding="utf-8")
        self.prefix = prefix
        self.bad = []
        self.count = 0

    def add(self, test, verdict, seconds):
        self.count += 1
        self.file.write(f"{self.prefix}.{test}\t{verdict}\t{seconds:.3f}\n")
        self.file.flush()
        if verdict not in ("passed", "skipped"):
            self.bad.append(test)


def tests_of(binary, wanted):
    listing = subprocess.run([binary, "--gtest_list_tests", f"--gtest_filter={wanted}"], capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        sys.exit(f"run_binary.py: {binary} does not list its tests:\n{listing.stdout}{listing.stderr}")
    tests, suite = [], ""
    for line in listing.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            tests.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return [test for test in tests if "DISABLED_" not in test]


class Lines:
    """The lines that a process writes, or nothing when its time is over."""

    def __init__(self, process):
        self.process = process
        self.selector = selectors.DefaultSelector()
        self.selector.register(process.stdout, selectors.EVENT_READ)
        self.buffer = b""
        self.ended = False

    def next(self, deadline):
        while b"\n" not in self.buffer and not self.ended:
            if not self.selector.select(max(0, deadline - time.monotonic())):
                return None
            piece = os.read(self.process.stdout.fileno(), 65536)
            self.ended = not piece
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode("utf-8", "replace")

    def more(self):
        return bool(self.buffer) or not self.ended


class Round:
    """One process: runs the given tests until they are done or one of them ends it."""

    def __init__(self, options, report, tests):
        self.options = options
        self.report = report
        self.left = list(tests)
        self.current = None
        self.begun = 0.0
        self.output = []

    def run(self):
        with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
            flags.write("--gtest_filter=" + ":".join(self.left) + "\n--gtest_color=no\n--gtest_brief=0\n")
            flags.flush()
            # A session of its own: what a test has started ends with it.
            process = subprocess.Popen([self.options.binary, f"--gtest_flagfile={flags.name}"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            lines = Lines(process)
            self.begun = time.monotonic()
            timed_out = not self.read(lines)
            if timed_out:
                os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
        self.conclude(status, timed_out)
        return self.left

    def read(self, lines):
        while lines.more():
            line = lines.next(self.begun + self.options.timeout)
            if line is None:
                return False
            self.take(line)
        return True

    def take(self, line):
        begin, end = BEGIN.search(line), END.search(line)
        if begin:
            if self.current is not None:
                self.finish("failed", time.monotonic() - self.begun, f"[ FAILED ] {self.current} left no verdict")
            self.current, self.begun, self.output = begin.group(1), time.monotonic(), []
        elif end and end.group(2) == self.current:
            self.finish(VERDICTS[end.group(1)], int(end.group(3)) / 1000, line)
        else:
            self.output.append(line)

    def finish(self, verdict, seconds, last_line):
        if verdict == "failed":
            self.show(last_line)
        self.report.add(self.current, verdict, seconds)
        self.left.remove(self.current)
        self.current, self.begun, self.output = None, time.monotonic(), []

    def conclude(self, status, timed_out):
        if self.current is not None:
            why = "timed out" if timed_out else f"ended the process ({describe(status)})"
            self.show(f"[ FAILED ] {self.current} {why}")
            self.report.add(self.current, "failed", time.monotonic() - self.begun)
            self.left.remove(self.current)
        elif status not in (0, 1) or timed_out or self.left:
            # No test was running: a leak that is found at the end, or a crash between two tests.
            why = "the process did not end" if timed_out else f"the process ended with {describe(status)}"
            self.show(f"[ FAILED ] {why} while no test was running")
            self.report.add("(process)", "failed", 0)
            self.left = []

    def show(self, last_line):
        print("\n".join([f"[ RUN      ] {self.current or ''}"] + self.output + [last_line]))
        if self.current:
            print(f"  alone: {self.options.binary} --gtest_filter={self.current}")
        sys.stdout.flush()


def describe(status):
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--prefix", required=True, help="stands before each name, as in http.H1Parser.Reads")
    parser.add_argument("--report", required=True)
    parser.add_argument("--shard", default="1/1", help="this part of how many")
    parser.add_argument("--filter", default="*", help="as --gtest_filter takes it")
    parser.add_argument("--timeout", type=float, default=120, help="seconds that one test may take")
    options = parser.parse_args()
    part, parts = (int(number) for number in options.shard.split("/"))
    left = tests_of(options.binary, options.filter)[part - 1::parts]
    report = Report(options.report, options.prefix)
    while left:
        left = Round(options, report, left).run()
    print(f"{report.count - len(report.bad)} of {report.count} tests passed")
    for test in report.bad:
        print(f"  FAILED {options.prefix}.{test}")
    sys.exit(1 if report.bad else 0)


if __name__ == "__main__":
    main()
