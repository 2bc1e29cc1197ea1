import IndoorVocabulary

/// A spatial index that finds the room containing a point.
public struct RoomIndex: Hashable, Sendable {
    /// The rooms with a shape, the smallest first.
    package let rooms: [Room]
    private let index: AreaIndex

    /// Creates an index of the rooms with a shape. Rooms without a shape are only known to classifiers.
    public init(rooms: [Room]) {
        let shaped = rooms.compactMap { room in room.area.map { (room: room, area: $0, size: $0.squareMeters) } }
        let sorted = shaped.sorted { ($0.size, $0.room.id) < ($1.size, $1.room.id) }
        self.rooms = sorted.map(\.room)
        index = AreaIndex(sorted.map { ($0.room.mapID, $0.area) })
    }

    /// Returns the smallest room of the map that contains the point; among rooms of equal size, the one with the lowest
    /// ID.
    ///
    /// The result is nil if there is none. The time depends on the number of corners of the rooms near the point, not
    /// on the total number of rooms.
    public func room(at point: MapPoint, on map: MapID) -> Room? {
        place(at: point, on: map).map { rooms[$0] }
    }

    /// Returns the index in `rooms` of the room that `room(at:on:)` returns.
    package func place(at point: MapPoint, on map: MapID) -> Int? { index.lowest(containing: point, on: map) }
}
