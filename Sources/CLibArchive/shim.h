#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

// libarchive turns the names of a zip into the charset of the calling thread's locale, and in the "C" locale, which a
// process has unless it asks for another, it refuses every name beyond ASCII. These two give the thread a UTF-8 locale
// and take it back; the process's locale is left alone. Swift code without libc cannot do this itself. They can go when
// libarchive reads UTF-8 names in the "C" locale.
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

// The system's words for an archive's last error, such as "Is a directory"; NULL if it was the library that refused. The
// library's own text of such an error names the file and no reason ("Failed to open 'walk.jsonl'"). Here because Swift
// code without libc has no strerror.
static inline const char *clibarchive_system_reason(struct archive *archive) {
    int number = archive_errno(archive);
    // The library calls malformed files EILSEQ and wrong calls EINVAL; what has no number is negative.
    if (number <= 0 || number == EILSEQ || number == EINVAL) return NULL;
    return strerror(number);
}

// Why an archive's last call failed, in the system's words or else in the library's; NULL if neither says.
static inline const char *clibarchive_reason(struct archive *archive) {
    const char *reason = clibarchive_system_reason(archive);
    return reason ? reason : archive_error_string(archive);
}

// Creates or empties a file that its owner alone may read, as it tells where somebody was; the descriptor, or -1 and
// errno. Here because Swift code without libc has no open, which takes a varying number of arguments.
static inline int clibarchive_create_private(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

// Opens a file to read it; the descriptor, or -1 and errno. Not left to libarchive, which reads a pipe to its end when it
// closes it: of one that stays open, it would wait for ever.
static inline int clibarchive_open(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

// The system's words for its last error.
static inline const char *clibarchive_last_reason(void) { return strerror(errno); }

static inline int clibarchive_close(int descriptor) { return close(descriptor); }
