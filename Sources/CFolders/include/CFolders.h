// Opens files that must be inside a folder. Swift can't call openat2, for which glibc has no function.
#ifndef CFOLDERS_H
#define CFOLDERS_H

// The flag that finds a file without opening it: O_PATH, which glibc defines only with _GNU_SOURCE.
extern const int cfolders_path;

// Opens a file below a folder's descriptor. Symbolic links are followed as long as they stay below the folder. Returns
// the descriptor, which child processes don't inherit, or -1 and errno: EXDEV or ELOOP if a link or `..` leaves the
// folder.
//
// Before Linux 5.6, and where a system call filter forbids openat2, no link is followed at all.
int cfolders_open_below(int folder, const char *_Nonnull path, int flags);

// As above, without openat2: opens one name after the other, and follows no link.
int cfolders_open_stepwise(int folder, const char *_Nonnull path, int flags);

#endif
