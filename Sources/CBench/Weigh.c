#include "CBench.h"

// `-march=native` cannot be asked for in a package that others depend on. Instead the same loop is compiled for
// three processors, and the best that runs here is taken.
#if defined(__x86_64__)
#define CBENCH_AVX2 __attribute__((target("avx2,fma")))
#define CBENCH_AVX512 __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))
#endif

/// The natural logarithm of a positive number, give or take 1e-7.
static inline __attribute__((always_inline)) float logarithm(float x) {
    union {
        float number;
        int32_t bits;
    } value = {x};
    // Halfway between 2/3 and 4/3 on a scale of logarithms lies nearly 1.
    int32_t exponent = (value.bits - 0x3F2AAAAB) >> 23;
    value.bits -= exponent << 23;
    float f = value.number - 1;
    float p = 0.138200089f;
    p = p * f - 0.151221946f;
    p = p * f + 0.140423521f;
    p = p * f - 0.164723247f;
    p = p * f + 0.200079173f;
    p = p * f - 0.250042379f;
    p = p * f + 0.333332658f;
    return (float)exponent * 0.693147181f + (f - 0.5f * f * f + f * f * f * p);
}

static inline __attribute__((always_inline)) void weigh(
    const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, const int32_t *restrict cells,
    size_t count, float *restrict sums) {
    float scale = 1 / (float)columns;
    for (size_t index = 0; index < beacon_count; index++) {
        const struct cbench_beacon beacon = beacons[index];
#pragma clang loop vectorize(enable)
        for (size_t particle = 0; particle < count; particle++) {
            int32_t cell = cells[particle];
            // A cell's middle, so that rounding never reaches the next row.
            int32_t row = (int32_t)(((float)cell + 0.5f) * scale);
            int32_t column = cell - row * columns - beacon.first_column;
            row -= beacon.first_row;
            if (cell < 0 || row < 0 || row >= beacon.rows || column < 0 || column >= beacon.columns) continue;
            int32_t entry = row * beacon.columns + column;
            float difference = beacon.rssi - beacon.mean[entry];
            float variance = beacon.noise + beacon.variance[entry];
            float density = -0.5f * (beacon.freedom + 1)
                    * logarithm(1 + difference * difference / (beacon.freedom * variance))
                - 0.5f * logarithm(variance);
            float rate = beacon.log_rate ? beacon.draw * beacon.log_rate[entry] : 0;
            sums[particle] += beacon.share * density + rate - beacon.outside;
        }
    }
}

#define CBENCH_WEIGH(name, target) \
    target static void name( \
        const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, const int32_t *cells, \
        size_t count, float *sums) { \
        weigh(beacons, beacon_count, columns, cells, count, sums); \
    }

CBENCH_WEIGH(weigh_anywhere, )
#if defined(__x86_64__)
CBENCH_WEIGH(weigh_avx2, CBENCH_AVX2)
CBENCH_WEIGH(weigh_avx512, CBENCH_AVX512)
#endif

void cbench_weigh(
    const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, const int32_t *cells, size_t count,
    float *sums) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        weigh_avx512(beacons, beacon_count, columns, cells, count, sums);
        return;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        weigh_avx2(beacons, beacon_count, columns, cells, count, sums);
        return;
    }
#endif
    weigh_anywhere(beacons, beacon_count, columns, cells, count, sums);
}
