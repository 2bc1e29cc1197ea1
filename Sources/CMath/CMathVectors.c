#include "CMathVectors.h"

#include <string.h>

#pragma STDC FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))

INLINE float float_of_bits(int32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE int32_t bits_of_float(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The polynomials below are weighted least-squares fits on their intervals, their errors made even by reweighting.

/// The whole exponent of a positive normal number whose mantissa is taken between 2/3 and 4/3, so that numbers near 1
/// have none.
INLINE int32_t exponent_of(float x) { return (bits_of_float(x) - 0x3F2AAAAB) >> 23; }

/// That mantissa less 1.
INLINE float fraction_of(float x, int32_t exponent) {
    return float_of_bits((int32_t)((uint32_t)bits_of_float(x) - ((uint32_t)exponent << 23))) - 1;
}

/// The natural logarithm of a number in two parts: log(1 + f) = f - f²/2 + f³·p(f).
INLINE float log_of_parts(int32_t exponent, float f) {
    float square = f * f;
    float even = 0.33333266f + square * (0.20007917f + square * (0.14042352f + square * 0.13820009f));
    float odd = -0.25004238f + square * (-0.16472325f + square * -0.15122195f);
    return (float)exponent * 0.69314718f + (f - square * (0.5f - f * (even + f * odd)));
}

/// The natural logarithm of a positive normal number.
INLINE float log_positive(float x) {
    int32_t exponent = exponent_of(x);
    return log_of_parts(exponent, fraction_of(x, exponent));
}

/// The natural logarithm of 1 - draw / 2^32, which is never 0, with all digits near 1, too.
INLINE float log_of_rest(uint32_t draw) {
    float rest = ((float)~draw + 1) * 0x1p-32f;
    int32_t exponent = exponent_of(rest);
    return log_of_parts(exponent, exponent == 0 ? (float)draw * -0x1p-32f : fraction_of(rest, exponent));
}

/// e to the power of a number that is at most 0; what is below -87, or no number, counts as -87.
INLINE float exp_negative(float x) {
    float scaled = (x > -87 ? x : -87) * 1.44269504f;
    int32_t whole = (int32_t)(scaled - 0.5f);
    float f = scaled - (float)whole;
    float square = f * f;
    float even = 1 + square * (0.24022646f + square * (0.0096184891f + square * 0.00015345802f));
    float odd = 0.69314718f + square * (0.055503286f + square * 0.0013399930f);
    return (even + f * odd) * float_of_bits((int32_t)((uint32_t)(whole + 127) << 23));
}

/// Sine and cosine of `part` quarter turns, from -1/2 to 1/2, beyond `quarters` whole ones.
INLINE void sine_cosine(uint32_t quarters, float part, float *sine, float *cosine) {
    float square = part * part;
    float s = part * (1.5707963f + square * (-0.64596295f + square * (0.079675905f + square * -0.0045922892f)));
    float c = 1 + square * (-1.2337005f + square * (0.25366923f + square * (-0.020860288f + square * 0.00090402161f)));
    int is_odd = quarters & 1;
    float first = is_odd ? c : s;
    float second = is_odd ? s : c;
    *sine = quarters & 2 ? -first : first;
    *cosine = (quarters + 1) & 2 ? -second : second;
}

INLINE uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/// Student's t distribution of the difference, without its constant, and the share of detections.
///
/// -(ν+1)/2·log(1 + d²/(ν·v)) - log(v)/2, with the division turned into a difference of logarithms.
INLINE float likelihood(const struct cmath_reading reading, float mean, float variance) {
    float difference = reading.rssi - mean;
    float v = reading.noise + variance;
    float wide = log_positive(reading.freedom * v + difference * difference) - reading.log_freedom;
    return 0.5f * (reading.freedom * log_positive(v) - (reading.freedom + 1) * wide);
}

INLINE void weigh_cells(
    const struct cmath_reading *given, int32_t grid_columns, const int32_t *restrict cells, size_t count,
    float *restrict sums) {
    const struct cmath_reading reading = *given;
    float scale = 1 / (float)grid_columns;
    const float *restrict rates = reading.log_rate ? reading.log_rate : reading.mean;
    float draw = reading.log_rate ? reading.draw : 0;
    // Block by block: first where each cell lies in the table, then what stands there, then the arithmetic. Gathering
    // within the arithmetic takes longer, even where there is an instruction for it.
    enum { block = 64 };
    int32_t entries[block];
    float means[block], variances[block], found[block];
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        const int32_t *restrict here = cells + start;
        float *restrict sum = sums + start;
#pragma clang loop vectorize(enable)
        for (size_t index = 0; index < length; index++) {
            int32_t cell = here[index];
            // The middle of the cell divides more than rounding away from the next row.
            int32_t row = (int32_t)(((float)cell + 0.5f) * scale);
            int32_t column = cell - row * grid_columns - reading.first_column;
            row -= reading.first_row;
            int is_inside = (cell >= 0) & ((uint32_t)row < (uint32_t)reading.rows)
                & ((uint32_t)column < (uint32_t)reading.columns);
            entries[index] = is_inside ? row * reading.columns + column : -1;
        }
#pragma clang loop vectorize(disable)
        for (size_t index = 0; index < length; index++) {
            int32_t entry = entries[index] < 0 ? 0 : entries[index];
            means[index] = reading.mean[entry];
            variances[index] = reading.variance[entry];
            found[index] = rates[entry];
        }
#pragma clang loop vectorize(enable)
        for (size_t index = 0; index < length; index++) {
            float term = reading.share * likelihood(reading, means[index], variances[index]) + draw * found[index]
                - reading.outside;
            sum[index] += entries[index] < 0 ? 0 : term;
        }
    }
}

INLINE void weigh_grid(const struct cmath_reading *given, int32_t grid_columns, float *restrict sums) {
    const struct cmath_reading reading = *given;
    // A rectangle as wide as the grid is one long row.
    int is_whole = reading.columns == grid_columns;
    size_t rows = is_whole ? 1 : (size_t)reading.rows;
    size_t columns = is_whole ? (size_t)reading.rows * (size_t)reading.columns : (size_t)reading.columns;
    float draw = reading.log_rate ? reading.draw : 0;
    for (size_t row = 0; row < rows; row++) {
        float *restrict sum = sums + ((size_t)reading.first_row + row) * (size_t)grid_columns + reading.first_column;
        const float *restrict mean = reading.mean + row * columns;
        const float *restrict variance = reading.variance + row * columns;
        const float *restrict rate = (reading.log_rate ? reading.log_rate : reading.mean) + row * columns;
#pragma clang loop vectorize(enable)
        for (size_t column = 0; column < columns; column++) {
            sum[column] += reading.share * likelihood(reading, mean[column], variance[column]) + draw * rate[column]
                - reading.outside;
        }
    }
}

INLINE void exp_below(float *restrict values, float best, size_t count) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) values[index] = exp_negative(values[index] - best);
}

