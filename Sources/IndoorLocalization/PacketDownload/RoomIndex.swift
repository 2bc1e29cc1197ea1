/// Finds the room that a point lies in.
public struct RoomIndex: Hashable, Sendable {
    private let roomsByMap: [MapID: [Room]]

    /// Creates an index of the rooms that have a shape; the others are known by training only.
    public init(rooms: [Room]) {
        let shaped = rooms.filter { $0.area != nil }
        roomsByMap = Dictionary(grouping: shaped, by: \.mapID).mapValues { rooms in
            let sized = rooms.map { (room: $0, size: $0.area?.squareMeters ?? 0) }
            return sized.sorted { ($0.size, $0.room.id) < ($1.size, $1.room.id) }.map(\.room)
        }
    }

    /// The smallest room of the map that contains the point, of equal ones that with the lowest number.
    ///
    /// Returns nil if there is none. Linear in the corners of the map's rooms.
    public func room(at point: MapPoint, on map: MapID) -> Room? {
        roomsByMap[map]?.first { $0.area?.contains(point) ?? false }
    }
}

extension Area {
    /// The area enclosed, in m²; for a polygon that crosses itself, parts can cancel each other.
    public var squareMeters: Double {
        switch self {
        case .circle(_, let radius):
            return .pi * radius * radius
        case .polygon(let corners):
            // Shoelace formula, from the first corner so that far-off plans lose no digits.
            guard let origin = corners.first, var previous = corners.last else { return 0 }
            var twice = 0.0
            for corner in corners {
                let (a, b) = (previous - origin, corner - origin)
                twice += a.x * b.y - b.x * a.y
                previous = corner
            }
            return abs(twice) / 2
        }
    }
}
