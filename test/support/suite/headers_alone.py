#!/usr/bin/env python3
"""Compiles each header by itself: it must include what it uses, which units of many files would hide.

    headers_alone.py --build build/dev --jobs 2

A header may follow others in one unit if they give it nothing that it has not: it includes all that they include, and each of them too,
unless they declare nothing that it could name. So a fifth as many units as there are headers are enough. The flags are those of
proxy/server/main.cc in the build folder, without sanitizers. What has not changed is not compiled again. Exit status 1 if a header cannot
be compiled.
"""
import argparse
import json
import os
import re
import subprocess
import sys

FOLDERS = ["proxy", "filters", "config", "test"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")
DEFINITION = re.compile(r'\s-D(SLUICE_\w+)=\\"')
UNNAMED = re.compile(r"template\s*<\s*>|std::hash\s*<")
TYPES = {"class", "struct", "union", "enum", "typedef", "alias"}
OF_OTHERS = re.compile(r" -(?:O\w|g\d?|fsanitize=\S+|o \S+|c \S+)(?= |$)")


def headers_of(root):
    found = []
    for folder in FOLDERS:
        for path, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = [each for each in folders if each != "node_modules"]
            found += [os.path.relpath(os.path.join(path, file), root) for file in files if file.endswith(".h")]
    return sorted(found)


def closures_of(root, headers):
    """Returns for each header all that it includes, directly or by other headers of the project."""
    direct = {}
    for header in headers:
        with open(os.path.join(root, header), encoding="utf-8") as file:
            direct[header] = [("<" if mark == "<" else "") + name for mark, name in INCLUDE.findall(file.read())]
    closures = {}

    def closure(header):
        if header not in closures:
            closures[header] = frozenset()  # ends a circle
            closures[header] = frozenset(direct[header]).union(*(closure(each) for each in direct[header] if each in direct))
        return closures[header]

    for header in headers:
        closure(header)
    return closures


class Names:
    """Says which headers could use what others declare."""

    def __init__(self, root, closures):
        self.closures = closures
        self.words = {}
        self.unnamed = set()  # headers that declare what is used without a name
        for header in closures:
            with open(os.path.join(root, header), encoding="utf-8") as file:
                text = NO_CODE.sub(" ", file.read())
            self.words[header] = frozenset(WORD.findall(text))
            if UNNAMED.search(text):
                self.unnamed.add(header)
        self.types = {header: set() for header in closures}
        self.others = {header: set() for header in closures}
        self.declare(root)
        # A type may come out of anything that a header includes, without its name.
        self.reach = {header: self.words[header].union(*(self.words[each] for each in closures[header] if each in self.words))
                      for header in closures}

    def declare(self, root):
        """Collects what headers declare outside of classes: members are used with a type."""
        command = ["ctags", "-f", "-", "--language-force=C++", "--kinds-C++=+px", "--fields=Ks", "-L", "-"]
        tags = subprocess.run(command, input="\n".join(self.closures), cwd=root, capture_output=True, text=True, check=True).stdout
        for line in tags.splitlines():
            name, header, _, kind, *scope = line.split("\t")
            if kind == "namespace" or (scope and scope[0].startswith(("class:", "struct:", "union:"))):
                continue
            if name.startswith("operator"):
                self.unnamed.add(header)
            (self.types if kind in TYPES else self.others)[header].add(name)

    def supplies(self, earlier, later):
        """Returns true if a header could use what another one declares that it does not include."""
        if earlier in self.closures[later]:
            return False
        return earlier in self.unnamed or not self.types[earlier].isdisjoint(self.reach[later]) or \
            not self.others[earlier].isdisjoint(self.words[later])


def chains_of(closures, supplies):
    """Returns few lists, in each of which a header includes all that those before it do, and none of them supplies it."""
    chains = []
    for header in sorted(closures, key=lambda each: (len(closures[each]), each)):
        fitting = [chain for chain in chains if closures[chain[-1]] <= closures[header]
                   and not any(supplies(each, header) for each in chain)]
        if fitting:
            max(fitting, key=lambda chain: len(closures[chain[-1]])).append(header)
        else:
            chains.append([header])
    return chains


def compiler_of(build):
    """Returns the command of the program itself, with an empty text for each path that only tests are given."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = {entry["file"]: entry["command"] for entry in json.load(file)}
    for file, command in commands.items():
        if file.endswith(("proxy/server/main.cc", "sluice.dir/Unity/unity_0_cxx.cxx")):
            paths = set(DEFINITION.findall(" ".join(commands.values()))) - set(DEFINITION.findall(command))
            return OF_OTHERS.sub("", command).strip() + "".join(f' -D{name}=\\"\\"' for name in sorted(paths))
    sys.exit(f"headers_alone.py: {build} has no command for proxy/server/main.cc; configure it first")


def write_if_changed(path, text):
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="a configured build folder")
    parser.add_argument("--jobs", default="2", help="compilers at a time")
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), "..", "..", ".."), help="the tree; by default this one")
    options = parser.parse_args()
    root = os.path.abspath(options.root)
    sys.setrecursionlimit(10000)
    folder = os.path.join(os.path.abspath(options.build), "headers_alone")
    os.makedirs(folder, exist_ok=True)
    rules = [f"rule alone\n  command = {compiler_of(options.build)} -O0 -g0 -MD -MF $out.d -o $out -c $in\n"
             "  description = $first\n  depfile = $out.d\n  deps = gcc\n"]
    closures = closures_of(root, headers_of(root))
    for chain in chains_of(closures, Names(root, closures).supplies):
        unit = os.path.join(folder, chain[-1].replace("/", "_") + ".cc")
        write_if_changed(unit, "".join(f'#include "{header}"\n' for header in chain))
        rules.append(f"build {unit}.o: alone {unit}\n  first = {', '.join(chain)}\n")
    write_if_changed(os.path.join(folder, "build.ninja"), "".join(rules))
    return subprocess.run(["ninja", "-C", folder, "-j", options.jobs, "-k", "0", "--quiet"], check=False).returncode and 1


if __name__ == "__main__":
    sys.exit(main())
