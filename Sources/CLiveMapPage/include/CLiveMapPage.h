#pragma once
#include <stddef.h>

/// A file of the page.
typedef struct {
    /// The name below the page's folder, such as "page.js".
    const char *name;
    const unsigned char *bytes;
    size_t count;
} live_map_file;

/// The files of the page, and their number.
extern const live_map_file live_map_files[];
extern const size_t live_map_file_count;

/// Returns a file by its index in `live_map_files`. Swift doesn't import an array of unknown size.
static inline const live_map_file *live_map_file_at(size_t index) { return &live_map_files[index]; }
