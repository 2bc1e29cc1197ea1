import CMath
import IndoorVocabulary

extension GridPosterior {
    /// Weighs the cells by a restored position: a mixture of that position and a uniform distribution over the venue.
    package mutating func weigh(_ memory: RestoredPlace, field: SignalField, motion: MotionModel, at now: Instant) {
        let trust = memory.trust(at: now)
        guard trust > 0, let shares = memory.probabilities(of: field.maps.map(\.mapID), at: now) else { return }
        let age = max(.zero, memory.instant.duration(to: now)).seconds
        let spread = RestoredPlace.spread(after: age, motion: motion)
        let densities = field.maps.enumerated().map { index, map -> RestoredDensity in
            let place = memory.places.first { $0.mapID == map.mapID }
            return RestoredDensity(place, spread: spread, share: shares[index], on: map)
        }
        let area = densities.reduce(0) { $0 + $1.area }
        for (index, density) in densities.enumerated() {
            multiply(mapIndex: index) { cell in
                Float(1 - trust + trust * area * density.value(at: field.maps[index].grid.center(of: cell)))
            }
        }
    }
}

/// The expected density of the device on a map, per m² of accessible area.
private struct RestoredDensity {
    /// The area of the map in m², with each cell weighted by the prior.
    let area: Double
    private let place: SessionMemory.Place?
    /// The inverse of the covariance.
    private let inverse: (x: Double, y: Double, mixed: Double)
    /// Normalization factor of the normal distribution.
    private let scale: Double

    /// Creates the density of a map; it is uniform if the map has no saved position, or one outside the plan.
    init(_ place: SessionMemory.Place?, spread: Double, share: Double, on map: SignalField.MapField) {
        let cell = map.grid.cellSize * map.grid.cellSize
        let prior = map.prior
        let area = prior.reduce(0.0) { $0 + Double($1) } * cell
        self.area = area
        // The lower bound is the variance of a position within a cell.
        let least = spread + cell / 12
        let (x, y, mixed) = ((place?.varianceX ?? 0) + least, (place?.varianceY ?? 0) + least, place?.covariance ?? 0)
        let determinant = max(x * y - mixed * mixed, least * least)
        inverse = (y / determinant, x / determinant, -mixed / determinant)
        var mass = 0.0
        if let place {
            for index in prior.indices {
                mass +=
                    Double(prior[index]) * cell
                    * Self.bell(place.point, inverse, map.grid.center(of: index))
            }
        }
        // With less mass, the position lies too far outside the plan for a usable density.
        let isThere = mass > 1e-9 * area
        self.place = isThere ? place : nil
        scale = isThere ? share / mass : area > 0 ? share / area : 0
    }

    func value(at point: MapPoint) -> Double { place.map { scale * Self.bell($0.point, inverse, point) } ?? scale }

    private static func bell(
        _ mean: MapPoint, _ inverse: (x: Double, y: Double, mixed: Double), _ point: MapPoint
    ) -> Double {
        let (dx, dy) = (point.x - mean.x, point.y - mean.y)
        return cmath_exp(-(inverse.x * dx * dx + 2 * inverse.mixed * dx * dy + inverse.y * dy * dy) / 2)
    }
}
