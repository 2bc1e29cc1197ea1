#!/usr/bin/env python3
"""Makes the archive `museum` in the Indoor Mapping Data Format: an invented museum of two floors and its grounds.

Positions are metres in the building's own frame: x along its front, y away from the street, the corner at the main
door is the origin. The building stands 20 degrees off north, as buildings do.
"""
import json
import math
import os
import uuid

ORIGIN = (45.0712, 7.6852)
TURN = math.radians(20)
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "museum")
NAMES = uuid.UUID("6c0f0a52-6f0b-4c57-9a53-3d1f3a0a7c11")
files = {}


def position(x, y):
    """Longitude and latitude, on the ellipsoid's radii of curvature at the origin: right to a millimetre here."""
    east = x * math.cos(TURN) + y * math.sin(TURN)
    north = -x * math.sin(TURN) + y * math.cos(TURN)
    a, e2 = 6378137.0, 0.00669437999014
    latitude = math.radians(ORIGIN[0])
    w = math.sqrt(1 - e2 * math.sin(latitude) ** 2)
    return [
        round(ORIGIN[1] + math.degrees(east / (a / w * math.cos(latitude))), 9),
        round(ORIGIN[0] + math.degrees(north / (a * (1 - e2) / w**3)), 9),
    ]


def ring(points):
    return [position(*point) for point in points + points[:1]]


def box(x1, y1, x2, y2):
    return [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]


def polygon(outline, *holes):
    return {"type": "Polygon", "coordinates": [ring(outline)] + [ring(hole[::-1]) for hole in holes]}


def line(*points):
    return {"type": "LineString", "coordinates": [position(*point) for point in points]}


def point(x, y):
    return {"type": "Point", "coordinates": position(x, y)}


def key(name):
    return str(uuid.uuid5(NAMES, name)).upper()


def add(kind, name, geometry, /, **properties):
    feature = {
        "id": key(name), "type": "Feature", "feature_type": kind, "geometry": geometry, "properties": properties,
    }
    files.setdefault(kind, []).append(feature)
    return feature["id"]


def unit(level, name, geometry, category, labels=None, /, **properties):
    add(
        "unit", name, geometry, category=category, restriction=None, accessibility=None, name=labels, alt_name=None,
        display_point=None, level_id=level)
    files["unit"][-1]["properties"].update(properties)
    return key(name)


def opening(level, name, /, *points, category="pedestrian", **properties):
    return add(
        "opening", name, line(*points), category=category, accessibility=None, access_control=None, door=None,
        name=None, alt_name=None, display_point=None, level_id=level, **properties)


def site():
    street = add(
        "address", "street", None, address="Via dell'Esempio 12", unit=None, locality="Torino", province=None,
        country="IT", postal_code="10100", postal_code_ext=None)
    shop = add(
        "address", "shop address", None, address="Via dell'Esempio 12", unit="Shop", locality="Torino", province=None,
        country="IT", postal_code="10100", postal_code_ext=None)
    add(
        "venue", "museum", polygon(box(-12, -12, 44, 28)), category="museum", restriction=None,
        name={"en": "Museum of Examples", "it": "Museo degli Esempi"}, alt_name=None, hours="Tu-Su 09:00-18:00",
        phone=None, website=None, display_point=point(20, 12), address_id=street)
    building = add(
        "building", "main building", None, category="unspecified", restriction=None, name={"en": "Main building"},
        alt_name=None, display_point=point(20, 12), address_id=street)
    add(
        "footprint", "footprint", polygon(box(0, 0, 40, 24)), category="ground", name=None, building_ids=[building])
    levels = []
    for ordinal, labels in enumerate([{"en": "Ground floor", "it": "Piano terra"}, {"en": "Upper floor"}]):
        levels.append(add(
            "level", f"level {ordinal}", polygon(box(0, 0, 40, 24)), category="unspecified", restriction=None,
            outdoor=False, ordinal=ordinal, name=labels, short_name={"en": str(ordinal)}, display_point=point(20, 12),
            address_id=None, building_ids=[building]))
    levels.append(add(
        "level", "grounds", polygon(box(-12, -12, 0, 28)), category="unspecified", restriction=None, outdoor=True,
        ordinal=0, name={"en": "Grounds"}, short_name={"en": "G"}, display_point=point(-6, 8), address_id=None,
        building_ids=[]))
    return building, levels, shop


