// The estimate of the receiver for each of many position hypotheses, updated with each reading. CMathVectors.h
// describes the vectors.
#ifndef CMATH_RECEIVERS_H
#define CMATH_RECEIVERS_H

#include <stddef.h>
#include <stdint.h>

#include "CMathVectors.h"

/// The receiver's state z = (offset, body x, body y) for each hypothesis, as a normal distribution: mean and covariance
/// in dB and dB². The RSSI of a beacon in the direction u increases by offset + u · body.
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

/// A reading of one beacon, and the table of its expected values in each cell of a rectangle.
struct cmath_heard {
    /// The expected RSSI in dBm, and its variance in dB².
    const float *_Nonnull mean;
    const float *_Nonnull variance;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The reading in dBm, and its variance in dB² without that of the table.
    float rssi;
    float noise;
    /// The weight of the reading, above 0, and its caution: for the update of the receiver, the variance is multiplied
    /// by caution / share.
    float share;
    float caution;
    /// The position of the beacon; `directed` is 1 if it is known, otherwise 0.
    float x;
    float y;
    float directed;
    /// The logarithm of the likelihood outside the table, relative to which the others are computed.
    float outside;
    /// Degrees of freedom of Student's t distribution.
    float freedom;
};

/// The error of a beacon's latest reading that lasts, for each hypothesis: its mean in dB, its variance in dB², and the
/// place of the hypothesis then.
struct cmath_lasting {
    float *_Nonnull error;
    float *_Nonnull variance;
    float *_Nonnull x;
    float *_Nonnull y;
    /// The share of the error that remains by now where the hypothesis hasn't moved, in [0, 1]; what each metre leaves of
    /// it is exp(-per_metre).
    float keep;
    float per_metre;
    /// The part of the reading's variance in dB² that doesn't last.
    float fading;
};

/// Adds the logarithm of a reading's likelihood to the sums of hypotheses, and updates their receivers.
///
/// The likelihood is Student's t distribution of the difference from the expected RSSI. Its variance includes the
/// uncertainty of the receiver. The update is a Kalman filter's with a variance that grows with the outlier.
///
/// - cells: the cell of each hypothesis from the first on, counted from 1 in a grid of `grid_columns`; 0 is outside.
/// - x, y, receivers: values of all hypotheses; sums: values of those from the first on.
void cmath_hear(
    const struct cmath_heard *_Nonnull heard, int32_t grid_columns, const int32_t *_Nonnull cells,
    const float *_Nonnull x, const float *_Nonnull y, size_t first, size_t count, struct cmath_receivers receivers,
    float *_Nonnull sums);

/// Does the same for a beacon whose errors last, and updates them.
///
/// The lasting part of the error is a first-order Gauss–Markov process over time and distance, which a Kalman filter
/// estimates for each hypothesis, apart from the receiver.
void cmath_hear_lasting(
    const struct cmath_heard *_Nonnull heard, const struct cmath_lasting *_Nonnull last, int32_t grid_columns,
    const int32_t *_Nonnull cells, const float *_Nonnull x, const float *_Nonnull y, size_t first, size_t count,
    struct cmath_receivers receivers, float *_Nonnull sums);

/// Does the same without lasting errors at the centre of each cell in a band of a grid's rows, for the cells within the
/// reading's table.
///
/// - first_row, rows: the band. The receivers and sums begin with its first cell, and have room for
///   `cmath_lanes` more, whose values are read and written, but not changed.
/// - left, top, size: the grid's corner and the edge of its cells in metres.
/// - row_step: only the middle one of so many rows of the grid is computed; 1 for all rows.
void cmath_hear_grid(
    const struct cmath_heard *_Nonnull heard, int32_t grid_columns, int32_t first_row, int32_t rows, float left,
    float top, float size, int32_t row_step, struct cmath_receivers receivers, float *_Nonnull sums);

/// Advances the receivers in time: the offset drifts, and the body turns.
///
/// - wander: the increase in the offset's variance in dB².
/// - keep: the share of the body's shadow that remains; fresh: the added variance in dB² along each axis.
void cmath_age_receivers(float wander, float keep, float fresh, size_t first, size_t count, struct cmath_receivers receivers);

void cmath_hear_at(
    int level, const struct cmath_heard *_Nonnull heard, int32_t grid_columns, const int32_t *_Nonnull cells,
    const float *_Nonnull x, const float *_Nonnull y, size_t first, size_t count, struct cmath_receivers receivers,
    float *_Nonnull sums);
void cmath_hear_lasting_at(
    int level, const struct cmath_heard *_Nonnull heard, const struct cmath_lasting *_Nonnull last,
    int32_t grid_columns, const int32_t *_Nonnull cells, const float *_Nonnull x, const float *_Nonnull y, size_t first,
    size_t count, struct cmath_receivers receivers, float *_Nonnull sums);
void cmath_hear_grid_at(
    int level, const struct cmath_heard *_Nonnull heard, int32_t grid_columns, int32_t first_row, int32_t rows,
    float left, float top, float size, int32_t row_step, struct cmath_receivers receivers, float *_Nonnull sums);
void cmath_age_receivers_at(
    int level, float wander, float keep, float fresh, size_t first, size_t count, struct cmath_receivers receivers);

#endif
