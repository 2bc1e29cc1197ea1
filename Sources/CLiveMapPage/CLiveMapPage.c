#include "CLiveMapPage.h"

// Clang has #embed since version 19 in each language standard, and warns before C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "page/index.html"
};

static const unsigned char openapi_json[] = {
#embed "openapi.json"
};

const live_map_file live_map_files[] = {
    { "index.html", index_html, sizeof index_html },
    { "openapi.json", openapi_json, sizeof openapi_json },
};
const size_t live_map_file_count = sizeof live_map_files / sizeof live_map_files[0];
