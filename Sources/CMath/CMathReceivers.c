#include "CMathReceivers.h"

#include "VectorKinds.h"

/// The number of hypotheses that are weighed at a time, so that intermediate results stay in the nearest cache.
enum { block = 256 };

/// The limit in decibels for the difference between the received and the expected RSSI.
static const float most_difference = 1e3f;
/// The softening of the distance in m²: closer to a beacon, its direction is hardly defined.
static const float near = 0.25f;

/// A coordinate from which no error lasts to any place, in metres.
static const float nowhere = 1e9f;

/// A receiver in the direction of a beacon.
struct aspect {
    /// The direction to the beacon, of length 1; zero for a beacon on another map.
    float x, y;
    /// The covariance in dB² of the offset and of both components of the body's vector with the expected RSSI, and the
    /// variance in dB² of the expected RSSI.
    float h0, h1, h2, known;
};

INLINE struct aspect aspect_of(
    const struct cmath_heard heard, float x, float y, float c00, float c01, float c02, float c11, float c12, float c22) {
    float dx = heard.x - x, dy = heard.y - y;
    float scale = heard.directed / __builtin_elementwise_sqrt(dx * dx + dy * dy + near);
    struct aspect seen = {.x = dx * scale, .y = dy * scale};
    seen.h0 = c00 + c01 * seen.x + c02 * seen.y;
    seen.h1 = c01 + c11 * seen.x + c12 * seen.y;
    seen.h2 = c02 + c12 * seen.x + c22 * seen.y;
    float known = seen.h0 + seen.x * seen.h1 + seen.y * seen.h2;
    seen.known = known > 0 ? known : 0;
    return seen;
}

INLINE float bounded(float difference) {
    difference = difference < most_difference ? difference : most_difference;
    return difference > -most_difference ? difference : -most_difference;
}

/// Corrects a receiver by the Kalman gain, and by the gain times the difference from the expected RSSI.
INLINE void correct(
    struct aspect seen, float gain, float step, float *offset, float *body_x, float *body_y, float *c00, float *c01,
    float *c02, float *c11, float *c12, float *c22) {
    *offset += seen.h0 * step;
    *body_x += seen.h1 * step;
    *body_y += seen.h2 * step;
    *c00 -= seen.h0 * seen.h0 * gain;
    *c01 -= seen.h0 * seen.h1 * gain;
    *c02 -= seen.h0 * seen.h2 * gain;
    *c11 -= seen.h1 * seen.h1 * gain;
    *c12 -= seen.h1 * seen.h2 * gain;
    *c22 -= seen.h2 * seen.h2 * gain;
}

/// Weighs a reading for hypotheses whose table entries are known, and updates their receivers.
INLINE void hear_block(
    const struct cmath_heard heard, size_t count, const float *restrict mean, const float *restrict variance,
    const int32_t *restrict is_inside, const float *restrict x, const float *restrict y, float *restrict offset,
    float *restrict body_x, float *restrict body_y, float *restrict c00, float *restrict c01, float *restrict c02,
    float *restrict c11, float *restrict c12, float *restrict c22, float *restrict sums) {
    float half = 0.5f * heard.share * heard.freedom, other = 0.5f * heard.share * (heard.freedom + 1);
    float inverse = 1 / heard.freedom, most = heard.freedom + 1, stretch = heard.caution / heard.share;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        struct aspect seen = aspect_of(
            heard, x[index], y[index], c00[index], c01[index], c02[index], c11[index], c12[index], c22[index]);
        float difference = bounded(
            heard.rssi - mean[index] - offset[index] - seen.x * body_x[index] - seen.y * body_y[index]);
        float noise = heard.noise + variance[index];
        float all = noise + seen.known, square = difference * difference;
        float likelihood = half * log_positive(all) - other * log_positive(all + square * inverse) - heard.outside;
        sums[index] += is_inside[index] ? likelihood : 0;
        // An outlier changes the receiver less, as if its noise were multiplied by (f + square / all) / (f + 1).
        float whole = most * all, doubt = noise * stretch * (heard.freedom * all + square);
        float gain = is_inside[index] ? whole / (seen.known * whole + doubt) : 0;
        correct(
            seen, gain, gain * difference, offset + index, body_x + index, body_y + index, c00 + index, c01 + index,
            c02 + index, c11 + index, c12 + index, c22 + index);
    }
}

