// Runs every loop of CMath on numbers from a seed, and prints a hash of the resulting bits, which is the same on every
// processor. Uses no libc if none is available for the processor; `.ci/vectors` builds it for two processors.
#include "CMath.h"

#pragma STDC FP_CONTRACT OFF

enum { count = 1490, first = 3, room = 1500, columns = 40, rows = 30, grid_cells = columns * rows };

static void print(const char *text);

static uint64_t hash;

static void hash_bytes(const void *bytes, size_t size) {
    for (size_t index = 0; index < size; index++) hash = (hash ^ ((const uint8_t *)bytes)[index]) * 0x100000001B3;
}
#define HASH(array) hash_bytes(array, sizeof array)

static void tell(const char *name) {
    char text[18] = {0};
    for (size_t digit = 0; digit < 16; digit++) text[digit] = "0123456789abcdef"[hash >> (60 - 4 * digit) & 15];
    text[16] = '\n';
    print(name);
    print(" ");
    print(text);
    hash = 0xCBF29CE484222325;
}

static uint64_t state = 7;

static float uniform(float low, float high) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return low + (high - low) * ((float)(state >> 40) * 0x1p-24f);
}

static float mean[grid_cells], variance[grid_cells], rate[grid_cells], sums[grid_cells + cmath_lanes], prior[grid_cells];
static float states[9][room];
static float error[room], error_variance[room], last_x[room], last_y[room];
static float x[room], y[room], velocity_x[room], velocity_y[room], bias[room], scale[room], weight[room], values[room];
static bool is_walking[room];
static int32_t cells[room], slots[room], lookup[grid_cells + 1], found[grid_cells + 2], picks[room + 1];
static struct cmath_guess past[room], future[room];
static struct cmath_wall_cell wall_cells[101];
static float lines[16 * 100];

static void rates(int level) {
    const struct cmath_rates rates = {
        .log_rate = rate, .first_column = 4, .columns = 30, .first_row = 5, .rows = 20, .draw = 0.4f, .outside = -3.5f};
    for (size_t cell = 0; cell < grid_cells; cell++) {
        mean[cell] = uniform(-100, -40);
        variance[cell] = uniform(0.1f, 40);
        rate[cell] = uniform(-6, 1);
        prior[cell] = uniform(0, 1);
        sums[cell] = 0;
    }
    for (size_t index = 0; index < room; index++) cells[index] = (int32_t)uniform(-1, grid_cells);
    cmath_add_rates_grid_at(level, &rates, columns, sums);
    cmath_add_rates_at(level, &rates, columns, cells, grid_cells, sums);
    HASH(sums);
    tell("rates");
}

static void tables(int level) {
    const struct cmath_rectangle rectangle = {
        .x = -9.3f, .y = -4.1f, .size = 0.7f, .columns = 31, .rows = 20, .stride = columns};
    const struct cmath_path_loss loss = {.power = -59, .slope = 5.2f, .height = 0.25f};
    const struct cmath_sensitivity sensitivity = {.level = -85, .width = 4};
    const struct cmath_survey_reading reading = {
        .weight = 0.3f, .amplitude = 16, .scale = 0.2f, .constant = 25, .gain = 0.02f};
    for (size_t cell = 0; cell < grid_cells; cell++) {
        mean[cell] = uniform(-100, -40);
        variance[cell] = uniform(20, 40);
        sums[cell] = 0;
    }
    cmath_levels_at(level, &rectangle, &loss, mean);
    cmath_log_rates_at(level, mean, grid_cells, &sensitivity, 0.001f, rate);
    cmath_add_expected_at(level, &rectangle, &loss, &sensitivity, 4 * columns + 5, sums);
    cmath_add_exponentials_at(level, &rectangle, rate, 0.001f, 4 * columns + 5, sums);
    cmath_spread_at(level, &rectangle, 0.2f, 3, 4 * columns + 5, sums);
    cmath_add_shadowing_at(level, &rectangle, &reading, 4 * columns + 5, mean, variance);
    HASH(mean);
    HASH(variance);
    HASH(rate);
    HASH(sums);
    tell("tables");
}

