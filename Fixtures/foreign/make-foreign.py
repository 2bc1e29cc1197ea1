#!/usr/bin/env python3
"""Writes the first seconds of the walk `one-floor` as other programs would write them, after their specifications.

The sources of each format stand in the documentation, under "Recordings of other programs".
"""
import base64
import gzip
import json
import math
import pathlib
import sqlite3
import struct
import tempfile
import zlib

HERE = pathlib.Path(__file__).parent
SECONDS = 6
START = 1_767_225_600  # 2026-01-01 00:00:00 UTC
MICRO = 1_000_000
VENUE = json.loads((HERE / "../office/venue.json").read_text())
MAP = next(m for m in VENUE["maps"] if m["id"] == 1)
HEIGHT = MAP["heightMeters"]

with gzip.open(HERE / "../recordings/one-floor/scan.jsonl.gz", "rt") as file:
    LINES = [json.loads(line) for line in file][1:]
LINES = [line for line in LINES if line["t"] < SECONDS]
BEACONS = [line for line in LINES if line["type"] == "beacon"]
# Each beacon has a static random address, whose last byte is its minor.
POWER = -59


def address(line):
    return f"C0:00:00:00:{line['major']:02X}:{line['minor']:02X}"


def address_bytes(line):
    return bytes.fromhex(address(line).replace(":", ""))[::-1]


def beacon_frame(line):
    """The payload of manufacturer data of an iBeacon, without the company."""
    uuid = bytes.fromhex(line["uuid"].replace("-", ""))
    return b"\x02\x15" + uuid + struct.pack(">HHb", line["major"], line["minor"], POWER)


def structures(line):
    """Flags and manufacturer data of Apple."""
    frame = b"\x4c\x00" + beacon_frame(line)
    return b"\x02\x01\x06" + bytes([len(frame) + 1, 0xFF]) + frame


def write(name, data):
    data = data.encode() if isinstance(data, str) else data
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    (HERE / name).write_bytes(data)


def truth_at(t):
    """The true place between two waypoints."""
    with gzip.open(HERE / "../recordings/one-floor/scan.jsonl.gz", "rt") as file:
        points = [p for p in map(json.loads, file) if p["type"] == "truth"]
    before = [p for p in points if p["t"] <= t][-1]
    after = ([p for p in points if p["t"] > t] or [before])[0]
    if before.get("hold") or after["t"] == before["t"]:
        return before["x"], before["y"]
    share = (t - before["t"]) / (after["t"] - before["t"])
    return tuple(round(before[k] + share * (after[k] - before[k]), 3) for k in "xy")


def coordinate(x, y):
    """The place on Earth of a point, on a sphere that touches the ellipsoid at the plan's centre."""
    center, bearing = MAP["georeference"]["center"], math.radians(MAP["georeference"]["bearing"])
    right, up = x - MAP["widthMeters"] / 2, HEIGHT / 2 - y
    east = right * math.cos(bearing) + up * math.sin(bearing)
    north = up * math.cos(bearing) - right * math.sin(bearing)
    latitude = math.radians(center["latitude"])
    curve = 1 - 0.00669437999 * math.sin(latitude) ** 2
    meridian = 6378137 * (1 - 0.00669437999) / curve**1.5
    parallel = 6378137 / curve**0.5 * math.cos(latitude)
    return center["latitude"] + math.degrees(north / meridian), center["longitude"] + math.degrees(east / parallel)


# CSV

rows = ["RSSI (dBm),minor,major,UUID,Timestamp,x,y,map"]
for line in BEACONS:
    x, y = truth_at(line["t"])
    rows.append(f"{line['rssi']},{line['minor']},{line['major']},{line['uuid']},{START + line['t']:.3f},{x},{y},1")
write("walk.csv", "\r\n".join(rows) + "\r\n")

# Packets of the link layer


def checksum(pdu):
    """The CRC of Bluetooth LE: Core Specification 5.4, Vol 6 Part B, 3.1.1."""
    register = 0x555555
    for byte in pdu:
        for bit in range(8):
            feedback = (register >> 23 ^ byte >> bit) & 1
            register = register << 1 & 0xFFFFFF
            if feedback:
                register ^= 0x00065B
    return bytes(int(f"{register >> shift & 0xFF:08b}"[::-1], 2) for shift in (16, 8, 0))


def link_layer(line):
    """ADV_NONCONN_IND with a random address, from its access address to its CRC."""
    payload = address_bytes(line) + structures(line)
    pdu = bytes([0x42, len(payload)]) + payload
    return b"\xd6\xbe\x89\x8e" + pdu + checksum(pdu)


