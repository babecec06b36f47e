"""Pictures of the tables that load.py prints, as SVG by gnuplot. They show figures of a table and nothing else."""
import os
import re
import subprocess
import typing

HEAD = "| | proxy | CPU, Sluice = 1 | system calls per request | user instructions per request |"
COLOURS = {"sluice": "#0b5fa5", "nginx": "#8f9aa3", "haproxy": "#d98c1f", "nghttpx": "#5b9a68"}


class Picture(typing.NamedTuple):
    column: int  # of the table
    title: str
    scale: str  # further lines for gnuplot


PICTURES = {
    "cpu": Picture(2, "CPU of a request, Sluice = 1", "set yrange [0:*]"),
    "calls": Picture(3, "System calls of a request (logarithmic)", "set logscale y; set yrange [0.1:*]"),
    "instructions": Picture(4, "User instructions of a request", "set yrange [0:*]; set format y '%.0s %c'"),
}


def rows_of(text):
    """Returns the rows of the table in a text, as lists of cells."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip() == HEAD:
            break
    else:
        raise ValueError("there is no table of load.py")
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip()[1:-1].split("|")])
    return rows


def figures_of(rows, column):
    """Returns {scenario: {proxy: figure as it is written}} without scenarios that have none."""
    figures = {}
    for row in rows:
        if row[column]:
            figures.setdefault(row[0], {})[row[1]] = row[column]
    return figures


def commands_of(picture, figures, path):
    """Returns what gnuplot is told: for each proxy a box in each scenario, with the figure above it."""
    proxies = [proxy for proxy in COLOURS if any(proxy in each for each in figures.values())]
    width = 0.8 / len(proxies)
    ticks = ", ".join(f'"{scenario}" {at}' for at, scenario in enumerate(figures))
    data, plots = [], []
    for number, proxy in enumerate(proxies):
        data.append(f"${proxy} << EOD")
        for at, figure in enumerate(figures.values()):
            if proxy in figure:
                place = at + (number - (len(proxies) - 1) / 2) * width
                data.append(f'{place:.3f} {figure[proxy].replace(",", "")} "{figure[proxy]}"')
        data.append("EOD")
        plots.append(f"${proxy} using 1:2 with boxes fillcolor rgb '{COLOURS[proxy]}' title '{proxy}'")
        plots.append(f"${proxy} using 1:2:3 with labels rotate left offset 0,0.3 font ',9' notitle")
    return "\n".join([
        "set terminal svg size 1100,400 font 'sans-serif,12' background rgb 'white'", f"set output '{path}'", f"set title '{picture.title}'",
        f"set boxwidth {width * 0.92:.3f}", "set style fill solid", "set grid ytics", f"set xtics ({ticks})",
        f"set xrange [-0.6:{len(figures) - 0.4}]", "set key outside top right vertical", "set offsets 0, 0, graph 0.14, 0", picture.scale, *data,
        "plot " + ", ".join(plots), ""])


def plot(text, folder):
    """Writes the pictures of the table in a text into a folder, and returns their paths."""
    rows = rows_of(text)
    os.makedirs(folder, exist_ok=True)
    paths = []
    for name, picture in PICTURES.items():
        figures = figures_of(rows, picture.column)
        if figures:
            paths.append(f"{folder}/{name}.svg")
            subprocess.run(["gnuplot"], input=commands_of(picture, figures, paths[-1]), text=True, check=True)
    return paths


def texts_in(svg):
    """Returns the texts that a picture shows."""
    return re.findall(r"<text><tspan[^>]*>([^<]*)</tspan></text>", svg)
