#!/usr/bin/env python3
"""Tests run_binary.py and summary.py on tests that pass, fail, crash, hang, or are missing, with a program that imitates GoogleTest."""
import os
import subprocess
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))

BINARY = """\
#!/usr/bin/env python3
import os, signal, sys
tests = {tests}
flags = dict(flag[len("--gtest_"):].split("=", 1) if "=" in flag else (flag[len("--gtest_"):], "") for flag in sys.argv[1:])
if "list_tests" in flags:
    print("Acts.")
    print("\\n".join("  " + test for test in tests))
    sys.exit(0)
for line in open(flags["flagfile"]):
    if line.startswith("--gtest_filter="):
        wanted = line.strip().split("=", 1)[1].split(":")
status = 0
for test in tests:
    if "Acts." + test not in wanted:
        continue
    print("[ RUN      ] Acts." + test, flush=True)
    print("the output of " + test, end="", flush=True)
    if test == "Crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if test == "Hangs":
        signal.pause()
    if test == "HangsLoudly":
        while True:
            print("again")
    if test == "LeavesAChild":
        if os.fork() == 0:
            signal.pause()
        os.kill(os.getpid(), signal.SIGABRT)
    if test == "Fails":
        status = 1
        print("\\nacts.cc:9: Failure\\nValue of: it\\n  Actual: false")
        print("[  FAILED  ] Acts.Fails (7 ms)")
    elif test == "Skips":
        print("acts.cc:7: Skipped\\nnothing to skip for\\n")
        print("[  SKIPPED ] Acts.Skips (0 ms)")
    else:
        print("[       OK ] Acts." + test + " (12 ms)")
sys.exit({end} or status)
"""


LISTING = """\
#!/usr/bin/env python3
import json, sys
path = sys.argv[-1].split("=json:")[1]
suite = {"name": "Walks", "testsuite": [{"name": "Far", "file": "/somewhere/test/far/away/walks_test.cc", "line": 3}]}
json.dump({"testsuites": [suite]}, open(path, "w"))
"""


