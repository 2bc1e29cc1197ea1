#include "CBench.h"

static uint64_t big_endian_64(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
    return value;
}

static void take_identity(const uint8_t *bytes, int has_groups, struct cbench_sighting *sighting) {
    sighting->uuid_high = big_endian_64(bytes);
    sighting->uuid_low = big_endian_64(bytes + 8);
    sighting->major = has_groups ? (uint16_t)(bytes[16] << 8 | bytes[17]) : 0;
    sighting->minor = has_groups ? (uint16_t)(bytes[18] << 8 | bytes[19]) : 0;
}

/// Decodes the beacon in manufacturer data. Returns 1 if there is one, 0 if not, and -1 if it is malformed.
static int manufacturer(const uint8_t *payload, size_t length, struct cbench_sighting *sighting) {
    if (length > 2 && payload[0] == 0x4C && payload[1] == 0x00 && payload[2] == 0x02) {
        if (length != 25 || payload[3] != 0x15) return -1;
    } else if (length >= 4 && payload[2] == 0xBE && payload[3] == 0xAC) {
        if (length != 26) return -1;
    } else {
        return 0;
    }
    sighting->measured_power = (int8_t)payload[24];
    if (sighting->measured_power == -128) sighting->measured_power = 0;
    if (sighting->measured_power > 0) sighting->measured_power = 0;
    take_identity(payload + 4, 1, sighting);
    return 1;
}

/// Decodes the Eddystone-UID in service data.
static int service(const uint8_t *payload, size_t length, struct cbench_sighting *sighting) {
    if (length < 3 || payload[0] != 0xAA || payload[1] != 0xFE || payload[2] != 0x00) return 0;
    if (length != 22 && length != 20) return -1;
    int power = (int8_t)payload[3];
    int is_valid = power >= -100 && power <= 20;
    sighting->measured_power = (int16_t)(is_valid ? power - 41 : 0);
    take_identity(payload + 4, 0, sighting);
    return 1;
}

/// Decodes the first beacon in AD structures. Returns 1 if there is one, 0 if not, and -1 if a structure before it is
/// malformed.
static int beacon(const uint8_t *data, size_t length, struct cbench_sighting *sighting) {
    size_t offset = 0;
    while (offset < length && data[offset] != 0) {
        size_t count = data[offset];
        if (count > length - offset - 1) return -1;
        int result = 0;
        if (data[offset + 1] == 0xFF) {
            result = manufacturer(data + offset + 2, count - 1, sighting);
        } else if (data[offset + 1] == 0x16) {
            result = service(data + offset + 2, count - 1, sighting);
        }
        if (result != 0) return result;
        offset += count + 1;
    }
    return 0;
}

static uint64_t address(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 0; i < 6; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

long cbench_decode(const uint8_t *event, size_t length, struct cbench_sighting *sightings, size_t capacity) {
    if (length < 4 || event[0] != 0x3E || (size_t)event[1] + 2 != length) return -1;
    int is_extended = event[2] == 0x0D;
    if (!is_extended && event[2] != 0x02) return 0;
    size_t head = is_extended ? 24 : 9;
    size_t tail = is_extended ? 0 : 1;
    size_t offset = 4;
    long found = 0;
    for (int report = 0; report < event[3]; report++) {
        if (length - offset < head + tail) return -1;
        const uint8_t *bytes = event + offset;
        size_t count = bytes[head - 1];
        if (!is_extended && (count > 31 || bytes[0] > 4)) return -1;
        if (length - offset < head + count + tail) return -1;
        int8_t rssi = (int8_t)(is_extended ? bytes[13] : bytes[head + count]);
        struct cbench_sighting sighting;
        if (rssi < 0 && rssi >= -127 && beacon(bytes + head, count, &sighting) > 0) {
            sighting.address = address(bytes + (is_extended ? 3 : 2));
            sighting.rssi = rssi;
            if ((size_t)found < capacity) sightings[found] = sighting;
            found++;
        }
        offset += head + count + tail;
    }
    return offset == length ? found : -1;
}
