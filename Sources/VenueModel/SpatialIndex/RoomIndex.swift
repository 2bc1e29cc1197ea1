import IndoorVocabulary

/// Finds the room that a point lies in.
public struct RoomIndex: Hashable, Sendable {
    /// Those with a shape, the smallest first.
    package let rooms: [Room]
    private let index: AreaIndex

    /// Creates an index of the rooms that have a shape; the others are known by training only.
    public init(rooms: [Room]) {
        let shaped = rooms.compactMap { room in room.area.map { (room: room, area: $0, size: $0.squareMeters) } }
        let sorted = shaped.sorted { ($0.size, $0.room.id) < ($1.size, $1.room.id) }
        self.rooms = sorted.map(\.room)
        index = AreaIndex(sorted.map { ($0.room.mapID, $0.area) })
    }

    /// The smallest room of the map that contains the point, of equal ones that with the lowest number.
    ///
    /// Returns nil if there is none. Costs what the rooms near the point have corners, however many rooms there are.
    public func room(at point: MapPoint, on map: MapID) -> Room? {
        place(at: point, on: map).map { rooms[$0] }
    }

    /// The same room's place in the list.
    package func place(at point: MapPoint, on map: MapID) -> Int? { index.lowest(containing: point, on: map) }
}
