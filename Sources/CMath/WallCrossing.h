// Tests whether movements cross walls, four walls at once.
#ifndef CMATH_WALL_CROSSING_H
#define CMATH_WALL_CROSSING_H

#include "CMathWalls.h"
#include "VectorKinds.h"

typedef float cmath_four __attribute__((vector_size(16), aligned(4)));
typedef int32_t cmath_four_whole __attribute__((vector_size(16), aligned(4)));

/// Returns whether a movement crosses one of the four walls of a line: the ends of the movement lie on both sides of
/// the wall, and the ends of the wall on both sides of the movement.
INLINE bool crosses_line(const float *line, float x, float y, float dx, float dy) {
    const cmath_four *walls = (const cmath_four *)line;
    cmath_four apart_x = walls[0] - x, apart_y = walls[1] - y, wall_x = walls[2], wall_y = walls[3];
    cmath_four denominator = dx * wall_y - dy * wall_x;
    cmath_four t = apart_x * wall_y - apart_y * wall_x;
    cmath_four u = apart_x * dy - apart_y * dx;
    // Both quotients by the denominator must be from 0 to 1, for either sign. The comparison avoids a slow division.
    cmath_four_whole sign = (cmath_four_whole)denominator & (int32_t)0x80000000;
    denominator = (cmath_four)((cmath_four_whole)denominator ^ sign);
    t = (cmath_four)((cmath_four_whole)t ^ sign);
    u = (cmath_four)((cmath_four_whole)u ^ sign);
    cmath_four_whole crosses = (denominator > 0) & (t >= 0) & (t <= denominator) & (u >= 0) & (u <= denominator);
    return __builtin_reduce_or(crosses) != 0;
}

INLINE bool crosses_lines(const float *lines, int32_t first, int32_t end, float x, float y, float dx, float dy) {
    for (int32_t line = first; line < end; line++) {
        if (crosses_line(lines + 16 * (size_t)line, x, y, dx, dy)) return true;
    }
    return false;
}

/// Clips the part of a movement from `first` to `last`, which are fractions of the movement, to two bounds along an
/// axis.
INLINE void clip(float from, float way, float low, float high, float *first, float *last) {
    if (way == 0) {
        if (from < low || from > high) *last = -1;
        return;
    }
    float one = (low - from) / way, other = (high - from) / way;
    float enters = one < other ? one : other, leaves = one < other ? other : one;
    if (enters > *first) *first = enters;
    if (leaves < *last) *last = leaves;
}

INLINE int32_t place_within(float place, int32_t count) {
    return place < 0 ? 0 : place < (float)count ? (int32_t)place : count - 1;
}

/// Returns whether a movement of any length crosses a wall. Divides the movement into pieces no longer than the walls'
/// reach.
INLINE bool crosses_walls(
    const struct cmath_walls *walls, const struct cmath_wall_cell *cells, const float *lines, float x, float y,
    float dx, float dy) {
    // A movement with an infinite or undefined end crosses nothing.
    if (!(x * 0 == 0 && y * 0 == 0 && dx * 0 == 0 && dy * 0 == 0)) return false;
    float first = 0, last = 1;
    clip(x, dx, walls->left, walls->left + (float)walls->columns / walls->scale, &first, &last);
    clip(y, dy, walls->top, walls->top + (float)walls->rows / walls->scale, &first, &last);
    if (!(first < last)) return false;
    float part = last - first;
    float length = __builtin_elementwise_sqrt(part * dx * (part * dx) + part * dy * (part * dy));
    int32_t pieces = (int32_t)(length / walls->reach) + 1;
    for (int32_t piece = 0; piece < pieces; piece++) {
        float share = first + part * ((float)piece / (float)pieces);
        int32_t column = place_within((x + share * dx - walls->left) * walls->scale, walls->columns);
        int32_t row = place_within((y + share * dy - walls->top) * walls->scale, walls->rows);
        const struct cmath_wall_cell cell = cells[(size_t)row * (size_t)walls->columns + (size_t)column];
        if (crosses_lines(lines, cell.first, cell.end, x, y, dx, dy)) return true;
    }
    return false;
}

#endif
