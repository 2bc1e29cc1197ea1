import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import BlueZScanning

final class RunningScansTests: XCTestCase {
    func testWaitingReturnsImmediatelyWithoutAScan() async throws {
        try await Bounded.wait(for: "the return without a scan") { await RunningScans().allEnded() }
    }

    func testAllCallersWaitForTheLastScan() async throws {
        let scans = RunningScans()
        let told = WatchedState<[String]>([])
        let wait = { @Sendable in
            await scans.allEnded()
            told.update { $0.append("returned") }
        }
        scans.began()
        scans.began()
        let waiting = (0..<3).map { _ in Task { await wait() } }
        await giveWay()
        scans.ended()
        let stillRunning = Task { await wait() }
        await giveWay()
        told.update { $0.append("the last scan ends") }
        scans.ended()
        try await Bounded.wait(for: "all callers") { for task in waiting + [stillRunning] { await task.value } }
        XCTAssertEqual(
            told.value, ["the last scan ends", "returned", "returned", "returned", "returned"])
    }

    /// Lets other tasks run, so that those which should wait would return by mistake.
    private func giveWay() async { for _ in 0..<100 { await Task.yield() } }

    func testAScanThatCannotStartReleasesTheRadio() async throws {
        // Either the adapter or Bluetooth itself is missing.
        let source = HCIScanSource(adapter: .named("hci4711"))
        let stream = source.readings()
        let reading = Task { for try await _ in stream {} }
        reading.cancel()
        try await Bounded.wait(for: "the end of the stream") { _ = await reading.result }
        try await Bounded.wait(for: "the release of the radio") { await source.released() }
    }

    func testACopyWithAnotherTimingSharesTheScans() {
        let source = HCIScanSource()
        XCTAssertTrue(source.running === source.with(.half).running)
    }
}
