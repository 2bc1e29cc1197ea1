import CMath
import IndoorVocabulary
import VenueModel

/// Finds how a local frame lies on Earth, from satellite positions on the way of somebody who walks outdoors.
///
/// The way between two places is compared with the same way between two satellite positions: their directions differ by the
/// frame's bearing. Ten metres are the least, and more where the satellites are vague.
struct SatelliteAlignment: Hashable, Sendable {
    private struct Pair: Hashable, Sendable {
        var coordinate: Coordinate
        var x: Double
        var y: Double
        var accuracy: Double
    }

    /// Least way in metres, and in radii of the satellite positions.
    private static let leastWay = 10.0
    private static let leastRadii = 3.0

    private var first: Pair?

    /// Takes in a satellite position at a place of the local frame.
    ///
    /// - Returns: the bearing of the frame's y axis in degrees clockwise from true north, once the way is long enough.
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
