#!/usr/bin/env python3
"""Draws a replay over its plan as SVG: walls, beacons, the way really walked, and the positions with their radii.
usage: make-picture.py VENUE RECORDING REPLAY MAP >PICTURE
VENUE is a venue.json, RECORDING a .jsonl.gz with truth, REPLAY what 'indoorloc replay' printed, MAP a map's id."""
import gzip
import json
import sys
from html import escape

SCALE, MARGIN, LEGEND = 24, 16, 34


def point(x, y):
    return f"{MARGIN + x * SCALE:.1f} {MARGIN + y * SCALE:.1f}"


def path(points, **style):
    attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    return f'<path d="M {" L ".join(point(x, y) for x, y in points)}" fill="none"{attributes}/>'


def dot(x, y, radius, **style):
    attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
    cx, cy = point(x, y).split()
    return f'<circle cx="{cx}" cy="{cy}" r="{radius:.1f}"{attributes}/>'


def main(venue_file, recording, replay, map_id):
    with open(venue_file) as file:
        venue = json.load(file)
    plan = next(m for m in venue["maps"] if m["id"] == map_id)
    with gzip.open(recording, "rt") as file:
        truth = [r for r in map(json.loads, file) if r["type"] == "truth" and r.get("mapId") == map_id]
    with open(replay) as file:
        positions = [r for r in map(json.loads, file) if r["type"] == "position" and r["mapId"] == map_id]
    width = plan["widthMeters"] * SCALE + 2 * MARGIN
    height = plan["heightMeters"] * SCALE + 2 * MARGIN + LEGEND
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
    ]
    for room in venue["rooms"]:
        if room["mapId"] == map_id and "polygon" in room:
            corners = room["polygon"]
            out.append(path(corners + corners[:1], stroke="none").replace('fill="none"', 'fill="#f3f1ea"'))
            x = sum(c[0] for c in corners) / len(corners)
            y = sum(c[1] for c in corners) / len(corners)
            cx, cy = point(x, y).split()
            out.append(f'<text x="{cx}" y="{cy}" text-anchor="middle" fill="#a29c8c">{escape(room["name"])}</text>')
    for wall in plan.get("walls", []):
        out.append(path(wall, stroke="#4a4640", stroke_width="3", stroke_linecap="round"))
    for beacon in venue["beacons"]:
        if beacon["mapId"] == map_id:
            out.append(dot(beacon["x"], beacon["y"], 4, fill="#2f7fd0"))
    for position in positions:
        out.append(dot(position["x"], position["y"], position["radius"] * SCALE, fill="#e07020", fill_opacity="0.025"))
    out.append(path([(r["x"], r["y"]) for r in truth], stroke="#208050", stroke_width="4", stroke_opacity="0.6"))
    out.append(path([(p["x"], p["y"]) for p in positions], stroke="#e07020", stroke_width="2"))
    for position in positions:
        out.append(dot(position["x"], position["y"], 3, fill="#e07020"))
    legend = [("#208050", "really walked"), ("#e07020", "positions, with their 68 % radii"), ("#2f7fd0", "beacons")]
    x = MARGIN
    for colour, text in legend:
        y = height - LEGEND / 2
        out.append(f'<circle cx="{x + 6}" cy="{y - 4:.0f}" r="5" fill="{colour}"/>')
        out.append(f'<text x="{x + 16}" y="{y:.0f}" fill="#333333">{text}</text>')
        x += 40 + 7 * len(text)
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
