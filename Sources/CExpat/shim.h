#if !__has_include(<expat.h>)
#error "The headers of Expat are missing. On Debian and Ubuntu, install the package libexpat1-dev."
#endif
#include <expat.h>
