import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import ScanRecording
import VenuePackets
import XCTest

/// A venue with two floors, and the parts of a session in it.
enum LiveMapStage {
    static let hall = Venue(
        id: 4, name: "Hall", version: 3,
        maps: [
            VenueMap(
                id: 40, name: "Ground", level: 0, width: 40, height: 20, imagePath: "ground.png",
                walls: [[MapPoint(x: 0, y: 5), MapPoint(x: 10, y: 5.12345)]],
                walkable: [[MapPoint(x: 0, y: 0), MapPoint(x: 40, y: 0), MapPoint(x: 40, y: 20)]]),
            VenueMap(id: 41, name: "First", level: 1, width: 40, height: 20),
        ],
        beacons: [VenueBeacon(identity: beacon(1), mapID: 40, point: MapPoint(x: 5, y: 6))],
        rooms: [
            Room(id: 1, name: "Kitchen", mapID: 40, area: .circle(center: MapPoint(x: 5, y: 5), radius: 2)),
            Room(id: 2, name: "Trained", mapID: 40),
        ],
        pointsOfInterest: [PointOfInterest(id: 7, name: "Books", mapID: 41, point: MapPoint(x: 1, y: 2))],
        fences: [
            Fence(
                id: 3, name: "Door", mapID: 41,
                area: .polygon([MapPoint(x: 0, y: 0), MapPoint(x: 1, y: 0), MapPoint(x: 1, y: 1)]))
        ])

    static func beacon(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 4, minor: minor)
    }

    static func running(_ map: MapID = 40) -> LocalizationState {
        .localizationRunning(RunningState(venue: hall, mapID: map))
    }

    static func position(_ x: Double, at seconds: Double, on map: MapID = 40) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: hall.id, mapID: map, point: MapPoint(x: x, y: 10),
            radius: 2.345,
            label: "Kitchen", course: 90.04, speed: 1.239, floorCertainty: 0.98765)
    }

    static func output(_ content: SessionOutput.Content, at seconds: Double = 0) -> SessionOutput {
        SessionOutput(instant: Instant(seconds: seconds), content: content)
    }

    /// The coordinates of particles as shares of the map.
    static func points(_ particles: LiveMapFrame.Particles) -> [[Double]] {
        let bytes = Array(Data(base64Encoded: particles.points) ?? Data())
        let numbers = stride(from: 0, to: bytes.count, by: 2).map {
            Double(UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8) / 65_535
        }
        return stride(from: 0, to: numbers.count, by: 2).map { Array(numbers[$0..<$0 + 2]) }
    }
}
