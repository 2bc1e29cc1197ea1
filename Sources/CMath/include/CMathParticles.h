// The loops over the particles of a filter, an array for each of their quantities. See CMathVectors.h for the vectors.
#ifndef CMATH_PARTICLES_H
#define CMATH_PARTICLES_H

#include "CMathVectors.h"
#include "CMathWalls.h"

#include <stdbool.h>

/// How particles move in a stretch of time that no motion sensor watches.
struct cmath_drift {
    float seconds;
    /// Share of the velocity that is kept, deviation in m/s of what is new in it, and that of a whole velocity.
    float keep;
    float kick;
    float speed;
    /// Chances to begin and to stop walking, of 2^32.
    uint32_t start_chance;
    uint32_t stop_chance;
    /// Chance to take another velocity while walking.
    uint32_t turn_chance;
    /// Deviations in metres.
    float walking_wander;
    float standing_wander;
};

/// Moves the particles from `first` on as far as walls let them, with three draws for each.
///
/// Who meets a wall stays where it is, turns, and weighs less.
void cmath_drift(
    const struct cmath_drift *_Nonnull step, const struct cmath_walls *_Nonnull walls,
    const struct cmath_wall_cell *_Nonnull cells, const float *_Nonnull lines, struct cmath_generator generator,
    size_t first, size_t count, bool *_Nonnull is_walking, float *_Nonnull x, float *_Nonnull y,
    float *_Nonnull velocity_x, float *_Nonnull velocity_y, float *_Nonnull weight);

/// A step that sensors tell.
struct cmath_stride {
    /// Metres.
    float length;
    /// Course of the device in radians clockwise from the plan's top.
    float heading;
    bool has_heading;
};

/// How the steps of particles differ from what sensors tell.
struct cmath_walk {
    /// Deviations: of what the heading drifts and of a stride's direction, in radians; of its length, as a share; of
    /// wandering, in metres.
    float drift;
    float turn;
    float stretch;
    float wander;
};

/// Moves the particles from `first` on by strides as far as walls let them, with two draws for each, and two more for
/// each of its strides.
void cmath_walk(
    const struct cmath_walk *_Nonnull step, const struct cmath_stride *_Nonnull strides, size_t stride_count,
    const struct cmath_walls *_Nonnull walls, const struct cmath_wall_cell *_Nonnull cells,
    const float *_Nonnull lines, struct cmath_generator generator, size_t first, size_t count,
    bool *_Nonnull is_walking, float *_Nonnull x, float *_Nonnull y, float *_Nonnull velocity_x,
    float *_Nonnull velocity_y, float *_Nonnull bias, const float *_Nonnull scale, float *_Nonnull weight);

/// Where a grid lies.
struct cmath_grid {
    float left;
    float top;
    /// Cells a metre.
    float scale;
    int32_t columns;
    int32_t rows;
};

/// Finds the cell of each of some points, counted from 1; 0 is all that lies outside.
void cmath_cells(
    const struct cmath_grid *_Nonnull grid, size_t first, size_t count, const float *_Nonnull x,
    const float *_Nonnull y, int32_t *_Nonnull cells);

/// Replaces cells, counted from 1, by their places in a list of all that occur, in the order of their first.
///
/// - lookup: room for each cell, all -1 before and after.
/// - found: the list; counted from 0, so that -1 is outside. There is room for one more than there are.
/// - Returns: the length of the list.
size_t cmath_find_slots(
    size_t count, int32_t *_Nonnull cells, int32_t *_Nonnull lookup, int32_t *_Nonnull found);

/// Multiplies some numbers by one.
void cmath_multiply(size_t first, size_t count, float *_Nonnull values, float factor);

/// The sum of some numbers and that of their squares.
void cmath_sum_squares(size_t first, size_t count, const float *_Nonnull values, float *_Nonnull result);

/// Chooses among some particles in proportion to their weights, evenly spread over them.
///
/// - total: of the weights, above 0.
/// - start: where to begin, as a share of the distance between two choices, in [0, 1).
/// - picks: takes the indexes chosen, in order; has room for one more.
void cmath_pick(
    size_t first, size_t members, const float *_Nonnull weight, float total, float start, size_t count,
    int32_t *_Nonnull picks);

/// Copies what is picked, to `target` from `first` on.
void cmath_gather(
    const float *_Nonnull source, const int32_t *_Nonnull picks, size_t count, float *_Nonnull target, size_t first);
void cmath_gather_flags(
    const bool *_Nonnull source, const int32_t *_Nonnull picks, size_t count, bool *_Nonnull target, size_t first);

/// Sums over particles: of weights w, w·x, w·y, w·(x² + y²), and of w times the velocity of who walks along both axes.
void cmath_moments(
    size_t first, size_t count, const float *_Nonnull x, const float *_Nonnull y, const float *_Nonnull velocity_x,
    const float *_Nonnull velocity_y, const bool *_Nonnull is_walking, const float *_Nonnull weight,
    double *_Nonnull sums);

/// How particles pull at a point, each as strong as it weighs, however far it is: sums over particles of w/d, w·dx/d and
/// w·dy/d, with the distance d = √(dx² + dy² + softening²).
void cmath_pull(
    size_t first, size_t count, const float *_Nonnull x, const float *_Nonnull y, const float *_Nonnull weight,
    float center_x, float center_y, float softening, float *_Nonnull sums);

void cmath_drift_at(
    int level, const struct cmath_drift *_Nonnull step, const struct cmath_walls *_Nonnull walls,
    const struct cmath_wall_cell *_Nonnull cells, const float *_Nonnull lines, struct cmath_generator generator,
    size_t first, size_t count, bool *_Nonnull is_walking, float *_Nonnull x, float *_Nonnull y,
    float *_Nonnull velocity_x, float *_Nonnull velocity_y, float *_Nonnull weight);
void cmath_walk_at(
    int level, const struct cmath_walk *_Nonnull step, const struct cmath_stride *_Nonnull strides,
    size_t stride_count, const struct cmath_walls *_Nonnull walls, const struct cmath_wall_cell *_Nonnull cells,
    const float *_Nonnull lines, struct cmath_generator generator, size_t first, size_t count,
    bool *_Nonnull is_walking, float *_Nonnull x, float *_Nonnull y, float *_Nonnull velocity_x,
    float *_Nonnull velocity_y, float *_Nonnull bias, const float *_Nonnull scale, float *_Nonnull weight);
void cmath_cells_at(
    int level, const struct cmath_grid *_Nonnull grid, size_t first, size_t count, const float *_Nonnull x,
    const float *_Nonnull y, int32_t *_Nonnull cells);
void cmath_multiply_at(int level, size_t first, size_t count, float *_Nonnull values, float factor);
void cmath_sum_squares_at(
    int level, size_t first, size_t count, const float *_Nonnull values, float *_Nonnull result);
void cmath_pick_at(
    int level, size_t first, size_t members, const float *_Nonnull weight, float total, float start, size_t count,
    int32_t *_Nonnull picks);
void cmath_moments_at(
    int level, size_t first, size_t count, const float *_Nonnull x, const float *_Nonnull y,
    const float *_Nonnull velocity_x, const float *_Nonnull velocity_y, const bool *_Nonnull is_walking,
    const float *_Nonnull weight, double *_Nonnull sums);
void cmath_pull_at(
    int level, size_t first, size_t count, const float *_Nonnull x, const float *_Nonnull y,
    const float *_Nonnull weight, float center_x, float center_y, float softening, float *_Nonnull sums);

#endif
