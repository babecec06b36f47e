"""Holds the figures of a run against perf/budget.txt."""

ROOM = 1.01  # for another machine and another state of the same one


def read_budget(path):
    """Returns (scenario, figure, bound) of each line."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].split() for line in file]
    return [(words[0], words[1], float(words[2])) for words in lines if words]


def within_budget(path, figures):
    """Prints each figure that has a bound, and returns False if one is more than 1 % above it. `figures` is {scenario: {figure: value}};
    those that were not measured are passed over."""
    good = True
    for scenario, figure, bound in read_budget(path):
        value = figures.get(scenario, {}).get(figure)
        if value is None:
            continue
        verdict = "within" if value <= bound * ROOM else "ABOVE"
        good = good and verdict == "within"
        print(f"{scenario} {figure}: {value:,.3f}, {verdict} the budget of {bound:,.3f}")
    return good
