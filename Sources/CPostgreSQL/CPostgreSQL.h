// The client of PostgreSQL. This header contains no policy, only the declarations of the library.
#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

// Debian has the header in a folder of its own, other systems don't.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#error "The headers of libpq are missing. On Debian and Ubuntu, install the package libpq-dev."
#endif

#endif
