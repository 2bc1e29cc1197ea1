#include "CMath.h"
#include "VectorKinds.h"

#if defined(__x86_64__)
int cmath_vector_level(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}
#else
int cmath_vector_level(void) { return 0; }
#endif

/// The number of cells that are weighed together, so that intermediate results stay in the fastest cache.
enum { block = 256 };

/// Finds the index of each cell in a rectangle; -1 outside the rectangle.
INLINE void find_entries(
    const struct cmath_rates rates, int32_t grid_columns, const int32_t *restrict cells, size_t count,
    int32_t *restrict entries) {
    float scale = 1 / (float)grid_columns;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        int32_t cell = cells[index];
        // The centre of the cell is further from the next row than the rounding error of the division.
        int32_t row = (int32_t)(((float)cell + 0.5f) * scale);
        int32_t column = cell - row * grid_columns - rates.first_column;
        row -= rates.first_row;
        int is_inside = (cell >= 0) & ((uint32_t)row < (uint32_t)rates.rows)
            & ((uint32_t)column < (uint32_t)rates.columns);
        entries[index] = is_inside ? row * rates.columns + column : -1;
    }
}

INLINE void add_rates(
    const struct cmath_rates *given, int32_t grid_columns, const int32_t *cells, size_t count, float *restrict sums) {
    const struct cmath_rates rates = *given;
    int32_t entries[block];
    float found[block];
    float outside = rates.draw * rates.outside;
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        find_entries(rates, grid_columns, cells + start, length, entries);
        // Load in a separate scalar loop: gather instructions within the arithmetic would be slower.
#pragma clang loop vectorize(disable) unroll_count(4)
        for (size_t index = 0; index < length; index++)
            found[index] = rates.log_rate[entries[index] < 0 ? 0 : entries[index]];
#pragma clang loop vectorize(enable)
        for (size_t index = 0; index < length; index++)
            sums[start + index] += entries[index] < 0 ? 0 : rates.draw * found[index] - outside;
    }
}
CMATH_KINDS(
    add_rates,
    (const struct cmath_rates *rates, int32_t grid_columns, const int32_t *cells, size_t count, float *sums),
    (rates, grid_columns, cells, count, sums))

INLINE void add_rates_grid(const struct cmath_rates *given, int32_t grid_columns, float *sums) {
    const struct cmath_rates rates = *given;
    float outside = rates.draw * rates.outside;
    for (int32_t row = 0; row < rates.rows; row++) {
        const float *restrict values = rates.log_rate + (size_t)row * (size_t)rates.columns;
        float *restrict here = sums + (size_t)(rates.first_row + row) * (size_t)grid_columns + rates.first_column;
#pragma clang loop vectorize(enable)
        for (int32_t column = 0; column < rates.columns; column++) here[column] += rates.draw * values[column] - outside;
    }
}
CMATH_KINDS(
    add_rates_grid, (const struct cmath_rates *rates, int32_t grid_columns, float *sums), (rates, grid_columns, sums))

void cmath_subtract_cells(
    float factor, const float *restrict values, float outside, const int32_t *restrict cells, size_t count,
    float *restrict sums) {
    for (size_t index = 0; index < count; index++)
        sums[index] -= factor * (cells[index] < 0 ? outside : values[cells[index]]);
}

void cmath_subtract(float factor, const float *restrict values, size_t first, size_t count, float *restrict sums) {
    sums += first;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) sums[index] -= factor * values[index];
}

INLINE void exp_below(float *restrict values, float best, size_t count) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) values[index] = exp_negative(values[index] - best);
}
CMATH_KINDS(exp_below, (float *values, float best, size_t count), (values, best, count))

INLINE void posterior(const float *prior, size_t first, size_t count, float *values, double *result) {
    values += first;
    typedef int32_t whole __attribute__((vector_size(64)));
    typedef float eight __attribute__((vector_size(32), aligned(4)));
    cmath_floats most = (cmath_floats){0} - __builtin_inff();
    size_t index = 0;
    for (; index + cmath_lanes <= count; index += cmath_lanes) {
        cmath_floats value = *(const cmath_floats *)(values + index);
        whole is_more = value > most;
        most = (cmath_floats)(((whole)value & is_more) | ((whole)most & ~is_more));
    }
    float best = -__builtin_inff();
    for (; index < count; index++) best = values[index] > best ? values[index] : best;
    for (size_t lane = 0; lane < cmath_lanes; lane++) best = most[lane] > best ? most[lane] : best;
#pragma clang loop vectorize(enable)
    for (index = 0; index < count; index++) values[index] = prior[index] * exp_negative(values[index] - best);
    cmath_doubles sums = {0};
    double sum = 0;
    for (index = 0; index + cmath_double_lanes <= count; index += cmath_double_lanes)
        sums += __builtin_convertvector(*(const eight *)(values + index), cmath_doubles);
    for (; index < count; index++) sum += values[index];
    for (size_t lane = 0; lane < cmath_double_lanes; lane++) sum += sums[lane];
    result[0] = best;
    result[1] = sum;
}
CMATH_KINDS(
    posterior, (const float *prior, size_t first, size_t count, float *values, double *result),
    (prior, first, count, values, result))

INLINE void grid_moments(const float *weights, size_t first, size_t columns, size_t rows, double *sums) {
    typedef float eight __attribute__((vector_size(32), aligned(4)));
    enum { lanes = cmath_double_lanes };
    for (size_t kind = 0; kind < 5; kind++) sums[kind] = 0;
    // Process strips of columns, so that values that depend on the column are computed once per column.
    for (size_t left = 0; left < columns; left += lanes) {
        cmath_doubles all = {0}, by_row = {0}, by_square = {0};
        size_t width = columns - left < lanes ? columns - left : lanes;
        for (size_t row = 0; row < rows; row++) {
            const float *source = weights + first + row * columns + left;
            float part[lanes] = {0};
            if (width < lanes) {
                for (size_t lane = 0; lane < width; lane++) part[lane] = source[lane];
                source = part;
            }
            cmath_doubles weight = __builtin_convertvector(*(const eight *)source, cmath_doubles);
            cmath_doubles moment = weight * (double)row;
            all += weight;
            by_row += moment;
            by_square += moment * (double)row;
        }
        for (size_t lane = 0; lane < width; lane++) {
            double column = (double)(left + lane);
            sums[0] += all[lane];
            sums[1] += column * all[lane];
            sums[2] += by_row[lane];
            sums[3] += column * column * all[lane];
            sums[4] += by_square[lane];
        }
    }
}
CMATH_KINDS(
    grid_moments, (const float *weights, size_t first, size_t columns, size_t rows, double *sums),
    (weights, first, columns, rows, sums))

INLINE void normal_pairs(struct cmath_generator generator, size_t count, float *restrict x, float *restrict y) {
    uint32_t high[block], low[block];
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        draw(generator, 1 + start, length, high, low);
#pragma clang loop vectorize(enable)
        for (size_t index = 0; index < length; index++)
            normal_pair(high[index], low[index], &x[start + index], &y[start + index]);
    }
}
CMATH_KINDS(
    normal_pairs, (struct cmath_generator generator, size_t count, float *x, float *y), (generator, count, x, y))

INLINE void sines_cosines(
    const float *restrict angles, size_t count, float *restrict sines, float *restrict cosines) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++)
        sine_cosine_of_angle(angles[index], &sines[index], &cosines[index]);
}
CMATH_KINDS(
    sines_cosines, (const float *angles, size_t count, float *sines, float *cosines), (angles, count, sines, cosines))