/// Finds the index of each cell in a reading's table, and the table's values there.
INLINE void look_up(
    const struct cmath_heard heard, int32_t grid_columns, const int32_t *restrict cells, size_t count,
    float *restrict mean, float *restrict variance, int32_t *restrict is_inside) {
    int32_t entries[block];
    float scale = 1 / (float)grid_columns;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        int32_t cell = cells[index] - 1;
        // The centre of the cell is further from the next row than the rounding error of the division.
        int32_t row = (int32_t)(((float)cell + 0.5f) * scale);
        int32_t column = cell - row * grid_columns - heard.first_column;
        row -= heard.first_row;
        int inside = (cell >= 0) & ((uint32_t)row < (uint32_t)heard.rows) & ((uint32_t)column < (uint32_t)heard.columns);
        is_inside[index] = inside;
        entries[index] = inside ? row * heard.columns + column : 0;
    }
#pragma clang loop vectorize(disable) unroll_count(4)
    for (size_t index = 0; index < count; index++) {
        mean[index] = heard.mean[entries[index]];
        variance[index] = heard.variance[entries[index]];
    }
}

INLINE void hear(
    const struct cmath_heard *heard, int32_t grid_columns, const int32_t *cells, const float *x, const float *y,
    size_t first, size_t count, struct cmath_receivers all, float *sums) {
    float mean[block], variance[block];
    int32_t is_inside[block];
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block, here = first + start;
        look_up(*heard, grid_columns, cells + start, length, mean, variance, is_inside);
        hear_block(
            *heard, length, mean, variance, is_inside, x + here, y + here, all.offset + here, all.body_x + here,
            all.body_y + here, all.c00 + here, all.c01 + here, all.c02 + here, all.c11 + here, all.c12 + here,
            all.c22 + here, sums + start);
    }
}
CMATH_KINDS(
    hear,
    (const struct cmath_heard *heard, int32_t grid_columns, const int32_t *cells, const float *x, const float *y,
     size_t first, size_t count, struct cmath_receivers receivers, float *sums),
    (heard, grid_columns, cells, x, y, first, count, receivers, sums))

/// Does the same with the errors that last: each hypothesis expects the error of the beacon's reading before to the extent
/// that time and distance leave of it.
INLINE void hear_lasting_block(
    const struct cmath_heard heard, const struct cmath_lasting last, size_t count, const float *restrict mean,
    const float *restrict variance, const int32_t *restrict is_inside, const float *restrict x, const float *restrict y,
    float *restrict offset, float *restrict body_x, float *restrict body_y, float *restrict c00, float *restrict c01,
    float *restrict c02, float *restrict c11, float *restrict c12, float *restrict c22, float *restrict error,
    float *restrict doubtful, float *restrict last_x, float *restrict last_y, float *restrict sums) {
    float half = 0.5f * heard.share * heard.freedom, other = 0.5f * heard.share * (heard.freedom + 1);
    float inverse = 1 / heard.freedom, most = heard.freedom + 1, stretch = heard.caution / heard.share;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        struct aspect seen = aspect_of(
            heard, x[index], y[index], c00[index], c01[index], c02[index], c11[index], c12[index], c22[index]);
        float mx = x[index] - last_x[index], my = y[index] - last_y[index];
        float rest = last.keep * exp_negative(-last.per_metre * __builtin_elementwise_sqrt(mx * mx + my * my));
        float lasting = heard.noise - last.fading + variance[index];
        float part = rest * rest * (doubtful[index] - lasting) + lasting, expected = rest * error[index];
        float difference = bounded(
            heard.rssi - mean[index] - expected - offset[index] - seen.x * body_x[index] - seen.y * body_y[index]);
        float noise = part + last.fading;
        float all = noise + seen.known, square = difference * difference;
        float likelihood = half * log_positive(all) - other * log_positive(all + square * inverse) - heard.outside;
        sums[index] += is_inside[index] ? likelihood : 0;
        float whole = most * all, doubt = noise * stretch * (heard.freedom * all + square);
        float gain = is_inside[index] ? whole / (seen.known * whole + doubt) : 0;
        correct(
            seen, gain, gain * difference, offset + index, body_x + index, body_y + index, c00 + index, c01 + index,
            c02 + index, c11 + index, c12 + index, c22 + index);
        // An outlier changes the error less, too.
        float learned = part / all, robust = whole / (heard.freedom * all + square);
        error[index] = expected + learned * (robust < 1 ? robust : 1) * difference;
        doubtful[index] = part - part * learned;
        last_x[index] = is_inside[index] ? x[index] : nowhere;
        last_y[index] = is_inside[index] ? y[index] : nowhere;
    }
}

