#!/usr/bin/env python3
"""Runs the tests of one GoogleTest binary in one process, and writes a line per test into a report.

    run_binary.py --binary build/dev/http_test --prefix http --report build/dev/reports/http.1.tsv --shard 1/2

A test that ends the process, or that takes longer than --timeout, is named; the tests after it run in a new process. The output of a
test is shown only if it fails. Exit status 1 if a test failed, 2 if the binary cannot be run.
"""
import argparse
import collections
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time

# A test may leave a line of its own unfinished, so the marks need not stand at the beginning of one.
BEGIN = re.compile(r"\[ RUN      \] (\S+)$")
END = re.compile(r"\[(       OK |  FAILED  |  SKIPPED )\] (\S+?)(?:, where .*)? \((\d+) ms\)$")
SANITIZER_STATUS = 23
LOOK_AT_PROCESS = 0.2  # seconds between two checks whether a silent process has ended
MOST_LINES = 2000  # kept of one test's output
VERDICTS = {"       OK ": "passed", "  FAILED  ": "failed", "  SKIPPED ": "skipped"}


class Report:
    """Writes one line per test: its name with the prefix, the verdict, seconds, seconds of CPU, and why it was skipped."""

    def __init__(self, path, prefix):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.file = open(path, "w", encoding="utf-8")
        self.prefix = prefix
        self.bad = []
        self.count = 0

    def add(self, test, verdict, seconds, cpu=0.0, reason=""):
        self.count += 1
        self.file.write(f"{self.prefix}.{test}\t{verdict}\t{seconds:.3f}\t{cpu:.2f}\t{reason}\n")
        self.file.flush()
        if verdict not in ("passed", "skipped"):
            self.bad.append(test)

    def add_rest(self, cpu):
        """Notes seconds of CPU that a process has used besides those of its tests."""
        self.file.write(f"{self.prefix}.(rest)\trest\t0\t{cpu:.2f}\t\n")
        self.file.flush()


def tests_of(binary, wanted):
    try:
        listing = subprocess.run([binary, "--gtest_list_tests", f"--gtest_filter={wanted}"], capture_output=True, text=True, check=False)
    except OSError as error:
        give_up(f"{binary} cannot be run: {error.strerror}")
    if listing.returncode != 0:
        give_up(f"{binary} does not list its tests:\n{listing.stdout}{listing.stderr}")
    tests, suite = [], ""
    for line in listing.stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            tests.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    if not tests:
        give_up(f"{binary} has no test that matches {wanted}")
    return [test for test in tests if "DISABLED_" not in test]


def give_up(message):
    print(f"run_binary.py: {message}", file=sys.stderr)
    sys.exit(2)


class Lines:
    """Reads the lines of a process; next() returns None if the deadline comes first, or the process and its output have ended."""

    def __init__(self, process):
        self.process = process
        self.selector = selectors.DefaultSelector()
        self.selector.register(process.stdout, selectors.EVENT_READ)
        self.buffer = b""
        self.ended = False

    def next(self, deadline):
        while b"\n" not in self.buffer and not self.ended:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if self.selector.select(min(left, LOOK_AT_PROCESS)):
                piece = os.read(self.process.stdout.fileno(), 65536)
                self.ended = not piece
                self.buffer += piece
            elif self.process.poll() is not None:
                # Its children may still hold the output open, but the process itself writes no more.
                self.ended = True
        if time.monotonic() > deadline:
            return None
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode("utf-8", "replace")

    def more(self):
        return bool(self.buffer) or not self.ended


