#include "CMathParticles.h"

#include "VectorKinds.h"
#include "WallCrossing.h"

/// The number of particles that are moved together, so that intermediate results stay in the fastest cache.
enum { block = 256 };

/// Moves particles until walls stop them. A particle that meets a wall stops or turns; its weight decreases but stays
/// above 0.
INLINE void advance(
    const struct cmath_walls *given, const struct cmath_wall_cell *cells, const float *lines, size_t count,
    const float *restrict dx, const float *restrict dy, float *restrict x, float *restrict y,
    float *restrict velocity_x, float *restrict velocity_y, float *restrict weight) {
    const struct cmath_walls walls = *given;
    if (walls.columns == 0) {
#pragma clang loop vectorize(enable)
        for (size_t index = 0; index < count; index++) {
            x[index] += dx[index];
            y[index] += dy[index];
        }
        return;
    }
    float to_x[block], to_y[block], squares[block];
    int32_t places[block], near[block];
    float columns = (float)walls.columns, rows = (float)walls.rows;
    int32_t outside = walls.columns * walls.rows;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        to_x[index] = x[index] + dx[index];
        to_y[index] = y[index] + dy[index];
        float way_x = to_x[index] - x[index], way_y = to_y[index] - y[index];
        squares[index] = way_x * way_x + way_y * way_y;
        float column = (x[index] - walls.left) * walls.scale, row = (y[index] - walls.top) * walls.scale;
        int is_inside = (column >= 0) & (row >= 0) & (column < columns) & (row < rows);
        int32_t place = (int32_t)(is_inside ? row : 0) * walls.columns + (int32_t)(is_inside ? column : 0);
        places[index] = is_inside ? place : outside;
    }
    // Without branches, because nearness to a wall is unpredictable: always write the index, but count it only if
    // needed.
    size_t near_count = 0;
    for (size_t index = 0; index < count; index++) {
        near[near_count] = (int32_t)index;
        near_count += !(squares[index] < cells[places[index]].clear);
    }
    float reach = walls.reach * walls.reach;
    size_t stopped = 0;
    for (size_t position = 0; position < near_count; position++) {
        int32_t index = near[position];
        float way_x = to_x[index] - x[index], way_y = to_y[index] - y[index];
        int stops;
        if (squares[index] < reach) {
            const struct cmath_wall_cell cell = cells[places[index]];
            stops = crosses_line(lines + 16 * (size_t)cell.first, x[index], y[index], way_x, way_y);
            if (!(squares[index] < cell.clear_but_first))
                stops |= crosses_lines(lines, cell.first + 1, cell.end, x[index], y[index], way_x, way_y);
        } else {
            stops = crosses_walls(&walls, cells, lines, x[index], y[index], way_x, way_y);
        }
        // Reuse the list: a stopped particle's entry never overwrites one that is still to be read.
        near[stopped] = index;
        stopped += stops;
    }
    for (size_t position = 0; position < stopped; position++) {
        int32_t index = near[position];
        to_x[index] = x[index];
        to_y[index] = y[index];
        velocity_x[index] *= -0.5f;
        velocity_y[index] *= -0.5f;
        weight[index] *= 0.3f;
    }
    __builtin_memcpy(x, to_x, count * sizeof *x);
    __builtin_memcpy(y, to_y, count * sizeof *y);
}

INLINE void drift_block(
    const struct cmath_drift *given, const uint32_t *restrict starts, const uint32_t *restrict turns,
    const uint32_t *restrict kick_high,
    const uint32_t *restrict kick_low, const uint32_t *restrict wander_high, const uint32_t *restrict wander_low,
    size_t count, bool *restrict is_walking, float *restrict velocity_x, float *restrict velocity_y,
    float *restrict dx, float *restrict dy) {
    const struct cmath_drift step = *given;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        int walked = is_walking[index];
        int changed = starts[index] < (walked ? step.stop_chance : step.start_chance);
        int walks = walked ^ changed, turned = changed | (turns[index] < step.turn_chance);
        is_walking[index] = walks;
        float kick_x, kick_y, wander_x, wander_y;
        normal_pair(kick_high[index], kick_low[index], &kick_x, &kick_y);
        normal_pair(wander_high[index], wander_low[index], &wander_x, &wander_y);
        // After a turn, draw a new velocity from the distribution of all velocities.
        float keep = turned ? 0 : step.keep, kick = turned ? step.speed : step.kick;
        float x = velocity_x[index] * keep + kick_x * kick, y = velocity_y[index] * keep + kick_y * kick;
        velocity_x[index] = walks ? x : velocity_x[index];
        velocity_y[index] = walks ? y : velocity_y[index];
        float wander = walks ? step.walking_wander : step.standing_wander, seconds = walks ? step.seconds : 0;
        dx[index] = velocity_x[index] * seconds + wander_x * wander;
        dy[index] = velocity_y[index] * seconds + wander_y * wander;
    }
}

