import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import TestedApp
import VenuePackets
import XCTest

/// The tests of an app that is driven by recordings: no radio, and no waiting for real time.
final class AttendanceTests: XCTestCase {
    private static let venues = LocalVenueSource(paths: [fixtures + "/office"])
    /// The fixtures of the checkout. In your package, this is a folder of your own recordings and packets.
    private static let fixtures = URL(filePath: #filePath)
        .appending(path: "../../../../../../../../Fixtures").standardizedFileURL.path

    func testARecordedWalkVisitsItsRooms() async throws {
        let walk = RecordingSource(path: Self.fixtures + "/recordings/one-floor/scan.jsonl.gz")
        let attendance = Attendance(source: walk, venues: Self.venues)
        try await attendance.run()
        let rooms = await attendance.rooms
        XCTAssertEqual(rooms, ["Lobby", "Corridor ground", "Workshop", "Corridor ground", "Office 2"])
    }

    func testAVisitorWhoIsNoLongerReceivedHasLeft() async throws {
        // A live source: the test sends its readings, and moves the clock that the session waits on.
        let (source, clock) = (ScriptedSource(), ManualClock())
        let attendance = Attendance(source: source, venues: Self.venues, clock: clock)
        let run = Task { try await attendance.run() }
        // Before the session knows its venues, a reading identifies none.
        while await !attendance.isReady { await Task.yield() }
        var reader = try RecordingReader(path: Self.fixtures + "/recordings/one-floor/scan.jsonl.gz")
        while let entry = try reader.next() {
            if case .measurement(let reading) = entry { source.send(reading) }
        }
        while await !attendance.isPresent { await Task.yield() }
        // The session waits half a minute for another beacon. The test needs no time for it: it advances the clock to each
        // alarm of the session.
        let before = clock.now
        let time = Task { while true { clock.advance(to: try await clock.waitForSleeper()) } }
        defer { time.cancel() }
        while await attendance.isPresent { await Task.yield() }
        XCTAssertGreaterThan(before.duration(to: clock.now), .seconds(25))
        source.finish()
        try await run.value
    }
}