static void receivers(int level) {
    struct cmath_heard heard = {
        .mean = mean, .variance = variance, .first_column = 4, .columns = 30, .first_row = 5, .rows = 20,
        .rssi = -71.5f, .noise = 14.25f, .share = 0.7f, .caution = 0.8f, .x = 12.5f, .y = 17.25f, .directed = 1,
        .outside = -3.5f, .freedom = 16};
    const struct cmath_receivers all = {
        states[0], states[1], states[2], states[3], states[4], states[5], states[6], states[7], states[8]};
    for (size_t index = 0; index < room; index++) {
        x[index] = uniform(-2, 42);
        y[index] = uniform(-2, 32);
        cells[index] = (int32_t)uniform(0, grid_cells + 1);
        values[index] = 0;
        for (size_t field = 0; field < 9; field++) states[field][index] = uniform(-1, 1);
        states[3][index] += 81;
        states[6][index] += 4;
        states[8][index] += 4;
    }
    for (int turn = 0; turn < 4; turn++) {
        heard.rssi -= 9;
        heard.directed = turn != 2;
        cmath_hear_at(level, &heard, columns, cells, x, y, first, count, all, values);
        cmath_age_receivers_at(level, 0.01f, 0.9f, 0.76f, first, count, all);
    }
    HASH(states);
    HASH(values);
    tell("receivers");
    for (size_t index = 0; index < room; index++) {
        error[index] = uniform(-6, 6);
        error_variance[index] = uniform(1, 60);
        last_x[index] = x[index] + uniform(-2, 2);
        last_y[index] = y[index] + uniform(-2, 2);
    }
    const struct cmath_lasting last = {
        .error = error, .variance = error_variance, .x = last_x, .y = last_y, .keep = 0.9f, .per_metre = 0.5f, .fading = 8};
    for (int turn = 0; turn < 4; turn++) {
        heard.rssi += 7;
        heard.directed = turn != 1;
        cmath_hear_lasting_at(level, &heard, &last, columns, cells, x, y, first, count, all, values);
    }
    HASH(states);
    HASH(values);
    HASH(error);
    HASH(error_variance);
    HASH(last_x);
    HASH(last_y);
    tell("lasting-errors");
    for (int32_t step = 1; step <= 3; step += 2) {
        cmath_hear_grid_at(level, &heard, columns, 0, rows, -1.5f, 2.25f, 0.9f, step, all, sums);
        HASH(states);
        HASH(sums);
        tell(step == 1 ? "receivers-of-a-grid" : "receivers-of-each-third-row");
    }
}

static void posterior(int level) {
    double result[7];
    cmath_posterior_at(level, prior, 0, grid_cells, sums, result);
    cmath_grid_moments_at(level, sums, 0, columns, rows, result + 2);
    HASH(sums);
    HASH(result);
    tell("posterior");
}

static float tested[5][3 * room], totals[room];
static double products[room], consensus_sums[2];
static float exponents[room];
static struct cmath_test tests[3];

static void consensus(int level) {
    const float faults[3] = {0.007f, 0.4f, 0.9f};
    float *residuals = tested[0], *variances = tested[1], *shares = tested[2], *healthy = tested[3], *fault = tested[4];
    for (size_t index = 0; index < room; index++) {
        slots[index] = (int32_t)uniform(0, columns);
        picks[index] = (int32_t)uniform(0, rows);
        found[index < grid_cells ? index : 0] = index > 900;
        totals[index] = uniform(-3, 3);
        weight[index] = uniform(0, 1);
        values[index] = 0;
    }
    for (size_t cell = 0; cell < grid_cells; cell++) {
        mean[cell] = uniform(-100, -40);
        variance[cell] = uniform(0.1f, 40);
        rate[cell] = uniform(-85, 1);
    }
    for (size_t reading = 0; reading < 3; reading++) {
        const struct cmath_expected expected = {
            .mean = mean, .variance = variance, .log_rate = rate, .first_column = 4, .columns = 30, .first_row = 5,
            .rows = 20, .level = uniform(-90, -50), .noise = 14, .fading = 3, .scale = 0.64f, .outside_mean = -103,
            .outside_variance = 36, .outside_log_rate = -7, .power = reading == 2 ? 0 : reading == 1 ? 0.4f : 1};
        cmath_expect_at(
            level, &expected, slots, picks, totals, 1, count, reading * count, residuals, variances, shares);
    }
    for (int pass = 0; pass < 2; pass++)
        cmath_offsets_at(level, residuals, variances, faults, 3, count, 60, 0.01f, pass == 0 ? 81 : 0, values, x);
    cmath_consensus_at(
        level, residuals, variances, shares, faults, 3, weight, values, x, count, 1 / 60.0f, 0.03f, 81, healthy, fault,
        exponents, products, y, consensus_sums);
    cmath_tests_at(
        level, found, velocity_x, velocity_y, weight, scale, y, values, x, grid_cells, 160, 0, residuals, variances,
        shares, healthy, fault, 3, tests);
    cmath_excess_at(level, y, values, x, count, residuals, variances, fault, count, 25, consensus_sums + 1);
    HASH(tested);
    HASH(totals);
    HASH(values);
    HASH(products);
    HASH(tests);
    HASH(consensus_sums);
    tell("consensus");
}

