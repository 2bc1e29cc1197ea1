// libdbus, the reference implementation of D-Bus; its headers lie where pkg-config says.
#include <dbus/dbus.h>
