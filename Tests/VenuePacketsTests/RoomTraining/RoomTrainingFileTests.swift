import FoundationEssentials
import IndoorLocalization
import VenuePackets
import XCTest

final class RoomTrainingFileTests: XCTestCase {
    private var training: RoomTrainingSet {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        return RoomTrainingSet(rooms: [
            "Küche \"1\"": RoomFingerprint(samples: [.init(timestamp: 1.5, rssi: [beacon: -70])]),
            "bath": RoomFingerprint(),
        ])
    }

    func testTheReaderReturnsTheSetThatWasWritten() throws {
        let folder = try temporaryFolder()
        let path = folder + "/home.json"
        try RoomTrainingFile.write(training, to: path)
        XCTAssertEqual(try RoomTrainingFile.read(path), training)
    }

    func testAFileOfAnotherKindIsRefused() throws {
        let folder = try temporaryFolder()
        for (name, text, part) in [
            ("other", "{\"format\": \"x\", \"version\": 1, \"rooms\": {}}", "$.format: is \"x\""),
            ("newer", "{\"format\": \"indoor-localization-rooms\", \"version\": 2, \"rooms\": {}}", "$.version: is 2"),
            ("bare", "{}", "the field format is missing"),
        ] {
            let path = folder + "/" + name
            try Data(text.utf8).write(to: URL(filePath: path))
            XCTAssertThrowsError(try RoomTrainingFile.read(path), name) { error in
                XCTAssertTrue("\(error)".hasPrefix("\(path): \(part)"), "\(error)")
            }
        }
        XCTAssertThrowsError(try RoomTrainingFile.read(folder + "/none")) { error in
            XCTAssertTrue("\(error)".contains("there is no"), "\(error)")
        }
    }

    func testAWriteToAMissingFolderIsAnError() throws {
        let folder = try temporaryFolder()
        XCTAssertThrowsError(try RoomTrainingFile.write(training, to: folder + "/none/home.json")) { error in
            XCTAssertTrue("\(error)".contains("cannot be written"), "\(error)")
        }
    }
}
