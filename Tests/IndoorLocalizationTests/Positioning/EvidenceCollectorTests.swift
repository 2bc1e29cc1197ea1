import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class EvidenceCollectorTests: XCTestCase {
    private typealias Stage = PositioningStage
    private var collector = EvidenceCollector(field: Stage.packetField)

    override func setUp() { collector = EvidenceCollector(field: Stage.packetField) }

    func testBeforeTheFirstReadingThereIsNoEvidence() {
        XCTAssertNil(collector.drain(at: Instant(seconds: 1)))
        XCTAssertNil(collector.snapshot(at: Instant(seconds: 1)))
        XCTAssertTrue(collector.isEmpty)
    }

    func testAFirstReadingHasFullWeight() throws {
        hear(2, -60, at: 1)
        let heard = try XCTUnwrap(collector.drain(at: Instant(seconds: 1))?.heard.first)
        XCTAssertEqual(heard.beacon, 2)
        XCTAssertEqual(heard.rssi, -60)
        XCTAssertEqual(heard.share, 1)
        XCTAssertEqual(heard.draws, 1)
    }

    func testAReadingSoonAfterAnotherHasLessWeight() throws {
        hear(2, -60, at: 0)
        _ = collector.drain(at: .zero)
        hear(2, -60, at: 0.5)
        let heard = try XCTUnwrap(collector.drain(at: Instant(seconds: 0.5))?.heard.first)
        // 1 - exp(-0.5 / 1) = 0.3935, unless the lasting errors of the beacon are known.
        XCTAssertEqual(heard.fresh, 0.3935, accuracy: 1e-3)
        XCTAssertEqual(heard.share, 1)
    }

    func testAReadingLongAfterAnotherHasFullWeight() throws {
        hear(2, -60, at: 0)
        _ = collector.drain(at: .zero)
        hear(2, -60, at: 20)
        let share = try XCTUnwrap(collector.drain(at: Instant(seconds: 20))?.heard.first?.share)
        XCTAssertEqual(share, 1, accuracy: 1e-4)
    }

    func testTheCollectorAveragesTheReadingsOfAnIntervalWithLessFading() throws {
        for (index, rssi) in [-60.0, -64, -62, -66].enumerated() { hear(0, rssi, at: Double(index) * 0.1) }
        let heard = try XCTUnwrap(collector.drain(at: Instant(seconds: 0.5))?.heard.first)
        XCTAssertEqual(heard.rssi, -63, accuracy: 1e-4)
        XCTAssertEqual(heard.variance, 6.25 / 4, accuracy: 1e-4)
    }

    func testDrainingRemovesTheReadings() throws {
        hear(0, -60, at: 0)
        _ = collector.drain(at: .zero)
        XCTAssertTrue(collector.isEmpty)
        XCTAssertEqual(collector.drain(at: Instant(seconds: 1))?.heard.count, 0)
    }

    func testAnIntervalBeginsAtTheLastDrain() throws {
        hear(0, -60, at: 0)
        _ = collector.drain(at: .zero)
        expectClose(collector.drain(at: Instant(seconds: 3)).map { Double($0.duration) }, 3, within: 1e-6)
    }

    func testAnIntervalHasAMinimumLength() throws {
        hear(0, -60, at: 5)
        expectClose(collector.drain(at: Instant(seconds: 5)).map { Double($0.duration) }, 0.5, within: 1e-6)
    }

    func testTheStrongestBeaconComesFirstAndEqualOnesByIndex() {
        for (beacon, rssi) in [(5, -60.0), (1, -80), (7, -60), (3, -55), (2, -80)] { hear(beacon, rssi, at: 1) }
        let (taken, snapshot) = (collector.drain(at: Instant(seconds: 1)), collector.snapshot(at: Instant(seconds: 1)))
        XCTAssertEqual(taken?.heard.map(\.beacon), [3, 5, 7, 1, 2])
        XCTAssertEqual(snapshot?.heard.map(\.beacon), [3, 5, 7, 1, 2])
        // A collector goes through its beacons by index; whoever orders them otherwise gets the same order.
        var evidence = Evidence(
            duration: 1,
            heard: [7, 2, 5, 1, 3].map { beacon in
                Evidence.Heard(
                    beacon: beacon, rssi: beacon == 3 ? -55 : beacon < 3 ? -80 : -60, variance: 1, share: 1, draws: 1)
            })
        evidence.order()
        XCTAssertEqual(evidence.heard.map(\.beacon), [3, 5, 7, 1, 2])
    }

    func testTheAgeIsTheMeanOverAllReadings() {
        hear(0, -60, at: 0)
        _ = collector.drain(at: .zero)
        hear(0, -60, at: 1)
        hear(1, -70, at: 1)
        hear(1, -70, at: 1.75)
        // Two readings are 1 s old, one is 0.25 s old.
        expectClose(collector.drain(at: Instant(seconds: 2))?.age, 0.75, within: 1e-9)
    }

    func testTheAgeOfTheFirstIntervalIsTheMeanToo() {
        hear(0, -60, at: 5)
        hear(0, -60, at: 5.5)
        expectClose(collector.drain(at: Instant(seconds: 5.5))?.age, 0.25, within: 1e-9)
    }

    func testANewReadingHasAgeZero() {
        hear(0, -60, at: 3)
        expectClose(collector.drain(at: Instant(seconds: 3))?.age, 0, within: 1e-9)
        hear(1, -60, at: 8)
        expectClose(collector.drain(at: Instant(seconds: 8))?.age, 0, within: 1e-9)
    }

    func testEvidenceWithoutReadingsHasAgeZero() {
        hear(0, -60, at: 0)
        _ = collector.drain(at: .zero)
        XCTAssertEqual(collector.drain(at: Instant(seconds: 4))?.age, 0)
    }

    func testTheCollectorUsesOnlyTheNewestReadingsOfABeacon() throws {
        var model = SignalModel()
        model.readingLimit = 3
        collector = EvidenceCollector(field: SignalField(venue: Stage.venue, model: model))
        let rssis = [-90.0, -88, -60, -62, -64]
        for (index, rssi) in rssis.enumerated() { hear(0, rssi, at: Double(index) / 10) }
        hear(1, -70, at: 0)
        let now = Instant(seconds: 0.5)
        let heard = try XCTUnwrap(collector.drain(at: now)?.heard)
        XCTAssertEqual(heard.map(\.rssi), [-62, -70], "beacon 1 has a list of its own")
        XCTAssertEqual(collector.snapshot(at: now)?.heard.map(\.rssi), [-62, -70])
        // The list goes on over several positions.
        hear(0, -40, at: 0.6)
        XCTAssertEqual(collector.drain(at: Instant(seconds: 1))?.heard.map(\.rssi), [-40])
        let mean = Float(-62 - 64 - 40) / 3
        XCTAssertEqual(collector.snapshot(at: Instant(seconds: 1))?.heard.map(\.rssi), [mean, -70])
    }

    func testWithoutALimitTheCollectorUsesAllReadingsOfTheWindow() {
        for second in 0..<40 { hear(0, second < 20 ? -60 : -80, at: Double(second) / 10) }
        XCTAssertEqual(collector.snapshot(at: Instant(seconds: 3.9))?.heard.map(\.rssi), [-70])
    }

    func testTheCollectorUsesOnlyTheRSSIOfTheStrongestBeacons() throws {
        var model = SignalModel()
        model.beaconLimit = 3
        collector = EvidenceCollector(field: SignalField(venue: Stage.venue, model: model))
        for beacon in 0..<8 { hear(beacon, -50 - Double(beacon) * 3, at: 0) }
        let heard = try XCTUnwrap(collector.drain(at: .zero)?.heard)
        XCTAssertEqual(heard.map(\.share), [1, 1, 1, 0, 0, 0, 0, 0])
        XCTAssertEqual(heard.map(\.draws), [Float](repeating: 1, count: 8))
        XCTAssertEqual(collector.snapshot(at: .zero)?.heard.map(\.share), [1, 1, 1, 0, 0, 0, 0, 0])
    }

    func testWithABeaconLimitOfZeroTheCollectorUsesNoRSSI() throws {
        var model = SignalModel()
        model.beaconLimit = 0
        collector = EvidenceCollector(field: SignalField(venue: Stage.venue, model: model))
        hear(0, -60, at: 0)
        let heard = try XCTUnwrap(collector.drain(at: .zero)?.heard.first)
        XCTAssertEqual(heard.share, 0)
        XCTAssertEqual(heard.draws, 1)
    }

    func testTheCollectorAcceptsTheEarliestInstant() {
        let first = Instant(nanoseconds: .min)
        collector.add(beacon: 0, rssi: -60, at: first)
        XCTAssertEqual(collector.drain(at: first)?.heard.map(\.beacon), [0])
        XCTAssertEqual(collector.snapshot(at: first)?.heard.map(\.beacon), [0])
    }

    func testTheSnapshotContainsAllReadingsOfTheWindow() throws {
        hear(0, -60, at: 0)
        _ = collector.drain(at: .zero)
        hear(0, -64, at: 3)
        hear(1, -70, at: 3)
        _ = collector.drain(at: Instant(seconds: 3))
        let snapshot = try XCTUnwrap(collector.snapshot(at: Instant(seconds: 3)))
        XCTAssertEqual(snapshot.heard.map(\.rssi), [-62, -70])
        XCTAssertEqual(snapshot.heard.map(\.draws), [1, 1])
    }

    func testTheSnapshotOmitsReadingsOlderThanTheWindow() {
        hear(0, -60, at: 0)
        hear(1, -70, at: 5)
        _ = collector.drain(at: Instant(seconds: 5))
        XCTAssertEqual(collector.snapshot(at: Instant(seconds: 5))?.heard.map(\.beacon), [1])
    }

    func testAfterALongSilenceThereIsNoSnapshot() {
        hear(0, -60, at: 0)
        _ = collector.drain(at: Instant(seconds: 60))
        XCTAssertNil(collector.snapshot(at: Instant(seconds: 60)))
    }

    private func hear(_ beacon: Int, _ rssi: Double, at seconds: Double) {
        collector.add(beacon: beacon, rssi: rssi, at: Instant(seconds: seconds))
    }
}

