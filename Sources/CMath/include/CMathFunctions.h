// Elementary functions that return the same bits on every processor and with every C library. The functions of libm
// differ in the last bit between processors with and without fused multiplication, and between versions of libm.
//
// They only add, subtract, multiply, divide and take square roots, which IEEE 754 rounds alike everywhere. Their error is
// below 1.5 units in the last place, except where stated. They don't set errno.
//
// The functions have their own names because the core must not import libc, which would make clocks, files and sockets
// available.
#ifndef CMATH_FUNCTIONS_H
#define CMATH_FUNCTIONS_H

double cmath_exp(double x) __attribute__((const));
double cmath_log(double x) __attribute__((const));
/// The error is below 2.5 units in the last place.
double cmath_log10(double x) __attribute__((const));
/// The error is below 5 units in the last place for results between e⁻⁹⁰ and e⁹⁰, and below 30 units for other results.
double cmath_pow(double x, double y) __attribute__((const));
/// An angle of more than a million radians is first reduced by multiples of the `double` nearest to 2π.
double cmath_sin(double x) __attribute__((const));
/// An angle of more than a million radians is first reduced by multiples of the `double` nearest to 2π.
double cmath_cos(double x) __attribute__((const));
/// The error is below 4 units in the last place.
double cmath_asin(double x) __attribute__((const));
/// The error is below 2.5 units in the last place.
double cmath_atan2(double y, double x) __attribute__((const));
double cmath_hypot(double x, double y) __attribute__((const));
float cmath_expf(float x) __attribute__((const));
float cmath_logf(float x) __attribute__((const));
float cmath_log1pf(float x) __attribute__((const));

/// Returns the exact remainder.
double cmath_fmod(double x, double y) __attribute__((const));

#endif