class RunBinary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_binary(self, tests, end=0, shard="1/1"):
        with open(self.path("binary"), "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(BINARY).format(tests=tests, end=end))
        os.chmod(self.path("binary"), 0o755)
        # Only a program that hangs is meant to run out of time, however slow the machine is.
        timeout = "15" if any(test.startswith("Hangs") for test in tests) else "60"
        done = subprocess.run([os.path.join(HERE, "run_binary.py"), "--binary", self.path("binary"), "--prefix", "p", "--timeout", timeout,
                               "--report", self.path("reports/p.tsv"), "--shard", shard], capture_output=True, text=True, check=False)
        report = []
        if os.path.exists(self.path("reports/p.tsv")):
            with open(self.path("reports/p.tsv"), encoding="utf-8") as file:
                report = [row for row in (line.rstrip("\n").split("\t") for line in file) if row[1] != "rest"]
        self.reasons = {row[0]: row[4] for row in report if row[4]}
        return done.returncode, done.stdout, [row[:2] for row in report]

    def summary(self, junit, *more):
        with open(self.path("ctest.xml"), "w", encoding="utf-8") as file:
            file.write(f"<testsuite>{junit}</testsuite>")
        done = subprocess.run([os.path.join(HERE, "summary.py"), "--junit", self.path("ctest.xml"), "--reports", self.path("reports"),
                               "--out", self.path("tests.tsv"), *more], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def test_passing_tests_are_counted_and_silent(self):
        status, output, report = self.run_binary(["One", "Skips"])
        self.assertEqual((status, report), (0, [["p.Acts.One", "passed"], ["p.Acts.Skips", "skipped"]]))
        self.assertEqual(self.reasons, {"p.Acts.Skips": "nothing to skip for"})
        self.assertNotIn("the output of", output)

    def test_a_failing_test_is_shown_with_how_to_run_it_alone(self):
        status, output, report = self.run_binary(["One", "Fails", "Behind"])
        self.assertEqual(status, 1)
        self.assertEqual(report, [["p.Acts.One", "passed"], ["p.Acts.Fails", "failed"], ["p.Acts.Behind", "passed"]])
        self.assertIn("the output of Fails", output)
        self.assertIn("--gtest_filter=Acts.Fails", output)
        self.assertNotIn("the output of One", output)

    def test_a_crash_is_named_and_what_stands_behind_it_runs(self):
        status, output, report = self.run_binary(["One", "Crashes", "Behind"])
        self.assertEqual(status, 1)
        self.assertEqual(report, [["p.Acts.One", "passed"], ["p.Acts.Crashes", "failed"], ["p.Acts.Behind", "passed"]])
        self.assertIn("Acts.Crashes was ended by signal 11", output)

    def test_a_test_that_hangs_is_named_and_what_stands_behind_it_runs(self):
        status, output, report = self.run_binary(["Hangs", "Behind"])
        self.assertEqual((status, report), (1, [["p.Acts.Hangs", "failed"], ["p.Acts.Behind", "passed"]]))
        self.assertIn("Acts.Hangs timed out", output)

    def test_a_process_that_ends_badly_after_its_tests_fails(self):
        status, output, report = self.run_binary(["One"], end=23)
        self.assertEqual((status, report), (1, [["p.Acts.One", "passed"], ["p.(process)", "failed"]]))
        self.assertIn("ended the process with status 23", output)

    def test_status_1_without_a_failed_test_is_a_failure(self):
        status, _, report = self.run_binary(["One"], end=1)
        self.assertEqual((status, report), (1, [["p.Acts.One", "passed"], ["p.(process)", "failed"]]))

    def test_a_test_that_hangs_while_it_writes_is_named(self):
        status, _, report = self.run_binary(["HangsLoudly", "Behind"])
        self.assertEqual((status, report), (1, [["p.Acts.HangsLoudly", "failed"], ["p.Acts.Behind", "passed"]]))

    def test_a_crash_that_leaves_a_child_behind_is_a_crash(self):
        status, output, report = self.run_binary(["LeavesAChild", "Behind"])
        self.assertEqual((status, report), (1, [["p.Acts.LeavesAChild", "failed"], ["p.Acts.Behind", "passed"]]))
        self.assertIn("was ended by signal 6", output)

    def test_a_binary_without_tests_is_an_error(self):
        self.assertEqual(self.run_binary([])[0], 2)

    def test_shards_share_the_tests_without_rest(self):
        tests = ["One", "Two", "Three"]
        named = [row[0] for part in ("1/2", "2/2") for row in self.run_binary(tests, shard=part)[2]]
        self.assertEqual(sorted(named), sorted("p.Acts." + test for test in tests))

    def test_the_summary_counts_every_test_and_not_the_shards(self):
        self.run_binary(["One", "Two", "Skips"])
        status, output = self.summary('<testcase name="suite.p" status="run" time="1"/><testcase name="alone" status="run" time="2"/>')
        self.assertEqual(status, 0, output)
        self.assertTrue(output.endswith("\n3 passed, 0 failed, 1 skipped\n"), output)
        self.assertIn("p.Acts.Skips: nothing to skip for\n", output)

    def test_the_summary_misses_the_report_of_a_shard_that_ran(self):
        status, output = self.summary('<testcase name="suite.gone" status="fail" time="1"/>')
        self.assertEqual(status, 1)
        self.assertIn("suite.gone", output)

    def test_the_summary_does_not_trust_the_report_of_a_shard_that_was_ended(self):
        self.run_binary(["One"])
        status, output = self.summary('<testcase name="suite.p" status="fail" time="1800"/>')
        self.assertEqual(status, 1)
        self.assertIn("suite.p", output)

    def test_the_summary_tells_what_skipped_itself_from_what_could_not_run(self):
        self.run_binary(["One"])
        shard = '<testcase name="suite.p" status="run"/>'
        skipped = ('<testcase name="s" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
                   '<system-out>a.cc:1: Skipped\nno valgrind\n</system-out></testcase>')
        missing = '<testcase name="m" status="notrun"><skipped message="Unable to find executable"/></testcase>'
        status, output = self.summary(shard + skipped)
        self.assertEqual(status, 0, output)
        self.assertIn("s: no valgrind\n", output)
        status, output = self.summary(shard + skipped + missing)
        self.assertEqual(status, 1)
        self.assertIn("\n1 passed, 1 failed, 1 skipped\n", output)

    def test_the_summary_fails_with_a_test_that_failed(self):
        self.run_binary(["One", "Fails"])
        status, output = self.summary('<testcase name="suite.p" status="fail" time="1"/>')
        self.assertEqual(status, 1)
        self.assertIn("\n1 passed, 1 failed\n", output)

    def test_the_summary_says_what_failed_in_each_test(self):
        _, output, _ = self.run_binary(["One", "Fails", "Crashes"])
        _, told = self.summary(f'<testcase name="suite.p" status="fail" time="1"><system-out>{output}</system-out></testcase>')
        self.assertIn("\np.Acts.Fails:\n  acts.cc:9: Failure\n  Value of: it\n    Actual: false\n\n", told)
        self.assertIn("\np.Acts.Crashes:\n  the output of Crashes\n", told)

    def test_the_summary_counts_what_was_not_begun(self):
        self.run_binary(["One"])
        status, output = self.summary('<testcase name="suite.p" status="run"/>', "--not-run", "what a request may cost: no valgrind")
        self.assertEqual(status, 0)
        self.assertIn("  what a request may cost: no valgrind\n", output)
        self.assertIn("\n1 passed, 0 failed, 1 skipped\n", output)

    def test_the_summary_adds_up_the_processors_time_of_each_folder(self):
        self.run_binary(["One", "Two"])
        with open(self.path("listed"), "w", encoding="utf-8") as file:
            file.write(LISTING)
        os.chmod(self.path("listed"), 0o755)
        with open(self.path("cpu.tsv"), "w", encoding="utf-8") as file:
            file.write(f"1.50 0.25 {self.path('listed')} --gtest_filter=Walks.Far --gtest_also_run_disabled_tests\n"
                       f"0.10 0.10 {self.path('listed')} --gtest_list_tests\n")
        _, output = self.summary('<testcase name="suite.p" status="run"/><testcase name="far.Walks.Far" status="run" time="3"/>',
                                 "--cpu", self.path("cpu.tsv"))
        self.assertIn("      1.8       1  test/far/away\n", output)
        self.assertIn("       2  test/p\n", output)


if __name__ == "__main__":
    unittest.main()
