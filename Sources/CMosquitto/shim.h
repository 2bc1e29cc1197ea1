#if !__has_include(<mosquitto.h>)
#error "The headers of libmosquitto are missing. On Debian and Ubuntu, install the package libmosquitto-dev."
#endif
#include <mosquitto.h>
#include <mqtt_protocol.h>