def with_header(line):
    """LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR: de-whitened, valid signal, checked and valid CRC."""
    return struct.pack("<BbbBIH", 37, line["rssi"], -128, 0, 0x8E89BED6, 0x0001 | 0x0002 | 0x0010 | 0x0C00) + link_layer(line)


def nordic(number, line):
    """LINKTYPE_NORDIC_BLE of protocol version 3."""
    packet = struct.pack("<BBBBHI", 10, 0x01, 37, -line["rssi"], 0, int(line["t"] * MICRO)) + link_layer(line)
    return struct.pack("<BHBHB", 0, len(packet), 3, number & 0xFFFF, 0x06 if number % 2 else 0x02) + packet


def hci(line):
    """LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR: received, an event with one legacy advertising report."""
    data = structures(line)
    report = b"\x03\x01" + address_bytes(line) + bytes([len(data)]) + data + struct.pack("b", line["rssi"])
    return struct.pack(">I", 1) + b"\x04\x3e" + bytes([len(report) + 2]) + b"\x02\x01" + report


def pcap(link_type, packets):
    """A pcap file with microseconds, the least significant byte first."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for t, packet in packets:
        micro = round((START + t) * MICRO)
        data += struct.pack("<IIII", micro // MICRO, micro % MICRO, len(packet), len(packet)) + packet
    return data


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack(">II", kind, len(body) + 12) + body + struct.pack(">I", len(body) + 12)


def pcapng(link_type, packets):
    """A pcapng file with nanoseconds, the most significant byte first."""
    data = block(0x0A0D0D0A, struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(1, struct.pack(">HHI", link_type, 0, 65535) + struct.pack(">HHBxxx", 9, 1, 9) + struct.pack(">HH", 0, 0))
    for t, packet in packets:
        nano = round((START + t) * MICRO) * 1000
        data += block(6, struct.pack(">IIIII", 0, nano >> 32, nano & 0xFFFFFFFF, len(packet), len(packet)) + packet)
    return data


write("hci.pcap", pcap(201, [(line["t"], hci(line)) for line in BEACONS]))
write("link-layer.pcap", pcap(256, [(line["t"], with_header(line)) for line in BEACONS]))
write("nordic.pcapng", pcapng(272, [(line["t"], nordic(n, line)) for n, line in enumerate(BEACONS)]))
write("without-signal.pcap", pcap(251, [(line["t"], link_layer(line)) for line in BEACONS[:3]]))

# Kismet: the device records of its event stream, each when its device was heard


def device(line):
    return {
        "kismet.device.base.key": "0_" + address(line).replace(":", ""),
        "kismet.device.base.macaddr": address(line),
        "kismet.device.base.phyname": "BTLE",
        "kismet.device.base.type": "BTLE",
        "kismet.device.base.last_time": START + int(line["t"]),
        "kismet.device.base.signal": {
            "kismet.common.signal.type": "dbm",
            "kismet.common.signal.last_signal": line["rssi"],
        },
        "bluetooth.device": {
            "bluetooth.device.scan_data_bytes": structures(line).hex().upper(),
            "bluetooth.device.txpower": 0,
        },
    }


write("kismet.jsonl.gz", "".join(json.dumps(device(line)) + "\n" for line in BEACONS))
# A snapshot of all devices, in no order of time.
latest = {address(line): line for line in BEACONS}
snapshot = [device(line) for line in sorted(latest.values(), key=lambda line: (line["rssi"], address(line)))]
wifi = {"kismet.device.base.macaddr": "02:00:00:00:00:01", "kismet.device.base.phyname": "IEEE802.11"}
write("kismet.json", json.dumps([wifi] + snapshot, indent=1) + "\n")

# The log of Kismet, version 10: packets of a sniffer, reports of HCI, and the devices


def kismet_log(name, packets, reports, devices):
    """Each with the columns that Kismet 2025 creates. Pages of 512 bytes make a small file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        log = sqlite3.connect(path)
        log.execute("PRAGMA page_size = 512")
        log.execute("CREATE TABLE KISMET (kismet_version TEXT, db_version INT, db_module TEXT)")
        log.execute("INSERT INTO KISMET VALUES ('2025.9.0-0', 10, 'kismetlog')")
        log.execute(
            "CREATE TABLE devices (first_time INT, last_time INT, devkey TEXT, phyname TEXT, devmac TEXT, strongest_signal INT, "
            "min_lat REAL, min_lon REAL, max_lat REAL, max_lon REAL, avg_lat REAL, avg_lon REAL, bytes_data INT, type TEXT, "
            "device BLOB, UNIQUE(phyname, devmac) ON CONFLICT REPLACE)")
        log.execute(
            "CREATE TABLE packets (ts_sec INT, ts_usec INT, phyname TEXT, sourcemac TEXT, destmac TEXT, transmac TEXT, "
            "frequency REAL, devkey TEXT, lat REAL, lon REAL, alt REAL, speed REAL, heading REAL, packet_len INT, signal INT, "
            "datasource TEXT, dlt INT, packet BLOB, error INT, tags TEXT, datarate REAL, hash INT, packetid INT, "
            "packet_full_len INT)")
        log.execute(
            "CREATE TABLE data (ts_sec INT, ts_usec INT, phyname TEXT, devmac TEXT, lat REAL, lon REAL, alt REAL, speed REAL, "
            "heading REAL, datasource TEXT, type TEXT, json BLOB, signal INT)")
        for t, phy, link_type, signal, packet, error in packets:
            micro = round((START + t) * MICRO)
            log.execute(
                "INSERT INTO packets (ts_sec, ts_usec, phyname, packet_len, signal, dlt, packet, error) VALUES (?,?,?,?,?,?,?,?)",
                (micro // MICRO, micro % MICRO, phy, len(packet), signal, link_type, packet, error))
        for t, kind, report, signal in reports:
            micro = round((START + t) * MICRO)
            log.execute(
                "INSERT INTO data (ts_sec, ts_usec, phyname, type, json, signal) VALUES (?,?,'Bluetooth',?,?,?)",
                (micro // MICRO, micro % MICRO, kind, json.dumps(report), signal))
        for item in devices:
            log.execute(
                "INSERT INTO devices (last_time, phyname, devmac, device) VALUES (?,?,?,?)",
                (item.get("kismet.device.base.last_time", START), item.get("kismet.device.base.phyname"),
                 item["kismet.device.base.macaddr"], json.dumps(item).encode()))
        log.commit()
        log.close()
        data = bytearray(path.read_bytes())
    # The version of SQLite that wrote the file (Database File Format, 1.3.20).
    data[96:100] = struct.pack(">I", 3_040_001)
    write(name, bytes(data))


kismet_log(
    "walk.kismet",
    [(line["t"], "BTLE", 251, line["rssi"], link_layer(line), 0) for line in BEACONS]
    + [(SECONDS, "IEEE802.11", 127, -40, bytes(40), 0), (SECONDS, "BTLE", 251, -60, link_layer(BEACONS[0]), 1),
       (SECONDS, "BTLE", 256, -60, with_header({**BEACONS[0], "rssi": -61}), 0)],
    [(0.5, "linuxbthci", {"addr": "C0:00:00:00:00:FB", "name": "plate", "type": 2}, -72),
     (1.5, "linuxbthci", {"addr": "02:00:00:00:00:FA", "name": "phone", "type": 0}, -50),
     (2.5, "BLUETOOTHSCAN", {"btaddr": address(BEACONS[0]), "signal": -66, "scan_data": structures(BEACONS[0]).hex()}, 0),
     (2.5, "RTL433", {"model": "sensor"}, 0)],
    [wifi])
kismet_log("devices.kismet.gz", [(0, "IEEE802.11", 127, -40, bytes(40), 0)], [], [wifi] + snapshot)

# Android's bug report with compressed packets (btsnooz), of both versions


def btsnooz(version, packets):
    """Packets as (seconds, type, bytes); the times in the records are microseconds since the record before."""
    records, before = b"", None
    for t, kind, packet in packets:
        micro = round((START + t) * MICRO)
        lengths = struct.pack("<H", len(packet) + 1) * version
        records += lengths + struct.pack("<IB", micro - (before or micro), kind) + packet
        before = micro
    text = base64.b64encode(struct.pack("<BQ", version, before) + zlib.compress(records, 9)).decode()
    lines = "\n".join(text[start:start + 76] for start in range(0, len(text), 76))
    return f"--- BEGIN:BTSNOOP_LOG_SUMMARY ({len(records)} bytes in) ---\n{lines}\n--- END:BTSNOOP_LOG_SUMMARY ---\n"


# An event without the four bytes of the direction and the byte of its type, after a command to scan.
events = [(0, 0x20, b"\x0c\x20\x02\x01\x00")] + [(line["t"], 0x10, hci(line)[5:]) for line in BEACONS]
report = "========================================================\n== dumpstate: 2026-01-01 00:01:00\n"
report += "-" * 60 + "\nDUMP OF SERVICE bluetooth_manager:\nBluetooth Status\n  enabled: true\n"
half = len(events) // 2
write("bugreport.txt", report + btsnooz(1, events[:half]) + "  between\n" + btsnooz(2, events[half:]) + "  end\n")

# Messages of gateways

messages = []
for line in BEACONS:
    payload = {"id": address(line), "mac_type": 1, "rssi": line["rssi"], "manufacturerdata": "4c00" + beacon_frame(line).hex()}
    topic = f"home/TheengsGateway/BTtoMQTT/{address(line).replace(':', '')}"
    messages.append(f"{START + line['t']:.3f} {topic} {json.dumps(payload)}\n")
write("theengs.log", "".join(messages))
# As `mosquitto_sub -v` prints it, without times: each beacon of the walk stands for a node that hears one tag.
messages = []
for line in BEACONS:
    payload = {"mac": "c00000000001", "id": "phone:walker", "rssi@1m": -59, "rssi": line["rssi"], "distance": 1.0}
    messages.append(f"espresense/devices/phone:walker/node_{line['major']}_{line['minor']} {json.dumps(payload)}\n")
write("espresense.log", "".join(messages))

# esp32-ble2mqtt: a topic for each value
messages = []
for line in BEACONS:
    values = [("Type", "iBeacon"), ("RSSI", line["rssi"]), ("UUID", line["uuid"].lower()), ("Major", line["major"]),
              ("Minor", line["minor"]), ("Distance", "1.00")]
    for name, value in values:
        messages.append(f"{START + line['t']:.3f} BLE2MQTT-1234/{address(line).lower()}/{name} {value}\n")
write("ble2mqtt.log.gz", "".join(messages))

# Phones

text = """% LogFile created by the 'GetSensorData' App for Android.
% Manufacturer:            \tsimulator
% Model:                   \tone-floor
"""
trace = f"#\tstartTime:{START * 1000}\n#\tBrand:simulator\tModel:one-floor\tAndroidName:9\tAPILevel:28\n"
for line in LINES:
    t, ms = line["t"], START * 1000 + round(line["t"] * 1000)
    if line["type"] == "beacon":
        text += f"BLE4;{t:.3f};iBeacon;{address(line)};{line['rssi']};{POWER};{line['major']};{line['minor']};{line['uuid'].lower()}\n"
        trace += f"{ms}\tTYPE_BEACON\t{line['uuid']}\t{line['major']}\t{line['minor']}\t{POWER}\t{line['rssi']}\t1.5\t{address(line)}\t{ms}\n"
    elif line["type"] == "motion":
        for word, name, key in [("ACCE", "ACCELEROMETER", "acceleration"), ("GYRO", "GYROSCOPE", "rotationRate")]:
            text += f"{word};{t:.3f};{t:.3f};" + ";".join(map(str, line[key])) + ";3\n"
            trace += f"{ms}\tTYPE_{name}\t" + "\t".join(map(str, line[key])) + "\t3\n"
    elif line["type"] == "pressure":
        text += f"PRES;{t:.3f};{t:.3f};{line['hPa']};3\n"
    elif line["type"] == "truth":
        latitude, longitude = coordinate(line["x"], line["y"])
        text += f"POSI;{t:.3f};1;{latitude:.9f};{longitude:.9f};0;0\n"
        trace += f"{ms}\tTYPE_WAYPOINT\t{line['x']}\t{round(HEIGHT - line['y'], 3)}\n"
text += f"WIFI;{SECONDS};{SECONDS};network;02:00:00:00:00:01;2412;-60\n"
text += f"BLE4;{SECONDS};Eddystone;C0:00:00:00:00:FF;-70;000000000001\n"
text += f"GNSS;{SECONDS};{SECONDS};52.5;13.25;40.0;0.0;8.0;1.2;9;7\n"
trace += f"{(START + SECONDS) * 1000}\tTYPE_WIFI\tnetwork\t02:00:00:00:00:01\t-60\t2412\t{(START + SECONDS) * 1000}\n"
write("getsensordata.txt.gz", text)
write("indoor-location.txt.gz", trace)

# Bleak

objects = []
for line in BEACONS:
    objects.append({
        "time": round(START + line["t"], 3), "address": address(line), "rssi": line["rssi"], "local_name": None,
        "manufacturer_data": {"76": beacon_frame(line).hex()}, "service_data": {}, "service_uuids": [], "tx_power": None,
    })
eddystone = "00" + "c5" + "00010203040506070809" + "0a0b0c0d0e0f" + "0000"
objects.append({
    "time": START + SECONDS, "device": {"address": "C0:00:00:00:00:FE", "name": "Plate"},
    "advertisement": {
        "rssi": -70, "service_uuids": ["0000feaa-0000-1000-8000-00805f9b34fb"],
        "service_data": {"0000feaa-0000-1000-8000-00805f9b34fb": eddystone},
    },
})
altbeacon = list(bytes.fromhex("beac" + "7c2f0a1000004000800000000000000300010002" + "c5" + "00"))
objects.append({"time": START + SECONDS, "address": "C0:00:00:00:00:FD", "rssi": -71, "manufacturer_data": {"280": altbeacon}})
write("bleak.jsonl", "".join(json.dumps(item) + "\n" for item in objects))
