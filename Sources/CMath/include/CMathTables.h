// The loops that compute a beacon's tables: the expected values in each cell of a rectangle. CMathVectors.h describes
// the vectors.
#ifndef CMATH_TABLES_H
#define CMATH_TABLES_H

#include <stddef.h>
#include <stdint.h>

/// A rectangle of cells, relative to a point.
struct cmath_rectangle {
    /// The centre of the first cell relative to the point, and the edge of a cell, in metres.
    float x;
    float y;
    float size;
    int32_t columns;
    int32_t rows;
    /// The number of cells in the array from the beginning of one row to the beginning of the next.
    int32_t stride;
};

/// Path loss: power - slope · log(d² + height²), in dBm, with d in metres.
struct cmath_path_loss {
    float power;
    float slope;
    /// The square of the height in m².
    float height;
};

/// The detection rate of beacons by their level: 1 / (1 + exp((sensitivity - level) / width)) detections per second.
struct cmath_sensitivity {
    /// The sensitivity in dBm, and the width in dB, above 0.
    float level;
    float width;
};

/// A survey's reading in the form that a Gaussian process uses.
struct cmath_survey_reading {
    /// The weight in 1/dB.
    float weight;
    /// The variance of the shadowing in dB², and √3 divided by its correlation length, in 1/m.
    float amplitude;
    float scale;
    /// The variance in dB² that is common to all places.
    float constant;
    /// 1 / (amplitude + constant + the reading's own variance).
    float gain;
};

/// Writes the level of a beacon at the rectangle's point to each cell, beginning at the first element.
void cmath_levels(
    const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_path_loss *_Nonnull loss,
    float *_Nonnull levels);

/// Writes the logarithm of the detections per second at the given levels, plus `unheard`.
void cmath_log_rates(
    const float *_Nonnull levels, size_t count, const struct cmath_sensitivity *_Nonnull sensitivity, float unheard,
    float *_Nonnull rates);

/// Adds the detections per second of a beacon at the rectangle's point to a grid's sums; `first` is the rectangle's
/// first cell in the grid.
void cmath_add_expected(
    const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_path_loss *_Nonnull loss,
    const struct cmath_sensitivity *_Nonnull sensitivity, size_t first, float *_Nonnull sums);

/// Adds the exponentials of a table's values, minus `unheard`, to a grid's sums; `first` is the rectangle's first cell
/// in the grid.
void cmath_add_exponentials(
    const struct cmath_rectangle *_Nonnull rectangle, const float *_Nonnull values, float unheard, size_t first,
    float *_Nonnull sums);

/// Adds the shadowing that a reading at the rectangle's point implies to the means, and reduces the variances to those
/// that remain with this reading; `first` is the rectangle's first cell.
void cmath_add_shadowing(
    const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_survey_reading *_Nonnull reading, size_t first,
    float *_Nonnull mean, float *_Nonnull variance);

/// Adds amount · exp(-factor · d²) to sums, with the distance d from the rectangle's point; `first` is its first cell.
void cmath_spread(
    const struct cmath_rectangle *_Nonnull rectangle, float factor, float amount, size_t first, float *_Nonnull sums);

void cmath_levels_at(
    int level, const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_path_loss *_Nonnull loss,
    float *_Nonnull levels);
void cmath_log_rates_at(
    int level, const float *_Nonnull levels, size_t count, const struct cmath_sensitivity *_Nonnull sensitivity,
    float unheard, float *_Nonnull rates);
void cmath_add_expected_at(
    int level, const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_path_loss *_Nonnull loss,
    const struct cmath_sensitivity *_Nonnull sensitivity, size_t first, float *_Nonnull sums);
void cmath_add_exponentials_at(
    int level, const struct cmath_rectangle *_Nonnull rectangle, const float *_Nonnull values, float unheard,
    size_t first, float *_Nonnull sums);
void cmath_add_shadowing_at(
    int level, const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_survey_reading *_Nonnull reading,
    size_t first, float *_Nonnull mean, float *_Nonnull variance);
void cmath_spread_at(
    int level, const struct cmath_rectangle *_Nonnull rectangle, float factor, float amount, size_t first,
    float *_Nonnull sums);

#endif
