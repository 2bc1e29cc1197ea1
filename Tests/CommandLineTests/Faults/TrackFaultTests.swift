import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// `track --state` on a disk that fails, and recovers while it runs.
final class TrackFaultTests: XCTestCase {
    private let tag = "C3:00:00:12:AB:01"

    /// Publishes readings of the tag until another line with a position arrives.
    private func advance(_ stage: GatewayStage, _ service: ServiceProcess) async throws {
        try await stage.publish(tag: tag, at: MapPoint(x: 30, y: 6), until: service, from: service.told.count)
    }

    /// The content of each file of a folder.
    private func contents(_ folder: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try bytes(folder + "/" + $0)) })
    }

    func testTheEarlierStateStaysUntilTheDiskRecovers() async throws {
        let broker = try broker()
        let venue = try FixtureFolder("tags/office").path
        let stage = GatewayStage(
            client: try await GatewayClient(port: broker.port), venue: try VenuePacketReader().read(venue).venue)
        let folder = try temporaryFolder()
        let words = [
            "--broker", "mqtt://127.0.0.1:\(broker.port)", "--venue", venue, "--class", "light", "--state", folder,
            "--tags", try register(of: tag),
        ]
        let first = try ServiceProcess(words, command: "track")
        try first.waitForError("receiving from")
        try await advance(stage, first)
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        for (plan, message) in [
            ("write ENOSPC -1", "No space left on device"), ("sync EIO -1", "Input/output error"),
            ("open EROFS -1", "Read-only file system"),
        ] {
            let faults = try FaultyFiles(in: try temporaryFolder())
            let service = try ServiceProcess(words, command: "track", environment: faults.environment)
            try service.waitForError("1 tag restored")
            try service.waitForError("receiving from")
            // The start has stored its own number.
            let before = try contents(folder)
            try faults.set([plan + " .state"])
            try await advance(stage, service)
            try service.waitForError("the state isn't saved: \(folder)/")
            let failed = faults.failures.count
            // Positions continue, while further attempts fail.
            while faults.failures.count == failed { try await advance(stage, service) }
            let during = try contents(folder)
            for (name, bytes) in before { XCTAssertEqual(during[name], bytes, "\(plan): \(name)") }
            let reports = service.errors.filter { $0.contains("isn't saved") }
            XCTAssertEqual(reports.count, 1, "it is reported once: \(reports)")
            XCTAssertTrue(
                reports.allSatisfy { $0.contains("\(message); check the folder, its permissions and the free space") },
                "\(reports)")
            try faults.set([])
            try service.waitForError("the state is saved again")
            XCTAssertNotEqual(try contents(folder), before, plan)
            service.send(SIGTERM)
            XCTAssertEqual(try service.end(), 0, plan)
            XCTAssertEqual(Set(try contents(folder).keys), Set(before.keys), "\(plan): no other file remains")
        }
    }

    func testADiskThatIsFullAtTheStartEndsTheCommandWithTheReason() async throws {
        let folder = try temporaryFolder()
        let faults = try FaultyFiles(in: try temporaryFolder(), "write ENOSPC -1 fleet.json")
        let result = try faults.run([
            "track", "--broker", "mqtt://127.0.0.1:9", "--venue", "Fixtures/tags/office", "--state", folder,
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(
            result.errors.contains(
                "\(folder)/fleet.json.new can't be used: No space left on device; check the folder, its permissions "
                    + "and the free space"), result.errors)
        XCTAssertEqual(faults.failures.count, 1)
    }
}
