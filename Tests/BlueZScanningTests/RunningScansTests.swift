import IndoorLocalization
import XCTest

@testable import BlueZScanning

final class RunningScansTests: XCTestCase {
    func testWaitingReturnsImmediatelyWithoutAScan() async {
        await RunningScans().allEnded()
    }

    func testAllCallersWaitForTheLastScan() async {
        let scans = RunningScans()
        scans.began()
        scans.began()
        let waiting = (0..<3).map { _ in Task { await scans.allEnded() } }
        scans.ended()
        let stillRunning = Task { await scans.allEnded() }
        scans.ended()
        for task in waiting + [stillRunning] { await task.value }
    }

    func testAScanThatCannotStartReleasesTheRadio() async throws {
        // Either the adapter or Bluetooth itself is missing.
        let source = HCIScanSource(adapter: .named("hci4711"))
        let stream = source.readings()
        let reading = Task { for try await _ in stream {} }
        reading.cancel()
        _ = await reading.result
        await source.released()
    }

    func testACopyWithAnotherTimingSharesTheScans() {
        let source = HCIScanSource()
        XCTAssertTrue(source.running === source.with(.half).running)
    }
}
