// The loops that make a beacon's tables: what is expected of it, cell by cell of a rectangle. See CMathVectors.h for the
// vectors.
#ifndef CMATH_TABLES_H
#define CMATH_TABLES_H

#include <stddef.h>
#include <stdint.h>

/// A rectangle of cells, seen from a point.
struct cmath_rectangle {
    /// The middle of its first cell less the point, and the edge of a cell, in metres.
    float x;
    float y;
    float size;
    int32_t columns;
    int32_t rows;
    /// Cells from the beginning of a row to that of the next one in the array.
    int32_t stride;
};

/// Path loss: power - slope · log(d² + height²), in dBm, with d in metres.
struct cmath_path_loss {
    float power;
    float slope;
    /// Square of the height in m².
    float height;
};

/// How often beacons are heard, by their level: 1 / (1 + exp((sensitivity - level) / width)) detections a second.
struct cmath_sensitivity {
    /// In dBm, and decibels above 0.
    float level;
    float width;
};

/// A survey's reading as a Gaussian process takes it.
struct cmath_survey_reading {
    /// Weight in 1/dB.
    float weight;
    /// Variance of the shadowing in dB², and the inverse of its length, times √3, in 1/m.
    float amplitude;
    float scale;
    /// Variance in dB² of what all places share.
    float constant;
    /// 1 / (amplitude + constant + the reading's own variance).
    float gain;
};

/// Writes the level of a beacon at the rectangle's point to each cell, from the first one on.
void cmath_levels(
    const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_path_loss *_Nonnull loss,
    float *_Nonnull levels);

/// Writes the logarithm of the detections a second at some levels, with `unheard` ones added.
void cmath_log_rates(
    const float *_Nonnull levels, size_t count, const struct cmath_sensitivity *_Nonnull sensitivity, float unheard,
    float *_Nonnull rates);

/// Adds the detections a second of a beacon at the rectangle's point to a grid's sums, of which `first` is the rectangle's
/// first cell.
void cmath_add_expected(
    const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_path_loss *_Nonnull loss,
    const struct cmath_sensitivity *_Nonnull sensitivity, size_t first, float *_Nonnull sums);

/// Adds the exponentials of a table's values, less `unheard`, to a grid's sums, of which `first` is the rectangle's first
/// cell.
void cmath_add_exponentials(
    const struct cmath_rectangle *_Nonnull rectangle, const float *_Nonnull values, float unheard, size_t first,
    float *_Nonnull sums);

/// Adds what a reading at the rectangle's point tells of the shadowing to the means, and lowers the variances to what it
/// leaves; `first` is the rectangle's first cell.
void cmath_add_shadowing(
    const struct cmath_rectangle *_Nonnull rectangle, const struct cmath_survey_reading *_Nonnull reading, size_t first,
    float *_Nonnull mean, float *_Nonnull variance);

/// Adds amount · exp(-factor · d²) to sums, where d is the distance from the rectangle's point; `first` is its first cell.
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
