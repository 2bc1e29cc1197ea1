import CMath
import IndoorVocabulary
import VenueModel

/// An estimator of a local frame's bearing on Earth, from satellite positions during a walk outdoors.
///
/// The direction between two places of the frame and the direction between their satellite positions differ by the
/// frame's bearing. The walk must be at least ten metres long, and longer with inaccurate satellite positions.
struct SatelliteAlignment: Hashable, Sendable {
    private struct Pair: Hashable, Sendable {
        var coordinate: Coordinate
        var x: Double
        var y: Double
        var accuracy: Double
    }

    /// The minimum length of the walk: in metres, and as a multiple of the satellite positions' radii.
    private static let leastWay = 10.0
    private static let leastRadii = 3.0

    private var first: Pair?

    /// Handles a satellite position at a place of the local frame.
    ///
    /// - Returns: the bearing of the frame's y axis in degrees clockwise from true north, once the distance is
    ///   sufficient.
    mutating func observe(_ fix: GNSSFix, x: Double, y: Double) -> Double? {
        guard fix.coordinate.isValid, fix.accuracy >= 0, fix.accuracy.isFinite else { return nil }
        let pair = Pair(coordinate: fix.coordinate, x: x, y: y, accuracy: fix.accuracy)
        guard let first else {
            self.first = pair
            return nil
        }
        let walked = cmath_hypot(x - first.x, y - first.y)
        let least = max(Self.leastWay, Self.leastRadii * max(first.accuracy, fix.accuracy))
        guard walked >= least, first.coordinate.distance(to: fix.coordinate) >= least / 2 else { return nil }
        let offset = LocalTangentPlane(origin: first.coordinate).offset(of: fix.coordinate)
        let onEarth = cmath_atan2(offset.east, offset.north)
        let inFrame = cmath_atan2(x - first.x, y - first.y)
        return Degrees.course((onEarth - inFrame) * 180 / .pi)
    }
}
