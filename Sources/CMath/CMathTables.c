#include "CMathTables.h"
#include "VectorKinds.h"

/// The minimum squared distance in m², because 0 has no logarithm.
static const float least_square = 1e-12f;

INLINE float square_of_distance(const struct cmath_rectangle rectangle, int32_t column, float y) {
    float x = rectangle.x + (float)column * rectangle.size;
    return x * x + y * y;
}

INLINE float level_at(const struct cmath_path_loss loss, float square) {
    square += loss.height;
    return loss.power - loss.slope * log_positive(square > least_square ? square : least_square);
}

/// Returns 1 / (1 + exp(-x)); computes no exponential of a positive number.
INLINE float logistic(float x) {
    float power = exp_negative(x < 0 ? x : -x);
    return (x < 0 ? power : 1) / (1 + power);
}

INLINE float rate_at(const struct cmath_sensitivity sensitivity, float level) {
    return logistic((level - sensitivity.level) / sensitivity.width);
}

INLINE void levels(const struct cmath_rectangle *given, const struct cmath_path_loss *given_loss, float *restrict levels) {
    const struct cmath_rectangle rectangle = *given;
    const struct cmath_path_loss loss = *given_loss;
    for (int32_t row = 0; row < rectangle.rows; row++) {
        float y = rectangle.y + (float)row * rectangle.size;
        float *restrict here = levels + (size_t)row * (size_t)rectangle.stride;
#pragma clang loop vectorize(enable)
        for (int32_t column = 0; column < rectangle.columns; column++)
            here[column] = level_at(loss, square_of_distance(rectangle, column, y));
    }
}
CMATH_KINDS(
    levels, (const struct cmath_rectangle *rectangle, const struct cmath_path_loss *loss, float *values),
    (rectangle, loss, values))

INLINE void log_rates(
    const float *restrict levels, size_t count, const struct cmath_sensitivity *given, float unheard,
    float *restrict rates) {
    const struct cmath_sensitivity sensitivity = *given;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float rate = rate_at(sensitivity, levels[index]) + unheard;
        rates[index] = log_positive(rate > 1e-37f ? rate : 1e-37f);
    }
}
CMATH_KINDS(
    log_rates,
    (const float *levels, size_t count, const struct cmath_sensitivity *sensitivity, float unheard, float *rates),
    (levels, count, sensitivity, unheard, rates))

INLINE void add_expected(
    const struct cmath_rectangle *given, const struct cmath_path_loss *given_loss,
    const struct cmath_sensitivity *given_sensitivity, size_t first, float *restrict sums) {
    const struct cmath_rectangle rectangle = *given;
    const struct cmath_path_loss loss = *given_loss;
    const struct cmath_sensitivity sensitivity = *given_sensitivity;
    for (int32_t row = 0; row < rectangle.rows; row++) {
        float y = rectangle.y + (float)row * rectangle.size;
        float *restrict here = sums + first + (size_t)row * (size_t)rectangle.stride;
#pragma clang loop vectorize(enable)
        for (int32_t column = 0; column < rectangle.columns; column++)
            here[column] += rate_at(sensitivity, level_at(loss, square_of_distance(rectangle, column, y)));
    }
}
CMATH_KINDS(
    add_expected,
    (const struct cmath_rectangle *rectangle, const struct cmath_path_loss *loss,
     const struct cmath_sensitivity *sensitivity, size_t first, float *sums),
    (rectangle, loss, sensitivity, first, sums))

INLINE void add_exponentials(
    const struct cmath_rectangle *given, const float *restrict values, float unheard, size_t first,
    float *restrict sums) {
    const struct cmath_rectangle rectangle = *given;
    for (int32_t row = 0; row < rectangle.rows; row++) {
        const float *restrict source = values + (size_t)row * (size_t)rectangle.columns;
        float *restrict here = sums + first + (size_t)row * (size_t)rectangle.stride;
#pragma clang loop vectorize(enable)
        for (int32_t column = 0; column < rectangle.columns; column++) {
            float value = source[column];
            float power = exp_negative(value > 0 ? -value : value);
            here[column] += (value > 0 ? 1 / power : power) - unheard;
        }
    }
}
CMATH_KINDS(
    add_exponentials,
    (const struct cmath_rectangle *rectangle, const float *values, float unheard, size_t first, float *sums),
    (rectangle, values, unheard, first, sums))

INLINE void add_shadowing(
    const struct cmath_rectangle *given, const struct cmath_survey_reading *given_reading, size_t first,
    float *restrict mean, float *restrict variance) {
    const struct cmath_rectangle rectangle = *given;
    const struct cmath_survey_reading reading = *given_reading;
    float all = reading.amplitude + reading.constant;
    for (int32_t row = 0; row < rectangle.rows; row++) {
        float y = rectangle.y + (float)row * rectangle.size;
        float *restrict means = mean + first + (size_t)row * (size_t)rectangle.stride;
        float *restrict variances = variance + first + (size_t)row * (size_t)rectangle.stride;
#pragma clang loop vectorize(enable)
        for (int32_t column = 0; column < rectangle.columns; column++) {
            float scaled = reading.scale * __builtin_elementwise_sqrt(square_of_distance(rectangle, column, y));
            float covariance = reading.amplitude * (1 + scaled) * exp_negative(-scaled);
            means[column] += covariance * reading.weight;
            float told = covariance + reading.constant;
            float left = all - told * told * reading.gain;
            variances[column] = left < variances[column] ? left : variances[column];
        }
    }
}
CMATH_KINDS(
    add_shadowing,
    (const struct cmath_rectangle *rectangle, const struct cmath_survey_reading *reading, size_t first, float *mean,
     float *variance),
    (rectangle, reading, first, mean, variance))

INLINE void spread(
    const struct cmath_rectangle *given, float factor, float amount, size_t first, float *restrict sums) {
    const struct cmath_rectangle rectangle = *given;
    for (int32_t row = 0; row < rectangle.rows; row++) {
        float y = rectangle.y + (float)row * rectangle.size;
        float *restrict here = sums + first + (size_t)row * (size_t)rectangle.stride;
#pragma clang loop vectorize(enable)
        for (int32_t column = 0; column < rectangle.columns; column++)
            here[column] += amount * exp_negative(-factor * square_of_distance(rectangle, column, y));
    }
}
CMATH_KINDS(
    spread,
    (const struct cmath_rectangle *rectangle, float factor, float amount, size_t first, float *sums),
    (rectangle, factor, amount, first, sums))
