#pragma once
#include <stddef.h>

/// A file of the page.
typedef struct {
    /// The name below the page's folder, such as "main.js".
    const char *name;
    const unsigned char *bytes;
    size_t count;
} live_map_file;

/// Returns the number of the page's files.
size_t live_map_file_count(void);

/// Returns the file at an index below the number of files.
live_map_file live_map_file_at(size_t index);
