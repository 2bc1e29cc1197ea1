// The client of NATS and JetStream. This header contains no policy, only the declarations of the library.
#ifndef CNATS_H
#define CNATS_H

#if !__has_include(<nats/nats.h>)
#error "The headers of libnats are missing. On Debian and Ubuntu, install the package libnats-dev."
#endif
#include <nats/nats.h>

#endif
