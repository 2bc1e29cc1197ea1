#if !__has_include(<mosquitto.h>)
#error "The headers of libmosquitto are missing. On Debian and Ubuntu, install the package libmosquitto-dev."
#endif
#include <mosquitto.h>
// Since version 2.1, mosquitto.h includes it, and the compiler warns of it.
#if LIBMOSQUITTO_VERSION_NUMBER < 2001000
#include <mqtt_protocol.h>
#endif
