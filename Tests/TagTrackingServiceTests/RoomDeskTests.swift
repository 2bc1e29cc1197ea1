import BeaconScanning
import IndoorLocalizationTesting
import IndoorVocabulary
import TagTracking
import TagTrackingService
import VenueModel
import VenuePackets
import XCTest

/// The training of rooms whose file can't be written.
final class RoomDeskTests: XCTestCase {
    func testATrainingThatCannotBeWrittenIsReported() async throws {
        let sample = RoomFingerprint.Sample(timestamp: 0, rssi: [VenueReceiver.identity(for: "north"): -60])
        var training = RoomTrainingSet()
        for room in ["Attic", "Kitchen"] { training.rooms[room] = RoomFingerprint(samples: [sample]) }
        var setup = FleetEngine.Setup(model: FleetModel(venue: TagRoom.venue(training.rooms.keys)))
        setup.rooms = training
        let engine = try FleetEngine.start(setup, in: nil, at: Instant(seconds: 1)).engine
        let folder = try stateFolder()
        let (saved, failed) = (WatchedState<[Int]>([]), WatchedState<[String]>([]))
        func desk(_ path: String) -> RoomDesk {
            RoomDesk(engine, path: path) {
                Instant(seconds: 1)
            } saved: { training in
                saved.update { $0.append(training.rooms.count) }
            } failed: { error in
                failed.update { $0.append(error.file) }
            }
        }
        do {
            try await desk(folder + "/none/home.json").remove("Attic")
            XCTFail("the file was written")
        } catch { XCTAssertTrue("\(error)".hasPrefix("The rooms have changed, but the file can't be written")) }
        XCTAssertEqual(failed.value, [folder + "/none/home.json"])
        XCTAssertEqual(saved.value, [])
        try await desk(folder + "/home.json").remove("Kitchen")
        XCTAssertEqual(saved.value, [0])
        XCTAssertEqual(failed.value.count, 1)
    }
}
