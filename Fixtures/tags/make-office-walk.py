#!/usr/bin/env python3
"""Makes an office whose gateways receive a tag: the venue and the gateways' messages. The same bytes each time.

The walk is the recording `one-floor`, with the roles exchanged: its beacons stand for gateways, and its device for a tag.
A line of `office-walk.txt` has the seconds since the line before, the topic and the message.
"""
import gzip
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.dirname(HERE)
ADDRESS = 'C3:00:00:12:AB:34'
UUID = '3f2504e04f8941d39a0c0305e82c3301'
# A gateway reports a tag at most once in this time, and not below this RSSI in dBm.
SECONDS, WEAKEST = 1.0, -92


def name(entry):
    return f'{"ground" if entry["major"] == 1 else "upper"}-{entry["minor"]:02}'


def venue():
    with open(f'{FIXTURES}/office/venue.json', encoding='utf-8') as file:
        office = json.load(file)
    for plan in office['maps']:
        del plan['image'], plan['tiles'], plan['widthPixels'], plan['heightPixels']
    office['name'] = 'Office with gateways'
    office['beacons'] = [
        {'role': 'receiver', 'id': name(entry), 'aliases': [entry['address']] if 'address' in entry else [],
         **{key: entry[key] for key in ('mapId', 'x', 'y', 'z', 'measuredPower', 'pathLossExponent') if key in entry}}
        for entry in office['beacons']]
    for entry in office['beacons']:
        if not entry['aliases']:
            del entry['aliases']
    office.pop('interactions', None)
    return office


def text(value, depth=0):
    """JSON with one entry of an array in a line."""
    if isinstance(value, dict) and depth == 0:
        parts = [f'  {json.dumps(key)}: {text(item, 1)}' for key, item in value.items()]
        return '{\n' + ',\n'.join(parts) + '\n}'
    if isinstance(value, list) and depth == 1:
        return '[\n' + ',\n'.join(f'    {json.dumps(item, ensure_ascii=False)}' for item in value) + '\n  ]'
    return json.dumps(value, ensure_ascii=False)


def messages():
    last, latest = 0.0, {}
    with gzip.open(f'{FIXTURES}/recordings/one-floor/scan.jsonl.gz', 'rt', encoding='utf-8') as file:
        for line in file:
            entry = json.loads(line)
            if entry['type'] != 'beacon' or entry['rssi'] < WEAKEST:
                continue
            gateway, t = name(entry), entry['t']
            if t - latest.get(gateway, -SECONDS) < SECONDS:
                continue
            latest[gateway] = t
            message = {'id': ADDRESS, 'rssi': entry['rssi'], 'model_id': 'IBEACON', 'mfid': '4c00', 'uuid': UUID,
                       'major': 1, 'minor': 7, 'txpower': -59}
            topic = f'home/{gateway}/BTtoMQTT/{ADDRESS.replace(":", "")}'
            yield f'{t - last:.3f} {topic} {json.dumps(message, separators=(",", ":"))}\n'
            last = t


def write(path, content):
    with open(f'{HERE}/{path}', 'w', encoding='utf-8') as file:
        file.write(content)


write('office/venue.json', text(venue()) + '\n')
write('office-walk.txt', ''.join(messages()))
write('tags.csv', f'key,name,power,class,aliases\n{ADDRESS},Trolley,-59,standard,{UUID[:8]}-{UUID[8:12]}-{UUID[12:16]}-'
      f'{UUID[16:20]}-{UUID[20:]}/1/7\n')
