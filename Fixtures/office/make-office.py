#!/usr/bin/env python3
"""Makes the office: venue.json, a plan and a zip of Deep Zoom tiles for each floor. The same bytes each time.

usage: make-office.py [FOLDER]   (default: the folder of this script)
"""
import io
import json
import os
import sys
import zipfile

import layout
from picture import Picture

PIXELS_PER_METRE = 30
TILE = 256
FLOORS = {layout.GROUND: ('Ground floor', 'ground'), layout.UPPER: ('Upper floor', 'upper')}

PAPER, WALL, TEXT, FAINT = (250, 250, 247), (52, 58, 70), (70, 77, 92), (176, 182, 193)
BEACON = (30, 111, 217)
FILL = {
    'public': (240, 238, 229), 'meeting': (252, 232, 205), 'work': (222, 236, 249), 'rest': (224, 243, 223),
    'service': (233, 231, 238), 'stairs': (245, 222, 222), 'elevator': (245, 222, 222),
}


def area(shape):
    if len(shape) == 4:
        return {'polygon': layout.box(*shape)}
    return {'x': shape[0], 'y': shape[1], 'radius': shape[2]}


def without_none(fields):
    return {key: value for key, value in fields.items() if value is not None}


def venue():
    maps = []
    for map_id, (name, file) in FLOORS.items():
        if map_id == layout.GROUND:
            georeference = {'center': dict(zip(('latitude', 'longitude'), layout.CENTRE)), 'bearing': layout.BEARING}
        else:
            corners = [(1, 1), (35, 1), (35, 19), (1, 19)]
            georeference = {'controlPoints': [{'x': x, 'y': y, **layout.coordinate(x, y)} for x, y in corners]}
        maps.append({
            'id': map_id, 'name': name, 'level': map_id - 1, 'widthMeters': layout.WIDTH,
            'heightMeters': layout.HEIGHT, 'widthPixels': layout.WIDTH * PIXELS_PER_METRE,
            'heightPixels': layout.HEIGHT * PIXELS_PER_METRE, 'elevation': 3.6 * (map_id - 1),
            'image': f'plans/{file}.png', 'tiles': f'tiles/{file}.zip', 'georeference': georeference,
            'walls': layout.wall_lines(map_id), 'walkable': layout.WALKABLE[map_id]})
    return {
        'format': 'indoor-localization-venue', 'formatVersion': 1, 'id': 1, 'name': 'Office', 'version': 1,
        'coordinate': dict(zip(('latitude', 'longitude'), layout.CENTRE)), 'radius': 30, 'maps': maps,
        'beacons': beacons(),
        'rooms': [{'id': key, 'name': name, 'mapId': map_id, **area(shape)}
                  for key, (name, map_id, shape, _) in layout.ROOMS.items()],
        'pois': [without_none({'id': key, 'name': name, 'description': text, 'mapId': map_id, 'x': x, 'y': y,
                               'payload': payload})
                 for key, name, text, map_id, x, y, payload in layout.POIS],
        'events': [without_none({'id': key, 'name': name, 'mapId': map_id, **area(shape), 'timeout': timeout,
                                 'payload': payload})
                   for key, name, map_id, shape, timeout, payload in layout.FENCES],
        'paths': {
            'nodes': [{'id': key, 'mapId': map_id, 'x': x, 'y': y} for key, (map_id, x, y) in layout.NODES.items()],
            'edges': [{'from': a, 'to': b} for a, b in layout.EDGES] + [
                without_none({'from': a, 'to': b, 'weight': weight, 'kind': kind, 'oneWay': one_way or None})
                for a, b, kind, weight, one_way in layout.SPECIAL_EDGES]},
        'settings': {'positioning': {'particleCount': 1500}, 'rssiThreshold': -100},
    }


def beacons():
    entries = []
    for map_id, places in layout.BEACONS.items():
        for number, (x, y, power, exponent) in enumerate(places, 1):
            entries.append(without_none({
                'uuid': layout.UUID, 'major': map_id, 'minor': number,
                # A few have their device address written down, as half-finished installations do.
                'address': f'C4:7C:8D:00:{map_id:02X}:{number:02X}' if number <= 2 else None,
                'mapId': map_id, 'x': x, 'y': y, 'z': 2.6, 'measuredPower': power, 'pathLossExponent': exponent}))
    return entries


def text_of(value, indent=''):
    """JSON with an entry a line: short enough to read, long enough to compare."""
    if isinstance(value, dict) and (not indent or indent == '  ') and any(
            isinstance(v, (dict, list)) for v in value.values()):
        inner = indent + '  '
        fields = [f'{inner}{json.dumps(k)}: {text_of(v, inner)}' for k, v in value.items()]
        return '{\n' + ',\n'.join(fields) + '\n' + indent + '}'
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return '[\n' + ',\n'.join(indent + '  ' + json.dumps(v) for v in value) + '\n' + indent + ']'
    return json.dumps(value)


