// Runs a program under the restrictions of a systemd unit: its system calls, socket families and capabilities.
//
// usage: FilteredProgram CALL,CALL,… FAMILY,FAMILY,… CAPABILITIES PROGRAM [ARGUMENT…]
//
// The capabilities are bits in hexadecimal digits. As with systemd, another call kills the process, and a socket of another family fails with EAFNOSUPPORT. systemd
// ignores the names of calls that the architecture doesn't have.
#include "CPrivileges.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Larger than the number of any socket family.
enum { families = 64 };

static void check(int status, const char *what) {
    if (status >= 0) { return; }
    fprintf(stderr, "FilteredProgram: %s: %s\n", what, strerror(-status));
    exit(125);
}

int main(int count, char **arguments) {
    if (count < 5) {
        fputs("usage: FilteredProgram CALLS FAMILIES CAPABILITIES PROGRAM [ARGUMENT...]\n", stderr);
        return 125;
    }
    char permitted[families] = {0};
    for (char *word = strtok(arguments[2], ","); word; word = strtok(NULL, ",")) {
        int family = atoi(word);
        if (family > 0 && family < families) { permitted[family] = 1; }
    }
    check(cprivileges_keep(strtoull(arguments[3], NULL, 16)), "the capabilities");
    scmp_filter_ctx sockets = seccomp_init(SCMP_ACT_ALLOW);
    for (int family = 0; family < families; family++) {
        if (permitted[family]) { continue; }
        check(seccomp_rule_add(sockets, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                               SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family)), "socket");
    }
    check(seccomp_load(sockets), "the filter of sockets");

    scmp_filter_ctx calls = seccomp_init(SCMP_ACT_KILL_PROCESS);
    for (char *word = strtok(arguments[1], ","); word; word = strtok(NULL, ",")) {
        int call = seccomp_syscall_resolve_name(word);
        if (call == __NR_SCMP_ERROR) { continue; }
        int status = seccomp_rule_add(calls, SCMP_ACT_ALLOW, call, 0);
        // A call of another architecture.
        if (status != -EDOM && status != -EINVAL) { check(status, word); }
    }
    check(seccomp_load(calls), "the filter of calls");
    execv(arguments[4], arguments + 4);
    fprintf(stderr, "FilteredProgram: %s: %s\n", arguments[4], strerror(errno));
    return 126;
}
