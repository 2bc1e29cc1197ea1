import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The conversion of a belief's estimate to a position, with the details that the venue determines.
///
/// The builder caches the rooms of the cells of a grid. Beliefs on the same signal field can share one builder.
package struct PositionBuilder: Sendable {
    private let venue: Venue
    private var roomCells: RoomCells
    private let transforms: [MapID: GeoTransform]

    /// The probability below which a position doesn't list a room.
    private static let leastProbability = 0.01

    /// Creates a builder for a venue.
    package init(venue: Venue) {
        self.venue = venue
        roomCells = RoomCells(RoomIndex(rooms: venue.rooms))
        var transforms: [MapID: GeoTransform] = [:]
        for map in venue.maps { transforms[map.id] = try? map.geoTransform() }
        self.transforms = transforms
    }

    /// Returns the transform from a map's coordinates to geographic ones; nil without a georeference.
    func transform(of map: MapID) -> GeoTransform? { transforms[map] }

    /// Returns a belief's position on a map; nil without evidence for that map.
    ///
    /// - Parameters:
    ///   - certainty: the probability of the map, in [0, 1].
    ///   - speedometer: the speedometer of the device.
    package mutating func position(
        of belief: some PositioningBelief, on map: MapID, at now: Instant, certainty: Double,
        speedometer: inout Speedometer
    ) -> Position? {
        guard let estimate = belief.estimate(on: map) else { return nil }
        return Position(
            instant: now, venueID: venue.id, mapID: map, point: estimate.point, radius: estimate.radius,
            covariance: estimate.covariance, label: roomCells.index.room(at: estimate.point, on: map)?.name,
            rooms: probableRooms(of: belief, on: map, certainty: certainty),
            pixel: venue.map(map)?.pixel(at: estimate.point),
            coordinate: transforms[map]?.coordinate(at: estimate.point),
            course: estimate.course, speed: speedometer.observe(estimate.point, on: map, at: now),
            floorCertainty: certainty)
    }

    /// Returns the rooms with a probability of at least 1 %, the most probable first.
    private mutating func probableRooms(
        of belief: some PositioningBelief, on map: MapID, certainty: Double
    ) -> [RoomProbability] {
        let shares = belief.roomShares(on: map, in: &roomCells)
        let rooms = roomCells.index.rooms
        return shares.compactMap { place, share in
            guard share * certainty >= Self.leastProbability else { return nil }
            return RoomProbability(id: rooms[place].id, name: rooms[place].name, probability: share * certainty)
        }.sorted { ($0.probability, $1.id) > ($1.probability, $0.id) }
    }
}
