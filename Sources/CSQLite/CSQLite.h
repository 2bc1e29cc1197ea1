// SQLite, the database in a file. This header contains no policy, only declarations that Swift cannot import.
#ifndef CSQLITE_H
#define CSQLITE_H

#if !__has_include(<sqlite3.h>)
#error "The headers of SQLite are missing. On Debian and Ubuntu, install the package libsqlite3-dev."
#endif
#include <sqlite3.h>
#include <string.h>

// Swift does not import SQLITE_TRANSIENT, which is a cast. It makes SQLite copy the bytes before it returns.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int length) {
    // SQLite takes a pointer to no bytes for NULL.
    return length > 0 ? sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT)
                      : sqlite3_bind_zeroblob(statement, index, 0);
}

// Makes a connection read a copy of a database's bytes. SQLite frees the copy, so it must be SQLite's memory.
static inline int csqlite_read(sqlite3 *connection, const void *bytes, sqlite3_int64 length) {
    unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)length);
    if (!copy) return SQLITE_NOMEM;
    memcpy(copy, bytes, (size_t)length);
    return sqlite3_deserialize(connection, "main", copy, length, length,
                               SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
}

#endif