INLINE void hear_lasting(
    const struct cmath_heard *heard, const struct cmath_lasting *last, int32_t grid_columns, const int32_t *cells,
    const float *x, const float *y, size_t first, size_t count, struct cmath_receivers all, float *sums) {
    float mean[block], variance[block];
    int32_t is_inside[block];
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block, here = first + start;
        look_up(*heard, grid_columns, cells + start, length, mean, variance, is_inside);
        hear_lasting_block(
            *heard, *last, length, mean, variance, is_inside, x + here, y + here, all.offset + here, all.body_x + here,
            all.body_y + here, all.c00 + here, all.c01 + here, all.c02 + here, all.c11 + here, all.c12 + here,
            all.c22 + here, last->error + here, last->variance + here, last->x + here, last->y + here, sums + start);
    }
}
CMATH_KINDS(
    hear_lasting,
    (const struct cmath_heard *heard, const struct cmath_lasting *last, int32_t grid_columns, const int32_t *cells,
     const float *x, const float *y, size_t first, size_t count, struct cmath_receivers receivers, float *sums),
    (heard, last, grid_columns, cells, x, y, first, count, receivers, sums))

INLINE void hear_grid(
    const struct cmath_heard *heard, int32_t grid_columns, int32_t first_row, int32_t rows, float left, float top,
    float size, int32_t row_step, struct cmath_receivers all, float *sums) {
    float x[block], y[block], mean[block], variance[block];
    int32_t is_inside[block];
    // The rows of the table in the band, from the first one that is the middle of its group.
    int32_t from = heard->first_row > first_row ? heard->first_row : first_row;
    int32_t table_end = heard->first_row + heard->rows, band_end = first_row + rows;
    int32_t to = table_end < band_end ? table_end : band_end;
    int32_t middle_row = row_step / 2, before = from % row_step;
    from += before <= middle_row ? middle_row - before : middle_row + row_step - before;
    if (from >= to) return;
    for (size_t start = 0; start < (size_t)heard->columns; start += block) {
        size_t rest = (size_t)heard->columns - start, length = rest < block ? rest : block;
        // Whole vectors: the numbers behind the table are computed, too, but change nothing.
        size_t whole = (length + cmath_lanes - 1) / cmath_lanes * cmath_lanes;
        for (size_t index = 0; index < whole; index++) {
            x[index] = left + ((float)heard->first_column + (float)(start + index) + 0.5f) * size;
            is_inside[index] = index < length;
            mean[index] = 0;
            variance[index] = 0;
        }
        for (int32_t row = from; row < to; row += row_step) {
            size_t entry = (size_t)(row - heard->first_row) * (size_t)heard->columns + start;
            size_t here = (size_t)(row - first_row) * (size_t)grid_columns + (size_t)heard->first_column + start;
            float middle = top + ((float)row + 0.5f) * size;
            for (size_t index = 0; index < whole; index++) y[index] = middle;
            // Behind the last numbers of the table is none.
            int is_last = entry + whole > (size_t)heard->rows * (size_t)heard->columns;
            if (is_last) {
                for (size_t index = 0; index < length; index++) {
                    mean[index] = heard->mean[entry + index];
                    variance[index] = heard->variance[entry + index];
                }
            }
            hear_block(
                *heard, whole, is_last ? mean : heard->mean + entry, is_last ? variance : heard->variance + entry,
                is_inside, x, y, all.offset + here, all.body_x + here, all.body_y + here, all.c00 + here,
                all.c01 + here, all.c02 + here, all.c11 + here, all.c12 + here, all.c22 + here, sums + here);
        }
    }
}
CMATH_KINDS(
    hear_grid,
    (const struct cmath_heard *heard, int32_t grid_columns, int32_t first_row, int32_t rows, float left, float top,
     float size, int32_t row_step, struct cmath_receivers receivers, float *sums),
    (heard, grid_columns, first_row, rows, left, top, size, row_step, receivers, sums))

INLINE void age_block(
    float wander, float keep, float fresh, size_t count, float *restrict body_x, float *restrict body_y,
    float *restrict c00, float *restrict c01, float *restrict c02, float *restrict c11, float *restrict c12,
    float *restrict c22) {
    float square = keep * keep;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        body_x[index] *= keep;
        body_y[index] *= keep;
        c00[index] += wander;
        c01[index] *= keep;
        c02[index] *= keep;
        c11[index] = c11[index] * square + fresh;
        c12[index] *= square;
        c22[index] = c22[index] * square + fresh;
    }
}

INLINE void age_receivers(
    float wander, float keep, float fresh, size_t first, size_t count, struct cmath_receivers all) {
    age_block(
        wander, keep, fresh, count, all.body_x + first, all.body_y + first, all.c00 + first, all.c01 + first,
        all.c02 + first, all.c11 + first, all.c12 + first, all.c22 + first);
}
CMATH_KINDS(
    age_receivers,
    (float wander, float keep, float fresh, size_t first, size_t count, struct cmath_receivers receivers),
    (wander, keep, fresh, first, count, receivers))
