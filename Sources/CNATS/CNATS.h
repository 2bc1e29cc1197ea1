// The client of NATS and JetStream. This header contains no policy, only the declarations of the library.
#ifndef CNATS_H
#define CNATS_H

#include <nats/nats.h>

#endif
