import IndoorVocabulary

/// The reason that a geofence can't be monitored.
public enum GeofenceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The identifier is empty.
    case noID
    /// The polygon has fewer than three corners.
    case tooFewCorners(id: String, count: Int)
    /// A coordinate or a number isn't finite or is out of range.
    case outOfRange(id: String, field: String)

    public var description: String {
        switch self {
        case .noID: "the geofence has an empty id; set an id, which is also needed to stop monitoring"
        case .tooFewCorners(let id, let count):
            "geofence \"\(id)\": the polygon has \(count) corner(s); it needs at least three"
        case .outOfRange(let id, let field):
            "geofence \"\(id)\": \(field) is out of range; radii are above 0 m, margins and times from 0, latitudes in "
                + "[-90, 90] and longitudes in [-180, 180]"
        }
    }
}

extension Geofence {
    /// The problem that prevents monitoring; nil if there is none.
    public var problem: GeofenceError? {
        if id.isEmpty { return .noID }
        func isDuration(_ duration: Duration?) -> Bool { duration ?? .zero >= .zero }
        if !(exitMargin >= 0 && exitMargin.isFinite) { return .outOfRange(id: id, field: "exitMargin") }
        if !isDuration(timeout) { return .outOfRange(id: id, field: "timeout") }
        if !isDuration(exitDelay) { return .outOfRange(id: id, field: "exitDelay") }
        return shapeProblem
    }

    private var shapeProblem: GeofenceError? {
        func isRadius(_ radius: Double) -> Bool { radius > 0 && radius.isFinite }
        func isPlace(_ point: MapPoint) -> Bool { point.x.isFinite && point.y.isFinite }
        switch shape {
        case .area(.polygon(let corners)) where corners.count < 3:
            return .tooFewCorners(id: id, count: corners.count)
        case .polygon(let corners) where corners.count < 3:
            return .tooFewCorners(id: id, count: corners.count)
        case .area(.polygon(let corners)):
            return corners.allSatisfy(isPlace) ? nil : .outOfRange(id: id, field: "a corner")
        case .polygon(let corners):
            return corners.allSatisfy(\.isValid) ? nil : .outOfRange(id: id, field: "a corner")
        case .area(.circle(let center, let radius)):
            if !isPlace(center) { return .outOfRange(id: id, field: "the centre") }
            return isRadius(radius) ? nil : .outOfRange(id: id, field: "the radius")
        case .circle(let center, let radius):
            if !center.isValid { return .outOfRange(id: id, field: "the centre") }
            return isRadius(radius) ? nil : .outOfRange(id: id, field: "the radius")
        }
    }
}
