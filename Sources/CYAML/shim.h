#if !__has_include(<yaml.h>)
#error "The headers of LibYAML are missing. On Debian and Ubuntu, install the package libyaml-dev."
#endif
#include <yaml.h>
