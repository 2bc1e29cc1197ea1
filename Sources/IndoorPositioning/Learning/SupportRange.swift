import CMath
import IndoorVocabulary
import VenueModel

/// Finds how near people keep to a survey's places, from how near the survey's own walks keep to each other.
///
/// Places are left out, and the width and the share far from all others are taken under which the left-out ones are the most
/// probable. Of walks that repeat the same ways both are small; of points all over the place the width is large, and of those
/// on a regular grid, which are all as far from each other, the share.
/// Source: M. Stone, *Cross-Validatory Choice and Assessment of Statistical Predictions*, Journal of the Royal Statistical
/// Society B 36(2), 1974.
struct SupportRange {
    /// What was found.
    struct Result: Hashable {
        /// See `SignalModel.supportWidth`.
        var width: Double
        /// See `SignalModel.unsupportedShare`.
        var share: Double
    }

    /// Part of the venue's area, and how far from the survey it is.
    private struct Ring {
        /// Metres.
        var distance: Double
        /// Square metres.
        var area: Double
    }

    /// The venue's maps, with the grid of each.
    let grids: [MapID: MapGrid]
    let places: SurveyedPlaces

    /// The widths that are tried, in metres. Nobody keeps to a line more closely than the first.
    static let widths = [0.75, 1, 1.5, 2, 3, 4, 6]
    /// The shares that are tried.
    static let shares = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4]
    /// Farther than this many widths from all places, a cell or a place is far.
    private static let reach = 3.0
    /// So many places are left out, one at a time.
    private static let tests = 500

    /// The best pair; nil if no place tells anything of another.
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

    /// How far a place is from those that may tell of it; nil if there are none on its map.
    private func distanceToOthers(_ place: Int) -> Double? {
        let point = places.fingerprints[place].point
        var nearest: Double?
        for other in places.fingerprints.indices {
            let distance = places.distance(from: point, to: other)
            if distance < nearest ?? .infinity, places.isApart(other, from: place) { nearest = distance }
        }
        return nearest
    }

    /// The cells of the surveyed maps.
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
