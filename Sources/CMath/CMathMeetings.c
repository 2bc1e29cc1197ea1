#include "CMathMeetings.h"

#include "CMathFunctions.h"
#include "WallCrossing.h"

void cmath_meetings(
    const struct cmath_guess *before, size_t before_count, const struct cmath_guess *after, size_t after_count,
    float share, float limit, float scale, const struct cmath_walls *walls, const struct cmath_wall_cell *cells,
    const float *lines, struct cmath_place_sums *sums) {
    struct cmath_place_sums all = {0, 0, 0, 0};
    for (size_t first = 0; first < before_count; first++) {
        const struct cmath_guess a = before[first];
        for (size_t second = 0; second < after_count; second++) {
            float dx = after[second].x - a.x, dy = after[second].y - a.y;
            float distance = dx * dx + dy * dy;
            if (!(distance < limit)) continue;
            if (walls->columns > 0 && crosses_walls(walls, cells, lines, a.x, a.y, dx, dy)) continue;
            double weight = cmath_expf(distance * scale);
            double x = a.x + share * dx, y = a.y + share * dy;
            all.weight += weight;
            all.x += weight * x;
            all.y += weight * y;
            all.square += weight * (x * x + y * y);
        }
    }
    *sums = all;
}
