import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What a scanner tells as one stream.
final class ScannerEventTests: XCTestCase {
    private static let noon: Int64 = 1_700_000_000_000
    private static let settings = ScannerSettings(
        dutyCycle: DutyCycle(scanDuration: .seconds(10), interval: .seconds(90)))

    private static func name(_ event: ScannerEvent) -> String {
        switch event.content {
        case .scan(let event): event.kind.rawValue
        case .advertisement: "advertisement"
        case .beacon: "beacon"
        }
    }

    func testPassesAndReceptionsAreEmittedInOrder() async throws {
        let stage = ScannerStage(ScriptedSource(), Self.settings)
        stage.source.wallClock = WallClock(
            timeOfZero: .milliseconds(Self.noon) - .seconds(ScannerStage.beginning),
            measuredAt: UnixTime(milliseconds: Self.noon))
        let told = stage.scanner.events
        try await stage.start()
        for second in [1.0, 2] {
            let heard = try ScannerStage.advertisement(at: ScannerStage.beginning + second)
            stage.source.send(.advertisement(heard))
        }
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning + 3))
        let heard = try await Bounded.first(6, of: told)
        XCTAssertEqual(
            heard.map(Self.name), ["started", "advertisement", "beacon", "advertisement", "beacon", "beacon"])
        XCTAssertEqual(
            heard.map { $0.unixTime.map { $0.milliseconds - Self.noon } }, [0, 1000, 1000, 2000, 2000, 3000])
        XCTAssertNil(heard[0].instant, "the source has told no instant yet")
        XCTAssertEqual(heard[5].instant, Instant(seconds: ScannerStage.beginning + 3))

        let passes = stage.scanner.events
        let later = try await stage.passTime(until: "the second pass", of: passes) {
            if case .scan(let event) = $0.content { event.kind == .started } else { false }
        }
        XCTAssertEqual(later.map(Self.name), ["stopped", "started"])
        let times = try later.map { try XCTUnwrap($0.unixTime).milliseconds - Self.noon }
        XCTAssertEqual(times[1] - times[0], 90_000)
        await stage.scanner.stop()
        let last = try await Bounded.first(1, of: passes)
        XCTAssertEqual(last.map(Self.name), ["stopped"])
    }

    func testABeaconRecordHasTheTimeOfTheWallClock() async throws {
        let stage = ScannerStage()
        stage.source.wallClock = WallClock(timeOfZero: .milliseconds(Self.noon))
        let beacons = stage.scanner.beacons
        try await stage.start()
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning))
        let record = try await Bounded.first(1, of: beacons)
        XCTAssertEqual(record.map(\.unixTime), [UnixTime(milliseconds: Self.noon + 5_000_000)])
        await stage.scanner.stop()
    }

    func testTimesAreNilWithoutAWallClock() async throws {
        let stage = ScannerStage()
        let told = stage.scanner.events
        try await stage.start()
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning))
        let events = try await Bounded.first(2, of: told)
        XCTAssertEqual(events.map(Self.name), ["started", "beacon"])
        XCTAssertEqual(events.map(\.unixTime), [nil, nil])
        guard case .beacon(let record) = events[1].content else { return XCTFail("\(events[1])") }
        XCTAssertNil(record.unixTime)
        await stage.scanner.stop()
    }

    func testAWatchOfAllEventsIsCalled() async throws {
        let stage = ScannerStage()
        let (calls, told) = AsyncStream.makeStream(of: String.self)
        let subscription = stage.scanner.watch(\.events) { told.yield(Self.name($0)) }
        try await stage.start()
        let first = try await Bounded.first(1, of: calls)
        XCTAssertEqual(first, ["started"])
        subscription.close()
        await stage.scanner.stop()
    }
}
