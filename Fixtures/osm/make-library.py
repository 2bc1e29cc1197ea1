#!/usr/bin/env python3
"""Writes library.osm: an invented library of two floors in Simple Indoor Tagging, as the OpenStreetMap Wiki describes it.

x is in metres to the east, y in metres to the north of the building's south-west corner.
"""
import math, pathlib
from xml.sax.saxutils import quoteattr

LATITUDE, LONGITUDE = 52.0, 8.0
phi = math.radians(LATITUDE)
# Metres per degree: NIMA TR8350.2, the series for WGS 84.
NORTH = 111132.954 - 559.822 * math.cos(2 * phi) + 1.175 * math.cos(4 * phi)
EAST = 111412.84 * math.cos(phi) - 93.5 * math.cos(3 * phi)

nodes, ways, relations, ids = {}, [], [], {}


def node(x, y, **tags):
    """Returns the id of the node at a place, which all ways share."""
    number = ids.setdefault((x, y), len(ids) + 1)
    nodes.setdefault(number, (x, y, {}))[2].update(tags)
    return number


def marker(x, y, **tags):
    """A node of its own."""
    number = 1001 + len([n for n in nodes if n > 1000])
    nodes[number] = (x, y, tags)


def way(points, **tags):
    ways.append((len(ways) + 1, [node(*point) for point in points], tags))
    return len(ways)


def area(points, **tags):
    return way(points + points[:1], **tags)


def box(x0, y0, x1, y1, **tags):
    """A rectangle with all nodes that lie on its sides: the doors and the corners of its neighbours."""
    places = sorted(ids)
    south = [p for p in places if p[1] == y0 and x0 < p[0] < x1]
    east = sorted((p for p in places if p[0] == x1 and y0 < p[1] < y1), key=lambda p: p[1])
    north = [p for p in reversed(places) if p[1] == y1 and x0 < p[0] < x1]
    west = sorted((p for p in places if p[0] == x0 and y0 < p[1] < y1), key=lambda p: -p[1])
    return area([(x0, y0)] + south + [(x1, y0)] + east + [(x1, y1)] + north + [(x0, y1)] + west, **tags)


def tagged(**tags):
    """Keys with a colon are written with two underscores."""
    return {key.replace("__", ":"): value for key, value in tags.items()}


for x, y in [(0, 0), (20, 0), (26, 0), (30, 0), (26, 4), (30, 4), (0, 8), (20, 8), (26, 8), (30, 8), (0, 12), (12, 12),
             (22, 12), (26, 12), (30, 12), (0, 20), (12, 20), (22, 20), (26, 20), (30, 20)]:
    node(x, y)
node(0, 10, entrance="main", level="0", width="2")
node(6, 12, door="hinged", level="0")
node(15, 12, door="hinged", level="0")
node(24, 12, door="yes")
node(28, 12, door="yes")
node(28, 8, door="sliding", width="1.2")
node(23, 8, door="hinged")
node(11, 12, door="hinged", level="1")

box(0, 0, 30, 20, **tagged(building="public", name="Library of Examples", name__de="Bücherei der Beispiele",
                          building__levels="2"))
box(0, 8, 30, 12, indoor="corridor", level="0", repeat_on="1", name="Hall")
box(0, 12, 12, 20, indoor="room", level="0", name="Reading room", wheelchair="yes")
box(12, 12, 22, 20, indoor="room", level="0", room="office", ref="0.2")
box(22, 12, 26, 20, indoor="room", level="0", repeat_on="1", room="toilets")
box(26, 12, 30, 20, indoor="room", level="0;1", stairs="yes", name="Stairs")
box(26, 4, 30, 8, indoor="room", level="0-1", highway="elevator", name="Elevator")
box(20, 0, 26, 8, indoor="room", level="0", access="private", name="Archive")
box(26, 0, 30, 4, indoor="room", level="0", access="private", name="Storage")
box(0, 12, 22, 20, **tagged(indoor="room", level="1", name="Children's library & games", name__de="Kinderbücherei"))
outer = box(0, 0, 20, 8)
inner = area([(8, 3), (10, 3), (10, 5), (8, 5)], indoor="column", level="0")
relations.append((1, [("way", outer, "outer"), ("way", inner, "inner")],
                  dict(type="multipolygon", indoor="area", level="0", name="Shelves")))
box(0, 0, 20, 8, indoor="area", level="1", name="Gallery")
way([(4, 2), (4, 6)], indoor="wall", level="0")
way([(12, 1), (18, 1)], highway="steps", level="0;1", incline="up")
way([(2, 9), (25, 9)], highway="footway", indoor="yes", level="0")
box(0, 0, 30, 20, indoor="level", level="1", name="Upper floor")
# Outside of the building.
way([(-20, 10), (0, 10)], highway="footway")
marker(-10, 14, natural="tree")

marker(2, 11, level="0", tourism="information", information="board", name="What is where")
marker(16, 10, level="0;1", amenity="photocopier")
for x, y, level, minor in [(6, 18, "0", "1"), (16, 9, "0", "2"), (3, 3, "0", "3"), (11, 18, "1", "4"), (16, 4, "1", "5")]:
    marker(x, y, **tagged(indoormark="beacon", beacon__type="bluetooth", level=level,
                          beacon__uuid="f7826da6-4fa2-4e98-8024-bc5b71e0893e", beacon__major="52", beacon__minor=minor,
                          beacon__measured="-59", height="2.5"))
marker(1, 9, **tagged(indoormark="beacon", beacon__type="nfc", level="0", beacon__address="11:11:11:11:13"))

lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<osm version="0.6" generator="make-library.py">']


def element(kind, attributes, children, tags):
    parts = [f"<{name} " + " ".join(f"{key}={quoteattr(str(value))}" for key, value in values) + "/>"
             for name, values in children + [("tag", [("k", k), ("v", v)]) for k, v in sorted(tags.items())]]
    start = f"  <{kind} " + " ".join(f'{key}="{value}"' for key, value in attributes)
    if not parts:
        lines.append(start + "/>")
        return
    lines.append(start + ">")
    lines.extend("    " + part for part in parts)
    lines.append(f"  </{kind}>")


for number, (x, y, tags) in sorted(nodes.items()):
    place = [("lat", f"{LATITUDE + y / NORTH:.9f}"), ("lon", f"{LONGITUDE + x / EAST:.9f}")]
    element("node", [("id", number), ("version", 1)] + place, [], tags)
for number, members, tags in ways:
    element("way", [("id", number), ("version", 1)], [("nd", [("ref", member)]) for member in members], tags)
for number, members, tags in relations:
    element("relation", [("id", number), ("version", 1)],
            [("member", [("type", kind), ("ref", ref), ("role", role)]) for kind, ref, role in members], tags)
lines += ["</osm>", ""]
(pathlib.Path(__file__).parent / "library.osm").write_text("\n".join(lines), encoding="utf-8")