INLINE void drift(
    const struct cmath_drift *step, const struct cmath_walls *walls, const struct cmath_wall_cell *cells,
    const float *lines, struct cmath_generator generator, size_t first, size_t count, bool *is_walking, float *x,
    float *y, float *velocity_x, float *velocity_y, float *weight) {
    uint32_t high[3][block], low[3][block];
    float dx[block], dy[block];
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        for (size_t kind = 0; kind < 3; kind++)
            draw(generator, 1 + 3 * start + kind * length, length, high[kind], low[kind]);
        size_t here = first + start;
        drift_block(
            step, high[0], low[0], high[1], low[1], high[2], low[2], length, is_walking + here, velocity_x + here,
            velocity_y + here, dx, dy);
        advance(
            walls, cells, lines, length, dx, dy, x + here, y + here, velocity_x + here, velocity_y + here,
            weight + here);
    }
}
CMATH_KINDS(
    drift,
    (const struct cmath_drift *step, const struct cmath_walls *walls, const struct cmath_wall_cell *cells,
     const float *lines, struct cmath_generator generator, size_t first, size_t count, bool *is_walking, float *x,
     float *y, float *velocity_x, float *velocity_y, float *weight),
    (step, walls, cells, lines, generator, first, count, is_walking, x, y, velocity_x, velocity_y, weight))

INLINE void begin_walk(
    const struct cmath_walk step, const uint32_t *restrict high, const uint32_t *restrict low,
    const uint32_t *restrict wander_high, const uint32_t *restrict wander_low, size_t count, int is_walking,
    float *restrict bias, bool *restrict walks, float *restrict dx, float *restrict dy) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float turn, unused, wander_x, wander_y;
        normal_pair(high[index], low[index], &turn, &unused);
        normal_pair(wander_high[index], wander_low[index], &wander_x, &wander_y);
        bias[index] += turn * step.drift;
        walks[index] = is_walking;
        dx[index] = wander_x * step.wander;
        dy[index] = wander_y * step.wander;
    }
}

INLINE void add_stride(
    const struct cmath_walk step, const struct cmath_stride stride, const uint32_t *restrict any,
    const uint32_t *restrict high, const uint32_t *restrict low, size_t count, const float *restrict bias,
    const float *restrict scale, float *restrict dx, float *restrict dy) {
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float turn, stretch, sine, cosine;
        normal_pair(high[index], low[index], &turn, &stretch);
        float known = stride.heading + bias[index] + turn * step.turn;
        float unknown = (float)(any[index] >> 8) * (6.28318531f * 0x1p-24f);
        sine_cosine_of_angle(stride.has_heading ? known : unknown, &sine, &cosine);
        float length = stride.length * scale[index] * (1 + stretch * step.stretch);
        dx[index] += length * sine;
        dy[index] -= length * cosine;
    }
}

INLINE void walk(
    const struct cmath_walk *step, const struct cmath_stride *strides, size_t stride_count,
    const struct cmath_walls *walls, const struct cmath_wall_cell *cells, const float *lines,
    struct cmath_generator generator, size_t first, size_t count, bool *is_walking, float *x, float *y,
    float *velocity_x, float *velocity_y, float *bias, const float *scale, float *weight) {
    uint32_t high[2][block], low[2][block];
    float dx[block], dy[block];
    uint64_t next = 1;
    for (size_t start = 0; start < count; start += block) {
        size_t length = count - start < block ? count - start : block;
        size_t here = first + start;
        for (size_t kind = 0; kind < 2; kind++, next += length) draw(generator, next, length, high[kind], low[kind]);
        begin_walk(
            *step, high[0], low[0], high[1], low[1], length, stride_count > 0, bias + here, is_walking + here, dx, dy);
        for (size_t index = 0; index < stride_count; index++) {
            for (size_t kind = 0; kind < 2; kind++, next += length)
                draw(generator, next, length, high[kind], low[kind]);
            add_stride(
                *step, strides[index], high[0], high[1], low[1], length, bias + here, scale + here, dx, dy);
        }
        advance(
            walls, cells, lines, length, dx, dy, x + here, y + here, velocity_x + here, velocity_y + here,
            weight + here);
    }
}
CMATH_KINDS(
    walk,
    (const struct cmath_walk *step, const struct cmath_stride *strides, size_t stride_count,
     const struct cmath_walls *walls, const struct cmath_wall_cell *cells, const float *lines,
     struct cmath_generator generator, size_t first, size_t count, bool *is_walking, float *x, float *y,
     float *velocity_x, float *velocity_y, float *bias, const float *scale, float *weight),
    (step, strides, stride_count, walls, cells, lines, generator, first, count, is_walking, x, y, velocity_x,
     velocity_y, bias, scale, weight))

