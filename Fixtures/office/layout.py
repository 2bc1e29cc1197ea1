"""The office: what stands where, in metres from the plans' top-left corner, x to the right and y down."""
import math

WIDTH, HEIGHT = 36, 20
UUID = '6C1D5B0E-3A47-4F0B-9C7E-0D5A1E2B3C4F'
CENTRE = (50.1109, 8.6821)
BEARING = 23.0
GROUND, UPPER = 1, 2
DOOR = 1.0


def box(left, top, right, bottom):
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


# id: (name, map, shape, kind); a shape is a box (left, top, right, bottom) or a circle (x, y, radius).
ROOMS = {
    1: ('Lobby', GROUND, (1, 6, 9, 11.5), 'public'),
    2: ('Meeting 1', GROUND, (1, 1, 9, 6), 'meeting'),
    3: ('Workshop', GROUND, (9, 1, 17, 8.5), 'work'),
    4: ('Lab', GROUND, (17, 1, 25, 8.5), 'work'),
    5: ('Stairs ground', GROUND, (25, 1, 29, 8.5), 'stairs'),
    6: ('Elevator ground', GROUND, (29, 1, 31.5, 8.5), 'elevator'),
    7: ('Storage', GROUND, (31.5, 1, 35, 8.5), 'service'),
    8: ('Corridor ground', GROUND, (9, 8.5, 35, 11.5), 'public'),
    9: ('Cafe', GROUND, (1, 11.5, 13, 19), 'rest'),
    10: ('Office 1', GROUND, (13, 11.5, 21, 19), 'work'),
    11: ('Office 2', GROUND, (21, 11.5, 28, 19), 'work'),
    12: ('Kitchen', GROUND, (28, 11.5, 35, 19), 'rest'),
    21: ('Lounge', UPPER, (5, 4.75, 3.4), 'rest'),
    22: ('Team A', UPPER, (9, 1, 17, 8.5), 'work'),
    23: ('Team B', UPPER, (17, 1, 25, 8.5), 'work'),
    24: ('Stairs upper', UPPER, (25, 1, 29, 8.5), 'stairs'),
    25: ('Elevator upper', UPPER, (29, 1, 31.5, 8.5), 'elevator'),
    26: ('Archive', UPPER, (31.5, 1, 35, 8.5), 'service'),
    27: ('Corridor upper', UPPER, (1, 8.5, 35, 11.5), 'public'),
    28: ('Boardroom', UPPER, (1, 11.5, 10, 19), 'meeting'),
    29: ('Open office', UPPER, (10, 11.5, 22, 19), 'work'),
    30: ('Focus', UPPER, (22, 11.5, 28, 19), 'meeting'),
    31: ('Library', UPPER, (31.5, 15.25, 3.4), 'rest'),
}

# (x1, y1, x2, y2, doors): a door is (place along the wall, width).
_SHELL = [(1, 1, 35, 1, []), (1, 19, 35, 19, []), (35, 1, 35, 19, [])]
_SHAFTS = [(x, 1, x, 8.5, []) for x in (9, 17, 25, 29, 31.5)]
_NORTH = [(13, DOOR), (21, DOOR), (27, 1.6), (30.25, 1.2), (33.25, DOOR)]
WALLS = {
    GROUND: _SHELL + _SHAFTS + [
        (1, 1, 1, 19, [(10, 1.8)]),
        (1, 6, 9, 6, [(6, DOOR)]),
        (9, 8.5, 35, 8.5, _NORTH),
        (1, 11.5, 35, 11.5, [(7, 2.0), (17, DOOR), (24.5, DOOR), (31.5, DOOR)]),
        (13, 11.5, 13, 19, []), (21, 11.5, 21, 19, [(17, DOOR)]), (28, 11.5, 28, 19, []),
    ],
    UPPER: _SHELL + _SHAFTS + [
        (1, 1, 1, 19, []),
        (9, 8.5, 35, 8.5, _NORTH),
        (1, 11.5, 28, 11.5, [(5.5, 1.6), (16, 2.0), (25, DOOR)]),
        (10, 11.5, 10, 19, []), (22, 11.5, 22, 19, [(17, DOOR)]), (28, 11.5, 28, 19, []),
    ],
}

# The ground floor's second polygon is the step before the door.
WALKABLE = {GROUND: [box(1, 1, 35, 19), box(0, 9.1, 1, 10.9)], UPPER: [box(1, 1, 35, 19)]}

# (x, y, measured power, path-loss exponent); None where the installer wrote nothing down.
BEACONS = {
    GROUND: [
        (2.0, 7.0, -59, 2.2), (8.0, 10.5, -59, 2.2), (3.0, 2.0, -59, 2.3), (8.0, 5.0, -61, 2.3),
        (10.0, 2.0, -59, 2.3), (16.0, 7.5, -59, 2.3), (18.0, 2.0, -59, 2.3), (24.0, 7.5, -59, 2.3),
        (27.0, 1.6, -59, 2.0), (34.0, 2.0, -61, 2.3), (15.0, 9.0, -59, 1.9), (23.0, 11.0, -59, 1.9),
        (33.0, 9.0, -59, 1.9), (2.0, 18.0, -59, 2.2), (11.5, 13.0, None, None), (19.5, 18.0, -59, 2.3),
        (26.5, 13.0, -59, 2.3), (34.0, 18.0, None, None),
    ],
    UPPER: [
        (2.0, 2.0, -59, 2.2), (8.0, 7.5, -59, 2.2), (13.0, 2.0, -59, 2.3), (21.0, 2.0, -59, 2.3),
        (27.0, 7.5, -59, 2.0), (33.25, 2.0, -61, 2.3), (11.0, 9.0, -59, 1.9), (20.0, 11.0, -59, 1.9),
        (30.0, 9.0, -59, 1.9), (3.0, 17.0, -59, 2.2), (12.0, 13.0, -59, 2.2), (20.5, 18.0, None, None),
        (25.0, 18.0, -59, 2.3), (33.5, 17.5, -59, 2.2),
    ],
}

