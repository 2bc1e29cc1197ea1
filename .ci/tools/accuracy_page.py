"""Compares the tables of the page Accuracy with results of `indoorloc evaluate --json`, and the README's table with the page:
accuracy_page.py PAGE README FOLDER [SET…]

FOLDER contains a file NAME.json for each data set, simple/NAME.json with a line for each simple method, and shifted/NAME.json with a line for each shift of the RSSI and one
without the survey, for the table of other receivers. A row or column without a measurement, a data set without a row,
and a number that differs from the measured one are failures. With the names of sets, only their rows of the first table
are compared.
"""

import json
import pathlib
import re
import sys

# The heading of a column, the measured key, and the factor from the measured unit to the column's.
COLUMNS = [("n", "n", 1), ("answered", "answered", 100), ("floor", "floor", 100), ("mean", "mean", 1),
           ("P75", "p75", 1), ("P90", "p90", 1), ("in radius", "insideRadius", 100)]
# The heading of the first column in the table of other receivers.
CONDITION = "RSSI of the tracks"
# The headings of the README's table.
README_COLUMNS = ["public recording", "mean error", "best simple method"]
SHARES = {"answered", "floor", "insideRadius"}
# The tolerance for the arithmetic of other processors, about that of .ci/accuracy.json; relative, for metres.
METRES = 0.05
# The tolerance for a share, in percent and in points of the set: in a set of twenty, one point is five percent.
PERCENT = 2.0
POINTS = 2


def rows(text, columns):
    """Yields the cells of each row of the first table with these columns, by their heading."""
    heading = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if heading is None:
            if line.startswith("|") and all(name in cells for name in columns):
                heading = cells
        elif not line.startswith("|"):
            return
        elif not set(line) <= set("|-: "):
            yield dict(zip(heading, cells))


def number(cell):
    found = re.fullmatch(r"\**(\d+(?:\.\d+)?)\**(?: %)?", cell)
    return float(found.group(1)) if found else None


def tolerance(key, told, count):
    if key == "n":
        return 0
    return max(PERCENT, 100 * POINTS / count) if key in SHARES else METRES * told


def problems(name, row, measured, best_simple):
    for heading, key, scale in COLUMNS:
        told = number(row[heading])
        if told is None:
            yield f"{name}: '{row[heading]}' under {heading} is not a number"
        elif measured.get(key) is None:
            yield f"{name}: {heading} was not measured"
        elif abs(told - scale * measured[key]) > tolerance(key, told, measured["n"]):
            yield f"{name}: {heading} is {told:g} on the page, but the measured value is {scale * measured[key]:.4g}"
    simple, mean = number(row["best simple"]), number(row["mean"])
    if simple is None or mean is None:
        yield f"{name}: '{row['best simple']}' under best simple is not a number"
    elif (simple < mean) != row["best simple"].startswith("**"):
        yield f"{name}: a simple method must be bold if and only if it is better"
    elif best_simple is not None and abs(simple - best_simple) > METRES * simple:
        yield f"{name}: best simple is {simple:g} on the page, but the measured value is {best_simple:.4g}"


def condition(measured):
    """Returns the name of a measurement's row in the table of other receivers."""
    if measured.get("shift") is None:
        return "no survey"
    sign = "\N{MINUS SIGN}" if measured["shift"] < 0 else "+" if measured["shift"] > 0 else ""
    return f"{sign}{abs(measured['shift']):g} dB"


def receiver_problems(table, measurements):
    names = [name for name in table[0] if name != CONDITION] if table else []
    yield from (f"{name}: is in the page's table of receivers, but was not measured" for name in names
                if name not in measurements)
    for name in measurements:
        conditions = {condition(measured): measured["mean"] for measured in measurements[name]}
        for row in table:
            told, mean = number(row.get(name, "")), conditions.pop(row[CONDITION], None)
            if told is None or mean is None:
                yield f"{name}: the page's table of receivers has no value at {row[CONDITION]}, or it was not measured"
            elif abs(told - mean) > METRES * told:
                yield f"{name}: {row[CONDITION]} is {told:g} on the page, but the measured value is {mean:.4g}"
        yield from (f"{name}: the page's table of receivers has no row {missing}" for missing in conditions)


def readme_problems(readme, page):
    """Compares the README's table, whose first cells begin with the names of sets, with the page's rows."""
    shown = list(rows(readme, README_COLUMNS))
    if not shown:
        yield "README.md: there is no table of accuracy"
    for row in shown:
        name, _, what = row[README_COLUMNS[0]].partition(": ")
        measured = page.get(name)
        expected = measured and [measured["what"], measured["mean"] + " m", measured["best simple"] + " m"]
        if [what, *(row[column] for column in README_COLUMNS[1:])] != expected:
            yield f"{name}: the README's row differs from the page's, which says {expected}"


page = pathlib.Path(sys.argv[1]).read_text("utf-8")
readme = pathlib.Path(sys.argv[2]).read_text("utf-8")
folder = pathlib.Path(sys.argv[3])
told = {row["set"]: row for row in rows(page, [name for name, _, _ in COLUMNS])}
found = list(readme_problems(readme, told))
if sys.argv[4:]:
    told = {name: row for name, row in told.items() if name in sys.argv[4:]}
results = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
# Data sets with ground truth of rooms have no points to measure.
results = {name: measured for name, measured in results.items() if measured["n"] > 0}
found += [f"{name}: the page's table of accuracy does not have this set" for name in results if name not in told]
found += [f"{name}: is in the page's table of accuracy, but was not measured" for name in told if name not in results]
simple = {path.stem: [json.loads(line)["mean"] for line in path.read_text("utf-8").splitlines()]
          for path in sorted(folder.glob("simple/*.json"))}
for name in told.keys() & results.keys():
    found += problems(name, told[name], results[name], min(simple.get(name) or [], default=None))
shifted = {path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
           for path in sorted(folder.glob("shifted/*.json"))}
if not sys.argv[4:]:
    found += receiver_problems(list(rows(page, [CONDITION])), shifted)
print("\n".join(sorted(found)) if found else f"| the page and the README equal the measured figures of {len(told)} sets"
      + (f", and of {len(shifted)} with other receivers" if shifted else ""))
sys.exit(1 if found else 0)
