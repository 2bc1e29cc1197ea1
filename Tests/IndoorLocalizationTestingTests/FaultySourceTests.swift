import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The readings that a source with faults delivers.
final class FaultySourceTests: XCTestCase {
    /// Ten sightings a second of one beacon.
    private static let readings = (0..<100).map { tick -> SensorReading in
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        return .sighting(Sighting(instant: Instant(seconds: 50 + Double(tick) / 10), beacon: beacon, rssi: -60))
    }

    /// Returns the delivered readings of a recording, and the error at their end.
    private func delivered(_ faults: ScanFault..., seed: UInt64 = 0) async -> ([SensorReading], (any Error)?) {
        var all: [SensorReading] = []
        do {
            for try await reading in FaultySource(ScriptedSource(Self.readings), faults, seed: seed).readings() {
                all.append(reading)
            }
            return (all, nil)
        } catch { return (all, error) }
    }

    private func times(_ readings: [SensorReading]) -> [Double] { readings.map { $0.instant.seconds - 50 } }

    func testWithoutFaultsTheReadingsAreThoseOfTheSource() async {
        let (readings, error) = await delivered()
        XCTAssertEqual(readings, Self.readings)
        XCTAssertNil(error)
    }

    func testAShareOfTheReadingsIsDoubled() async {
        let (readings, _) = await delivered(ScanFault(.duplicates(share: 0.5), at: .seconds(2), for: .seconds(4)))
        XCTAssertTrue((110...130).contains(readings.count), "\(readings.count)")
        let doubled = zip(readings, readings.dropFirst()).filter { $0 == $1 }.map { $0.0.instant.seconds - 50 }
        XCTAssertTrue(doubled.allSatisfy { (2...6).contains($0) }, "\(doubled)")
    }

    func testReorderingKeepsEachReadingAndDelaysNoneLonger() async {
        let (readings, _) = await delivered(ScanFault(.reordering(longest: .seconds(1)), at: .seconds(2)))
        XCTAssertEqual(times(readings).sorted(), times(Self.readings))
        var latest = 0.0
        var late = 0
        for time in times(readings) {
            XCTAssertLessThan(latest - time, 1.11)
            if time < latest { late += 1 }
            latest = max(latest, time)
        }
        XCTAssertGreaterThan(late, 20)
    }

    func testTheSameSeedGivesTheSameReadings() async {
        let faults = [
            ScanFault(.reordering(longest: .seconds(1)), at: .seconds(2)),
            ScanFault(.flood(rate: 100, identities: 1000), at: .seconds(3), for: .seconds(1)),
        ]
        func all(_ seed: UInt64) async throws -> [SensorReading] {
            var all: [SensorReading] = []
            for try await reading in FaultySource(ScriptedSource(Self.readings), faults, seed: seed).readings() {
                all.append(reading)
            }
            return all
        }
        do {
            let (first, second, other) = (try await all(1), try await all(1), try await all(2))
            XCTAssertEqual(first, second)
            XCTAssertNotEqual(first, other)
            XCTAssertEqual(first.count, 200)
        } catch { XCTFail("\(error)") }
    }

    func testJumpsAndSuspensionsMoveInstants() async {
        let (jumped, _) = await delivered(ScanFault(.instantJump(by: .seconds(-20)), at: .seconds(4), for: .seconds(2)))
        XCTAssertEqual(jumped[50].instant, Instant(seconds: 35))
        XCTAssertEqual(jumped[60], Self.readings[60])
        let (slept, _) = await delivered(ScanFault(.suspension(.seconds(900), isCounted: true), at: .seconds(4)))
        XCTAssertEqual(slept[39], Self.readings[39])
        XCTAssertEqual(slept[99].instant, Instant(seconds: 59.9 + 900))
    }

    func testAPulledOutAdapterReportsItselfAndDeliversNothing() async {
        let (readings, error) = await delivered(ScanFault(.unplugging, at: .seconds(4), for: .seconds(2)))
        XCTAssertNil(error)
        let events = readings.compactMap { if case .radio(let event) = $0 { event } else { nil } }
        XCTAssertEqual(events.map(\.status), [.unplugged, .scanning])
        XCTAssertEqual(events.map(\.instant), [Instant(seconds: 54), Instant(seconds: 56)])
        XCTAssertEqual(readings.count, 82)
    }

    func testAFailureEndsTheScanAndLaterScansUntilItIsOver() async throws {
        let radio = ScriptedSource()
        let source = FaultySource(radio, [ScanFault(.failure, at: .seconds(1), for: .seconds(2))])
        var counts: [Int] = []
        for part in [Self.readings[..<12], Self.readings[12..<20], Self.readings[30...]] {
            let readings = source.readings()
            let number = counts.count + 1
            try await Bounded.wait(for: "a scan") { try await radio.waitForScans(number) }
            part.forEach(radio.send)
            radio.finish()
            var count = 0
            do {
                for try await _ in readings { count += 1 }
                XCTAssertEqual(counts.count, 2, "only the third scan ends without an error")
            } catch { XCTAssertEqual(error as? LocalizationError, ScanFault.failure) }
            counts.append(count)
        }
        XCTAssertEqual(counts, [10, 0, 70])
    }

    func testALiveSourceKeepsTheNewestReadingsAndCountsTheLostOnes() async throws {
        let radio = ScriptedSource()
        let source = FaultySource(radio, [], capacity: 10)
        let readings = source.readings()
        Self.readings.forEach(radio.send)
        radio.finish()
        // The 90th loss is the delivery of the last reading.
        try await Bounded.wait(for: "all readings") {
            while source.lostReadings < 90 { await Task.yield() }
        }
        var all: [SensorReading] = []
        for try await reading in readings { all.append(reading) }
        // The report of the losses may come while the stream is read, and is one more.
        XCTAssertLessThanOrEqual(all.count { if case .radio = $0 { false } else { true } }, 10)
        XCTAssertEqual(source.lostReadings, 90)
        XCTAssertEqual(source.deliveredReadings, 100)
        let details = all.compactMap { if case .radio(let event) = $0 { event.detail } else { nil } }
        XCTAssertFalse(details.isEmpty, "the losses are reported")
    }
}
