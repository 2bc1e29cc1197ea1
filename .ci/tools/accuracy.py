"""Prints the results of `indoorloc evaluate --json` and compares them with limits: accuracy.py LIMITS FOLDER [SET…]

Of the limits, only those of the named sets are used; without names, all of them.
LIMITS contains an object for each data set. FOLDER contains a file NAME.json for each, and rooms/NAME.json if
its ground truth is rooms. gateways/NAME-MESSAGES.json has the same tracks with the roles of device and beacons exchanged;
their limits are in the object "gateways". A set without a limit, or a limit without a set, is a failure. The object
"falseAlarms" limits the number of healthy beacons that the sessions of all sets name.
"""

import json
import pathlib
import sys

COLUMNS = ["n", "answered", "floor", "mean", "median", "p75", "p90", "p95", "insideRadius"]
SHARES = {"answered", "floor", "insideRadius"}
# The key of a limit, the measured key, and whether the limit is a maximum.
LIMITS = [
    ("maximumMean", "mean", True),
    ("maximumMedian", "median", True),
    ("minimumFloor", "floor", False),
    ("minimumAnswered", "answered", False),
    ("minimumInsideRadius", "insideRadius", False),
]
# For the package's own classifier in `indoorloc rooms evaluate --json`: the measured key, and whether the limit is a
# maximum. The key of a limit is the measured key after "maximum" or "minimum" and the device, such as
# minimumSameAccuracy.
ROOM_FIGURES = [
    ("accuracy", False),
    ("believed", False),
    ("changeSeconds", True),
    ("none", True),
    ("unknown", False),
    ("reliabilityError", True),
]


def cell(key, value):
    if value is None:
        return "-"
    if key == "n":
        return str(value)
    return f"{100 * value:.1f} %" if key in SHARES else f"{value:.2f}"


def problems(name, measured, limit):
    for field in ("reason", "date"):
        if not limit.get(field):
            yield f"{name}: its limits need a {field}"
    for key, field, is_upper in LIMITS:
        bound = limit.get(key)
        if bound is None:
            continue
        value = measured.get(field)
        if value is None:
            yield f"{name}: {field} was not measured; the limit is {bound}"
        elif (value > bound) if is_upper else (value < bound):
            yield f"{name}: {field} is {value:.3f}, {'above' if is_upper else 'below'} the limit {bound}"


def room_problems(name, measured, limit):
    for field, is_upper in ROOM_FIGURES:
        for device in ("same", "other"):
            value = measured["adaptive"][device][field]
            bound = limit[("maximum" if is_upper else "minimum") + device.capitalize() + field[0].upper() + field[1:]]
            tells = (lambda number: f"{number:.1f} s") if field == "changeSeconds" else (
                lambda number: f"{100 * number:.1f} %")
            shown = "never" if value is None else tells(value)
            print(f"| {name}, trained with {'the same device' if device == 'same' else 'another one'}: "
                  f"{field} {shown}, limit {tells(bound)}")
            if value is None or ((value > bound) if is_upper else (value < bound)):
                yield (f"{name}: {field} with training of {device} is {shown}, "
                       f"{'above' if is_upper else 'below'} the limit {tells(bound)}")


with open(sys.argv[1], encoding="utf-8") as file:
    limits = json.load(file)


def read(folder):
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(pathlib.Path(folder).glob("*.json"))}


results = read(sys.argv[2])
rooms = read(pathlib.Path(sys.argv[2]) / "rooms")
gateways = read(pathlib.Path(sys.argv[2]) / "gateways")
gateway_limits = limits.pop("gateways")
alarm_limit = limits.pop("falseAlarms")
if sys.argv[3:]:
    limits = {name: limits[name] for name in sys.argv[3:]}
    gateway_limits = {}

rows = [["set"] + COLUMNS + ["limit"]]
for name, measured in (results | gateways).items():
    rows.append(
        [name] + [cell(key, measured.get(key)) for key in COLUMNS]
        + [cell("mean", (limits | gateway_limits).get(name, {}).get("maximumMean"))])
widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
for row in rows:
    print("| " + "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())

found = []
for bounds, figures in ((limits, results), (gateway_limits, gateways)):
    found += [f"{name}: there is no limit in {sys.argv[1]}" for name in figures if name not in bounds]
    found += [f"{name}: has a limit but was not measured" for name in bounds if name not in figures and name not in rooms]
    for name, measured in figures.items():
        found += problems(name, measured, bounds.get(name, {"reason": "-", "date": "-"}))
for name, measured in rooms.items():
    found += room_problems(name, measured, limits[name]["rooms"])
found += [f"{name}: has limits for rooms but was not measured" for name in limits
          if "rooms" in limits[name] and name not in rooms]
# Healthy beacons that the sessions named, of all data sets together.
alarms = sum(measured.get("falseAlarms") or 0 for measured in results.values())
hours = sum(measured.get("hours") or 0 for measured in results.values())
print(f"| {alarms} false alarms in {hours:.2f} h, limit {alarm_limit['maximum']}")
if hours == 0 or alarms > alarm_limit["maximum"]:
    found.append(f"{alarms} healthy beacons were named in {hours:.2f} h; the limit is {alarm_limit['maximum']}")
print("\n".join(found))
sys.exit(1 if found else 0)
