#!/usr/bin/env python3
"""Writes a hall with transmitters of four kinds, and a walk through it as a radio receives it: `advertisement` lines.

At each of six posts, there is an iBeacon, a beacon with Eddystone-UID, an AltBeacon, and a device that sends no beacon
format, which the packet knows by its address alone. All four have the same power at each instant, so that each kind must
locate the walk as well as the others. The bytes follow the specifications:

- Apple, Proximity Beacon Specification, R1, 2015
- Google, Eddystone Protocol Specification, UID frame, 2015
- Radius Networks, AltBeacon Protocol Specification 1.0, 2014
- Bluetooth Core Specification Supplement 11, Part A, 1.4: manufacturer specific data
"""
import gzip
import json
import math
import pathlib
import random
import struct

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 24.0, 10.0
POSTS = [(2, 1), (12, 1), (22, 1), (2, 9), (12, 9), (22, 9)]
UUID = "6C1D5B0E-3A47-4F0B-9C7E-0D5A1E2B3C4F"
NAMESPACE = "EDD1EBEAC04E5DEFA017"
# The power in dBm at 1 m, and Eddystone's at 0 m.
POWER, POWER_AT_0 = -59, -18
SPEED, INTERVAL = 1.2, 0.5
WALK = [(3, 3), (21, 3), (21, 7), (5, 7)]
FLAGS = bytes([2, 1, 6])


def structure(kind, payload):
    return bytes([len(payload) + 1, kind]) + payload


def signed(value):
    return struct.pack("b", value)


def transmitters(number):
    """The fields of the packet, the address and the advertising data of the four transmitters at a post."""
    minor = number + 1
    numbers = struct.pack(">HH", 1, minor)
    yield (
        {"uuid": UUID, "major": 1, "minor": minor}, f"C0:00:00:00:01:{minor:02X}",
        FLAGS + structure(0xFF, b"\x4c\x00\x02\x15" + bytes.fromhex(UUID.replace("-", "")) + numbers + signed(POWER)))
    instance = f"{minor:012X}"
    yield (
        {"namespace": NAMESPACE, "instance": instance}, f"C0:00:00:00:02:{minor:02X}",
        FLAGS + structure(0x03, b"\xaa\xfe") + structure(
            0x16, b"\xaa\xfe\x00" + signed(POWER_AT_0) + bytes.fromhex(NAMESPACE + instance) + b"\0\0"))
    identity = f"A17BEAC0{minor:024X}0007{minor:04X}"
    yield (
        {"altBeaconId": identity}, f"C0:00:00:00:03:{minor:02X}",
        FLAGS + structure(0xFF, b"\x18\x01\xbe\xac" + bytes.fromhex(identity) + signed(POWER) + b"\0"))
    address = f"C0:00:00:00:04:{minor:02X}"
    # 0xFFFF is the company number for tests.
    yield (
        {"address": address, "addressType": "random"}, address,
        FLAGS + structure(0xFF, b"\xff\xff" + bytes([number, 100])))


def place(t):
    """The true place at an instant; None behind the end of the walk."""
    for (x, y), (u, v) in zip(WALK, WALK[1:]):
        length = math.hypot(u - x, v - y)
        if t * SPEED <= length:
            share = t * SPEED / length
            return x + (u - x) * share, y + (v - y) * share
        t -= length / SPEED
    return None


beacons, lines = [], []
noise = random.Random(21)
for number, (x, y) in enumerate(POSTS):
    kinds = list(transmitters(number))
    for name, _, _ in kinds:
        beacons.append({**name, "mapId": 1, "x": x, "y": y, "z": 2, "measuredPower": POWER})
    t = number * 0.07
    while point := place(t):
        distance = max(1, math.hypot(point[0] - x, point[1] - y, 1))
        rssi = round(POWER - 20 * math.log10(distance) + noise.gauss(0, 3))
        for index, (_, address, data) in enumerate(kinds):
            lines.append({
                "type": "advertisement", "t": round(t + index * 0.001, 3), "address": address,
                "addressType": "random", "rssi": rssi, "data": data.hex().upper()})
        t += INTERVAL

seconds = 0.0
for here, there in zip(WALK, WALK[1:] + [None]):
    lines.append({"type": "truth", "t": round(seconds, 3), "mapId": 1, "x": here[0], "y": here[1]})
    if there:
        seconds += math.dist(here, there) / SPEED

venue = {
    "format": "indoor-localization-venue", "formatVersion": 1, "id": 21, "name": "Hall", "version": 1,
    "maps": [{"id": 1, "name": "Hall", "level": 0, "widthMeters": WIDTH, "heightMeters": HEIGHT}],
    "beacons": beacons}
header = {"type": "header", "format": "indoor-localization-recording", "version": 1, "venueId": 21}
(HERE / "venue.json").write_text(json.dumps(venue, indent=2) + "\n")
text = "".join(json.dumps(line) + "\n" for line in [header] + sorted(lines, key=lambda line: line["t"]))
(HERE / "walk.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
