"""Compares the line coverage of the modules with the limit: coverage.py EXPORT LIMIT

EXPORT is the output of `llvm-cov export`. Prints each module's coverage, and the files far below the limit.
"""

import collections
import json
import os
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    exported = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    limit = json.load(file)


def percent(covered, count):
    return 100 * covered / count if count else 100.0


modules = collections.defaultdict(lambda: [0, 0])
low = []
for entry in exported["data"][0]["files"]:
    parts = os.path.relpath(entry["filename"]).split(os.sep)
    if parts[0] != "Sources" or parts[1] not in limit["modules"]:
        continue
    lines = entry["summary"]["lines"]
    modules[parts[1]][0] += lines["covered"]
    modules[parts[1]][1] += lines["count"]
    if percent(lines["covered"], lines["count"]) < limit["listFilesBelowPercent"]:
        low.append((percent(lines["covered"], lines["count"]), os.path.join(*parts)))

failed = False
for name in limit["modules"]:
    covered, count = modules[name]
    share = percent(covered, count)
    print(f"| {name}: {share:.1f} % of {count} lines")
    if count == 0:
        print(f"{name}: no lines were counted; check the module's name")
        failed = True
    elif share <= limit["minimumPercent"]:
        print(f"{name}: {share:.1f} % is not above {limit['minimumPercent']} %: add the missing tests")
        failed = True
for share, path in sorted(low):
    print(f"| low: {share:.0f} % {path}")
sys.exit(1 if failed else 0)
