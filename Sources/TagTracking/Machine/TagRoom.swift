import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// The trained room that a tag is in, without a floor plan.
package struct TagRoom: Hashable, Sendable {
    /// The time of the latest scan, counted from the Unix epoch.
    package var instant: Instant
    /// The name of the room that counts; nil if the tag is in none of the trained rooms.
    package var label: String?
    /// The trained rooms with the latest probabilities in [0, 1], the most probable first.
    package var rooms: [RoomProbability]
    /// The latest probability that the tag is in none of the trained rooms; in [0, 1].
    package var none: Double

    /// Creates the room of a tag.
    package init(instant: Instant, label: String?, rooms: [RoomProbability], none: Double) {
        (self.instant, self.label, self.rooms, self.none) = (instant, label, rooms, none)
    }

    /// The identifiers that stand for the venue and the map in the events of trained rooms.
    package static let (venueID, mapID) = (VenueID(rawValue: 0), MapID(rawValue: 0))

    /// Returns a trained room as a room of a venue without a map. Its number depends on its name alone.
    package static func room(named name: String) -> Room {
        Room(id: Int(FNVHash.hash(of: name.utf8) >> 33), name: name, mapID: mapID)
    }

    /// Returns a venue that has trained rooms, and neither maps nor receivers.
    package static func venue(_ names: some Sequence<String>) -> Venue {
        var venue = Venue(id: venueID, name: "Rooms", maps: [])
        venue.rooms = names.sorted().map(room(named:))
        return venue
    }

    /// Writes the members into an object: `label`, unless it is nil, `rooms` and `none`.
    package func writeMembers(to json: inout JSONWriter) {
        json.add("label", label)
        rooms.writeArray(to: &json)
        json.add("none", none, decimals: 3)
    }
}

extension [RoomProbability] {
    /// Writes the member `rooms`.
    func writeArray(to json: inout JSONWriter) {
        json.name("rooms")
        json.beginArray()
        for room in self {
            json.beginObject()
            json.add("id", room.id)
            json.add("name", room.name)
            json.add("probability", room.probability, decimals: 3)
            json.endObject()
        }
        json.endArray()
    }
}
