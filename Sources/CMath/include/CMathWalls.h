// Walls sorted by place, in groups of four, so that one test finds whether a movement crosses any of the four.
#ifndef CMATH_WALLS_H
#define CMATH_WALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A grid over a map that lists for each cell the walls that a movement from there can meet.
struct cmath_walls {
    float left;
    float top;
    /// Cells per metre.
    float scale;
    int32_t columns;
    int32_t rows;
    /// The maximum length of a movement in metres that can only meet the walls of the cell where it begins.
    float reach;
};

/// The walls near a cell. The element after the grid's last cell represents everything outside.
struct cmath_wall_cell {
    /// The range of wall lines, excluding `end`. Each line has sixteen numbers: the x, y, dx and dy of four walls. An
    /// unused place is a wall without length.
    int32_t first;
    int32_t end;
    /// The square of a movement's length in m² below which it meets no wall.
    float clear;
    /// The same for all walls except the walls of the first line.
    float clear_but_first;
};

/// Returns whether the straight movement from a point crosses a wall.
bool cmath_is_crossed(
    const struct cmath_walls *_Nonnull walls, const struct cmath_wall_cell *_Nonnull cells,
    const float *_Nonnull lines, float x, float y, float dx, float dy);

#endif
