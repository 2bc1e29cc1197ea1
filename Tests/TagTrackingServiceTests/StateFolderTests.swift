import Foundation
import IndoorVocabulary
import TagTrackingService
import XCTest

/// The folder with the state of a fleet.
final class StateFolderTests: XCTestCase {
    func testEachStartHasAGreaterEpochAndTheLatestSnapshots() throws {
        let path = try stateFolder() + "/new/folder"
        do {
            let folder = try StateFolder(path)
            XCTAssertEqual(
                try folder.begin(partitionCount: 2, at: .zero), StateFolder.Start(epoch: 1, snapshots: [nil, nil]))
            try folder.write([1, 2], partition: 1)
            try folder.write([3], partition: 1)
        }
        let start = try StateFolder(path).begin(partitionCount: 8, at: .zero)
        XCTAssertEqual(start, StateFolder.Start(epoch: 2, snapshots: [nil, [3]]), "the folder keeps its partitions")
    }

    func testTheEpochIsAtLeastTheTime() throws {
        let folder = try StateFolder(try stateFolder())
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: Instant(seconds: 1_800_000_000.9)).epoch, 1_800_000_000)
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: Instant(seconds: 5)).epoch, 1_800_000_001)
    }

    func testTheFilesAreReadableByTheirOwnerOnly() throws {
        let path = try stateFolder()
        let folder = try StateFolder(path)
        _ = try folder.begin(partitionCount: 1, at: .zero)
        try folder.write([1], partition: 0)
        try folder.write(receivers: [2])
        let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        XCTAssertEqual(names, ["fleet.json", "receivers.state", "tags-0.state"])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
            XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600, name)
        }
    }

    func testTwoProcessesCannotShareAFolder() throws {
        let path = try stateFolder()
        let folder = try StateFolder(path)
        XCTAssertThrowsError(try StateFolder(path)) { error in
            XCTAssertEqual(error as? StateFolderError, .inUse(folder: path))
            XCTAssertTrue("\(error)".contains("give each its own folder"), "\(error)")
        }
        withExtendedLifetime(folder) {}
    }

    func testADamagedEpochIsNotReplacedByOne() throws {
        let path = try stateFolder()
        for text in [
            "", "{}", #"{"format":"indoor-localization-fleet","version":2,"epoch":"1","partitions":1}"#,
            #"{"format":"indoor-localization-fleet","version":1,"epoch":1,"partitions":1}"#,
            #"{"format":"indoor-localization-fleet","version":1,"epoch":"1","partitions":0}"#,
        ] {
            try Data(text.utf8).write(to: URL(filePath: path + "/fleet.json"))
            XCTAssertThrowsError(try StateFolder(path).begin(partitionCount: 1, at: .zero), text) { error in
                guard case StateFolderError.damaged = error else { return XCTFail("\(text): \(error)") }
            }
            XCTAssertEqual(try Data(contentsOf: URL(filePath: path + "/fleet.json")), Data(text.utf8))
        }
    }

    func testALeftoverOfAKilledProcessIsReplaced() throws {
        let path = try stateFolder()
        let folder = try StateFolder(path)
        try Data([9]).write(to: URL(filePath: path + "/tags-0.state.new"))
        try folder.write([1], partition: 0)
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: .zero).snapshots, [[1]])
        XCTAssertEqual(try folder.setAside(partition: 0), path + "/tags-0.state.unusable")
        XCTAssertEqual(try folder.begin(partitionCount: 1, at: .zero), StateFolder.Start(epoch: 2, snapshots: [nil]))
    }
}
