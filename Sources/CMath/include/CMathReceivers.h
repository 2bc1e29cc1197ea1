// What each of many guesses of a place knows of the receiver, learned reading by reading. See CMathVectors.h for the vectors.
#ifndef CMATH_RECEIVERS_H
#define CMATH_RECEIVERS_H

#include <stddef.h>
#include <stdint.h>

/// A receiver's state z = (offset, body x, body y) of each guess, as a normal distribution: mean and covariance in dB and
/// dB². A reading of a beacon in the direction u is stronger by offset + u · body.
struct cmath_receivers {
    float *_Nonnull offset;
    float *_Nonnull body_x;
    float *_Nonnull body_y;
    float *_Nonnull c00;
    float *_Nonnull c01;
    float *_Nonnull c02;
    float *_Nonnull c11;
    float *_Nonnull c12;
    float *_Nonnull c22;
};

/// One beacon's reading against a table of what is expected of it, cell by cell of a rectangle.
struct cmath_heard {
    /// Expected RSSI in dBm, and the variance in dB² of that expectation.
    const float *_Nonnull mean;
    const float *_Nonnull variance;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The reading in dBm, and its variance in dB² beside that of the table.
    float rssi;
    float noise;
    /// How much the reading counts, above 0, and how much more than its variance it is worth in what is learned of the
    /// receiver.
    float share;
    float caution;
    /// Where the beacon is; `directed` is 1 if that is known, else 0.
    float x;
    float y;
    float directed;
    /// The logarithm of its likelihood where it has no table, which counts as 0.
    float outside;
    /// Degrees of freedom of Student's t distribution.
    float freedom;
};

/// Adds the logarithm of a reading's likelihood to the sums of some guesses, and lets their receivers learn of it.
///
/// The likelihood is Student's t distribution of the difference to what is expected, whose variance holds what is not
/// known of the receiver. The receiver learns as by a Kalman filter with a variance that grows with the outlier.
///
/// - cells: of each guess from the first on, counted from 1 in a grid of `grid_columns`; 0 is outside.
/// - x, y, receivers: of all guesses; sums: of those from the first on.
void cmath_hear(
    const struct cmath_heard *_Nonnull heard, int32_t grid_columns, const int32_t *_Nonnull cells,
    const float *_Nonnull x, const float *_Nonnull y, size_t first, size_t count, struct cmath_receivers receivers,
    float *_Nonnull sums);

/// The same at the middle of each cell of a whole grid, for the cells within the reading's table.
///
/// - left, top, size: the grid's corner and the edge of its cells in metres.
void cmath_hear_grid(
    const struct cmath_heard *_Nonnull heard, int32_t grid_columns, float left, float top, float size,
    struct cmath_receivers receivers, float *_Nonnull sums);

/// Lets time pass: the offset wanders, the body turns.
///
/// - wander: variance in dB² that the offset gains.
/// - keep: share of the body's shadow that is left; fresh: the variance in dB² along each axis that it regains.
void cmath_age_receivers(float wander, float keep, float fresh, size_t first, size_t count, struct cmath_receivers receivers);

void cmath_hear_at(
    int level, const struct cmath_heard *_Nonnull heard, int32_t grid_columns, const int32_t *_Nonnull cells,
    const float *_Nonnull x, const float *_Nonnull y, size_t first, size_t count, struct cmath_receivers receivers,
    float *_Nonnull sums);
void cmath_hear_grid_at(
    int level, const struct cmath_heard *_Nonnull heard, int32_t grid_columns, float left, float top, float size,
    struct cmath_receivers receivers, float *_Nonnull sums);
void cmath_age_receivers_at(
    int level, float wander, float keep, float fresh, size_t first, size_t count, struct cmath_receivers receivers);

#endif