INLINE void normal_pairs(
    uint64_t state, uint64_t gamma, const int32_t *restrict draws, size_t count, float *restrict x,
    float *restrict y) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        uint64_t at = state + (uint64_t)(int64_t)draws[index] * gamma;
        uint32_t first = (uint32_t)(mix(at) >> 32);
        // An eighth of a turn more makes whole quarters of what is nearest to them.
        uint32_t second = (uint32_t)(mix(at + gamma) >> 32) + 0x20000000;
        float radius = __builtin_elementwise_sqrt(-2 * log_of_rest(first));
        float part = (float)((int32_t)(second & 0x3FFFFFFF) - 0x20000000) * 0x1p-30f;
        float sine, cosine;
        sine_cosine(second >> 30, part, &sine, &cosine);
        x[index] = radius * cosine;
        y[index] = radius * sine;
    }
}

INLINE void sines_cosines(
    const float *restrict angles, size_t count, float *restrict sines, float *restrict cosines) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float quarters = angles[index] * 0.63661977f;
        int32_t whole = (int32_t)(quarters + (quarters < 0 ? -0.5f : 0.5f));
        sine_cosine((uint32_t)whole, quarters - (float)whole, &sines[index], &cosines[index]);
    }
}

// Each function three times: as every processor can run it, and for two kinds of vectors.
#define VARIANTS(suffix, target)                                                                                      \
    target static void weigh_cells_##suffix(                                                                          \
        const struct cmath_reading *reading, int32_t columns, const int32_t *cells, size_t count, float *sums) {      \
        weigh_cells(reading, columns, cells, count, sums);                                                            \
    }                                                                                                                 \
    target static void weigh_grid_##suffix(const struct cmath_reading *reading, int32_t columns, float *sums) {       \
        weigh_grid(reading, columns, sums);                                                                           \
    }                                                                                                                 \
    target static void exp_below_##suffix(float *values, float best, size_t count) {                                  \
        exp_below(values, best, count);                                                                               \
    }                                                                                                                 \
    target static void normal_pairs_##suffix(                                                                         \
        uint64_t state, uint64_t gamma, const int32_t *draws, size_t count, float *x, float *y) {                     \
        normal_pairs(state, gamma, draws, count, x, y);                                                               \
    }                                                                                                                 \
    target static void sines_cosines_##suffix(const float *angles, size_t count, float *sines, float *cosines) {      \
        sines_cosines(angles, count, sines, cosines);                                                                 \
    }

