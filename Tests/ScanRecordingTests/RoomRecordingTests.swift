import IndoorLocalization
import ScanRecording
import XCTest

final class RoomRecordingTests: XCTestCase {
    private func recording(_ lines: [String]) throws -> RoomRecording {
        let header =
            "{\"type\":\"header\",\"format\":\"indoor-localization-recording\",\"version\":1,\"device\":\"phone\"}"
        let folder = try TemporaryFolder()
        return try RoomRecording(path: folder.write("rooms.jsonl", ([header] + lines).map { $0 + "\n" }.joined()))
    }

    private func beacon(_ minor: Int, at seconds: Double) -> String {
        """
        {"t":\(seconds),"type":"beacon","uuid":"7C2F0A10-0000-4000-8000-000000000010","major":1,"minor":\(minor),"rssi":-70}
        """
    }

    private func truth(_ room: String, at seconds: Double) -> String {
        "{\"t\":\(seconds),\"type\":\"truth\",\"room\":\"\(room)\",\"hold\":true}"
    }

    func testAScanBelongsToTheStayDuringWhichItWasReceived() throws {
        let recording = try recording([
            beacon(1, at: 0), truth("den", at: 1), beacon(1, at: 1), beacon(2, at: 1.5), beacon(1, at: 2.5),
            truth("bath", at: 3), beacon(3, at: 3), truth("attic", at: 4),
        ])
        XCTAssertEqual(recording.device, "phone")
        XCTAssertEqual(recording.stays.map(\.room), [nil, "den", "bath"])
        XCTAssertEqual(recording.stays.map { $0.scans.map(\.rssi.count) }, [[1], [2, 1], [1]])
    }

    func testOnlyStaysInKnownRoomsBecomeTrainingData() throws {
        var recording = try recording([beacon(1, at: 0), truth("den", at: 1), beacon(1, at: 1.25)])
        XCTAssertEqual(recording.training.rooms.mapValues { $0.samples.map(\.timestamp) }, ["den": [1.25]])
        recording.name("hall")
        XCTAssertEqual(recording.training.rooms.mapValues { $0.samples.count }, ["den": 1, "hall": 1])
    }
}
