#include "CBench.h"

// A package with dependents cannot use `-march=native`. Instead, the same loop is compiled for three processors, and
// the best one that this processor supports is used.
#if defined(__x86_64__)
#define CBENCH_AVX2 __attribute__((target("avx2,fma")))
#define CBENCH_AVX512 __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))
#endif

/// Returns the natural logarithm of a positive number, with an error of at most 1e-7.
static inline __attribute__((always_inline)) float logarithm(float x) {
    union {
        float number;
        int32_t bits;
    } value = {x};
    // On a logarithmic scale, 1 is nearly halfway between 2/3 and 4/3.
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

static inline __attribute__((always_inline)) void hear(
    const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, struct cbench_particle *particles,
    size_t count, float *restrict sums) {
    for (size_t index = 0; index < beacon_count; index++) {
        const struct cbench_beacon beacon = beacons[index];
        float half = 0.5f * beacon.share * beacon.freedom, other = 0.5f * beacon.share * (beacon.freedom + 1);
        for (size_t number = 0; number < count; number++) {
            struct cbench_particle *particle = &particles[number];
            int32_t row = particle->cell / columns - beacon.first_row;
            int32_t column = particle->cell % columns - beacon.first_column;
            if (particle->cell < 0 || row < 0 || row >= beacon.rows || column < 0 || column >= beacon.columns) continue;
            int32_t entry = row * beacon.columns + column;
            float dx = beacon.x - particle->x, dy = beacon.y - particle->y;
            float distance = __builtin_sqrtf(dx * dx + dy * dy + 0.25f);
            float ux = dx / distance, uy = dy / distance;
            float *c = particle->covariance, *z = particle->mean;
            float h0 = c[0] + c[1] * ux + c[2] * uy, h1 = c[1] + c[3] * ux + c[4] * uy;
            float h2 = c[2] + c[4] * ux + c[5] * uy;
            float known = h0 + ux * h1 + uy * h2;
            known = known > 0 ? known : 0;
            float difference = beacon.rssi - beacon.mean[entry] - z[0] - ux * z[1] - uy * z[2];
            float noise = beacon.noise + beacon.variance[entry], all = noise + known, square = difference * difference;
            sums[number] += half * logarithm(all) - other * logarithm(all + square / beacon.freedom) - beacon.outside;
            float trusted = noise * beacon.caution / beacon.share * (beacon.freedom * all + square)
                / ((beacon.freedom + 1) * all);
            float gain = 1 / (known + trusted), step = gain * difference;
            z[0] += h0 * step;
            z[1] += h1 * step;
            z[2] += h2 * step;
            c[0] -= h0 * h0 * gain;
            c[1] -= h0 * h1 * gain;
            c[2] -= h0 * h2 * gain;
            c[3] -= h1 * h1 * gain;
            c[4] -= h1 * h2 * gain;
            c[5] -= h2 * h2 * gain;
        }
    }
}

#define CBENCH_HEAR(name, target) \
    target static void name( \
        const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, struct cbench_particle *particles, \
        size_t count, float *sums) { \
        hear(beacons, beacon_count, columns, particles, count, sums); \
    }

CBENCH_HEAR(hear_anywhere, )
#if defined(__x86_64__)
CBENCH_HEAR(hear_avx2, CBENCH_AVX2)
CBENCH_HEAR(hear_avx512, CBENCH_AVX512)
#endif

void cbench_hear(
    const struct cbench_beacon *beacons, size_t beacon_count, int32_t columns, struct cbench_particle *particles,
    size_t count, float *sums) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        hear_avx512(beacons, beacon_count, columns, particles, count, sums);
        return;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        hear_avx2(beacons, beacon_count, columns, particles, count, sums);
        return;
    }
#endif
    hear_anywhere(beacons, beacon_count, columns, particles, count, sums);
}
