// The client of PostgreSQL. This header contains no policy, only the declarations of the library.
#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#include <libpq-fe.h>

#endif
