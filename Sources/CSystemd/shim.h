// libsystemd: how a service tells its manager that it is ready, alive and stopping.
#include <systemd/sd-daemon.h>
