import CMath
import IndoorVocabulary
import VenueModel

/// Where a local frame lies on Earth.
struct EarthAnchor: Hashable, Sendable {
    private struct Anchor: Hashable, Sendable {
        var plane: LocalTangentPlane
        var x: Double
        var y: Double
    }

    private var anchor: Anchor?
    private var search: SatelliteAlignment?
    /// Degrees clockwise from true north of the frame's y axis; nil if unknown.
    private(set) var bearing: Double?

    /// Whether satellites are asked.
    var isSearching: Bool { search != nil }

    /// How far it is known.
    var alignment: MotionEstimate.Alignment {
        if anchor != nil, bearing != nil { return .global }
        return search == nil ? .local : .aligning
    }

    /// Says where on Earth a place of the frame lies.
    mutating func set(_ coordinate: Coordinate, x: Double, y: Double) {
        anchor = Anchor(plane: LocalTangentPlane(origin: coordinate), x: x, y: y)
        if bearing != nil { search = nil }
    }

    /// Says how the frame's y axis lies on Earth; nil if that is not known any more.
    mutating func set(bearing: Double?) {
        self.bearing = bearing.map(Degrees.course)
        if anchor != nil, bearing != nil { search = nil }
    }

    /// Begins to ask satellites.
    mutating func align() {
        anchor = nil
        bearing = nil
        search = SatelliteAlignment()
    }

    /// Takes in a satellite position at a place of the frame, while it is asked for.
    mutating func observe(_ fix: GNSSFix, x: Double, y: Double) {
        guard let found = search?.observe(fix, x: x, y: y) else { return }
        search = nil
        bearing = found
        anchor = Anchor(plane: LocalTangentPlane(origin: fix.coordinate), x: x, y: y)
    }

    /// The coordinate of a place of the frame; nil if that is not known.
    func coordinate(x: Double, y: Double) -> Coordinate? {
        guard let anchor, let bearing else { return nil }
        let (sine, cosine) = (cmath_sin(bearing * .pi / 180), cmath_cos(bearing * .pi / 180))
        let (dx, dy) = (x - anchor.x, y - anchor.y)
        return anchor.plane.coordinate(east: dx * cosine + dy * sine, north: dy * cosine - dx * sine)
    }

    /// The place of the frame at a coordinate; nil if that is not known.
    func place(of coordinate: Coordinate) -> (x: Double, y: Double)? {
        guard let anchor, let bearing else { return nil }
        let (sine, cosine) = (cmath_sin(bearing * .pi / 180), cmath_cos(bearing * .pi / 180))
        let offset = anchor.plane.offset(of: coordinate)
        return (
            anchor.x + offset.east * cosine - offset.north * sine, anchor.y + offset.east * sine + offset.north * cosine
        )
    }
}