def ground_floor(level):
    # A core of masonry in a hole of the hall, and a column that is drawn over it.
    unit(level, "hall", polygon(box(0, 8, 40, 16), box(18, 10, 22, 14)), "walkway", {"en": "Hall", "it": "Atrio"})
    unit(level, "core", polygon(box(18, 10, 22, 14)), "structure")
    unit(level, "column", polygon(box(6, 11, 7, 12)), "column")
    units = {
        "shop": unit(level, "shop", polygon(box(0, 0, 12, 8)), "retail"),
        "cafe": unit(level, "cafe", polygon(box(12, 0, 24, 8)), "foodservice"),
        "restroom": unit(level, "restroom", polygon(box(16, 16, 20, 24)), "restroom.unisex"),
        "exhibition": unit(
            level, "exhibition", polygon(box(0, 16, 16, 24)), "room", {"en": "Exhibition", "it": "Mostra"}),
        "elevator": unit(
            level, "elevator 0", polygon(box(26, 16, 29, 19)), "elevator", {"en": "Elevator"},
            accessibility=["wheelchair"]),
    }
    unit(level, "office", polygon(box(24, 0, 32, 8)), "office", {"en": "Office"}, restriction="employeesonly")
    unit(level, "stairs 0", polygon(box(32, 0, 40, 8)), "stairs", {"en": "Stairs"})
    unit(level, "storage", polygon(box(20, 16, 26, 24)), "nonpublic")
    unit(
        level, "cloakroom", polygon([(29, 16), (40, 16), (40, 24), (26, 24), (26, 19), (29, 19)]), "lobby",
        {"en": "Cloakroom"})
    opening(level, "main door", (0, 11), (0, 13), category="pedestrian.principal")
    opening(level, "emergency exit", (40, 12), (40, 13), category="emergencyexit")
    opening(level, "shop door", (5, 8), (6.2, 8))
    opening(level, "cafe door", (15, 8), (18, 8))
    opening(level, "stairs door 0", (35, 8), (36.5, 8))
    opening(level, "exhibition door", (7, 16), (9, 16))
    opening(level, "elevator door 0", (27, 16), (28, 16))
    opening(level, "storage door", (26, 21), (26, 22), category="service")
    opening(level, "ticket gate", (30, 9), (30, 15))
    add(
        "fixture", "ticket desk", polygon(box(2, 9, 4, 10)), category="desk", name=None, alt_name=None, anchor_id=None,
        level_id=level, display_point=None)
    add(
        "fixture", "partition", polygon(box(8, 19, 8.2, 24)), category="wall", name=None, alt_name=None,
        anchor_id=None, level_id=level, display_point=None)
    add("detail", "mosaic", line((12, 12), (14, 12), (14, 13)), level_id=level)
    add(
        "section", "west wing", polygon(box(0, 0, 20, 24)), category="exhibit", restriction=None, accessibility=None,
        name={"en": "West wing"}, alt_name=None, display_point=None, level_id=level, address_id=None,
        correlation_id=None, parents=[])
    return units


def upper_floor(level):
    unit(
        level, "gallery walk", polygon(box(0, 8, 40, 16), box(10, 10, 30, 14)), "walkway", {"en": "Gallery walk"})
    unit(level, "atrium", polygon(box(10, 10, 30, 14)), "opentobelow")
    unit(
        level, "gallery", {
            "type": "MultiPolygon",
            "coordinates": [[ring(box(0, 16, 14, 24))], [ring(box(16, 16, 26, 24))]],
        }, "room", {"en": "Gallery"})
    unit(
        level, "reading room", polygon(box(0, 0, 20, 8)), "library",
        {"fr": "Salle de lecture", "en-GB": "Reading room"})
    unit(level, "stairs 1", polygon(box(32, 0, 40, 8)), "stairs", {"en": "Stairs"})
    elevator = unit(level, "elevator 1", polygon(box(26, 16, 29, 19)), "elevator", {"en": "Elevator"})
    opening(level, "gallery door west", (5, 16), (7, 16))
    opening(level, "gallery door east", (20, 16), (22, 16))
    opening(level, "reading room door", (9, 8), (11, 8))
    opening(level, "stairs door 1", (35, 8), (36.5, 8))
    opening(level, "elevator door 1", (27, 16), (28, 16))
    return elevator