POIS = [
    (1, 'Reception', 'Register here.', GROUND, 4, 8, {'icon': 'desk', 'phone': '100'}),
    (2, 'Coffee machine', None, GROUND, 3, 17.5, {'icon': 'cup', 'menu': ['espresso', 'tea'], 'price': 0.5}),
    (3, 'Printer', 'A4 and A3, in colour.', GROUND, 14, 10.8, {'icon': 'printer'}),
    (4, 'First aid', None, GROUND, 34, 12.5, {'icon': 'cross', 'defibrillator': True}),
    (5, 'Whiteboard', None, UPPER, 16, 18.5, None),
    (6, 'Books', 'Take one, leave one.', UPPER, 33, 13.5, {'icon': 'book', 'shelves': 4}),
]

# (id, name, map, shape, timeout in seconds, payload)
FENCES = [
    (1, 'Welcome', GROUND, (2.5, 10, 2.0), 30, {'message': 'Welcome!'}),
    (2, 'Lunch', GROUND, (1, 11.5, 13, 19), None, {'message': 'Today: soup.', 'from': '11:30'}),
    (3, 'Stairs', GROUND, (25, 1, 29, 8.5), None, None),
    (4, 'Board meeting', UPPER, (1, 11.5, 10, 19), 10, {'quiet': True}),
    (5, 'Reading corner', UPPER, (31.5, 15.25, 3.4), None, {'quiet': True}),
]

# id: (map, x, y)
NODES = {
    1: (GROUND, 0.5, 10), 2: (GROUND, 5, 10), 3: (GROUND, 13, 10), 4: (GROUND, 21, 10), 5: (GROUND, 27, 10),
    6: (GROUND, 30.25, 10), 7: (GROUND, 33.25, 10), 8: (GROUND, 6, 3.5), 9: (GROUND, 13, 5), 10: (GROUND, 21, 5),
    11: (GROUND, 27, 3), 12: (GROUND, 30.25, 7), 13: (GROUND, 33.25, 5), 14: (GROUND, 7, 15),
    15: (GROUND, 17, 15), 16: (GROUND, 24.5, 15), 17: (GROUND, 31.5, 15), 18: (GROUND, 7, 10),
    19: (GROUND, 17, 10), 20: (GROUND, 24.5, 10),
    31: (UPPER, 27, 3), 32: (UPPER, 27, 10), 33: (UPPER, 30.25, 7), 34: (UPPER, 30.25, 10), 35: (UPPER, 21, 10),
    36: (UPPER, 16, 10), 37: (UPPER, 5.5, 10), 38: (UPPER, 5, 5), 39: (UPPER, 13, 5), 40: (UPPER, 21, 5),
    41: (UPPER, 33.25, 5), 42: (UPPER, 5.5, 15), 43: (UPPER, 16, 15), 44: (UPPER, 25, 15), 45: (UPPER, 31.5, 15),
    46: (UPPER, 13, 10), 47: (UPPER, 25, 10), 48: (UPPER, 33.25, 10),
}
EDGES = [
    (1, 2), (2, 18), (2, 8), (18, 3), (18, 14), (3, 9), (3, 19), (19, 15), (19, 4), (4, 10), (4, 20), (20, 16),
    (20, 5), (5, 11), (5, 6), (6, 12), (6, 7), (7, 13), (6, 17), (15, 16),
    (31, 32), (32, 34), (33, 34), (34, 48), (48, 41), (34, 45), (32, 47), (47, 44), (47, 35), (35, 40), (35, 36),
    (36, 43), (36, 46), (46, 39), (46, 37), (37, 38), (37, 42), (43, 44),
]
# (from, to, kind, weight, one way): the elevator costs its waiting time; the library's side door only lets out.
SPECIAL_EDGES = [(11, 31, 'stairs', 14.0, False), (12, 33, 'elevator', 30.0, False), (45, 48, 'walk', None, True)]


def wall_lines(map_id):
    """Every wall as the straight pieces between its doors."""
    lines = []
    for x1, y1, x2, y2, doors in WALLS[map_id]:
        horizontal = y1 == y2
        start, end = (x1, x2) if horizontal else (y1, y2)
        for middle, width in sorted(doors):
            lines.append((start, middle - width / 2, horizontal, y1 if horizontal else x1))
            start = middle + width / 2
        lines.append((start, end, horizontal, y1 if horizontal else x1))
    return [[[a, c], [b, c]] if horizontal else [[c, a], [c, b]] for a, b, horizontal, c in lines]


def coordinate(x, y):
    """WGS84 degrees of a point: a plane that touches the ellipsoid at the plan's centre."""
    right, up = x - WIDTH / 2, HEIGHT / 2 - y
    angle = math.radians(BEARING)
    east = right * math.cos(angle) + up * math.sin(angle)
    north = up * math.cos(angle) - right * math.sin(angle)
    latitude = math.radians(CENTRE[0])
    major, squared = 6378137.0, 0.00669437999014
    w = 1 - squared * math.sin(latitude) ** 2
    meridian, normal = major * (1 - squared) / w ** 1.5, major / math.sqrt(w)
    return {'latitude': round(CENTRE[0] + math.degrees(north / meridian), 8),
            'longitude': round(CENTRE[1] + math.degrees(east / (normal * math.cos(latitude))), 8)}
