// Makes file operations of a program fail: a library for LD_PRELOAD, which tests compile.
//
// FAULTY_FILES is the path of a plan that the library reads at each operation, so that a test can change it while the program
// runs. Each line of the plan is: OPERATION ERROR COUNT PART
//
//   OPERATION  open (for writing), write, sync, rename (also link), mkdir, truncate, unlink or access (for writing)
//   ERROR      ENOSPC, EIO, EROFS, EINTR, EINVAL, ENOTSUP, or SHORT: half of the bytes are written; or KILL, which kills the
//              program before the operation
//   COUNT      the number of failures; a negative number for no limit; with KILL, the number of the operation, from 1
//   PART       a part of the path, or its end and a $
//
// FAULTY_FILES_LOG is the path of a file to which the library appends each failure: OPERATION ERROR PATH
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// Larger than any plan of a test.
enum { lines = 16, longest = 512 };

static const int none = 0, halved = -1;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
// How often each line of the plan has caused a failure, by its text.
static struct {
    char text[longest];
    long count;
} used[lines];

static int number(const char *error) {
    if (strcmp(error, "ENOSPC") == 0) { return ENOSPC; }
    if (strcmp(error, "EIO") == 0) { return EIO; }
    if (strcmp(error, "EROFS") == 0) { return EROFS; }
    if (strcmp(error, "EINTR") == 0) { return EINTR; }
    if (strcmp(error, "EINVAL") == 0) { return EINVAL; }
    if (strcmp(error, "ENOTSUP") == 0) { return ENOTSUP; }
    return halved;
}

static void note(const char *operation, const char *error, const char *path) {
    const char *log = getenv("FAULTY_FILES_LOG");
    if (!log) { return; }
    char text[longest * 2];
    int length = snprintf(text, sizeof text, "%s %s %s\n", operation, error, path);
    long file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) { return; }
    syscall(SYS_write, file, text, length);
    syscall(SYS_close, file);
}

static int contains(const char *path, const char *part) {
    size_t whole = strlen(path), length = strlen(part);
    if (length == 0 || part[length - 1] != '$') { return strstr(path, part) != NULL; }
    return whole >= length - 1 && strncmp(path + whole - (length - 1), part, length - 1) == 0;
}

// Returns whether this line has failures left, and counts one of them.
static int is_left(const char *line, long limit) {
    if (limit < 0) { return 1; }
    for (int index = 0; index < lines; index++) {
        if (!used[index].text[0]) { snprintf(used[index].text, longest, "%s", line); }
        if (strcmp(used[index].text, line) == 0) { return used[index].count++ < limit; }
    }
    return 0;
}

// Returns the error of an operation on a path, `halved` for a short write, or `none`.
static int fault(const char *operation, const char *path) {
    const char *plan = getenv("FAULTY_FILES");
    if (!plan || !path) { return none; }
    int before = errno, result = none;
    char text[lines * longest] = {0};
    // System calls, because the functions of the C library are replaced by those below.
    long file = syscall(SYS_openat, AT_FDCWD, plan, O_RDONLY | O_CLOEXEC, 0);
    if (file >= 0) {
        syscall(SYS_read, file, text, sizeof text - 1);
        syscall(SYS_close, file);
    }
    pthread_mutex_lock(&mutex);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line && result == none; line = strtok_r(NULL, "\n", &rest)) {
        char wanted[32], error[32], part[longest];
        long limit;
        if (sscanf(line, "%31s %31s %ld %511s", wanted, error, &limit, part) != 4) { continue; }
        if (strcmp(wanted, operation) != 0 || !contains(path, part)) { continue; }
        if (strcmp(error, "KILL") == 0) {
            if (is_left(line, limit - 1)) { continue; }
            note(operation, error, path);
            kill(getpid(), SIGKILL);
        }
        if (!is_left(line, limit)) { continue; }
        result = number(error);
        note(operation, error, path);
    }
    pthread_mutex_unlock(&mutex);
    errno = before;
    return result;
}

static int fault_of(const char *operation, int file) {
    if (!getenv("FAULTY_FILES")) { return none; }
    char link[64], path[longest];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length <= 0) { return none; }
    path[length] = 0;
    return fault(operation, path);
}

#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
// Ends a function with the error of an operation, if it has one.
#define FAIL(error) do { int number = (error); if (number > 0) { errno = number; return -1; } } while (0)

static int is_writing(int flags) { return (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT; }

#define OPEN(name)                                                                                                       \
    int name(const char *path, int flags, ...) {                                                                         \
        va_list list;                                                                                                    \
        va_start(list, flags);                                                                                           \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                    \
        if (is_writing(flags)) { FAIL(fault("open", path)); }                                                            \
        return ORIGINAL(name)(path, flags, mode);                                                                        \
    }
#define OPENAT(name)                                                                                                     \
    int name(int folder, const char *path, int flags, ...) {                                                             \
        va_list list;                                                                                                    \
        va_start(list, flags);                                                                                           \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;                                        \
        va_end(list);                                                                                                    \
        if (is_writing(flags)) { FAIL(fault("open", path)); }                                                            \
        return ORIGINAL(name)(folder, path, flags, mode);                                                                \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

// The number of bytes that a write takes, or -1 with its error.
static ssize_t accepted(int file, size_t count) {
    int error = fault_of("write", file);
    FAIL(error);
    return error == halved && count > 1 ? (ssize_t)(count / 2) : (ssize_t)count;
}

ssize_t write(int file, const void *bytes, size_t count) {
    ssize_t part = accepted(file, count);
    return part < 0 ? part : ORIGINAL(write)(file, bytes, (size_t)part);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    ssize_t part = accepted(file, count);
    return part < 0 ? part : ORIGINAL(pwrite)(file, bytes, (size_t)part, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    ssize_t part = accepted(file, count);
    return part < 0 ? part : ORIGINAL(pwrite64)(file, bytes, (size_t)part, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    int error = fault_of("write", file);
    FAIL(error);
    return ORIGINAL(writev)(file, parts, error == halved && count > 1 ? count / 2 : count);
}

int fsync(int file) { FAIL(fault_of("sync", file)); return ORIGINAL(fsync)(file); }
int fdatasync(int file) { FAIL(fault_of("sync", file)); return ORIGINAL(fdatasync)(file); }
int ftruncate(int file, off_t size) { FAIL(fault_of("truncate", file)); return ORIGINAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { FAIL(fault_of("truncate", file)); return ORIGINAL(ftruncate64)(file, size); }

int rename(const char *from, const char *to) { FAIL(fault("rename", to)); return ORIGINAL(rename)(from, to); }

int renameat(int source, const char *from, int target, const char *to) {
    FAIL(fault("rename", to));
    return ORIGINAL(renameat)(source, from, target, to);
}

int renameat2(int source, const char *from, int target, const char *to, unsigned int flags) {
    FAIL(fault("rename", to));
    return ORIGINAL(renameat2)(source, from, target, to, flags);
}

int link(const char *from, const char *to) { FAIL(fault("rename", to)); return ORIGINAL(link)(from, to); }
int unlink(const char *path) { FAIL(fault("unlink", path)); return ORIGINAL(unlink)(path); }
int mkdir(const char *path, mode_t mode) { FAIL(fault("mkdir", path)); return ORIGINAL(mkdir)(path, mode); }

int access(const char *path, int mode) {
    if (mode & W_OK) { FAIL(fault("access", path)); }
    return ORIGINAL(access)(path, mode);
}
