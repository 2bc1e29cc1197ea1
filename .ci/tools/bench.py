"""Prints the results of `indoorloc bench --json` as a table, and compares them with limits:
bench.py LIMITS MEASURED COUNTS

COUNTS has lines of a benchmark and the instructions of one round of it. The number of instructions depends on the
processor's vectors only, and that of allocations does not depend on the machine. A ratio compares two pieces of code in
one run; its limit allows for noise. Times have no limits. A benchmark without limits, or limits without a benchmark, are
failures, unless the limits are marked optional because their data is not always available.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    limits = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    measured = {entry["name"]: entry for entry in json.load(file)["benchmarks"]}
with open(sys.argv[3], encoding="utf-8") as file:
    for name, count in (line.split() for line in file):
        measured[name]["instructions"] = int(count)

found = [f"{name}: there is no limit in {sys.argv[1]}" for name in measured if name not in limits]
found += [f"{name}: has a limit but was not measured" for name, limit in limits.items()
          if name not in measured and not limit.get("optional")]
for name, entry in measured.items():
    limit = limits.get(name, {"reason": "-", "date": "-"})
    cells = [f"{entry[key]:.2f} {label}" for key, label in
             (("nanoseconds", "ns"), ("ratio", "times C"), ("allocations", "allocations"), ("speed", "times real time"),
              ("bytes", "bytes")) if key in entry]
    counted = f"; {entry['instructions'] / 1e6:.1f} million instructions a round" if "instructions" in entry else ""
    print(f"| {name}: {', '.join(cells)} per {entry['unit']}{counted}")
    for field in ("reason", "date"):
        if not limit.get(field):
            found.append(f"{name}: its limits need a {field}")
    for bound, key in (("maximumAllocations", "allocations"), ("maximumRatio", "ratio"), ("maximumBytes", "bytes"),
                       ("maximumInstructions", "instructions")):
        if bound in limit and entry.get(key, float("inf")) > limit[bound]:
            found.append(f"{name}: {key} is {entry.get(key)}, above the limit {limit[bound]}")
    if "instructions" in entry and "maximumInstructions" not in limit:
        found.append(f"{name}: its instructions have no limit")
print("\n".join(found))
sys.exit(1 if found else 0)
