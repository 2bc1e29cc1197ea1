import IndoorLocalization
import XCTest

@testable import BlueZScanning

final class RunningScansTests: XCTestCase {
    func testWithoutAScanThereIsNothingToWaitFor() async {
        await RunningScans().allEnded()
    }

    func testEverybodyWaitsForTheLastScan() async {
        let scans = RunningScans()
        scans.began()
        scans.began()
        let waiting = (0..<3).map { _ in Task { await scans.allEnded() } }
        scans.ended()
        let stillRunning = Task { await scans.allEnded() }
        scans.ended()
        for task in waiting + [stillRunning] { await task.value }
    }

    func testAScanThatCannotBeginHasLetGoOfTheRadio() async throws {
        // Where there is no such adapter, or no Bluetooth at all.
        let source = HCIScanSource(adapter: .named("hci4711"))
        let stream = source.readings()
        let reading = Task { for try await _ in stream {} }
        reading.cancel()
        _ = await reading.result
        await source.released()
    }

    func testACopyWithAnotherTimingKnowsTheSameScans() {
        let source = HCIScanSource()
        XCTAssertTrue(source.running === source.with(.half).running)
    }
}
