// The loops over the particles of a filter, with one array for each quantity. CMathVectors.h describes the vectors.
#ifndef CMATH_PARTICLES_H
#define CMATH_PARTICLES_H

#include "CMathVectors.h"
#include "CMathWalls.h"

#include <stdbool.h>

/// The motion of particles in an interval without motion sensors.
struct cmath_drift {
    float seconds;
    /// The share of the velocity that is kept, the standard deviation of its random part in m/s, and the standard
    /// deviation of a new velocity in m/s.
    float keep;
    float kick;
    float speed;
    /// The probabilities of starting and of stopping to walk, times 2^32.
    uint32_t start_chance;
    uint32_t stop_chance;
    /// The probability of a new velocity while walking, times 2^32.
    uint32_t turn_chance;
    /// Standard deviations in metres of the random displacement.
    float walking_wander;
    float standing_wander;
};

/// Moves the particles, beginning at `first`, until walls stop them. Uses three draws for each particle.
///
/// A particle that meets a wall stays in place, turns, and gets a lower weight.
void cmath_drift(
    const struct cmath_drift *_Nonnull step, const struct cmath_walls *_Nonnull walls,
    const struct cmath_wall_cell *_Nonnull cells, const float *_Nonnull lines, struct cmath_generator generator,
    size_t first, size_t count, bool *_Nonnull is_walking, float *_Nonnull x, float *_Nonnull y,
    float *_Nonnull velocity_x, float *_Nonnull velocity_y, float *_Nonnull weight);

/// A step that sensors report.
struct cmath_stride {
    /// The length in metres.
    float length;
    /// The heading of the device in radians clockwise from the plan's top.
    float heading;
    bool has_heading;
};

/// The deviations of particles from the reported steps.
struct cmath_walk {
    /// Standard deviations: of the heading's drift and of a stride's direction, in radians; of the stride's length, as
    /// a share; of the random displacement, in metres.
    float drift;
    float turn;
    float stretch;
    float wander;
};

/// Moves the particles, beginning at `first`, by strides until walls stop them. Uses two draws for each particle and
/// two more for each of its strides.
void cmath_walk(
    const struct cmath_walk *_Nonnull step, const struct cmath_stride *_Nonnull strides, size_t stride_count,
    const struct cmath_walls *_Nonnull walls, const struct cmath_wall_cell *_Nonnull cells,
    const float *_Nonnull lines, struct cmath_generator generator, size_t first, size_t count,
    bool *_Nonnull is_walking, float *_Nonnull x, float *_Nonnull y, float *_Nonnull velocity_x,
    float *_Nonnull velocity_y, float *_Nonnull bias, const float *_Nonnull scale, float *_Nonnull weight);

/// The position of a grid.
struct cmath_grid {
    float left;
    float top;
    /// Cells per metre.
    float scale;
    int32_t columns;
    int32_t rows;
};

/// Finds the cell of each point, counted from 1; 0 is outside.
void cmath_cells(
    const struct cmath_grid *_Nonnull grid, size_t first, size_t count, const float *_Nonnull x,
    const float *_Nonnull y, int32_t *_Nonnull cells);

/// Replaces cells, counted from 1, by their indexes in a list of the distinct cells, in the order of first occurrence.
///
/// - lookup: an element for each cell; all are -1 before and after the call.
/// - found: receives the list. Its cells are counted from 0; -1 is outside. The list must have room for one element
///   more than needed.
/// - Returns: the length of the list.
size_t cmath_find_slots(
    size_t count, int32_t *_Nonnull cells, int32_t *_Nonnull lookup, int32_t *_Nonnull found);

/// Multiplies numbers by a factor.
void cmath_multiply(size_t first, size_t count, float *_Nonnull values, float factor);

/// Computes the sum of numbers and the sum of their squares.
void cmath_sum_squares(size_t first, size_t count, const float *_Nonnull values, float *_Nonnull result);

/// Selects particles with probabilities proportional to their weights, by systematic resampling.
///
/// - total: the sum of the weights, above 0.
/// - start: the first selection, as a fraction of the distance between two selections, in [0, 1).
/// - picks: receives the selected indexes, in order; must have room for one more.
void cmath_pick(
    size_t first, size_t members, const float *_Nonnull weight, float total, float start, size_t count,
    int32_t *_Nonnull picks);

/// Copies the selected elements to `target`, beginning at `first`.
void cmath_gather(
    const float *_Nonnull source, const int32_t *_Nonnull picks, size_t count, float *_Nonnull target, size_t first);
void cmath_gather_flags(
    const bool *_Nonnull source, const int32_t *_Nonnull picks, size_t count, bool *_Nonnull target, size_t first);

/// Computes sums over particles: of the weights w, of w·x, w·y and w·(x² + y²), and of w times the velocity of walking
/// particles along both axes.
void cmath_moments(
    size_t first, size_t count, const float *_Nonnull x, const float *_Nonnull y, const float *_Nonnull velocity_x,
    const float *_Nonnull velocity_y, const bool *_Nonnull is_walking, const float *_Nonnull weight,
    double *_Nonnull sums);

/// Computes the pull of particles at a point, proportional to their weights and independent of distance: sums over
/// particles of w/d, w·dx/d and w·dy/d, with the distance d = √(dx² + dy² + softening²).
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
