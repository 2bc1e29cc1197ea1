"""Compares the largest error at the end of a stay with the limits: worst_errors.py LIMITS DATASETS REPLAYS [SET…]

LIMITS has maximumError, in metres, for some of the data sets in the folder DATASETS. REPLAYS has the outputs of
`indoorloc evaluate --replays` in a folder for each set. Without the names of sets, all of them are compared.
"""

import json
import math
import pathlib
import sys


def lines(path):
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def largest(dataset, replays):
    """Returns the largest distance of a track's last position from its last stay; infinity without a position."""
    errors = []
    for track in sorted((dataset / "tracks").glob("*.jsonl")):
        stay = [line for line in lines(track) if line.get("type") == "truth" and line.get("hold")][-1]
        positions = [line for line in lines(replays / track.name) if line.get("type") == "position"]
        last = positions[-1] if positions else {"x": math.inf, "y": math.inf}
        errors.append(math.hypot(last["x"] - stay["x"], last["y"] - stay["y"]))
    return max(errors, default=math.inf)


limits = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))
found = []
for name, bounds in limits.items():
    bound = bounds.get("maximumError")
    if bound is None or sys.argv[4:] and name not in sys.argv[4:]:
        continue
    error = largest(pathlib.Path(sys.argv[2]) / name, pathlib.Path(sys.argv[3]) / name)
    print(f"| {name}: largest error {error:.2f} m, limit {bound} m")
    if not error <= bound:
        found.append(f"{name}: the largest error is {error:.2f} m, above the limit {bound} m")
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