VARIANTS(plain, )

#if defined(__x86_64__)
VARIANTS(avx2, __attribute__((target("avx2"))))
VARIANTS(avx512, __attribute__((target("avx2,avx512f,avx512dq,avx512bw,avx512vl"))))

int cmath_vector_level(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        return 2;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}

#define CALL(level, function, ...)                                                                                    \
    switch (level) {                                                                                                  \
    case 2: function##_avx512(__VA_ARGS__); break;                                                                    \
    case 1: function##_avx2(__VA_ARGS__); break;                                                                      \
    default: function##_plain(__VA_ARGS__);                                                                           \
    }
#else
int cmath_vector_level(void) { return 0; }

#define CALL(level, function, ...)                                                                                    \
    (void)level;                                                                                                      \
    function##_plain(__VA_ARGS__);
#endif

void cmath_weigh_cells_at(
    int level, const struct cmath_reading *reading, int32_t grid_columns, const int32_t *cells, size_t count,
    float *sums) {
    CALL(level, weigh_cells, reading, grid_columns, cells, count, sums)
}

void cmath_weigh_grid_at(int level, const struct cmath_reading *reading, int32_t grid_columns, float *sums) {
    CALL(level, weigh_grid, reading, grid_columns, sums)
}

void cmath_exp_below_at(int level, float *values, float best, size_t count) {
    CALL(level, exp_below, values, best, count)
}

void cmath_normal_pairs_at(
    int level, uint64_t state, uint64_t gamma, const int32_t *draws, size_t count, float *x, float *y) {
    CALL(level, normal_pairs, state, gamma, draws, count, x, y)
}

void cmath_sines_cosines_at(int level, const float *angles, size_t count, float *sines, float *cosines) {
    CALL(level, sines_cosines, angles, count, sines, cosines)
}

void cmath_weigh_cells(
    const struct cmath_reading *reading, int32_t grid_columns, const int32_t *cells, size_t count, float *sums) {
    cmath_weigh_cells_at(cmath_vector_level(), reading, grid_columns, cells, count, sums);
}

void cmath_weigh_grid(const struct cmath_reading *reading, int32_t grid_columns, float *sums) {
    cmath_weigh_grid_at(cmath_vector_level(), reading, grid_columns, sums);
}

void cmath_exp_below(float *values, float best, size_t count) {
    cmath_exp_below_at(cmath_vector_level(), values, best, count);
}

void cmath_normal_pairs(
    uint64_t state, uint64_t gamma, const int32_t *draws, size_t count, float *x, float *y) {
    cmath_normal_pairs_at(cmath_vector_level(), state, gamma, draws, count, x, y);
}

void cmath_sines_cosines(const float *angles, size_t count, float *sines, float *cosines) {
    cmath_sines_cosines_at(cmath_vector_level(), angles, count, sines, cosines);
}
