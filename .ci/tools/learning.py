"""Checks what a venue learns without ground truth: learning.py INDOORLOC DATA

Prints the mean errors in metres of `indoorloc evaluate --self` on data sets in DATA and in a simulated office, and fails if one
exceeds its limit.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

TOOL, DATA = sys.argv[1:]
OFFICE = pathlib.Path("Fixtures/office")
# The largest mean error with the values learned from all recordings. From 20 recordings, it may be a tenth larger.
LEARNED = {"tetam": 1.75, "cnr": 2.15}
# The sets where the learned values are worse: they must not be used.
REFUSED = ["kolakowski", "openhps", "ipin2023"]
# The largest factor of the error with the values that are used.
TOLERANCE = 1.01
# The smallest share of the way from the packet's values to a survey, in the simulated office.
LEAST_SHARE = 0.8
WALKS, TRACKS, LEGS = 100, 6, 14
# Beacons with other powers than the packet says, walls of 5 dB, and motion sensors.
SETTINGS = {"radio.powerDeviation": 4, "radio.sensitivity": -88, "radio.wallLoss": 5, "sensors.motionRate": 50}

problems = []


def evaluate(folder, count):
    output = subprocess.run([TOOL, "evaluate", str(folder), "--self", str(count), "--json"], check=True, capture_output=True)
    return json.loads(output.stdout)


def check(name, figure, limit):
    print(f"| {name}: {figure:.2f} (limit {limit:.2f})", flush=True)
    if figure > limit:
        problems.append(f"{name}: {figure:.3f} exceeds {limit:.3f}")


def corridors():
    """Returns the points of the office's example walks with their neighbours, for each map."""
    graph = {}
    for file in sorted((OFFICE / "paths").glob("*.json")):
        if file.name == "outdoors.json":
            continue
        points = json.loads(file.read_text())["points"]
        for one, next in zip(points, points[1:]):
            if one["mapId"] != next["mapId"] or (one["x"], one["y"]) == (next["x"], next["y"]):
                continue
            ends = [(point["x"], point["y"]) for point in (one, next)]
            neighbours = graph.setdefault(one["mapId"], {})
            for start, end in (ends, ends[::-1]):
                neighbours.setdefault(start, set()).add(end)
    return graph


def walk(graph, generator):
    """Returns the points of a random walk on a map, with pauses, that turns back only at an end."""
    map_id = generator.choice(sorted(graph))
    place, last = generator.choice(sorted(graph[map_id])), None
    points = []
    for _ in range(LEGS):
        point = {"mapId": map_id, "x": place[0], "y": place[1]}
        if generator.random() < 0.35:
            point["pause"] = generator.choice([3, 6, 12])
        points.append(point)
        others = sorted(graph[map_id][place] - {last}) or sorted(graph[map_id][place])
        last, place = place, generator.choice(others)
    return points


def simulated_office(folder, environment):
    """Writes a data set of the office: a survey, walks without one, and tracks."""
    generator = random.Random(environment)
    graph = corridors()
    venue = json.loads((OFFICE / "venue.json").read_text())
    for floor in venue["maps"]:
        floor.pop("image", None)
        floor.pop("tiles", None)
    (folder / "venue.json").write_text(json.dumps(venue))
    document = folder / "walk.json"

    def simulate(kind, number, points, seed):
        settings = SETTINGS | {"radio.environmentSeed": environment}
        document.write_text(json.dumps({"format": "indoor-localization-walk", "version": 1, "name": f"{kind} {number}",
                                        "points": points, "settings": settings}))
        (folder / kind).mkdir(exist_ok=True)
        subprocess.run([TOOL, "simulate", "--venue", OFFICE, "--path", document, "--seed", str(seed), "-o",
                        folder / kind / f"{number:03d}.jsonl"], check=True, stdout=subprocess.DEVNULL)

    for number, file in enumerate(sorted((OFFICE / "paths").glob("survey-*.json"))):
        simulate("survey", number, json.loads(file.read_text())["points"], 200 + number)
    for kind, count, seed in (("tracks", TRACKS, 300), ("walks", WALKS, 1000)):
        for number in range(count):
            simulate(kind, number, walk(graph, generator), seed + number)
    document.unlink()


for name, limit in LEARNED.items():
    check(f"{name}, all recordings", evaluate(f"{DATA}/{name}", "all")["learned"]["mean"], limit)
    check(f"{name}, 20 recordings", evaluate(f"{DATA}/{name}", 20)["learned"]["mean"], 1.1 * limit)
for name in REFUSED:
    result = evaluate(f"{DATA}/{name}", 20)
    check(f"{name}, values in use", result["used"]["mean"], TOLERANCE * result["without"]["mean"])
for environment in (1, 2, 3):
    with tempfile.TemporaryDirectory() as folder:
        simulated_office(pathlib.Path(folder), environment)
        result = evaluate(folder, "all")
    before, after, surveyed = (result[series]["mean"] for series in ("without", "used", "surveyed"))
    share = (before - after) / (before - surveyed)
    print(f"| office {environment}: {before:.2f} m without a survey, {after:.2f} m learned, {surveyed:.2f} m surveyed: {share:.0%}")
    if share < LEAST_SHARE:
        problems.append(f"office {environment}: {share:.3f} of the way to a survey is below {LEAST_SHARE}")
for problem in problems:
    print(f"error: {problem}")
sys.exit(1 if problems else 0)
