#include "CBlueZ.h"

#include <sys/socket.h>

int cbluez_family(void) { return AF_BLUETOOTH; }
