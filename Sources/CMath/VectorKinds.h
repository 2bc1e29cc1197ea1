// Shared parts of the vector loops: their variants for several kinds of vectors, and their arithmetic.
#ifndef CMATH_VECTOR_KINDS_H
#define CMATH_VECTOR_KINDS_H

#include "CMathVectors.h"

#pragma STDC FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))

#define CMATH_LIST(...) __VA_ARGS__

// Defines three variants of each function, one for every processor and two for kinds of vectors, and the function that
// selects a variant. NAME is an INLINE function. PARAMETERS and ARGUMENTS are lists in parentheses: its parameters, and
// their names.
#if defined(__x86_64__)
#define CMATH_KINDS(NAME, PARAMETERS, ARGUMENTS)                                                                      \
    static void NAME##_plain PARAMETERS { NAME ARGUMENTS; }                                                           \
    __attribute__((target("avx2"))) static void NAME##_avx2 PARAMETERS { NAME ARGUMENTS; }                            \
    __attribute__((target("avx2,avx512f,avx512dq,avx512bw,avx512vl"))) static void NAME##_avx512 PARAMETERS {         \
        NAME ARGUMENTS;                                                                                               \
    }                                                                                                                 \
    void cmath_##NAME##_at(int level, CMATH_LIST PARAMETERS) {                                                        \
        switch (level) {                                                                                              \
        case 2: NAME##_avx512 ARGUMENTS; break;                                                                       \
        case 1: NAME##_avx2 ARGUMENTS; break;                                                                         \
        default: NAME##_plain ARGUMENTS;                                                                              \
        }                                                                                                             \
    }                                                                                                                 \
    void cmath_##NAME PARAMETERS { cmath_##NAME##_at(cmath_vector_level(), CMATH_LIST ARGUMENTS); }
#else
#define CMATH_KINDS(NAME, PARAMETERS, ARGUMENTS)                                                                      \
    void cmath_##NAME PARAMETERS { NAME ARGUMENTS; }                                                                  \
    void cmath_##NAME##_at(int level, CMATH_LIST PARAMETERS) {                                                        \
        (void)level;                                                                                                  \
        NAME ARGUMENTS;                                                                                               \
    }
#endif

INLINE float float_of_bits(int32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE int32_t bits_of_float(float value) {
    int32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The polynomials below are weighted least-squares fits on their intervals; reweighting makes their errors uniform.

/// Returns the integer exponent of a positive normal number with a mantissa between 2/3 and 4/3, so that it is 0 near
/// 1.
INLINE int32_t exponent_of(float x) { return (bits_of_float(x) - 0x3F2AAAAB) >> 23; }

/// Returns the mantissa for this exponent, minus 1.
INLINE float fraction_of(float x, int32_t exponent) {
    return float_of_bits((int32_t)((uint32_t)bits_of_float(x) - ((uint32_t)exponent << 23))) - 1;
}

/// Returns the natural logarithm of a number in two parts: log(1 + f) = f - f²/2 + f³·p(f).
INLINE float log_of_parts(int32_t exponent, float f) {
    float square = f * f;
    float even = 0.33333266f + square * (0.20007917f + square * (0.14042352f + square * 0.13820009f));
    float odd = -0.25004238f + square * (-0.16472325f + square * -0.15122195f);
    return (float)exponent * 0.69314718f + (f - square * (0.5f - f * (even + f * odd)));
}

/// Returns the natural logarithm of a positive normal number.
INLINE float log_positive(float x) {
    int32_t exponent = exponent_of(x);
    return log_of_parts(exponent, fraction_of(x, exponent));
}

/// Returns the natural logarithm of 1 - draw / 2^32, with full precision even if this number is near 1. The number is
/// never 0.
INLINE float log_of_rest(uint32_t draw) {
    float rest = ((float)~draw + 1) * 0x1p-32f;
    int32_t exponent = exponent_of(rest);
    return log_of_parts(exponent, exponent == 0 ? (float)draw * -0x1p-32f : fraction_of(rest, exponent));
}

/// Returns e to the power of a number that is at most 0; NaN and values below -87 are treated as -87.
INLINE float exp_negative(float x) {
    float scaled = (x > -87 ? x : -87) * 1.44269504f;
    int32_t whole = (int32_t)(scaled - 0.5f);
    float f = scaled - (float)whole;
    float square = f * f;
    float even = 1 + square * (0.24022646f + square * (0.0096184891f + square * 0.00015345802f));
    float odd = 0.69314718f + square * (0.055503286f + square * 0.0013399930f);
    return (even + f * odd) * float_of_bits((int32_t)((uint32_t)(whole + 127) << 23));
}

/// Computes sine and cosine of `quarters` whole quarter turns plus the fraction `part` of one, from -1/2 to 1/2.
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

/// Computes sine and cosine of an angle in radians, of at most a few thousand turns.
INLINE void sine_cosine_of_angle(float angle, float *sine, float *cosine) {
    float quarters = angle * 0.63661977f;
    int32_t whole = (int32_t)(quarters + (quarters < 0 ? -0.5f : 0.5f));
    sine_cosine((uint32_t)whole, quarters - (float)whole, sine, cosine);
}

/// Computes two normally distributed numbers from two 32-bit numbers with the Box–Muller transform.
INLINE void normal_pair(uint32_t first, uint32_t second, float *x, float *y) {
    float radius = __builtin_elementwise_sqrt(-2 * log_of_rest(first));
    // Add an eighth of a turn, to round to the nearest quarter.
    second += 0x20000000;
    float part = (float)((int32_t)(second & 0x3FFFFFFF) - 0x20000000) * 0x1p-30f;
    float sine, cosine;
    sine_cosine(second >> 30, part, &sine, &cosine);
    *x = radius * cosine;
    *y = radius * sine;
}

/// Computes the draws `first`, `first` + 1, … of a counting generator, in halves: draw n mixes `state + n · step`.
INLINE void draw(
    struct cmath_generator generator, uint64_t first, size_t count, uint32_t *restrict high, uint32_t *restrict low) {
    uint64_t start = generator.state + first * generator.step;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        uint64_t z = start + index * generator.step;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        z ^= z >> 31;
        high[index] = (uint32_t)(z >> 32);
        low[index] = (uint32_t)z;
    }
}

// Generic vectors, which the compiler maps to those of the processor. Sums over them have the same order on every
// processor. They are never passed to functions, because processors pass vectors in different ways.
typedef float cmath_floats __attribute__((vector_size(64), aligned(4)));
typedef double cmath_doubles __attribute__((vector_size(64), aligned(8)));
enum { cmath_double_lanes = 8 };

#endif
