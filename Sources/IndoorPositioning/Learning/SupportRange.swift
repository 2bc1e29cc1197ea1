import CMath
import IndoorVocabulary
import VenueModel

/// An estimator of the width of the survey prior, from the distances between the survey's own walks.
///
/// The estimator leaves places out and selects the width and the share far from all places that maximize the
/// probability of the left-out places. Walks that repeat the same routes give a small width and a small share.
/// Scattered points give a large width. Points of a regular grid, which are all equally far from each other, give a
/// large share.
/// Source: M. Stone, *Cross-Validatory Choice and Assessment of Statistical Predictions*, Journal of the Royal
/// Statistical Society B 36(2), 1974.
struct SupportRange {
    /// The estimated parameters.
    struct Result: Hashable {
        /// See `SignalModel.supportWidth`.
        var width: Double
        /// See `SignalModel.unsupportedShare`.
        var share: Double
    }

    /// Part of the venue's area and its distance from the survey.
    private struct Ring {
        /// Distance from the survey in metres.
        var distance: Double
        /// Area in square metres.
        var area: Double
    }

    /// The grid of each map.
    let grids: [MapID: MapGrid]
    let places: SurveyedPlaces

    /// The candidate widths in metres. The first one is the accuracy with which people follow a line.
    static let widths = [0.75, 1, 1.5, 2, 3, 4, 6]
    /// The candidate shares.
    static let shares = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4]
    /// Distance, as a number of widths, above which a cell or a place is far from the survey.
    private static let reach = 3.0
    /// Number of places that are left out, one at a time.
    private static let tests = 500

    /// Returns the best pair; nil if no place carries information about another.
    func best() -> Result? {
        let nearest = places.sample(Self.tests).compactMap(distanceToOthers)
        let rings = rings()
        guard !nearest.isEmpty, !rings.isEmpty else { return nil }
        var best: (score: Double, result: Result)?
        for width in Self.widths {
            for share in Self.shares {
                let area = rings.reduce(0) { $0 + Self.weight($1.distance, width, share) * $1.area }
                let score = nearest.reduce(0) { $0 + cmath_log(Self.weight($1, width, share) / area) }
                if score > best?.score ?? -.infinity { best = (score, Result(width: width, share: share)) }
            }
        }
        return best?.result
    }

    private static func weight(_ distance: Double, _ width: Double, _ share: Double) -> Double {
        share + (1 - share) * cmath_exp(-distance * distance / (2 * width * width))
    }

    /// Returns the distance from a place to the nearest place that can predict it; nil without such a place on its map.
    private func distanceToOthers(_ place: Int) -> Double? {
        let point = places.fingerprints[place].point
        var nearest: Double?
        for other in places.fingerprints.indices {
            let distance = places.distance(from: point, to: other)
            if distance < nearest ?? .infinity, places.isApart(other, from: place) { nearest = distance }
        }
        return nearest
    }

    /// Returns the cells of the surveyed maps.
    private func rings() -> [Ring] {
        let farthest = Self.reach * (Self.widths.last ?? 0)
        var rings: [Ring] = []
        for (map, points) in Dictionary(grouping: places.fingerprints, by: \.mapID).sorted(by: { $0.key < $1.key }) {
            guard let grid = grids[map] else { continue }
            var distances = [Double](repeating: .infinity, count: grid.count)
            for place in points {
                let block = grid.block(around: place.point, radius: farthest + place.deviation)
                for row in block.rows {
                    for column in block.columns {
                        let cell = row * grid.columns + column
                        let distance = grid.center(of: cell).distance(to: place.point) - place.deviation
                        distances[cell] = min(distances[cell], max(0, distance))
                    }
                }
            }
            rings += distances.map { Ring(distance: $0, area: grid.cellSize * grid.cellSize) }
        }
        return rings
    }
}
