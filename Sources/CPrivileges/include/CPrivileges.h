// The privileges of a process on Linux. Swift can call neither prctl, which is variadic, nor capset, for which glibc
// has no function.
#ifndef CPRIVILEGES_H
#define CPRIVILEGES_H

#include <stdint.h>

// The capabilities that the radio needs: CAP_NET_ADMIN and CAP_NET_RAW, as bits by their number.
static const uint64_t CPRIVILEGES_RADIO = (uint64_t)1 << 12 | (uint64_t)1 << 13;

// Removes all capabilities that `kept` doesn't contain (bit n is capability n) from the calling thread, clears the
// inheritable and ambient ones, and forbids new privileges through exec. Threads that start later inherit the result,
// so call it before the first one starts. Returns 0, or a negative error number.
int cprivileges_keep(uint64_t kept);

// Makes the capabilities in `wanted` effective, as far as they are permitted to the calling thread. A program whose
// file has permitted but not effective capabilities can also start where these capabilities are forbidden. Call it
// before the first thread starts. Returns 0, or a negative error number.
int cprivileges_raise(uint64_t wanted);

#endif
