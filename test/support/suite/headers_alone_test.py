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
        self.write("config/worse.h", '#pragma once\n#include "config/missing.h"\n')
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertIn("config/bad.h:2", result.stdout)
        self.assertIn("config/worse.h:2", result.stdout)

    def test_has_headers_follow_only_what_they_include(self):
        chains = chains_of({"a": frozenset(), "b": frozenset("a"), "c": frozenset("ab"), "d": frozenset("a"), "e": frozenset()})
        self.assertEqual(sorted(each for chain in chains for each in chain), list("abcde"))
        self.assertIn(["a", "b", "c"], chains)
        self.assertIn(["d"], chains, "it includes neither b nor c")
        self.assertIn(["e"], chains)


if __name__ == "__main__":
    unittest.main()