static void numbers(int level) {
    struct cmath_generator generator = {99, 0x9E3779B97F4A7C15};
    cmath_normal_pairs_at(level, generator, room, x, y);
    HASH(x);
    HASH(y);
    tell("normal-pairs");
    for (size_t index = 0; index < room; index++) values[index] = uniform(-30, 30);
    cmath_sines_cosines_at(level, values, room, x, y);
    HASH(x);
    HASH(y);
    tell("sines-cosines");
    cmath_exp_below_at(level, values, 30, room);
    HASH(values);
    tell("exp");
}

static double wide(double low, double high) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return low + (high - low) * ((double)(state >> 11) * 0x1p-53);
}

/// Hashes a function's results for many numbers, some of them very small, very large or infinite.
#define FUNCTION(name, low, high, call)                                                                               \
    for (int index = 0; index < 20000; index++) {                                                                     \
        double a = wide(low, high), b = wide(low, high);                                                              \
        if (index % 100 == 0) a *= wide(0, 1) < 0.5 ? 0x1p-1000 : 0x1p1000;                                           \
        (void)b;                                                                                                      \
        double result = call;                                                                                         \
        if (result != result) result = -1.25;                                                                         \
        hash_bytes(&result, sizeof result);                                                                           \
    }                                                                                                                 \
    tell(name)

static void functions(void) {
    FUNCTION("function-exp", -750, 750, cmath_exp(a));
    FUNCTION("function-log", 0, 20, cmath_log(a));
    FUNCTION("function-log10", 0, 20, cmath_log10(a));
    FUNCTION("function-pow", -30, 60, cmath_pow(a < 0 ? 10 : a, b));
    FUNCTION("function-sin", -400, 400, cmath_sin(a));
    FUNCTION("function-cos", -400, 400, cmath_cos(a));
    FUNCTION("function-asin", -1, 1, cmath_asin(a));
    FUNCTION("function-atan2", -9, 9, cmath_atan2(a, b));
    FUNCTION("function-hypot", -9, 9, cmath_hypot(a, b));
    FUNCTION("function-fmod", -900, 900, cmath_fmod(a, b));
    FUNCTION("function-expf", -90, 90, cmath_expf((float)a));
    FUNCTION("function-logf", 0, 20, cmath_logf((float)a));
    FUNCTION("function-log1pf", -1, 20, cmath_log1pf((float)a));
}

