// libsystemd: a service reports to its manager that it is ready, alive and stopping.
#if !__has_include(<systemd/sd-daemon.h>)
#error "The headers of libsystemd are missing. On Debian and Ubuntu, install the package libsystemd-dev."
#endif
#include <systemd/sd-daemon.h>
