// The branch-free parts of the exponential function and of the logarithm, for single numbers and for vector loops.
#ifndef CMATH_ELEMENTARY_PARTS_H
#define CMATH_ELEMENTARY_PARTS_H

#include "VectorKinds.h"

// ln 2 in parts. The product of the first part and a whole number below 2^20 is exact.
static const double ln2_first = 0x1.62e42feep-1, ln2_rest = 0x1.a39ef35793c76p-33;

INLINE uint64_t bits_of(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE double of_bits(uint64_t bits) {
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE double power_of_two(int exponent) { return of_bits((uint64_t)(exponent + 1023) << 52); }

/// Returns e to the power of the sum x + rest, divided by the power of two whose exponent is stored in `whole`. The sum
/// is from -746 to 710, and `rest` is much smaller than `x`.
INLINE double exp_parts(double x, double rest, int *whole) {
    *whole = (int)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
    double r = (x - *whole * ln2_first) - (*whole * ln2_rest - rest);
    double sum = 1 / 6227020800.0;
    sum = 1 / 479001600.0 + r * sum;
    sum = 1 / 39916800.0 + r * sum;
    sum = 1 / 3628800.0 + r * sum;
    sum = 1 / 362880.0 + r * sum;
    sum = 1 / 40320.0 + r * sum;
    sum = 1 / 5040.0 + r * sum;
    sum = 1 / 720.0 + r * sum;
    sum = 1 / 120.0 + r * sum;
    sum = 1 / 24.0 + r * sum;
    sum = 1 / 6.0 + r * sum;
    sum = 0.5 + r * sum;
    return 1 + (r + r * r * sum);
}

/// Returns the natural logarithm of a positive normal number times a power of two, and its rounding error in `rest`.
INLINE double log_parts(double x, int exponent, double *rest) {
    // The mantissa is between √½ and √2.
    uint64_t bits = bits_of(x) + (0x3FF0000000000000 - 0x3FE6A09E667F3BCD);
    exponent += (int)(bits >> 52) - 1023;
    double f = of_bits((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD) - 1;
    // log(1 + f) = 2 (s + s³/3 + s⁵/5 + …)
    double s = f / (2 + f), square = s * s;
    double sum = 2 / 25.0;
    sum = 2 / 23.0 + square * sum;
    sum = 2 / 21.0 + square * sum;
    sum = 2 / 19.0 + square * sum;
    sum = 2 / 17.0 + square * sum;
    sum = 2 / 15.0 + square * sum;
    sum = 2 / 13.0 + square * sum;
    sum = 2 / 11.0 + square * sum;
    sum = 2 / 9.0 + square * sum;
    sum = 2 / 7.0 + square * sum;
    sum = 2 / 5.0 + square * sum;
    sum = square * (2 / 3.0 + square * sum);
    double half = 0.5 * f * f;
    double small = s * (half + sum) + exponent * ln2_rest - half;
    double whole = exponent * ln2_first;
    double first = whole + f;
    double second = whole == 0 ? 0 : f - (first - whole);
    second += small;
    double result = first + second;
    *rest = second - (result - first);
    return result;
}

#endif
