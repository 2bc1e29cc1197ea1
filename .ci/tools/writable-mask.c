// valgrind 3.19 writes to the argument of sigsuspend, and ends where the argument is constant, as libdispatch's is. Loaded
// before the program, this function gives it a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
