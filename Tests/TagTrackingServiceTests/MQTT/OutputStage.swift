import IndoorVocabulary
import LocalizationSession
import TagTracking
import VenueModel

/// Outputs of a fleet for tests.
enum OutputStage {
    static func output(
        _ tag: String, _ sequence: UInt64, _ content: FleetOutput.Content, name: String? = nil, epoch: UInt64 = 1
    ) -> FleetOutput {
        FleetOutput(
            tag: .name(tag), name: name, epoch: epoch, sequence: sequence,
            instant: Instant(nanoseconds: 1_795_338_000_000_000_000 + Int64(sequence) * 1_000_000_000),
            content: content)
    }

    static func position(
        _ x: Double, y: Double = 2, map: Int = 1, label: String? = nil, coordinate: Coordinate? = nil
    ) -> FleetOutput.Content {
        .position(
            Position(
                instant: .zero, venueID: VenueID(rawValue: 1), mapID: MapID(rawValue: map),
                point: MapPoint(x: x, y: y), radius: 1.5, label: label, coordinate: coordinate))
    }

    static func entry(_ room: String) -> FleetOutput.Content {
        .event(
            LocalizationEvent(
                instant: .zero, venueID: VenueID(rawValue: 1),
                kind: .enterRoom(Room(id: 1, name: room, mapID: MapID(rawValue: 1)))))
    }
}
