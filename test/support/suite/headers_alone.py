#!/usr/bin/env python3
"""Compiles each header by itself: it must include what it uses, which units of many files would hide.

    headers_alone.py --build build/dev --jobs 2

A header may follow others in one unit if it includes all that they do, and them: they give it nothing that it has not. So half as
many units as there are headers are enough. The flags are those of proxy/server/main.cc in the build folder, without sanitizers. What has not changed is not
compiled again. Exit status 1 if a header cannot be compiled.
"""
import argparse
import json
import os
import re
import subprocess
import sys

FOLDERS = ["proxy", "filters", "config", "test"]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
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
    rules = [f"rule alone\n  command = {compiler_of(options.build)} -O0 -g0 -DSLUICE_SOURCE_DIR=\\\"\\\" -MD -MF $out.d -o $out -c $in\n"
             "  description = $first\n  depfile = $out.d\n  deps = gcc\n"]
    for chain in chains_of(closures_of(root, headers_of(root))):
        unit = os.path.join(folder, chain[-1].replace("/", "_") + ".cc")
        write_if_changed(unit, "".join(f'#include "{header}"\n' for header in chain))
        rules.append(f"build {unit}.o: alone {unit}\n  first = {', '.join(chain)}\n")
    write_if_changed(os.path.join(folder, "build.ninja"), "".join(rules))
    return subprocess.run(["ninja", "-C", folder, "-j", options.jobs, "-k", "0", "--quiet"], check=False).returncode and 1


if __name__ == "__main__":
    sys.exit(main())
