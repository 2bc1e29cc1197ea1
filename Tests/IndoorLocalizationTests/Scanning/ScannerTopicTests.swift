import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What a scanner tells to those who want calls.
final class ScannerTopicTests: XCTestCase {
    /// Behaviour §3.1, row on.
    func testTopicsDeliverRegionsAndBeaconsUntilTheyAreClosed() async throws {
        let stage = ScannerStage()
        let (calls, told) = AsyncStream.makeStream(of: String.self)
        let scanner = stage.scanner
        await scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        let subscriptions = [
            scanner.on(.regionsEntered) { told.yield("into \($0.regionID)") },
            scanner.on(.regionsLeft) { told.yield("out of \($0.regionID)") },
            scanner.on(.radioEvents) { told.yield("\($0.status.rawValue)") },
        ]
        let closed = scanner.on(.beacons) { _ in told.yield("closed") }
        closed.close()
        closed.close()
        try await stage.start()
        try await stage.hear()
        let first = try await Bounded.first(1, of: calls)
        XCTAssertEqual(first, ["into home"])
        stage.source.send(ScannerStage.radio(.poweredOff, at: ScannerStage.beginning + stage.seconds))
        let next = try await Bounded.first(1, of: calls)
        XCTAssertEqual(next, ["poweredOff"])
        subscriptions.forEach { $0.close() }
    }
}
