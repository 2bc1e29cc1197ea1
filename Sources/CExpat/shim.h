// Expat, a parser of XML. This header contains no policy.
#ifndef CEXPAT_H
#define CEXPAT_H

#if !__has_include(<expat.h>)
#error "The headers of Expat are missing. On Debian and Ubuntu, install the package libexpat1-dev."
#endif
#include <expat.h>

// The line that the parser has reached, from 1. Expat 2.9 deprecates the only function for it that earlier versions have.
static inline XML_Size cexpat_line(XML_Parser parser) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    return XML_GetCurrentLineNumber(parser);
#pragma clang diagnostic pop
}

#endif