# MARK: plans

def pixels(x, y):
    return x * PIXELS_PER_METRE, y * PIXELS_PER_METRE


def plan(map_id):
    picture = Picture(layout.WIDTH * PIXELS_PER_METRE, layout.HEIGHT * PIXELS_PER_METRE, PAPER)
    picture.polygon([pixels(x, y) for x, y in layout.box(1, 1, 35, 19)], FILL['public'])
    rooms = [room for room in layout.ROOMS.values() if room[1] == map_id]
    for _, _, shape, kind in rooms:
        if len(shape) == 4:
            picture.polygon([pixels(x, y) for x, y in layout.box(*shape)], FILL[kind])
        else:
            picture.disc(pixels(*shape[:2]), shape[2] * PIXELS_PER_METRE, FILL[kind])
    for _, _, shape, kind in rooms:
        if kind == 'stairs':
            for step in range(7):
                y = 1.6 + step * 0.45
                picture.line(pixels(25.8, y), pixels(28.2, y), 2, FAINT)
            picture.line(pixels(27, 1.6), pixels(27, 4.3), 2, FAINT)
        if kind == 'elevator':
            corners = layout.box(29.35, 5.2, 31.15, 7.6)
            for a, b in zip(corners, corners[1:] + corners[:1]):
                picture.line(pixels(*a), pixels(*b), 2, FAINT)
            picture.line(pixels(*corners[0]), pixels(*corners[2]), 2, FAINT)
            picture.line(pixels(*corners[1]), pixels(*corners[3]), 2, FAINT)
    for (ax, ay), (bx, by) in layout.wall_lines(map_id):
        picture.line(pixels(ax, ay), pixels(bx, by), 6 if on_shell(ax, ay, bx, by) else 4, WALL)
    for name, _, shape, kind in rooms:
        label(picture, name, shape, kind)
    for x, y, _, _ in layout.BEACONS[map_id]:
        picture.disc(pixels(x, y), 9, BEACON, 0.22)
        picture.disc(pixels(x, y), 5, BEACON)
        picture.disc(pixels(x, y), 1.8, PAPER)
    scale_bar(picture)
    return picture


def on_shell(ax, ay, bx, by):
    return ax == bx in (1, 35) or ay == by in (1, 19)


def label(picture, name, shape, kind):
    name = name.replace(' ground', '').replace(' upper', '')
    if len(shape) == 3:
        x, y = shape[0], shape[1]
    else:
        x, y = (shape[0] + shape[2]) / 2, (shape[1] + shape[3]) / 2
    if kind in ('stairs', 'elevator'):
        y = 6.0 if kind == 'stairs' else 3.2
    scale = 1 if kind == 'elevator' else 2
    picture.text(pixels(x, y), name, scale, TEXT)


def scale_bar(picture):
    y = layout.HEIGHT - 0.5
    picture.line(pixels(1, y), pixels(6, y), 2, TEXT)
    for x in (1, 6):
        picture.line(pixels(x, y - 0.15), pixels(x, y + 0.15), 2, TEXT)
    picture.text(pixels(6.8, y), '5 M', 2, TEXT)


def tiles(picture):
    """A zip of /{z}/{x}/{y}.png: Deep Zoom levels, each half the size of the next, down to a single pixel."""
    buffer = io.BytesIO()
    level = max(picture.width, picture.height, 1) - 1
    level = level.bit_length()
    with zipfile.ZipFile(buffer, 'w', zipfile.ZIP_STORED) as archive:
        while True:
            for x in range((picture.width + TILE - 1) // TILE):
                for y in range((picture.height + TILE - 1) // TILE):
                    entry = zipfile.ZipInfo(f'{level}/{x}/{y}.png', (2024, 1, 1, 0, 0, 0))
                    entry.external_attr = 0o644 << 16
                    entry.create_system = 3
                    archive.writestr(entry, picture.part(x * TILE, y * TILE, TILE, TILE).png())
            if level == 0:
                break
            picture, level = picture.halved(), level - 1
    return buffer.getvalue()


def write(folder, name, content):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    write(folder, 'venue.json', (text_of(venue()) + '\n').encode())
    for map_id, (_, file) in FLOORS.items():
        picture = plan(map_id)
        write(folder, f'plans/{file}.png', picture.png())
        write(folder, f'tiles/{file}.zip', tiles(picture))


main()
