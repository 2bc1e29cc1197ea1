// libsystemd: a service reports to its manager that it is ready, alive and stopping.
#include <systemd/sd-daemon.h>
