/// Plain C versions of the package's hot loops, as a reference for `indoorloc bench`, an allocation counter, and marks.
#ifndef CBENCH_H
#define CBENCH_H

#include <stddef.h>
#include <stdint.h>

/// A received iBeacon, AltBeacon or Eddystone-UID frame.
struct cbench_sighting {
    uint64_t uuid_high;
    uint64_t uuid_low;
    uint64_t address;
    uint16_t major;
    uint16_t minor;
    /// In dBm; 0 if the beacon sends no valid one.
    int16_t measured_power;
    int8_t rssi;
};

/// Finds the beacons in the advertising reports of an HCI event that begins with its event code.
///
/// The function checks bounds and values as the package does, but does not reassemble fragments. It writes at most
/// `capacity` sightings, and returns the number of sightings found, or -1 if the event is malformed.
long cbench_decode(const uint8_t *event, size_t length, struct cbench_sighting *sightings, size_t capacity);

/// A reading of one beacon, and the table of its expected values.
struct cbench_beacon {
    const float *mean;
    const float *variance;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The reading in dBm, and its variance in dB² without that of the table.
    float rssi;
    float noise;
    float share;
    float caution;
    /// The position of the beacon in metres.
    float x;
    float y;
    float outside;
    float freedom;
};

/// The state of a particle: its position, and its estimate of the receiver.
struct cbench_particle {
    float x;
    float y;
    /// The particle's cell in the grid; -1 is outside.
    int32_t cell;
    /// Mean and covariance of the offset, body x and body y.
    float mean[3];
    float covariance[6];
};

/// Adds the logarithm of each beacon's likelihood to the sum of each particle, and updates the particle's receiver.
///
/// This is a plain loop over particles, with its own logarithm, which the compiler vectorizes where it can.
void cbench_hear(
    const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, struct cbench_particle *particles,
    size_t count, float *sums);

/// Returns the number of allocations of the calling thread; always 0 if a sanitizer provides its own allocator.
uint64_t cbench_allocations(void);

/// Returns the bytes that the calling thread has allocated and not freed; 0 if a sanitizer provides its own allocator.
int64_t cbench_bytes(void);

/// Returns the bytes that all threads have allocated and not freed, as glibc counts them; 0 with another C library.
int64_t cbench_heap_bytes(void);

/// Returns the maximum of `cbench_bytes` on the calling thread since it last called `cbench_forget_most`.
int64_t cbench_most_bytes(void);
void cbench_forget_most(void);

/// Marks the beginning and the end of the work whose instructions valgrind counts on its emulated processor, with the
/// options `--zero-before=cbench_begin` and `--dump-before=cbench_end`. The functions do nothing.
void cbench_begin(void);
void cbench_end(void);

#endif
