/// Plain C that does what hot loops of the package do, for `indoorloc bench` to compare with, and a count of allocations.
#ifndef CBENCH_H
#define CBENCH_H

#include <stddef.h>
#include <stdint.h>

/// An iBeacon, AltBeacon or Eddystone-UID frame as it was heard.
struct cbench_sighting {
    uint64_t uuid_high;
    uint64_t uuid_low;
    uint64_t address;
    uint16_t major;
    uint16_t minor;
    int8_t measured_power;
    int8_t rssi;
};

/// Finds the beacons in the advertising reports of an HCI event that begins with its event code.
///
/// Bounds and values are checked as the package does; fragments are not put together. Writes at most `capacity` sightings; returns how many there are, and -1 where the event is malformed.
long cbench_decode(const uint8_t *event, size_t length, struct cbench_sighting *sightings, size_t capacity);

/// How often the calling thread has asked for memory; always 0 where a sanitizer brings its own allocator.
uint64_t cbench_allocations(void);

#endif
