#include "CMathConsensus.h"

#include "CMathFunctions.h"
#include "ElementaryParts.h"

/// The number of positions that are processed together, so that intermediate results stay in the fastest cache.
enum { block = 256 };

/// The degrees of freedom of Student's t distribution, and the factor of its density, Γ(8.5) / (Γ(8) √(16 π)). With 16
/// degrees, the density needs only roots and products.
static const float freedom = 16, density = 0.392779f;

/// Returns the density of a difference that has the given variance.
INLINE float level_of(float difference, float variance) {
    float y = 1 / (1 + difference * difference / (freedom * variance));
    float y2 = y * y;
    float y4 = y2 * y2;
    return density * y4 * y4 * __builtin_elementwise_sqrt(y / variance);
}

/// Replaces each of up to `block` numbers by e to its power.
INLINE void exp_block(size_t count, double *restrict values) {
    int is_far = 0;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) is_far |= !(values[index] > -700 && values[index] < 700);
    if (is_far) {
        for (size_t index = 0; index < count; index++) values[index] = cmath_exp(values[index]);
        return;
    }
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        int whole;
        double power = exp_parts(values[index], 0, &whole);
        values[index] = power * power_of_two(whole);
    }
}

/// Replaces each of up to `block` numbers by e to its power, with the same results as `cmath_expf`.
INLINE void expf_block(size_t count, float *restrict values) {
    double wide[block];
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) wide[index] = (double)values[index];
    exp_block(count, wide);
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) values[index] = (float)wide[index];
}

INLINE void expect_block(
    const struct cmath_expected expected, const int32_t *restrict columns, const int32_t *restrict rows,
    const float *restrict totals, size_t count, float *restrict residuals, float *restrict variances,
    float *restrict rates) {
    int32_t entries[block];
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        int32_t column = columns[index] - expected.first_column, row = rows[index] - expected.first_row;
        int is_inside = ((uint32_t)row < (uint32_t)expected.rows) & ((uint32_t)column < (uint32_t)expected.columns);
        entries[index] = is_inside ? row * expected.columns + column : -1;
    }
    for (size_t index = 0; index < count; index++) {
        int32_t entry = entries[index];
        residuals[index] = entry < 0 ? expected.outside_mean : expected.mean[entry];
        variances[index] = entry < 0 ? expected.outside_variance : expected.variance[entry];
    }
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        residuals[index] = expected.level - residuals[index];
        variances[index] = (variances[index] + expected.noise + expected.fading) * expected.scale;
    }
    if (expected.power == 0) {
        for (size_t index = 0; index < count; index++) rates[index] = 1;
        return;
    }
    for (size_t index = 0; index < count; index++)
        rates[index] = entries[index] < 0 ? expected.outside_log_rate : expected.log_rate[entries[index]];
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) rates[index] = expected.power * (rates[index] - totals[index]);
    expf_block(count, rates);
}

INLINE void expect(
    const struct cmath_expected *expected, const int32_t *columns, const int32_t *rows, const float *totals,
    size_t start, size_t count, size_t target, float *residuals, float *variances, float *rates) {
    for (size_t done = 0; done < count; done += block) {
        size_t length = count - done < block ? count - done : block, from = start + done, to = target + done;
        expect_block(
            *expected, columns + from, rows + from, totals + from, length, residuals + to, variances + to, rates + to);
    }
}
CMATH_KINDS(
    expect,
    (const struct cmath_expected *expected, const int32_t *columns, const int32_t *rows, const float *totals,
     size_t start, size_t count, size_t target, float *residuals, float *variances, float *rates),
    (expected, columns, rows, totals, start, count, target, residuals, variances, rates))

INLINE void add_agreement(
    float sound, float broken, float breadth, const float *restrict residuals, const float *restrict variances,
    const float *restrict offsets, size_t count, float *restrict sums, float *restrict moments) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float variance = variances[index] + breadth;
        float level = sound * level_of(residuals[index] - offsets[index], variance);
        float weight = level / ((level + broken) * variance);
        sums[index] += weight;
        moments[index] += weight * residuals[index];
    }
}

INLINE void offsets(
    const float *residuals, const float *variances, const float *faults, size_t readings, size_t count, float range,
    float precision, float breadth, float *offset, float *doubts) {
    float sums[block], moments[block];
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        for (size_t index = 0; index < length; index++) {
            sums[index] = precision;
            moments[index] = 0;
        }
        for (size_t reading = 0; reading < readings; reading++)
            add_agreement(
                1 - faults[reading], faults[reading] / range, breadth, residuals + reading * count + start,
                variances + reading * count + start, offset + start, length, sums, moments);
#pragma clang loop vectorize(enable)
        for (size_t index = 0; index < length; index++) {
            offset[start + index] = moments[index] / sums[index];
            doubts[start + index] = 1 / sums[index];
        }
    }
}
CMATH_KINDS(
    offsets,
    (const float *residuals, const float *variances, const float *faults, size_t readings, size_t count, float range,
     float precision, float breadth, float *offset, float *doubts),
    (residuals, variances, faults, readings, count, range, precision, breadth, offset, doubts))