class Round:
    """Runs the given tests in one process, until they are done or one of them ends it."""

    def __init__(self, options, report, tests):
        self.options = options
        self.report = report
        self.left = list(tests)
        self.current = None
        self.begun = 0.0
        self.process = None
        self.used = 0.0  # seconds of CPU when the current test began
        self.told = 0.0  # seconds of CPU in the report
        self.output = collections.deque(maxlen=MOST_LINES)
        self.finished = 0
        self.failed = False

    def run(self):
        """Returns the tests that have not run."""
        # Faults that the sanitizers find while no test runs, such as leaks, get an exit status of their own; GoogleTest's is 1.
        environment = {**os.environ, "ASAN_OPTIONS": f"exitcode={SANITIZER_STATUS}:" + os.environ.get("ASAN_OPTIONS", "")}
        with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
            flags.write("--gtest_filter=" + ":".join(self.left) + "\n--gtest_color=no\n--gtest_brief=0\n")
            flags.flush()
            process = self.process = subprocess.Popen([self.options.binary, f"--gtest_flagfile={flags.name}"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, env=environment)
            self.begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            self.read(Lines(process))
            status = self.end(process)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.report.add_rest(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - self.told)
        self.conclude(status)
        return self.left

    def read(self, lines):
        while lines.more():
            line = lines.next(self.begun + self.options.timeout)
            if line is None:
                return
            self.take(line)

    def end(self, process):
        """Returns the exit status, or None if the process had to be killed. Processes that the tests have started end with it."""
        try:
            status = process.wait(timeout=max(0, self.begun + self.options.timeout - time.monotonic()))
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        return status

    def take(self, line):
        begin, end = BEGIN.search(line), END.search(line)
        if begin:
            if self.current is not None:
                self.finish("failed", f"[ FAILED ] {self.current} left no verdict")
            self.current, self.begun, self.used = begin.group(1), time.monotonic(), cpu_of(self.process)
            self.output.clear()
        elif end and end.group(2) == self.current:
            self.finish(VERDICTS[end.group(1)], line, int(end.group(3)) / 1000)
        else:
            self.output.append(line)

    def finish(self, verdict, last_line, seconds=None):
        if verdict == "failed":
            self.failed = True
            self.show(last_line)
        cpu = max(0.0, cpu_of(self.process) - self.used)
        self.told += cpu
        self.report.add(self.current, verdict, time.monotonic() - self.begun if seconds is None else seconds, cpu,
                        reason_of_skip("\n".join(self.output)) if verdict == "skipped" else "")
        self.left.remove(self.current)
        self.finished += 1
        self.current, self.begun = None, time.monotonic()
        self.output.clear()

    def conclude(self, status):
        if self.current is not None:
            self.finish("failed", f"[ FAILED ] {self.current} " + ended(status))
        elif status != (1 if self.failed else 0) or self.left:
            # A leak, or a crash before or after the tests: no test is to blame, so the run of the binary is.
            self.show(f"[ FAILED ] while no test was running: {self.options.binary} " + ended(status))
            self.report.add("(process)", "failed", 0)
            if self.finished == 0:
                for test in self.left:
                    self.report.add(test, "failed", 0)
                self.left = []

    def show(self, last_line):
        print("\n".join([f"[ RUN      ] {self.current or ''}", *self.output, last_line]))
        if self.current:
            print(f"  alone: {self.options.binary} --gtest_filter={self.current}")
        sys.stdout.flush()


def cpu_of(process):
    """Returns the seconds of CPU that a process and those whose end it has seen have used; 0 once it is gone."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as file:
            # proc(5): the name may hold anything, so fields are counted from its end; utime is the 14th.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def reason_of_skip(output):
    """Returns what GoogleTest has written below the place where a test skipped itself."""
    found = re.search(r": Skipped\n(.+)", output)
    return found[1].strip() if found else ""


def ended(status):
    if status is None:
        return "timed out"
    if status < 0:
        return f"was ended by signal {-status}"
    return f"ended the process with status {status}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--prefix", required=True, help="stands before each name, as in http.H1Parser.Reads")
    parser.add_argument("--report", required=True)
    parser.add_argument("--shard", default="1/1", help="this part of how many")
    parser.add_argument("--filter", default="*", help="as --gtest_filter takes it")
    parser.add_argument("--timeout", type=float, default=300, help="seconds that one test may take: more than it waits for anything")
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
