// Loops over many numbers at once, with the vectors that the processor supports: AVX-512, AVX2, or the baseline of the
// architecture. The variants are selected at run time, because a compiler flag for one processor would be required in
// every build of the package. None of the loops fuses a multiplication and an addition, so every processor computes
// identical bits. For comparison, each function has a variant with the suffix `_at` that uses a given kind of vectors,
// at most `cmath_vector_level()`.
#ifndef CMATH_VECTORS_H
#define CMATH_VECTORS_H

#include <stddef.h>
#include <stdint.h>

/// The numbers in the largest vector. Loops that need room behind the last element need at most so many.
enum { cmath_lanes = 16 };

/// Returns the kind of vectors in use: 0 for the baseline, 1 for AVX2, 2 for AVX-512.
int cmath_vector_level(void);

/// A counter-based generator of random numbers: the n-th next number is computed from `state + n · step`.
struct cmath_generator {
    uint64_t state;
    uint64_t step;
};

/// The detection rate of one beacon in each cell of a rectangle.
struct cmath_rates {
    /// The logarithm of the detections per second.
    const float *_Nonnull log_rate;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The factor on the logarithm, and the logarithm outside the rectangle.
    float draw;
    float outside;
};

/// Adds the weighted logarithm of a beacon's rate, minus the logarithm outside the rectangle, to the sums of cells; -1
/// is a cell outside the grid.
///
/// - grid_columns: the number of columns of the whole grid, which has at most 2^21 cells.
void cmath_add_rates(
    const struct cmath_rates *_Nonnull rates, int32_t grid_columns, const int32_t *_Nonnull cells, size_t count,
    float *_Nonnull sums);

/// Does the same as `cmath_add_rates` for all cells of a grid.
void cmath_add_rates_grid(const struct cmath_rates *_Nonnull rates, int32_t grid_columns, float *_Nonnull sums);

/// Subtracts a multiple of a value from each sum: `values[cell]` of the sum's cell, or `outside` for cell -1.
void cmath_subtract_cells(
    float factor, const float *_Nonnull values, float outside, const int32_t *_Nonnull cells, size_t count,
    float *_Nonnull sums);

/// Subtracts a multiple of each value from the sums, beginning at the sum `first`.
void cmath_subtract(
    float factor, const float *_Nonnull values, size_t first, size_t count, float *_Nonnull sums);

/// Replaces each value by `exp(value - best)`, with a relative error of at most 5e-6. Differences below -87 are treated
/// as -87.
void cmath_exp_below(float *_Nonnull values, float best, size_t count);

/// Converts logarithms of likelihoods, beginning at `first`, to probabilities, up to a common factor.
///
/// - prior: the prior probability of each, beginning with the first.
/// - result: receives the largest logarithm, minus infinity if there is none, and the sum of the results.
void cmath_posterior(
    const float *_Nonnull prior, size_t first, size_t count, float *_Nonnull values, double *_Nonnull result);

/// Computes sums over a grid, beginning with the weight at `first`: of w, w·column, w·row, w·column² and w·row².
void cmath_grid_moments(
    const float *_Nonnull weights, size_t first, size_t columns, size_t rows, double *_Nonnull sums);

/// Computes pairs of normally distributed numbers from the next draws of a generator, one draw for each pair. The
/// Box–Muller transform uses 32 bits of the draw for each of its two inputs.
void cmath_normal_pairs(struct cmath_generator generator, size_t count, float *_Nonnull x, float *_Nonnull y);

/// Computes sine and cosine of angles in radians, of at most a few thousand turns. For angles of up to two turns, the
/// error is 3e-7.
void cmath_sines_cosines(
    const float *_Nonnull angles, size_t count, float *_Nonnull sines, float *_Nonnull cosines);

void cmath_add_rates_at(
    int level, const struct cmath_rates *_Nonnull rates, int32_t grid_columns, const int32_t *_Nonnull cells,
    size_t count, float *_Nonnull sums);
void cmath_add_rates_grid_at(
    int level, const struct cmath_rates *_Nonnull rates, int32_t grid_columns, float *_Nonnull sums);
void cmath_exp_below_at(int level, float *_Nonnull values, float best, size_t count);
void cmath_posterior_at(
    int level, const float *_Nonnull prior, size_t first, size_t count, float *_Nonnull values,
    double *_Nonnull result);
void cmath_grid_moments_at(
    int level, const float *_Nonnull weights, size_t first, size_t columns, size_t rows, double *_Nonnull sums);
void cmath_normal_pairs_at(
    int level, struct cmath_generator generator, size_t count, float *_Nonnull x, float *_Nonnull y);
void cmath_sines_cosines_at(
    int level, const float *_Nonnull angles, size_t count, float *_Nonnull sines, float *_Nonnull cosines);

#endif
