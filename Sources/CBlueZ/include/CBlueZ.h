// What Swift cannot see of the kernel's Bluetooth sockets: constants, structures, and calls with control messages.
#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <stdint.h>

// The address family of Bluetooth sockets.
int cbluez_family(void);

#endif
