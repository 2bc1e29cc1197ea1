#include "CMathFunctions.h"

#include <stdint.h>

#include "ElementaryParts.h"

#pragma STDC FP_CONTRACT OFF

// Series and argument reductions after J.-M. Muller, Elementary Functions: Algorithms and Implementation, 2016. The
// coefficients are those of the Taylor series, which are accurate for the small reduced arguments. Rounding errors of
// sums and products are computed after T. J. Dekker, A Floating-Point Technique for Extending the Available Precision,
// 1971.

// π/2 in parts. The product of the first part and a whole number below 2^20 is exact.
static const double quarter_first = 0x1.921fb544p+0, quarter_second = 0x1.0b4611a6p-34, quarter_rest = 0x1.3198a2e037073p-69;
static const double pi = 0x1.921fb54442d18p+1;

/// Returns e to the power of the sum x + rest, where `rest` is much smaller than `x`.
static double exp_of_sum(double x, double rest) {
    if (x != x) return x;
    if (x > 709.79) return __builtin_inf();
    if (x < -745.14) return 0;
    int whole;
    double result = exp_parts(x, rest, &whole);
    if (whole > 1023) return result * 2 * power_of_two(whole - 1);
    if (whole < -1022) return result * power_of_two(whole + 1000) * power_of_two(-1000);
    return result * power_of_two(whole);
}

double cmath_exp(double x) { return exp_of_sum(x, 0); }

/// Returns the natural logarithm of a positive number, and its rounding error in `rest`.
static double log_with_rest(double x, double *rest) {
    return x < 0x1p-1022 ? log_parts(x * 0x1p54, -54, rest) : log_parts(x, 0, rest);
}

double cmath_log(double x) {
    if (x != x || x < 0) return __builtin_nan("");
    if (x == 0) return -__builtin_inf();
    if (x > 0x1.fffffffffffffp1023) return x;
    double rest;
    return log_with_rest(x, &rest);
}

double cmath_log10(double x) { return cmath_log(x) / 2.302585092994045684; }

/// Returns the rounding error of the product of two numbers of moderate size.
static double product_error(double x, double y, double product) {
    double split_x = x * 134217729, split_y = y * 134217729;
    double high_x = split_x - (split_x - x), high_y = split_y - (split_y - y);
    double low_x = x - high_x, low_y = y - high_y;
    return low_x * low_y - (((product - high_x * high_y) - low_x * high_y) - high_x * low_y);
}

static double whole_power(double x, int exponent) {
    double result = 1;
    for (unsigned rest = (unsigned)(exponent < 0 ? -exponent : exponent); rest != 0; rest >>= 1) {
        if (rest & 1) result *= x;
        if (rest > 1) x *= x;
    }
    return exponent < 0 ? 1 / result : result;
}

double cmath_pow(double x, double y) {
    const double infinity = __builtin_inf();
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return __builtin_nan("");
    double size = __builtin_fabs(x);
    if (__builtin_fabs(y) == infinity) return size == 1 ? 1 : (size > 1) == (y > 0) ? infinity : 0;
    // Every number of at least 2^53 is even.
    int is_whole = __builtin_fabs(y) >= 0x1p53 || (double)(int64_t)y == y;
    int is_odd = is_whole && __builtin_fabs(y) < 0x1p53 && ((int64_t)y & 1);
    double sign = is_odd && (bits_of(x) >> 63) ? -1 : 1;
    if (size == 0) return sign * (y < 0 ? infinity : 0);
    if (size == infinity) return sign * (y < 0 ? 0 : infinity);
    if (x < 0 && !is_whole) return __builtin_nan("");
    if (size == 1) return sign;
    // Small powers of whole numbers are exact.
    if (is_whole && __builtin_fabs(y) <= 4) return whole_power(x, (int)y);
    double tens = size == 10 && is_whole && __builtin_fabs(y) <= 22 ? whole_power(10, (int)y) : 0;
    if (tens != 0) return sign * tens;
    double rest, log = log_with_rest(size, &rest), product = y * log;
    if (product > 710) return sign * infinity;
    if (product < -746) return sign * 0;
    return sign * exp_of_sum(product, product_error(y, log, product) + y * rest);
}

double cmath_fmod(double x, double y) {
    const double infinity = __builtin_inf();
    double rest = __builtin_fabs(x), divisor = __builtin_fabs(y);
    if (x != x || y != y || rest == infinity || divisor == 0) return __builtin_nan("");
    if (divisor == infinity) return x;
    // Every difference is exact, because the subtracted number is at least half of the rest and at most the rest.
    while (rest >= divisor) {
        double part = divisor;
        while (part * 2 <= rest) part *= 2;
        rest -= part;
    }
    return __builtin_copysign(rest, x);
}

/// Returns an angle minus the nearest number of quarter turns, and the rounding error of the result in `rest`.
static double reduced(double x, int64_t *quarters, double *rest) {
    if (__builtin_fabs(x) > 1e6) x = cmath_fmod(x, 2 * pi);
    double count = x * 0.63661977236758134;
    *quarters = (int64_t)(count + (count < 0 ? -0.5 : 0.5));
    double turns = (double)*quarters;
    double first = x - turns * quarter_first;
    double second = turns * quarter_second;
    double angle = first - second;
    double error = ((first - angle) - second) - turns * quarter_rest;
    double result = angle + error;
    *rest = error - (result - angle);
    return result;
}

