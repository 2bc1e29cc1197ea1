#define _GNU_SOURCE
#include "CFolders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const int cfolders_path = O_PATH;

static int failure(int number) {
    errno = number;
    return -1;
}

int cfolders_open_below(int folder, const char *path, int flags) {
    struct open_how how = {
        .flags = (unsigned long long)(flags | O_CLOEXEC), .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    // The kernel returns EAGAIN if a folder is renamed meanwhile.
    for (int attempt = 0; attempt < 100; attempt++) {
        int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (file >= 0) { return file; }
        // The system call filters of older containers reject unknown calls with EPERM.
        if (errno == ENOSYS || errno == EPERM) { return cfolders_open_stepwise(folder, path, flags); }
        if (errno != EAGAIN && errno != EINTR) { return -1; }
    }
    return -1;
}

int cfolders_open_stepwise(int folder, const char *path, int flags) {
    if (*path == '/') { return failure(EXDEV); }
    int place = folder;
    while (1) {
        const char *slash = strchr(path, '/');
        size_t length = slash ? (size_t)(slash - path) : strlen(path);
        char name[NAME_MAX + 1];
        int file = -1;
        int is_last = !slash;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else if (length == 2 && strncmp(path, "..", 2) == 0) {
            errno = EXDEV;
        } else {
            memcpy(name, path, length);
            name[length] = 0;
            const char *opened = length == 0 && !is_last ? "." : name;
            file = openat(
                place, opened, (is_last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
        }
        int number = errno;
        // O_DIRECTORY reports a link as "not a directory".
        struct stat status;
        if (file < 0 && !is_last && number == ENOTDIR && fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            && S_ISLNK(status.st_mode)) {
            number = ELOOP;
        }
        // O_PATH opens a link itself.
        if (file >= 0 && is_last && flags & O_PATH && fstat(file, &status) == 0 && S_ISLNK(status.st_mode)) {
            close(file);
            file = -1;
            number = ELOOP;
        }
        if (place != folder) { close(place); }
        if (file < 0) { return failure(number); }
        if (is_last) { return file; }
        place = file;
        path = slash + 1;
    }
}
