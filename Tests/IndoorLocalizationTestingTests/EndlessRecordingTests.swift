import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// A recording that goes on after its end.
final class EndlessRecordingTests: XCTestCase {
    private func readings(_ path: String) throws -> [SensorReading] {
        var reader = try RecordingReader(path: path)
        var readings: [SensorReading] = []
        try reader.forEach { if case .measurement(let reading) = $0 { readings.append(reading) } }
        return readings
    }

    func testTheStayAtTheEndFollowsAgainAndAgain() throws {
        let path = FileManager.default.temporaryDirectory.path + "/endless-\(UUID().uuidString).jsonl"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        let recording = try FixtureFolder("recordings/stairs").file("scan.jsonl.gz")
        try EndlessRecording.write(recording, to: path)
        // The reader refuses a time that is earlier than that of the line before.
        let (walk, endless) = (try readings(recording), try readings(path))
        XCTAssertTrue(endless.starts(with: walk))
        let end = try XCTUnwrap(endless.last).instant
        XCTAssertGreaterThan(end, Instant.zero.advanced(by: Bounded.longest * 4))
        // The person arrives after 51.209 s, and stays for five seconds.
        let stay = walk.filter { $0.instant >= Instant(seconds: 51.209) }
        XCTAssertGreaterThan(stay.count, 100)
        for turn in 1...3 {
            let again = endless.dropFirst(walk.count + (turn - 1) * stay.count).prefix(stay.count).map { reading in
                var reading = reading
                reading.instant.nanoseconds -= Int64(turn) * 5_000_000_000
                return reading
            }
            XCTAssertTrue(again == stay, "turn \(turn)")
        }
    }
}