def amenity(name, place, category, units, labels=None):
    add(
        "amenity", name, place, category=category, accessibility=None, name=labels, alt_name=None, hours=None,
        phone=None, website=None, unit_ids=units, address_id=None, correlation_id=None)


def people(building, levels, units, upper_elevator, shop_address):
    amenity("toilets", point(18, 20), "restroom.unisex", [units["restroom"]])
    amenity("lift", point(27.5, 17.5), "elevator", [units["elevator"], upper_elevator], {"en": "Lift"})
    amenity("fountain", point(-6, 4), "drinkingfountain", [])
    amenity("info", point(10, 9), "information", None)
    anchors = {
        name: add("anchor", f"anchor {name}", place, address_id=address, unit_id=units[at])
        for name, place, at, address in [
            ("shop", point(6, 4), "shop", shop_address), ("cafe", point(18, 4), "cafe", None),
            ("audio", point(2, 18), "exhibition", None), ("statue", point(12, 20), "exhibition", None),
        ]
    }
    for name, category, labels in [
        ("shop", "shopping", {"en": "Museum shop", "it": "Negozio"}), ("cafe", "cafe", {"it": "Caffè Terrazzo"}),
        ("audio", "service", {"en": "Audio guides"}),
    ]:
        add(
            "occupant", f"occupant {name}", None, category=category, name=labels, anchor_id=anchors[name],
            hours="Tu-Su 09:00-17:30", phone="+390110000000", website=None, validity=None, correlation_id=None)
    for name, outline, anchor, labels in [
        ("audio stand", box(1, 17, 3, 19), anchors["audio"], {"en": "Audio stand"}),
        ("postcards", box(36, 22, 38, 23), None, {"en": "Postcards"}),
    ]:
        add(
            "kiosk", name, polygon(outline), name=labels, alt_name=None, anchor_id=anchor, level_id=levels[0],
            display_point=None)
    for name, outline, at, buildings in [
        ("exhibition area", box(0, 16, 16, 24), [levels[0]], None), ("inside", box(0, 0, 40, 24), None, [building]),
        ("neighbourhood", box(-12, -12, 44, 28), None, None),
    ]:
        add(
            "geofence", name, polygon(outline), category="geofence", restriction=None, name={"en": name.capitalize()},
            alt_name=None, correlation_id=None, display_point=None, building_ids=buildings, level_ids=at, parents=None)
    add(
        "relationship", "lift shaft", None, category="elevator", direction="undirected", hours=None,
        origin={"id": units["elevator"], "feature_type": "unit"}, intermediary=None,
        destination={"id": upper_elevator, "feature_type": "unit"})


def main():
    building, levels, shop_address = site()
    units = ground_floor(levels[0])
    upper_elevator = upper_floor(levels[1])
    unit(levels[2], "garden", polygon(box(-12, -12, 0, 28)), "unenclosedarea", {"en": "Garden"})
    people(building, levels, units, upper_elevator, shop_address)
    os.makedirs(HERE, exist_ok=True)
    for kind, features in files.items():
        with open(os.path.join(HERE, kind + ".geojson"), "w", encoding="utf-8") as file:
            lines = ",\n".join(json.dumps(feature, ensure_ascii=False) for feature in features)
            file.write('{"type": "FeatureCollection", "name": "%s", "features": [\n%s\n]}\n' % (kind, lines))
    with open(os.path.join(HERE, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump({"version": "1.0.0", "created": "2026-11-21T12:00:00Z", "generated_by": None, "language": "en",
                   "extensions": []}, file)
        file.write("\n")
    with open(os.path.join(HERE, "notes.txt"), "w", encoding="utf-8") as file:
        file.write("A file that the format does not know, as archives have them.\n")


main()
