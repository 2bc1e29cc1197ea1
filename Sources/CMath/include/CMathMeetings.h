// The loop over the pairs of particles of two beliefs about one map.
#ifndef CMATH_MEETINGS_H
#define CMATH_MEETINGS_H

#include <stddef.h>

#include "CMathWalls.h"

/// A particle's position: metres from the plan's left edge and from its top edge.
struct cmath_guess {
    float x;
    float y;
};

/// Weighted sums of positions.
struct cmath_place_sums {
    double weight;
    double x;
    double y;
    double square;
};

/// Sums the pairs of particles that can represent the same position.
///
/// - share: the place of a pair on the way from its first to its second particle, in [0, 1].
/// - limit: the squared distance in m² from which on a pair is ignored; pairs with a wall between them are ignored, too.
/// - scale: the factor in 1/m² on the squared distance, whose exponential is the weight of a pair; below 0.
/// - walls: the walls of the map; without a column there are none.
/// - sums: receives the sums.
void cmath_meetings(
    const struct cmath_guess *_Nonnull before, size_t before_count, const struct cmath_guess *_Nonnull after,
    size_t after_count, float share, float limit, float scale, const struct cmath_walls *_Nonnull walls,
    const struct cmath_wall_cell *_Nonnull cells, const float *_Nonnull lines, struct cmath_place_sums *_Nonnull sums);

#endif
