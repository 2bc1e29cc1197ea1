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

/// One beacon's reading against a table of what is expected of it.
struct cbench_beacon {
    const float *mean;
    const float *variance;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The reading in dBm, and its variance in dB² but for the table's.
    float rssi;
    float noise;
    float share;
    float caution;
    /// Where the beacon is, in metres.
    float x;
    float y;
    float outside;
    float freedom;
};

/// What a particle knows of its place and its receiver.
struct cbench_particle {
    float x;
    float y;
    /// Its cell in the grid; -1 is nowhere.
    int32_t cell;
    /// Mean and covariance of offset, body x and body y.
    float mean[3];
    float covariance[6];
};

/// Adds the logarithm of each beacon's likelihood to the sum of each particle, whose receiver learns of it: a plain loop over
/// particles, with a logarithm of its own that the compiler makes vectors of where it can.
void cbench_hear(
    const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, struct cbench_particle *particles,
    size_t count, float *sums);

/// How often the calling thread has asked for memory; always 0 where a sanitizer brings its own allocator.
uint64_t cbench_allocations(void);

/// Bytes that the calling thread has asked for less those that it has given back; 0 where a sanitizer brings its own.
int64_t cbench_bytes(void);

/// The most that `cbench_bytes` came to on the calling thread since `cbench_forget_most` was called there.
int64_t cbench_most_bytes(void);
void cbench_forget_most(void);

#endif
