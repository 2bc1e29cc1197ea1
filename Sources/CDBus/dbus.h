// libdbus, the reference implementation of D-Bus; pkg-config provides the path of its headers.
#include <dbus/dbus.h>
