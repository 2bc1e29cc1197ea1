// The loops of the test of beacons against each other, over many positions. CMathVectors.h describes the vectors.
//
// The values of a reading at all positions form a row; the rows of the readings follow each other in memory.
#ifndef CMATH_CONSENSUS_H
#define CMATH_CONSENSUS_H

#include <stddef.h>
#include <stdint.h>

/// A reading of one beacon, and the table of its expected values in each cell of a rectangle.
struct cmath_expected {
    /// The expected RSSI in dBm, its variance in dB², and the logarithm of the detections per second; null without a table.
    const float *_Nullable mean;
    const float *_Nullable variance;
    const float *_Nullable log_rate;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The reading without the receiver offset in dBm.
    float level;
    /// The variance in dB² that every reading has, the additional variance of this reading, and the factor on all
    /// variances.
    float noise;
    float fading;
    float scale;
    /// The same values outside the table.
    float outside_mean;
    float outside_variance;
    float outside_log_rate;
    /// The exponent of the beacon's share in the detections; 0 if the rates are unknown, which makes each share 1.
    float power;
};

/// The sums over the positions for one reading, weighted by the posterior without it.
struct cmath_test {
    double all;
    double support;
    double level;
    double residual;
    double square;
    double variance;
    /// On the most probable map: the weight and the sums of the positions.
    double here;
    double x;
    double y;
    /// On the most probable map: the weight and the sums of the positions from this reading alone, without the belief.
    double alone;
    double own_x;
    double own_y;
};

/// Looks up the expected values of a reading at positions of one map.
///
/// - columns, rows: the cell of each position; totals: the logarithm of the detections per second of all beacons
///   at each position.
/// - start, count: the positions; target: the index of the first value in the results.
void cmath_expect(
    const struct cmath_expected *_Nonnull expected, const int32_t *_Nonnull columns, const int32_t *_Nonnull rows,
    const float *_Nonnull totals, size_t start, size_t count, size_t target, float *_Nonnull residuals,
    float *_Nonnull variances, float *_Nonnull rates);

/// Estimates the receiver offset at each position from the readings that agree there.
///
/// - faults: the prior probability of a fault of each beacon.
/// - range: the range in dB of a faulty beacon's level.
/// - precision: the inverse of the offset's prior variance; breadth: the added variance of each reading.
/// - offsets: the offsets of the previous pass, which are replaced; doubts: receives their variances.
void cmath_offsets(
    const float *_Nonnull residuals, const float *_Nonnull variances, const float *_Nonnull faults, size_t readings,
    size_t count, float range, float precision, float breadth, float *_Nonnull offsets, float *_Nonnull doubts);

/// Computes the posterior probability of each position.
///
/// - faulty_level, faulty_rate: the density of a faulty beacon's level, and its share in the detections.
/// - receiver: the prior variance of the receiver offset in dB², more than 0.
/// - healthy, fault: receive the likelihood of each reading's level if the beacon is healthy, and the probability that
///   it is faulty.
/// - exponents, products: memory for the binary exponents and the mantissas of the probabilities before they are
///   scaled.
/// - sum: receives the sum of the probabilities before they are scaled to 1; not finite if the values don't allow a test.
void cmath_consensus(
    const float *_Nonnull residuals, const float *_Nonnull variances, const float *_Nonnull rates,
    const float *_Nonnull faults, size_t readings, const float *_Nonnull prior, const float *_Nonnull offsets,
    const float *_Nonnull doubts, size_t count, float faulty_level, float faulty_rate, float receiver,
    float *_Nonnull healthy, float *_Nonnull fault, float *_Nonnull exponents, double *_Nonnull products,
    float *_Nonnull posterior, double *_Nonnull sum);

/// Computes the sums of each reading, weighted by the posterior without it.
///
/// - support: the weight of each position in the venue's prior.
/// - belief_count: the number of positions at the beginning that belong to the belief; map: the most probable map.
void cmath_tests(
    const int32_t *_Nonnull maps, const float *_Nonnull x, const float *_Nonnull y, const float *_Nonnull prior,
    const float *_Nonnull support, const float *_Nonnull posterior, const float *_Nonnull offsets,
    const float *_Nonnull doubts, size_t count, size_t belief_count, int32_t map, const float *_Nonnull residuals,
    const float *_Nonnull variances, const float *_Nonnull rates, const float *_Nonnull healthy,
    const float *_Nonnull fault, size_t readings, struct cmath_test *_Nonnull tests);

/// Computes the likelihood of a reading's level, weighted by the posterior without it, if any weaker level is as probable as
/// the expected one.
///
/// - row: the index of the reading's first value; lasting: the added variance in dB².
void cmath_excess(
    const float *_Nonnull posterior, const float *_Nonnull offsets, const float *_Nonnull doubts, size_t count,
    const float *_Nonnull residuals, const float *_Nonnull variances, const float *_Nonnull fault, size_t row,
    float lasting, double *_Nonnull sum);

void cmath_expect_at(
    int level, const struct cmath_expected *_Nonnull expected, const int32_t *_Nonnull columns,
    const int32_t *_Nonnull rows, const float *_Nonnull totals, size_t start, size_t count, size_t target,
    float *_Nonnull residuals, float *_Nonnull variances, float *_Nonnull rates);
void cmath_offsets_at(
    int level, const float *_Nonnull residuals, const float *_Nonnull variances, const float *_Nonnull faults,
    size_t readings, size_t count, float range, float precision, float breadth, float *_Nonnull offsets,
    float *_Nonnull doubts);
void cmath_consensus_at(
    int level, const float *_Nonnull residuals, const float *_Nonnull variances, const float *_Nonnull rates,
    const float *_Nonnull faults, size_t readings, const float *_Nonnull prior, const float *_Nonnull offsets,
    const float *_Nonnull doubts, size_t count, float faulty_level, float faulty_rate, float receiver,
    float *_Nonnull healthy, float *_Nonnull fault, float *_Nonnull exponents, double *_Nonnull products,
    float *_Nonnull posterior, double *_Nonnull sum);
void cmath_tests_at(
    int level, const int32_t *_Nonnull maps, const float *_Nonnull x, const float *_Nonnull y, const float *_Nonnull prior,
    const float *_Nonnull support, const float *_Nonnull posterior, const float *_Nonnull offsets,
    const float *_Nonnull doubts, size_t count, size_t belief_count, int32_t map, const float *_Nonnull residuals,
    const float *_Nonnull variances, const float *_Nonnull rates, const float *_Nonnull healthy,
    const float *_Nonnull fault, size_t readings, struct cmath_test *_Nonnull tests);
void cmath_excess_at(
    int level, const float *_Nonnull posterior, const float *_Nonnull offsets, const float *_Nonnull doubts, size_t count,
    const float *_Nonnull residuals, const float *_Nonnull variances, const float *_Nonnull fault, size_t row,
    float lasting, double *_Nonnull sum);

#endif
