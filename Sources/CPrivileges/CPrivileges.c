#include "CPrivileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Version 3 of the structures describes 64 capabilities in two words.
enum { words = 2 };

int cprivileges_keep(uint64_t kept) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) { return -errno; }
    // The loop ends with an error at the first number that the kernel doesn't know. Without CAP_SETPCAP, nothing can be
    // removed, but new privileges are forbidden anyway.
    for (int number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++) {
        if (number >= 64 || !(kept >> number & 1)) { prctl(PR_CAPBSET_DROP, number, 0, 0, 0); }
    }
    // Kernels before 4.3 have no ambient capabilities.
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[words];
    if (syscall(SYS_capget, &header, data) != 0) { return -errno; }
    int has_more = 0;
    for (int word = 0; word < words; word++) {
        uint32_t mask = (uint32_t)(kept >> (32 * word));
        has_more |= (data[word].permitted & ~mask) != 0;
        data[word].permitted &= mask;
        data[word].effective &= mask;
        data[word].inheritable = 0;
    }
    // A service's filter of system calls may forbid capset. It isn't needed if the service has no other capability.
    if (!has_more) { return 0; }
    return syscall(SYS_capset, &header, data) == 0 ? 0 : -errno;
}

int cprivileges_raise(uint64_t wanted) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[words];
    if (syscall(SYS_capget, &header, data) != 0) { return -errno; }
    int is_changed = 0;
    for (int word = 0; word < words; word++) {
        uint32_t missing = (uint32_t)(wanted >> (32 * word)) & data[word].permitted & ~data[word].effective;
        is_changed |= missing != 0;
        data[word].effective |= missing;
    }
    // A service's filter of system calls may forbid capset.
    if (!is_changed) { return 0; }
    return syscall(SYS_capset, &header, data) == 0 ? 0 : -errno;
}
