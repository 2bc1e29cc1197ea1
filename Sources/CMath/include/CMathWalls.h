// Walls sorted by place, four at a time, so that one test tells whether a way crosses any of them.
#ifndef CMATH_WALLS_H
#define CMATH_WALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A grid over a map that tells for each cell which walls a way from there may meet.
struct cmath_walls {
    float left;
    float top;
    /// Cells a metre.
    float scale;
    int32_t columns;
    int32_t rows;
    /// Ways up to this long, in metres, meet no other walls than those of the cell where they begin.
    float reach;
};

/// Which walls are near a cell. Behind the grid's last cell stands the one for all that lies outside.
struct cmath_wall_cell {
    /// The lines of walls, from the first to before the last: of sixteen numbers each, the x, y, dx and dy of four
    /// walls. A place that is free is a wall without length.
    int32_t first;
    int32_t end;
    /// Square of a distance in m²: shorter ways meet no wall.
    float clear;
    /// The same for walls but those of the first line.
    float clear_but_first;
};

/// Whether the straight way from a point crosses a wall.
bool cmath_is_crossed(
    const struct cmath_walls *_Nonnull walls, const struct cmath_wall_cell *_Nonnull cells,
    const float *_Nonnull lines, float x, float y, float dx, float dy);

#endif
