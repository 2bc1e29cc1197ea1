#if !__has_include(<archive.h>)
#error "The headers of libarchive are missing. On Debian and Ubuntu, install the package libarchive-dev."
#endif
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

// libarchive converts the names in a zip file to the charset of the calling thread's locale. In the "C" locale, the
// default of a process, it rejects every name beyond ASCII. These two functions set a UTF-8 locale for the thread and
// restore the previous one; the locale of the process does not change. Swift code without libc cannot do this itself.
// They can be removed when libarchive reads UTF-8 names in the "C" locale.
typedef struct {
    locale_t own;
    locale_t previous;
} clibarchive_locale;

static inline clibarchive_locale clibarchive_enter_utf8(void) {
    clibarchive_locale locale = {newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), (locale_t)0};
    if (locale.own) locale.previous = uselocale(locale.own);
    return locale;
}

static inline void clibarchive_leave_utf8(clibarchive_locale locale) {
    if (!locale.own) return;
    uselocale(locale.previous);
    freelocale(locale.own);
}

// Returns the system's text for an archive's last error, such as "Is a directory"; NULL if the error is libarchive's
// own. libarchive's text for such an error contains the file but no reason ("Failed to open 'walk.jsonl'"). Swift code
// without libc has no strerror.
static inline const char *clibarchive_system_reason(struct archive *archive) {
    int number = archive_errno(archive);
    // libarchive uses EFTYPE for malformed files if the system has this number, and otherwise EILSEQ; and EINVAL for
    // invalid calls. An error without a number is negative.
#ifdef EFTYPE
    if (number == EFTYPE) return NULL;
#endif
    if (number <= 0 || number == EILSEQ || number == EINVAL) return NULL;
    return strerror(number);
}

// Returns the reason of an archive's last failure, from the system or else from libarchive; NULL if there is none.
static inline const char *clibarchive_reason(struct archive *archive) {
    const char *reason = clibarchive_system_reason(archive);
    return reason ? reason : archive_error_string(archive);
}

// Creates or truncates a file with access for its owner only, because it reveals where a person was. Returns the
// descriptor, or -1 and errno. Swift code without libc has no variadic open.
static inline int clibarchive_create_private(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

// Opens a file for reading. Returns the descriptor, or -1 and errno.
static inline int clibarchive_open(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

// Reads the next bytes that a file or a pipe has. Returns their number, 0 at the end, or -1 and errno.
static inline ssize_t clibarchive_read(int descriptor, void *buffer, size_t size) {
    ssize_t count;
    do count = read(descriptor, buffer, size);
    while (count < 0 && errno == EINTR);
    return count;
}

// Returns the system's text for its last error.
static inline const char *clibarchive_last_reason(void) { return strerror(errno); }

static inline int clibarchive_close(int descriptor) { return close(descriptor); }
