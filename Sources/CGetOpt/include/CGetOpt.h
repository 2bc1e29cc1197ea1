/// Lends getopt_long: Swift's Glibc module has no getopt.h, and Swift 6 may not touch getopt's global variables.
#ifndef CGETOPT_H
#define CGETOPT_H

#include <getopt.h>

/// What stands at one place of a command line.
struct cgetopt_item {
    /// The option's `val`; -1 behind the last option; '?' for an unknown option; ':' where an argument is missing.
    int code;
    /// Where `code` is '?' or ':': the short option's character or the long one's `val`; 0 if it is an unknown long one.
    int culprit;
    /// The option's argument; NULL if it has none.
    const char *argument;
    /// Index into `argv` of the first operand once `code` is -1; of the element behind this one otherwise.
    int index;
};

/// Begins anew; call it before the first `cgetopt_next` of a command line.
void cgetopt_reset(void);

/// The next option. Moves operands in `argv` behind the options. Not thread-safe, as getopt_long itself.
struct cgetopt_item cgetopt_next(int argc, char *argv[], const char *names, const struct option *options);

#endif
