/// An interface to getopt_long: Swift's Glibc module does not include getopt.h, and Swift 6 cannot access getopt's
/// global variables.
#ifndef CGETOPT_H
#define CGETOPT_H

#include <getopt.h>

/// An item of a command line.
struct cgetopt_item {
    /// The option's `val`; -1 after the last option; '?' for an unknown option; ':' if an argument is missing.
    int code;
    /// If `code` is '?' or ':', the short option's character or the long one's `val`; 0 for an unknown long option.
    int culprit;
    /// The option's argument; NULL if it has none.
    const char *argument;
    /// Once `code` is -1, the index in `argv` of the first operand; before that, of the element after this one.
    int index;
};

/// Resets the parser. Call it before the first `cgetopt_next` of a command line.
void cgetopt_reset(void);

/// Returns the next option. Moves operands in `argv` after the options. Not thread-safe, like getopt_long.
struct cgetopt_item cgetopt_next(int argc, char *argv[], const char *names, const struct option *options);

#endif
