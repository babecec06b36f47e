"""Reads callgrind's files: how many instructions ran, and in which program or library."""
import collections
import re

NAMED = re.compile(r"ob=\((\d+)\)(?: (.+))?")
COST = re.compile(r"(?:\d+|[-+]\d+|\*) (\d+)")


def instructions_by_object(path):
    """Returns {path of the program or library: instructions}, each counted where it ran itself."""
    names, costs = {}, collections.Counter()
    current, is_call = None, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            named = NAMED.match(line)
            if named:
                current = names[named[1]] = named[2] or names[named[1]]
            elif line.startswith("cob="):
                called = NAMED.match(line, 1)
                names[called[1]] = called[2] or names[called[1]]
            elif line.startswith("calls="):
                is_call = True  # the next line has what the callee cost, which is counted there
            else:
                cost = COST.match(line)
                if cost and not is_call:
                    costs[current] += int(cost[1])
                is_call = is_call and not cost
    return dict(costs)
