// SQLite, the database in a file. This header contains no policy, only declarations that Swift cannot import.
#ifndef CSQLITE_H
#define CSQLITE_H

#if !__has_include(<sqlite3.h>)
#error "The headers of SQLite are missing. On Debian and Ubuntu, install the package libsqlite3-dev."
#endif
#include <sqlite3.h>

// Swift does not import SQLITE_TRANSIENT, which is a cast. It makes SQLite copy the text before it returns.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

#endif