INLINE void find_cells(
    const struct cmath_grid *given, size_t count, const float *restrict x, const float *restrict y,
    int32_t *restrict cells) {
    const struct cmath_grid grid = *given;
    float columns = (float)grid.columns, rows = (float)grid.rows;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) {
        float column = (x[index] - grid.left) * grid.scale, row = (y[index] - grid.top) * grid.scale;
        // Compare before the conversion to integers, because a wrong fix or step can move particles to any position.
        int is_inside = (column >= 0) & (row >= 0) & (column < columns) & (row < rows);
        int32_t cell = (int32_t)(is_inside ? row : 0) * grid.columns + (int32_t)(is_inside ? column : 0);
        cells[index] = is_inside ? cell + 1 : 0;
    }
}
INLINE void cells(
    const struct cmath_grid *grid, size_t first, size_t count, const float *x, const float *y, int32_t *result) {
    find_cells(grid, count, x + first, y + first, result);
}
CMATH_KINDS(
    cells,
    (const struct cmath_grid *grid, size_t first, size_t count, const float *x, const float *y, int32_t *result),
    (grid, first, count, x, y, result))

size_t cmath_find_slots(size_t count, int32_t *restrict cells, int32_t *restrict lookup, int32_t *restrict found) {
    size_t length = 0;
    for (size_t index = 0; index < count; index++) {
        int32_t cell = cells[index];
        int32_t slot = lookup[cell];
        if (slot < 0) {
            slot = (int32_t)length;
            lookup[cell] = slot;
            found[length++] = cell - 1;
        }
        cells[index] = slot;
    }
    for (size_t slot = 0; slot < length; slot++) lookup[found[slot] + 1] = -1;
    return length;
}

INLINE void multiply(size_t first, size_t count, float *restrict values, float factor) {
    values += first;
#pragma clang loop vectorize(enable)
    for (size_t index = 0; index < count; index++) values[index] *= factor;
}
CMATH_KINDS(multiply, (size_t first, size_t count, float *values, float factor), (first, count, values, factor))

INLINE void sum_squares(size_t first, size_t count, const float *values, float *result) {
    values += first;
    cmath_floats sums = {0}, squares = {0};
    size_t index = 0;
    for (; index + cmath_lanes <= count; index += cmath_lanes) {
        cmath_floats value = *(const cmath_floats *)(values + index);
        sums += value;
        squares += value * value;
    }
    float sum = 0, square = 0;
    for (; index < count; index++) {
        sum += values[index];
        square += values[index] * values[index];
    }
    for (size_t lane = 0; lane < cmath_lanes; lane++) {
        sum += sums[lane];
        square += squares[lane];
    }
    result[0] = sum;
    result[1] = square;
}
CMATH_KINDS(
    sum_squares, (size_t first, size_t count, const float *values, float *result), (first, count, values, result))

INLINE void pick(
    size_t first, size_t members, const float *weight, float total, float start, size_t count,
    int32_t *restrict picks) {
    // The shares of the sum are integers: their addition is fast and gives the same result in any order.
    const double whole = 0x1p40;
    double factor = whole / total;
    uint64_t offset = (uint64_t)((1 - (double)start) * whole), sum = 0, place = 0;
    int64_t shares[block];
    __builtin_memset(picks, 0, (count + 1) * sizeof *picks);
    weight += first;
    for (size_t begin = 0; begin < members; begin += block) {
        size_t length = members - begin < block ? members - begin : block;
#pragma clang loop vectorize(enable)
        for (size_t index = 0; index < length; index++) shares[index] = (int64_t)(weight[begin + index] * factor);
        for (size_t index = 0; index < length; index++) {
            // If the particle isn't selected, the next one overwrites its index.
            picks[place] = (int32_t)(first + begin + index);
            sum += (uint64_t)shares[index];
            uint64_t end = (sum * count + offset) >> 40;
            place = end < count ? end : count;
        }
    }
    int32_t last = 0;
    for (size_t index = 0; index < count; index++) {
        last = picks[index] > last ? picks[index] : last;
        picks[index] = last;
    }
}
CMATH_KINDS(
    pick,
    (size_t first, size_t members, const float *weight, float total, float start, size_t count, int32_t *picks),
    (first, members, weight, total, start, count, picks))

void cmath_gather(
    const float *restrict source, const int32_t *restrict picks, size_t count, float *restrict target, size_t first) {
    target += first;
#pragma clang loop vectorize(disable) unroll_count(4)
    for (size_t index = 0; index < count; index++) target[index] = source[picks[index]];
}

void cmath_gather_flags(
    const bool *restrict source, const int32_t *restrict picks, size_t count, bool *restrict target, size_t first) {
    target += first;
#pragma clang loop vectorize(disable) unroll_count(4)
    for (size_t index = 0; index < count; index++) target[index] = source[picks[index]];
}