/// Multiplies each product by the ratio of one reading, and moves the product's power of two to `exponents`, because
/// the product over many readings exceeds the range of a number. Returns whether a ratio is infinite or NaN.
INLINE int multiply_terms(
    float sound, float broken, const float *restrict residuals, const float *restrict variances,
    const float *restrict rates, const float *restrict offsets, const float *restrict doubts, size_t count,
    float *restrict healthy, float *restrict fault, double *restrict products, float *restrict exponents) {
    float ratios[block];
    int is_wrong = 0;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float level = level_of(residuals[index] - offsets[index], variances[index] + doubts[index]);
        float term = sound * level * rates[index] + broken;
        healthy[index] = level;
        fault[index] = broken / term;
        ratios[index] = term / broken;
        is_wrong |= !(ratios[index] < __builtin_inff());
    }
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        uint64_t bits = bits_of(products[index] * (double)ratios[index]);
        exponents[index] += (float)((int32_t)(bits >> 52) - 1023);
        products[index] = of_bits((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
    }
    return is_wrong;
}

/// Returns the largest binary exponent of a product with the prior of its offset.
INLINE float largest_exponent(
    const float *restrict exponents, const float *restrict offsets, float scale, size_t count) {
    float largest = -__builtin_inff();
    for (size_t index = 0; index < count; index++) {
        float exponent = exponents[index] - offsets[index] * offsets[index] * scale;
        largest = exponent > largest ? exponent : largest;
    }
    return largest;
}

INLINE void multiply_priors(
    const float *restrict prior, const float *restrict offsets, const float *restrict exponents, float largest,
    double twice, size_t count, double *restrict products) {
    double powers[block];
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        double away = (double)offsets[index];
        powers[index] = -away * away / twice;
    }
    exp_block(count, powers);
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float exponent = exponents[index] - largest;
        exponent = exponent > -1000 ? exponent : -1000;
        exponent = exponent < 1000 ? exponent : 1000;
        products[index] *= (double)prior[index] * powers[index] * power_of_two((int)exponent);
    }
}

INLINE void consensus(
    const float *residuals, const float *variances, const float *rates, const float *faults, size_t readings,
    const float *prior, const float *offsets, const float *doubts, size_t count, float faulty_level, float faulty_rate,
    float receiver, float *healthy, float *fault, float *exponents, double *products, float *posterior, double *sum) {
    double all = 0;
    int is_wrong = 0;
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        for (size_t index = 0; index < length; index++) {
            products[start + index] = 1;
            exponents[start + index] = 0;
        }
        for (size_t reading = 0; reading < readings; reading++) {
            size_t first = reading * count + start;
            is_wrong |= multiply_terms(
                1 - faults[reading], faults[reading] * faulty_level * faulty_rate, residuals + first, variances + first,
                rates + first, offsets + start, doubts + start, length, healthy + first, fault + first,
                products + start, exponents + start);
        }
    }
    *sum = __builtin_nan("");
    if (is_wrong) return;
    // The exponent of 2 that has the value of the largest product; log₂(e) is 1.4427.
    float largest = (float)(int32_t)largest_exponent(exponents, offsets, 1.442695f / (2 * receiver), count);
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        multiply_priors(
            prior + start, offsets + start, exponents + start, largest, 2 * (double)receiver, length, products + start);
        for (size_t index = 0; index < length; index++) all += products[start + index];
    }
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) posterior[index] = (float)(products[index] / all);
    *sum = all;
}
CMATH_KINDS(
    consensus,
    (const float *residuals, const float *variances, const float *rates, const float *faults, size_t readings,
     const float *prior, const float *offsets, const float *doubts, size_t count, float faulty_level, float faulty_rate,
     float receiver, float *healthy, float *fault, float *exponents, double *products, float *posterior, double *sum),
    (residuals, variances, rates, faults, readings, prior, offsets, doubts, count, faulty_level, faulty_rate, receiver,
     healthy, fault, exponents, products, posterior, sum))

// Four readings are processed in parallel, so that the sums of each reading are in the order of the positions.
enum { beside = 4 };
typedef float four_floats __attribute__((vector_size(16), aligned(4)));
typedef double four_doubles __attribute__((vector_size(32), aligned(8)));
#define FOUR(array, rows, place)                                                                                      \
    ((four_floats){(array)[(rows)[0] + (place)], (array)[(rows)[1] + (place)], (array)[(rows)[2] + (place)],          \
                   (array)[(rows)[3] + (place)]})
