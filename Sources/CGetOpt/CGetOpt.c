#include "CGetOpt.h"

#include <stddef.h>

void cgetopt_reset(void) {
    optind = 0;
    opterr = 0;
}

struct cgetopt_item cgetopt_next(int argc, char *argv[], const char *names, const struct option *options) {
    int code = getopt_long(argc, argv, names, options, NULL);
    struct cgetopt_item item = {code, optopt, optarg, optind};
    return item;
}