INLINE void moments(
    size_t first, size_t count, const float *x, const float *y, const float *velocity_x, const float *velocity_y,
    const bool *is_walking, const float *weight, double *sums) {
    typedef float eight __attribute__((vector_size(32), aligned(4)));
    typedef uint8_t eight_flags __attribute__((vector_size(8), aligned(1)));
    cmath_doubles all = {0}, all_x = {0}, all_y = {0}, all_squares = {0}, all_vx = {0}, all_vy = {0};
    float rest[5][cmath_double_lanes] = {{0}};
    uint8_t flags[cmath_double_lanes] = {0};
    for (size_t index = first; index < first + count; index += cmath_double_lanes) {
        const float *sources[5] = {x + index, y + index, velocity_x + index, velocity_y + index, weight + index};
        const uint8_t *walks = (const uint8_t *)is_walking + index;
        size_t left = first + count - index;
        if (left < cmath_double_lanes) {
            for (size_t lane = 0; lane < left; lane++) {
                for (size_t kind = 0; kind < 5; kind++) rest[kind][lane] = sources[kind][lane];
                flags[lane] = walks[lane];
            }
            for (size_t kind = 0; kind < 5; kind++) sources[kind] = rest[kind];
            walks = flags;
        }
        cmath_doubles px = __builtin_convertvector(*(const eight *)sources[0], cmath_doubles);
        cmath_doubles py = __builtin_convertvector(*(const eight *)sources[1], cmath_doubles);
        cmath_doubles vx = __builtin_convertvector(*(const eight *)sources[2], cmath_doubles);
        cmath_doubles vy = __builtin_convertvector(*(const eight *)sources[3], cmath_doubles);
        cmath_doubles share = __builtin_convertvector(*(const eight *)sources[4], cmath_doubles);
        cmath_doubles walking = share * __builtin_convertvector(*(const eight_flags *)walks, cmath_doubles);
        all += share;
        all_x += share * px;
        all_y += share * py;
        all_squares += share * (px * px + py * py);
        all_vx += walking * vx;
        all_vy += walking * vy;
    }
    for (size_t kind = 0; kind < 6; kind++) sums[kind] = 0;
    for (size_t lane = 0; lane < cmath_double_lanes; lane++) {
        sums[0] += all[lane];
        sums[1] += all_x[lane];
        sums[2] += all_y[lane];
        sums[3] += all_squares[lane];
        sums[4] += all_vx[lane];
        sums[5] += all_vy[lane];
    }
}
CMATH_KINDS(
    moments,
    (size_t first, size_t count, const float *x, const float *y, const float *velocity_x, const float *velocity_y,
     const bool *is_walking, const float *weight, double *sums),
    (first, count, x, y, velocity_x, velocity_y, is_walking, weight, sums))

INLINE void pull(
    size_t first, size_t count, const float *x, const float *y, const float *weight, float center_x, float center_y,
    float softening, float *sums) {
    x += first;
    y += first;
    weight += first;
    float square = softening * softening;
    cmath_floats all = {0}, all_x = {0}, all_y = {0};
    float rest[3][cmath_lanes] = {{0}};
    for (size_t index = 0; index < count; index += cmath_lanes) {
        const float *sources[3] = {x + index, y + index, weight + index};
        if (count - index < cmath_lanes) {
            for (size_t kind = 0; kind < 3; kind++) {
                for (size_t lane = 0; lane < count - index; lane++) rest[kind][lane] = sources[kind][lane];
                sources[kind] = rest[kind];
            }
        }
        cmath_floats dx = *(const cmath_floats *)sources[0] - center_x;
        cmath_floats dy = *(const cmath_floats *)sources[1] - center_y;
        cmath_floats distance = __builtin_elementwise_sqrt(dx * dx + dy * dy + square);
        cmath_floats share = *(const cmath_floats *)sources[2] / distance;
        all += share;
        all_x += share * dx;
        all_y += share * dy;
    }
    for (size_t kind = 0; kind < 3; kind++) sums[kind] = 0;
    for (size_t lane = 0; lane < cmath_lanes; lane++) {
        sums[0] += all[lane];
        sums[1] += all_x[lane];
        sums[2] += all_y[lane];
    }
}
CMATH_KINDS(
    pull,
    (size_t first, size_t count, const float *x, const float *y, const float *weight, float center_x, float center_y,
     float softening, float *sums),
    (first, count, x, y, weight, center_x, center_y, softening, sums))

bool cmath_is_crossed(
    const struct cmath_walls *walls, const struct cmath_wall_cell *cells, const float *lines, float x, float y,
    float dx, float dy) {
    return crosses_walls(walls, cells, lines, x, y, dx, dy);
}
