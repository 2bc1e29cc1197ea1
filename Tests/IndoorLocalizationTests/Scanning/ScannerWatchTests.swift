import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Calls with the elements of a scanner's streams.
final class ScannerWatchTests: XCTestCase {
    func testWatchesOfRegionsAndTheRadioAreCalledUntilTheyAreClosed() async throws {
        let stage = ScannerStage()
        let (calls, told) = AsyncStream.makeStream(of: String.self)
        let scanner = stage.scanner
        await scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        let subscriptions = [
            scanner.watch(\.regionEvents) { told.yield("\($0.kind) \($0.regionID)") },
            scanner.watch(\.radioEvents) { told.yield("\($0.status.rawValue)") },
        ]
        let closed = scanner.watch(\.beacons) { _ in told.yield("closed") }
        closed.close()
        closed.close()
        try await stage.start()
        try await stage.hear()
        let first = try await Bounded.first(1, of: calls)
        XCTAssertEqual(first, ["enter home"])
        stage.source.send(ScannerStage.radio(.poweredOff, at: ScannerStage.beginning + stage.seconds))
        let next = try await Bounded.first(1, of: calls)
        XCTAssertEqual(next, ["poweredOff"])
        subscriptions.forEach { $0.close() }
    }
}
