// Loops over many numbers at once, for the vectors that the processor has: AVX-512, AVX2, or what every processor of
// the architecture has. A compiler flag for the one at hand would have to be asked for by whoever builds the package.
// None fuses a product with a sum, so that every processor finds the same numbers, bit by bit.
#ifndef CMATH_VECTORS_H
#define CMATH_VECTORS_H

#include <stddef.h>
#include <stdint.h>

/// One beacon's reading against a table of what is expected of it, cell by cell of a rectangle.
struct cmath_reading {
    /// Expected RSSI in dBm.
    const float *_Nonnull mean;
    /// Variance in dB² of that expectation.
    const float *_Nonnull variance;
    /// Logarithm of the detections a second; NULL if unknown.
    const float *_Nullable log_rate;
    int32_t first_column;
    int32_t columns;
    int32_t first_row;
    int32_t rows;
    /// The reading in dBm, and its variance in dB² beside that of the table.
    float rssi;
    float noise;
    /// Factors of the reading's likelihood and of the rate.
    float share;
    float draw;
    /// What is taken off inside the rectangle.
    float outside;
    /// Degrees of freedom of Student's t distribution, and the logarithm of that number.
    float freedom;
    float log_freedom;
};

/// Adds the logarithm of the likelihood at some cells of a grid, give or take 1e-5; -1 is a cell outside.
///
/// - grid_columns: columns of the whole grid, which has at most 2^21 cells.
void cmath_weigh_cells(
    const struct cmath_reading *_Nonnull reading, int32_t grid_columns, const int32_t *_Nonnull cells, size_t count,
    float *_Nonnull sums);

/// Adds the same at every cell of the rectangle, to the sums of all cells of the grid.
void cmath_weigh_grid(
    const struct cmath_reading *_Nonnull reading, int32_t grid_columns, float *_Nonnull sums);

/// Takes `exp(value - best)`, give or take 5e-6 of it, of each value; what is below -87 counts as -87.
void cmath_exp_below(float *_Nonnull values, float best, size_t count);

/// Pairs of the normal distribution from draws of a counting generator whose n-th draw mixes `state + n · gamma`.
///
/// Pair i is made of the draws numbered `draws[i]` and the next one, as Box and Muller tell, from 32 bits of each.
void cmath_normal_pairs(
    uint64_t state, uint64_t gamma, const int32_t *_Nonnull draws, size_t count, float *_Nonnull x,
    float *_Nonnull y);

/// Sine and cosine of angles within a few thousand turns, in radians, give or take 3e-7 for a turn or two.
void cmath_sines_cosines(
    const float *_Nonnull angles, size_t count, float *_Nonnull sines, float *_Nonnull cosines);

/// Which of these is taken here: 0 for the plain one, 1 for AVX2, 2 for AVX-512.
int cmath_vector_level(void);

/// The same functions with a given level, at most `cmath_vector_level()`, to compare them.
void cmath_weigh_cells_at(
    int level, const struct cmath_reading *_Nonnull reading, int32_t grid_columns, const int32_t *_Nonnull cells,
    size_t count, float *_Nonnull sums);
void cmath_weigh_grid_at(
    int level, const struct cmath_reading *_Nonnull reading, int32_t grid_columns, float *_Nonnull sums);
void cmath_exp_below_at(int level, float *_Nonnull values, float best, size_t count);
void cmath_normal_pairs_at(
    int level, uint64_t state, uint64_t gamma, const int32_t *_Nonnull draws, size_t count, float *_Nonnull x,
    float *_Nonnull y);
void cmath_sines_cosines_at(
    int level, const float *_Nonnull angles, size_t count, float *_Nonnull sines, float *_Nonnull cosines);

#endif