/// What is heard counts at the time at which it was heard; steps since then carry the belief on.
final class EvidenceTimingTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let start = MapPoint(x: 7, y: 10)

    func testStepsAfterAReadingMoveTheBeliefOnFromThere() throws {
        let (early, late) = (try Self.end(heardAt: 0.1), try Self.end(heardAt: 1.95))
        let way = 2.8
        XCTAssertEqual(early.x, Self.start.x + way, accuracy: 0.5)
        // Heard at the end of the way, the same speaks against having gone it.
        XCTAssertGreaterThan(early.x, late.x + 0.3)
    }

    func testTheEngineAppliesAStepOnce() throws {
        var engine = Self.engine()
        for half in 1...8 {
            let instant = Instant(seconds: Double(half) / 2)
            Self.hear(&engine, at: Instant(seconds: Double(half) / 2 - 0.4))
            engine.observe(.step(Step(instant: instant, length: 0, heading: 90)))
            engine.advance(to: instant)
        }
        let before = try XCTUnwrap(engine.estimate(on: Stage.hall)).point
        engine.observe(.step(Step(instant: Instant(seconds: 4.2), length: 2, heading: 90)))
        engine.advance(to: Instant(seconds: 4.5))
        engine.advance(to: Instant(seconds: 5))
        let after = try XCTUnwrap(engine.estimate(on: Stage.hall)).point
        XCTAssertEqual(after.x - before.x, 2 * 0.85, accuracy: 0.4)
    }

    /// Where the device is believed to be after four steps to the right in two seconds, with what the start sounds like
    /// heard at one moment of them.
    private static func end(heardAt seconds: Double) throws -> MapPoint {
        var engine = engine()
        for second in 1...4 {
            hear(&engine, at: Instant(seconds: Double(second) - 0.5))
            engine.observe(.step(Step(instant: Instant(seconds: Double(second) - 0.5), length: 0, heading: 90)))
            engine.advance(to: Instant(seconds: Double(second)))
        }
        hear(&engine, at: Instant(seconds: 4 + seconds))
        for step in 1...4 {
            engine.observe(
                .step(Step(instant: Instant(seconds: 4 + Double(step) * 0.45), length: 0.7, heading: 90)))
        }
        engine.advance(to: Instant(seconds: 6))
        return try XCTUnwrap(engine.estimate(on: Stage.hall)).point
    }

    private static func engine() -> PositioningEngine {
        var settings = PositioningSettings()
        // All devices are held the same way, but steps may be much longer or shorter than the detector says.
        (settings.motion.headingUnknown, settings.motion.headingBias, settings.motion.stepScale) = (0, 0, 0.4)
        var engine = PositioningEngine(
            venue: Stage.surveyedVenue, field: Stage.surveyedField, settings: settings, seed: 1)
        engine.observe(.fix(Fix(instant: .zero, mapID: Stage.hall, point: start, radius: 0.5)))
        engine.advance(to: .zero)
        return engine
    }

    private static func hear(_ engine: inout PositioningEngine, at instant: Instant) {
        for (index, beacon) in Stage.beaconPoints.enumerated() {
            let rssi = Stage.rssi(from: beacon, to: start)
            engine.observe(.sighting(Sighting(instant: instant, beacon: Stage.identity(index), rssi: rssi)))
        }
    }
}