#define WIDE(floats) __builtin_convertvector(floats, four_doubles)

/// The positions and the values of the readings there; `CMathConsensus.h` describes them.
struct tested {
    const int32_t *maps;
    const float *x, *y, *prior, *support, *posterior, *offsets, *doubts;
    size_t count, belief_count;
    int32_t map;
    const float *residuals, *variances, *rates, *healthy, *fault;
};

INLINE void test_four(const struct tested from, const size_t *rows, size_t count, struct cmath_test *tests) {
    four_doubles all = {0}, support = {0}, level = {0}, residual = {0}, square = {0}, variance = {0};
    four_doubles here = {0}, x = {0}, y = {0}, alone = {0}, own_x = {0}, own_y = {0};
    for (size_t place = 0; place < from.count; place++) {
        four_floats healthy = FOUR(from.healthy, rows, place);
        four_doubles weight = (double)from.posterior[place] * WIDE(FOUR(from.fault, rows, place));
        four_doubles difference = WIDE(FOUR(from.residuals, rows, place) - from.offsets[place]);
        four_doubles moment = weight * difference;
        all += weight;
        support += weight * (double)from.support[place];
        level += weight * WIDE(healthy);
        residual += moment;
        square += moment * difference;
        variance += weight * WIDE(FOUR(from.variances, rows, place) + from.doubts[place]);
        if (from.maps[place] != from.map) continue;
        double place_x = (double)from.x[place], place_y = (double)from.y[place];
        here += weight;
        x += weight * place_x;
        y += weight * place_y;
        if (place < from.belief_count) continue;
        four_doubles own = WIDE(from.prior[place] * healthy * FOUR(from.rates, rows, place));
        alone += own;
        own_x += own * place_x;
        own_y += own * place_y;
    }
    for (size_t lane = 0; lane < count; lane++)
        tests[lane] = (struct cmath_test){
            .all = all[lane], .support = support[lane], .level = level[lane], .residual = residual[lane],
            .square = square[lane], .variance = variance[lane], .here = here[lane], .x = x[lane], .y = y[lane],
            .alone = alone[lane], .own_x = own_x[lane], .own_y = own_y[lane]};
}

INLINE void tests(
    const int32_t *maps, const float *x, const float *y, const float *prior, const float *support,
    const float *posterior, const float *offsets, const float *doubts, size_t count, size_t belief_count, int32_t map,
    const float *residuals, const float *variances, const float *rates, const float *healthy, const float *fault,
    size_t readings, struct cmath_test *results) {
    const struct tested from = {maps,         x,   y,         prior,     support, posterior, offsets, doubts, count,
                                belief_count, map, residuals, variances, rates,   healthy,   fault};
    for (size_t reading = 0; reading < readings; reading += beside) {
        size_t left = readings - reading, used = left < beside ? left : beside, rows[beside];
        // Unused lanes repeat the last reading.
        for (size_t lane = 0; lane < beside; lane++) rows[lane] = (reading + (lane < used ? lane : used - 1)) * count;
        test_four(from, rows, used, results + reading);
    }
}
CMATH_KINDS(
    tests,
    (const int32_t *maps, const float *x, const float *y, const float *prior, const float *support,
     const float *posterior, const float *offsets, const float *doubts, size_t count, size_t belief_count, int32_t map,
     const float *residuals, const float *variances, const float *rates, const float *healthy, const float *fault,
     size_t readings, struct cmath_test *results),
    (maps, x, y, prior, support, posterior, offsets, doubts, count, belief_count, map, residuals, variances, rates,
     healthy, fault, readings, results))

INLINE void excess_block(
    float lasting, const float *restrict residuals, const float *restrict variances, const float *restrict faults,
    const float *restrict posterior, const float *restrict offsets, const float *restrict doubts, size_t count,
    float *restrict parts) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float difference = residuals[index] - offsets[index];
        float level = level_of(difference >= 0 ? difference : 0, variances[index] + doubts[index] + lasting);
        parts[index] = posterior[index] * faults[index] * level;
    }
}

INLINE void excess(
    const float *posterior, const float *offsets, const float *doubts, size_t count, const float *residuals,
    const float *variances, const float *fault, size_t row, float lasting, double *sum) {
    float parts[block];
    double all = 0;
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block, here = row + start;
        excess_block(
            lasting, residuals + here, variances + here, fault + here, posterior + start, offsets + start,
            doubts + start, length, parts);
        for (size_t index = 0; index < length; index++) all += (double)parts[index];
    }
    *sum = all;
}
CMATH_KINDS(
    excess,
    (const float *posterior, const float *offsets, const float *doubts, size_t count, const float *residuals,
     const float *variances, const float *fault, size_t row, float lasting, double *sum),
    (posterior, offsets, doubts, count, residuals, variances, fault, row, lasting, sum))
