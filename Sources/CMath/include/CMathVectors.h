// Loops over many numbers at once, for the vectors that the processor has: AVX-512, AVX2, or what every processor of
// the architecture has. A compiler flag for the one at hand would have to be asked for by whoever builds the package.
// None fuses a product with a sum, so that every processor finds the same numbers, bit by bit. Behind each function
// whose name ends in `_at` is the same one with a given kind of vectors, at most `cmath_vector_level()`, to compare
// them.
#ifndef CMATH_VECTORS_H
#define CMATH_VECTORS_H

#include <stddef.h>
#include <stdint.h>

/// Which vectors are taken here: 0 for what every processor has, 1 for AVX2, 2 for AVX-512.
int cmath_vector_level(void);

/// A counting generator, whose n-th number from now is mixed from `state + n · step`.
struct cmath_generator {
    uint64_t state;
    uint64_t step;
};

/// How often one beacon is heard, cell by cell of a rectangle.
struct cmath_rates {
    /// Logarithm of the detections a second.
    const float *_Nonnull log_rate;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The factor of the logarithm, and that logarithm outside the rectangle.
    float draw;
    float outside;
};

/// Adds to the sums of some cells of a grid what a beacon's rate tells there, against that outside; -1 is a cell outside.
///
/// - grid_columns: columns of the whole grid, which has at most 2^21 cells.
void cmath_add_rates(
    const struct cmath_rates *_Nonnull rates, int32_t grid_columns, const int32_t *_Nonnull cells, size_t count,
    float *_Nonnull sums);

/// The same for a whole grid.
void cmath_add_rates_grid(const struct cmath_rates *_Nonnull rates, int32_t grid_columns, float *_Nonnull sums);

/// Takes off each sum a multiple of a number of its cell: `values[cell]`, or `outside` for -1.
void cmath_subtract_cells(
    float factor, const float *_Nonnull values, float outside, const int32_t *_Nonnull cells, size_t count,
    float *_Nonnull sums);

/// Takes off each sum from `first` on a multiple of a number.
void cmath_subtract(
    float factor, const float *_Nonnull values, size_t first, size_t count, float *_Nonnull sums);

/// Takes `exp(value - best)`, give or take 5e-6 of it, of each value; what is below -87 counts as -87.
void cmath_exp_below(float *_Nonnull values, float best, size_t count);

/// Makes logarithms of likelihoods, from `first` on, into probabilities, up to a common factor.
///
/// - prior: of each, from the first on.
/// - result: takes the largest logarithm, minus infinity if there is none, and the sum of what the others come to.
void cmath_posterior(
    const float *_Nonnull prior, size_t first, size_t count, float *_Nonnull values, double *_Nonnull result);

/// Sums over a grid of weights w, of w·column, w·row, w·column² and w·row², from the weight at `first` on.
void cmath_grid_moments(
    const float *_Nonnull weights, size_t first, size_t columns, size_t rows, double *_Nonnull sums);

/// Pairs of the normal distribution from the next draws of a generator, one for each: 32 bits for either of the
/// numbers that Box and Muller ask for.
void cmath_normal_pairs(struct cmath_generator generator, size_t count, float *_Nonnull x, float *_Nonnull y);

/// Sine and cosine of angles within a few thousand turns, in radians, give or take 3e-7 for a turn or two.
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
