#!/usr/bin/env python3
"""Compiles each header by itself: it must include what it uses, which units of many files would hide.

    headers_alone.py --build build/dev --jobs 2

A header may follow others in one unit if it includes all that they do, and them: they give it nothing that it has not. So half as
many units as there are headers are enough. For the same reason units share precompiled headers: each holds only what every header of its
units includes, directly or not. The flags are those of proxy/server/main.cc in the build folder, without sanitizers. What has not changed,
and includes nothing that has, is not compiled again. Exit status 1 if a header cannot be compiled.
"""
import argparse
import json
import os
import re
import subprocess
import sys

FOLDERS = ["proxy", "filters", "config", "test"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
COST_OF_SHARING = 2.5  # to precompile text takes as long as to read it so often
MOST_SHARED = 12  # headers are precompiled, however many more would pay
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


def chains_of(closures):
    """Returns as few lists as possible, in each of which a header includes all that those before it do, and them."""
    headers = sorted(closures, key=lambda each: (len(closures[each]), each))
    later = {each: [other for other in headers if other != each and each in closures[other]] for each in headers}
    before = {}  # of each header that follows another, that one: a greatest matching

    def follow(header, seen):
        for other in later[header]:
            if other not in seen:
                seen.add(other)
                if other not in before or follow(before[other], seen):
                    before[other] = header
                    return True
        return False

    for header in headers:
        follow(header, set())
    after = {first: second for second, first in before.items()}
    chains = []
    for header in headers:
        if header not in before:
            chain = [header]
            while chain[-1] in after:
                chain.append(after[chain[-1]])
            chains.append(chain)
    return chains


def shared_by(chains, closures, size_of):
    """Returns sets of includes to precompile, and for each chain which of them it begins with, or None. A set is what the first header of
    some chain includes; each next one is that which saves the most text, of which `size_of` tells how much a set has."""
    wanted = [closures[chain[0]] for chain in chains]
    sizes = {each: size_of(each) for each in sorted(set(wanted), key=sorted)}
    shared, choice = [], [None] * len(chains)

    def has(i):
        return 0 if choice[i] is None else sizes[shared[choice[i]]]

    def saved(candidate):
        return sum(max(0, sizes[candidate] - has(i)) for i, have in enumerate(wanted) if candidate <= have)

    while len(shared) < MOST_SHARED:
        best = max(sizes, key=lambda each: saved(each) - COST_OF_SHARING * sizes[each])
        if saved(best) <= COST_OF_SHARING * sizes[best]:
            break
        shared.append(best)
        for i, have in enumerate(wanted):
            if best <= have and has(i) < sizes[best]:
                choice[i] = len(shared) - 1
    return shared, choice


class Sizes:
    """Knows how much text a set of includes brings in, of the system too."""

    def __init__(self, root, compiler, kept):
        self.root, self.compiler, self.kept = root, compiler, kept
        self.reached = {}  # of each header of the system, all that it includes
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                self.reached = json.load(file)

    def learn(self, names):
        """Asks the compiler about headers of the system that are not known yet."""
        for name in sorted(set(names) - set(self.reached)):
            made = subprocess.run(f"{self.compiler} -M -x c++ -", input=f"#include {name}>\n", shell=True, capture_output=True, text=True, check=False)
            self.reached[name] = [file for file in made.stdout.split()[1:] if os.path.isfile(file)]
        with open(self.kept, "w", encoding="utf-8") as file:
            json.dump(self.reached, file)

    def of(self, names):
        files = {file for name in names for file in self.reached.get(name, [os.path.join(self.root, name)])}
        return sum(os.path.getsize(file) for file in files if os.path.isfile(file))


def include_lines(names, closures):
    """Returns the includes of a set, each behind what it includes itself."""
    ordered = sorted(names, key=lambda each: (len(closures.get(each, ())), each))
    return "".join(f"#include {name}>\n" if name.startswith("<") else f'#include "{name}"\n' for name in ordered)


def compiler_of(build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            if entry["file"].endswith(("proxy/server/main.cc", "sluice.dir/Unity/unity_0_cxx.cxx")):
                return OF_OTHERS.sub("", entry["command"]).strip()
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


def ninja_file(folder, root, compiler):
    """Writes the units into the folder, and returns the rules that compile them."""
    closures = closures_of(root, headers_of(root))
    sizes = Sizes(root, compiler, os.path.join(folder, "sizes.json"))
    sizes.learn({name for names in closures.values() for name in names if name.startswith("<")})
    compiler += ' -O0 -g0 -DSLUICE_SOURCE_DIR=\\"\\" -Winvalid-pch'
    rules = [f"rule shared\n  command = {compiler} -MD -MF $out.d -x c++-header -o $out -c $in\n  depfile = $out.d\n  deps = gcc\n"
             f"rule alone\n  command = {compiler} $begin -MD -MF $out.d -fsyntax-only $in && touch $out\n"
             "  description = $first\n  depfile = $out.d\n  deps = gcc\n"]
    chains = chains_of(closures)
    shared, choice = shared_by(chains, closures, sizes.of)
    for i, names in enumerate(shared):
        header = os.path.join(folder, f"shared_{i}.h")
        write_if_changed(header, include_lines(names, closures))
        rules.append(f"build {header}.gch: shared {header}\n")
    for chain, begin in zip(chains, choice):
        unit = os.path.join(folder, chain[-1].replace("/", "_") + ".cc")
        write_if_changed(unit, "".join(f'#include "{header}"\n' for header in chain))
        header = "" if begin is None else os.path.join(folder, f"shared_{begin}.h")
        rules.append(f"build {unit}.o: alone {unit}" + (f" | {header}.gch\n  begin = -include {header}" if header else "") +
                     f"\n  first = {', '.join(chain)}\n")
    return "".join(rules)


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
    write_if_changed(os.path.join(folder, "build.ninja"), ninja_file(folder, root, compiler_of(options.build)))
    return subprocess.run(["ninja", "-C", folder, "-j", options.jobs, "-k", "0", "--quiet"], check=False).returncode and 1


if __name__ == "__main__":
    sys.exit(main())