static void particles(int level) {
    // Four walls around every cell of 4 m.
    for (int32_t cell = 0; cell < 100; cell++) {
        wall_cells[cell] = (struct cmath_wall_cell){cell, cell + 1, 0.04f, 9};
        for (size_t wall = 0; wall < 4; wall++) {
            float *line = lines + 16 * cell + wall;
            line[0] = (float)(cell % 10) * 4 + uniform(0, 4);
            line[4] = (float)(cell / 10) * 4 + uniform(0, 4);
            line[8] = uniform(-3, 3);
            line[12] = uniform(-3, 3);
        }
    }
    wall_cells[100] = (struct cmath_wall_cell){0, 0, 9, 9};
    const struct cmath_walls walls = {0, 0, 0.25f, 10, 10, 3};
    for (size_t index = 0; index < room; index++) {
        x[index] = uniform(-2, 42);
        y[index] = uniform(-2, 42);
        velocity_x[index] = uniform(-1, 1);
        velocity_y[index] = uniform(-1, 1);
        bias[index] = uniform(-1, 1);
        scale[index] = uniform(0.8f, 1.2f);
        weight[index] = uniform(0, 1) * uniform(0, 1);
        is_walking[index] = uniform(0, 1) < 0.5f;
    }
    struct cmath_generator generator = {5, 0x9E3779B97F4A7C15};
    const struct cmath_drift drift = {0.5f, 0.9f, 0.4f, 0.9f, 400000000, 200000000, 300000000, 0.2f, 0.1f};
    const struct cmath_walk walk = {0.03f, 0.1f, 0.1f, 0.1f};
    const struct cmath_stride strides[2] = {{0.7f, 1, true}, {3.5f, 0, false}};
    for (int turn = 0; turn < 3; turn++) {
        cmath_drift_at(
            level, &drift, &walls, wall_cells, lines, generator, first, count, is_walking, x, y, velocity_x,
            velocity_y, weight);
        cmath_walk_at(
            level, &walk, strides, 2, &walls, wall_cells, lines, generator, first, count, is_walking, x, y, velocity_x,
            velocity_y, bias, scale, weight);
    }
    HASH(x);
    HASH(y);
    HASH(velocity_x);
    HASH(velocity_y);
    HASH(bias);
    HASH(weight);
    HASH(is_walking);
    tell("motion");
    const struct cmath_grid grid = {0, 0, 0.9f, columns, rows};
    cmath_cells_at(level, &grid, first, count, x, y, slots);
    for (size_t cell = 0; cell <= grid_cells; cell++) lookup[cell] = -1;
    size_t slot_count = cmath_find_slots(count, slots, lookup, found);
    cmath_multiply_at(level, first, count, weight, 0.7f);
    hash_bytes(&slot_count, sizeof slot_count);
    HASH(slots);
    HASH(weight);
    tell("weights");
    float squares[2];
    float pulls[3];
    double moments[6];
    cmath_sum_squares_at(level, first, count, weight, squares);
    cmath_pick_at(level, first, count, weight, squares[0], 0.3f, room, picks);
    cmath_gather(x, picks, room, values, 0);
    cmath_moments_at(level, first, count, x, y, velocity_x, velocity_y, is_walking, weight, moments);
    cmath_pull_at(level, first, count, x, y, weight, 3.5f, 4.5f, 0.3f, pulls);
    HASH(squares);
    HASH(picks);
    HASH(values);
    HASH(moments);
    HASH(pulls);
    tell("draws-and-moments");
    for (size_t index = 0; index < room; index++) {
        past[index] = (struct cmath_guess){x[index], y[index]};
        future[index] = (struct cmath_guess){x[index] + uniform(-1, 1), y[index] + uniform(-1, 1)};
    }
    struct cmath_place_sums meetings;
    cmath_meetings(past, room, future, room, 0.4f, 2, -1.5f, &walls, wall_cells, lines, &meetings);
    hash_bytes(&meetings, sizeof meetings);
    tell("meetings");
}

static void run(int level) {
    state = 7;
    hash = 0xCBF29CE484222325;
    rates(level);
    tables(level);
    receivers(level);
    posterior(level);
    consensus(level);
    numbers(level);
    particles(level);
    functions();
}

#if defined(__aarch64__)
static long call(long number, long a, long b, long c) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
static void print(const char *text) {
    long size = 0;
    while (text[size]) size++;
    call(64, 1, (long)text, size);
}
void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    for (size_t index = 0; index < size; index++) ((volatile char *)to)[index] = ((const char *)from)[index];
    return to;
}
void *memset(void *to, int byte, size_t size) {
    for (size_t index = 0; index < size; index++) ((volatile char *)to)[index] = (char)byte;
    return to;
}
void _start(void) {
    run(0);
    call(93, 0, 0, 0);
}
#else
#include <stdio.h>
#include <stdlib.h>

static void print(const char *text) { fputs(text, stdout); }

int main(int argument_count, char **arguments) {
    int level = argument_count > 1 ? atoi(arguments[1]) : 0;
    if (level > cmath_vector_level()) return 3;
    run(level);
    return 0;
}
#endif
