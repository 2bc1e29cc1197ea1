#if !__has_include(<sodium.h>)
#error "The headers of libsodium are missing. On Debian and Ubuntu, install the package libsodium-dev."
#endif
#include <sodium.h>
