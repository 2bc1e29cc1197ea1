// Memory of the C library. Swift's module of glibc doesn't contain malloc.h.
#ifndef CMEMORY_H
#define CMEMORY_H

// Returns the free memory of the process to the system, including free memory between blocks that are in use.
void cmemory_trim(void);

#endif