/// Returns the sine of an angle of at most an eighth of a turn in either direction.
static double small_sine(double r, double rest) {
    double square = r * r;
    double sum = 1 / 355687428096000.0;
    sum = -1 / 1307674368000.0 + square * sum;
    sum = 1 / 6227020800.0 + square * sum;
    sum = -1 / 39916800.0 + square * sum;
    sum = 1 / 362880.0 + square * sum;
    sum = -1 / 5040.0 + square * sum;
    sum = 1 / 120.0 + square * sum;
    sum = -1 / 6.0 + square * sum;
    return r + (r * square * sum + rest * (1 - 0.5 * square));
}

/// Returns the cosine of an angle of at most an eighth of a turn in either direction.
static double small_cosine(double r, double rest) {
    double square = r * r;
    double sum = -1 / 6402373705728000.0;
    sum = 1 / 20922789888000.0 + square * sum;
    sum = -1 / 87178291200.0 + square * sum;
    sum = 1 / 479001600.0 + square * sum;
    sum = -1 / 3628800.0 + square * sum;
    sum = 1 / 40320.0 + square * sum;
    sum = -1 / 720.0 + square * sum;
    sum = 1 / 24.0 + square * sum;
    double half = 0.5 * square, main = 1 - half;
    return main + (((1 - main) - half) + (square * square * sum - r * rest));
}

static double sine_of_quarters(double r, double rest, int64_t quarters) {
    double value = quarters & 1 ? small_cosine(r, rest) : small_sine(r, rest);
    return quarters & 2 ? -value : value;
}

double cmath_sin(double x) {
    if (x == 0) return x;
    if (!(__builtin_fabs(x) <= 0x1.fffffffffffffp1023)) return __builtin_nan("");
    int64_t quarters;
    double rest, r = reduced(x, &quarters, &rest);
    return sine_of_quarters(r, rest, quarters);
}

double cmath_cos(double x) {
    if (!(__builtin_fabs(x) <= 0x1.fffffffffffffp1023)) return __builtin_nan("");
    int64_t quarters;
    double rest, r = reduced(x, &quarters, &rest);
    return sine_of_quarters(r, rest, quarters + 1);
}

/// Returns the arc tangent of a number from 0 to 1, computed from the arc tangent of the nearest eighth.
static double small_arc_tangent(double x) {
    static const double eighths[9] = {
        0.0, 0.12435499454676144, 0.24497866312686414, 0.35877067027057225, 0.4636476090008061, 0.5585993153435624,
        0.6435011087932844, 0.7188299996216245, 0.7853981633974483};
    int eighth = (int)(8 * x + 0.5);
    double nearest = eighth * 0.125;
    double d = eighth == 0 ? x : (x - nearest) / (1 + x * nearest);
    double square = d * d;
    double sum = 1 / 13.0;
    sum = -1 / 11.0 + square * sum;
    sum = 1 / 9.0 + square * sum;
    sum = -1 / 7.0 + square * sum;
    sum = 1 / 5.0 + square * sum;
    sum = -1 / 3.0 + square * sum;
    return eighths[eighth] + (d + d * square * sum);
}

double cmath_atan2(double y, double x) {
    if (x != x || y != y) return __builtin_nan("");
    double width = __builtin_fabs(x), height = __builtin_fabs(y), angle;
    if (width == height) {
        angle = width == 0 ? 0 : pi / 4;
    } else if (height < width) {
        angle = small_arc_tangent(height / width);
    } else {
        angle = pi / 2 - small_arc_tangent(width / height);
    }
    if (bits_of(x) >> 63) angle = pi - angle;
    return __builtin_copysign(angle, y);
}

double cmath_asin(double x) { return cmath_atan2(x, __builtin_elementwise_sqrt((1 - x) * (1 + x))); }

double cmath_hypot(double x, double y) {
    double longer = __builtin_fabs(x), shorter = __builtin_fabs(y);
    if (longer == __builtin_inf() || shorter == __builtin_inf()) return __builtin_inf();
    if (longer != longer || shorter != shorter) return __builtin_nan("");
    double scale = 1;
    if (longer > 0x1p500 || shorter > 0x1p500) {
        scale = 0x1p600;
    } else if (longer < 0x1p-450 && shorter < 0x1p-450) {
        scale = 0x1p-600;
    }
    longer /= scale;
    shorter /= scale;
    return scale * __builtin_elementwise_sqrt(longer * longer + shorter * shorter);
}

float cmath_expf(float x) { return (float)cmath_exp((double)x); }

float cmath_logf(float x) { return (float)cmath_log((double)x); }

float cmath_log1pf(float x) {
    // The sum of 1 and a `float`, as a `double`, loses digits only if the logarithm is almost equal to the number.
    double sum = 1 + (double)x;
    if (sum == 1 || sum > 0x1.fffffffffffffp1023) return x;
    return (float)(cmath_log(sum) - ((sum - 1) - (double)x) / sum);
}
