import CMath
import IndoorVocabulary
import VenueModel

/// The position and bearing of a local frame on Earth.
struct EarthAnchor: Hashable, Sendable {
    private struct Anchor: Hashable, Sendable {
        var plane: LocalTangentPlane
        var x: Double
        var y: Double
    }

    private var anchor: Anchor?
    private var search: SatelliteAlignment?
    /// The bearing of the frame's y axis in degrees clockwise from true north; nil if unknown.
    private(set) var bearing: Double?

    /// Whether the anchor currently uses satellite positions.
    var isSearching: Bool { search != nil }

    /// The state of the alignment.
    var alignment: MotionEstimate.Alignment {
        if anchor != nil, bearing != nil { return .global }
        return search == nil ? .local : .aligning
    }

    /// Sets the coordinate of a place of the frame.
    mutating func set(_ coordinate: Coordinate, x: Double, y: Double) {
        anchor = Anchor(plane: LocalTangentPlane(origin: coordinate), x: x, y: y)
        if bearing != nil { search = nil }
    }

    /// Sets the bearing of the frame's y axis; nil if it is no longer known.
    mutating func set(bearing: Double?) {
        self.bearing = bearing.map(Degrees.course)
        if anchor != nil, bearing != nil { search = nil }
    }

    /// Begins to use satellite positions.
    mutating func align() {
        anchor = nil
        bearing = nil
        search = SatelliteAlignment()
    }

    /// Handles a satellite position at a place of the frame; ignores it while no alignment is in progress.
    mutating func observe(_ fix: GNSSFix, x: Double, y: Double) {
        guard let found = search?.observe(fix, x: x, y: y) else { return }
        search = nil
        bearing = found
        anchor = Anchor(plane: LocalTangentPlane(origin: fix.coordinate), x: x, y: y)
    }

    /// Returns the coordinate of a place of the frame; nil if the frame's position is unknown.
    func coordinate(x: Double, y: Double) -> Coordinate? {
        guard let anchor, let bearing else { return nil }
        let (sine, cosine) = (cmath_sin(bearing * .pi / 180), cmath_cos(bearing * .pi / 180))
        let (dx, dy) = (x - anchor.x, y - anchor.y)
        return anchor.plane.coordinate(east: dx * cosine + dy * sine, north: dy * cosine - dx * sine)
    }

    /// Returns the place of the frame at a coordinate; nil if the frame's position is unknown.
    func place(of coordinate: Coordinate) -> (x: Double, y: Double)? {
        guard let anchor, let bearing else { return nil }
        let (sine, cosine) = (cmath_sin(bearing * .pi / 180), cmath_cos(bearing * .pi / 180))
        let offset = anchor.plane.offset(of: coordinate)
        return (
            anchor.x + offset.east * cosine - offset.north * sine, anchor.y + offset.east * sine + offset.north * cosine
        )
    }
}

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
