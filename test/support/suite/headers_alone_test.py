#!/usr/bin/env python3
"""Tests headers_alone.py on a small tree of headers."""
import json
import os
import subprocess
import tempfile
import unittest

from headers_alone import chains_of

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers_alone.py")


class HeadersAlone(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("proxy/base.h", "#pragma once\nstruct Base {};\n")
        self.write("proxy/user.h", '#pragma once\n#include "proxy/base.h"\nstruct User : Base {};\n')
        self.write("test/last.h", '#pragma once\n#include "proxy/user.h"\nstruct Last : User {};\n')
        command = f"c++ -std=c++20 -O2 -fsanitize=address -I{self.folder.name} -o main.o -c {self.folder.name}/proxy/server/main.cc"
        self.write("build/compile_commands.json", json.dumps([{"file": "/proxy/server/main.cc", "command": command}]))

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def check(self):
        return subprocess.run([SCRIPT, "--build", os.path.join(self.folder.name, "build"), "--root", self.folder.name], capture_output=True,
                              text=True, check=False)

    def test_takes_headers_that_include_what_they_use(self):
        result = self.check()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.write("proxy/base.h", "#pragma once\n")
        self.assertEqual(self.check().returncode, 1, "a changed header is compiled again, and what includes it")

    def test_names_a_header_that_needs_another_one(self):
        self.write("config/bad.h", "#pragma once\nstruct Bad : User {};\n")
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertIn("config/bad.h:2", result.stdout)
        self.write("config/bad.h", '#pragma once\n#include "config/missing.h"\n')
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertIn("config/bad.h:2", result.stdout)

    def test_names_a_header_whose_need_another_one_of_its_unit_would_hide(self):
        for supply, need in [
                ("struct Other {};", "struct Bad { Other other; };"),
                ("inline int other() { return 0; }", "inline int bad() { return other(); }"),
                ("constexpr int kOther = 1;", "constexpr int kBad = kOther;"),
                ("#define OTHER 1", "constexpr int kBad = OTHER;"),
                ("enum { kOther };", "constexpr int kBad = kOther;"),
                ("struct Base;\nstruct Far { int a; };", "inline int bad(const User& user) { return user.far().a; }")]:
            with self.subTest(supply):
                self.write("proxy/user.h", '#pragma once\n#include "proxy/base.h"\nstruct Far;\nstruct User : Base { const Far& far() const; };\n')
                self.write("test/last.h", "#pragma once\n")
                self.write("config/a.h", f'#pragma once\n#include "proxy/base.h"\n{supply}\n')
                self.write("config/b.h", f'#pragma once\n#include "proxy/user.h"\n{need}\n')
                result = self.check()
                self.assertEqual(result.returncode, 1)
                self.assertIn("config/b.h", result.stdout)

    def test_has_headers_follow_those_that_give_them_nothing(self):
        closures = {"a": frozenset(), "b": frozenset("a"), "c": frozenset("ab"), "d": frozenset("a"), "e": frozenset("f")}
        chains = chains_of(closures, lambda earlier, later: later == "d")
        self.assertEqual(sorted(each for chain in chains for each in chain), list("abcde"))
        self.assertIn(["a", "b", "c"], chains)
        self.assertIn(["d"], chains, "the others supply it")
        self.assertIn(["e"], chains, "it includes less than the others")


if __name__ == "__main__":
    unittest.main()
