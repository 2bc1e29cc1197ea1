#include "CBench.h"

// The empty statement keeps the compiler from dropping the calls.
__attribute__((noinline)) void cbench_begin(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void cbench_end(void) { __asm__ volatile("" ::: "memory"); }
