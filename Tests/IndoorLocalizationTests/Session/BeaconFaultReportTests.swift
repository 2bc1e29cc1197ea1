import IndoorLocalization
import XCTest

/// The reports of a session about beacons that its belief finds at fault.
final class BeaconFaultReportTests: XCTestCase {
    /// A belief whose faults a test sets by sightings: an RSSI below -90 dBm is a fault of the beacon, one of -80 dBm ends
    /// it, and -85 dBm is another kind.
    private struct FaultyBelief: PositioningBelief {
        private(set) var beaconFaults: [BeaconFault] = []
        private(set) var isContradictory = false

        mutating func observe(_ reading: SensorReading) {
            guard case .sighting(let sighting) = reading, sighting.rssi <= -80 else { return }
            beaconFaults.removeAll { $0.beacon == sighting.beacon }
            isContradictory = sighting.rssi == -99
            guard sighting.rssi < -80 else { return }
            beaconFaults.append(
                BeaconFault(
                    beacon: sighting.beacon, kind: sighting.rssi == -85 ? .silent : .contradictory,
                    since: sighting.instant))
        }

        mutating func advance(to now: Instant) {}
        var mapProbabilities: [MapID: Double] { [10: 1] }
        func estimate(on map: MapID) -> PositioningEngine.Estimate? {
            PositioningEngine.Estimate(at: MapPoint(x: 5, y: 5), radius: 1)
        }
    }

    /// Plays sightings of a beacon; returns the reported faults with their seconds.
    private func reports(
        _ sightings: [(Double, Double)], to end: Double
    ) -> [(seconds: Double, error: LocalizationError)] {
        var machine = LocalizationMachine(settings: LocalizationSettings(), seed: 1, reportsDiagnosis: true) { _ in
            FaultyBelief()
        }
        typealias Event = LocalizationMachine<FaultyBelief>.Event
        var reports: [(Double, LocalizationError)] = []
        func handle(_ event: Event, at now: Instant) {
            for case .report(let error) in machine.handle(event, at: now) { reports.append((now.seconds, error)) }
        }
        let start: [Event] = [
            .start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 0)),
            .packet(1, SessionStage.office),
        ]
        for event in start { handle(event, at: .zero) }
        // A healthy beacon keeps the session in its venue.
        let healthy = stride(from: 0.5, through: end, by: 5).map { ($0, SessionStage.heard(1, 2, at: $0)) }
        let events = healthy + sightings.map { ($0.0, SessionStage.heard(1, at: $0.0, rssi: $0.1)) }
        for (seconds, reading) in events.sorted(by: { $0.0 < $1.0 }) {
            while let wake = machine.nextWake, wake < Instant(seconds: seconds) { handle(.tick, at: wake) }
            handle(.reading(reading), at: Instant(seconds: seconds))
        }
        while let wake = machine.nextWake, wake <= Instant(seconds: end) { handle(.tick, at: wake) }
        return reports
    }

    func testAFaultIsReportedOnceWithItsReason() throws {
        let reports = reports([(10, -95), (20, -95), (30, -95)], to: 40)
        XCTAssertEqual(reports.count, 1)
        let error = try XCTUnwrap(reports.first).error
        XCTAssertEqual(error.code, .generic)
        XCTAssertEqual(error.kind, .beaconFault)
        guard case .beaconFault(let fault)? = error.reason else { return XCTFail("\(error)") }
        XCTAssertEqual(fault.beacon, SessionStage.beacon(1, 1))
        XCTAssertEqual(fault.kind, .contradictory)
        XCTAssertTrue(error.message.hasPrefix("beacon \(fault.beacon) contradicts"), error.message)
    }

    func testAnotherKindIsReportedAgain() {
        let kinds = reports([(10, -95), (20, -85)], to: 40).map { report -> BeaconFault.Kind? in
            if case .beaconFault(let fault)? = report.error.reason { fault.kind } else { nil }
        }
        XCTAssertEqual(kinds, [.contradictory, .silent])
    }

    func testAFaultThatReturnsIsReportedAgainAfterAMinuteOnly() {
        XCTAssertEqual(reports([(10, -95), (20, -80), (50, -95)], to: 60).count, 1)
        let later = reports([(10, -95), (20, -80), (100, -95)], to: 110)
        XCTAssertEqual(later.count, 2)
        XCTAssertEqual(later.last?.seconds ?? 0, 100, accuracy: 1)
    }

    func testTheDiagnosisListsFaultsAndContradictions() {
        var machine = LocalizationMachine(settings: LocalizationSettings(), seed: 1, reportsDiagnosis: true) { _ in
            FaultyBelief()
        }
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: .zero)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 0)), at: .zero)
        _ = machine.handle(.packet(1, SessionStage.office), at: .zero)
        _ = machine.handle(.tick, at: .zero)
        XCTAssertEqual(machine.diagnosis(at: .zero).beaconFaults, [])
        var emitted: [SessionDiagnosis] = []
        func play(_ seconds: ClosedRange<Int>, rssi: Double) {
            for second in seconds {
                let now = Instant(seconds: Double(second))
                for event in [.reading(SessionStage.heard(1, at: now.seconds, rssi: rssi)), .tick]
                    as [LocalizationMachine<FaultyBelief>.Event]
                {
                    for case .diagnose(let diagnosis) in machine.handle(event, at: now) { emitted.append(diagnosis) }
                }
            }
        }
        play(1...5, rssi: -95)
        let faulty = machine.diagnosis(at: Instant(seconds: 5))
        XCTAssertEqual(faulty.reason, .located, "one beacon is at fault; positions are reliable")
        XCTAssertEqual(faulty.beaconFaults.map(\.beacon), [SessionStage.beacon(1, 1)])
        XCTAssertEqual(emitted, [])
        play(6...20, rssi: -99)
        XCTAssertEqual(emitted.map(\.reason), [.contradictoryBeacons])
        play(21...22, rssi: -80)
        XCTAssertEqual(emitted.map(\.reason), [.contradictoryBeacons, .located])
        XCTAssertEqual(emitted.last?.beaconFaults, [])
    }

    func testEachKindHasAMessageWithARemedy() {
        let place = BeaconFault.Place(mapID: 10, point: MapPoint(x: 3, y: 4), deviation: 2)
        let kinds: [BeaconFault.Kind: String] = [
            .moved(place: place, distance: 9.4): "seems to stand 9 m from its place, near x 3 m, y 4 m on map 10",
            .moved(place: place, distance: nil): "seems to stand on another floor, near x 3 m, y 4 m on map 10",
            .exchanged(with: SessionStage.beacon(1, 2)): "at the place of beacon \(SessionStage.beacon(1, 2))",
            .duplicated: "seems to be sent by two transmitters",
            .tooStrong(excess: 21.6): "22 dB stronger than it can be at any place",
            .powerChanged(difference: 6.1): "6 dB stronger than expected",
            .powerChanged(difference: -6.1): "6 dB weaker than expected",
            .silent: "is not received where it is expected",
            .contradictory: "contradicts the other beacons",
        ]
        for (kind, words) in kinds {
            let fault = BeaconFault(beacon: SessionStage.beacon(1, 1), kind: kind, since: .zero)
            let message = LocalizationError.beaconFault(fault).message
            XCTAssertTrue(message.contains(words), message)
            XCTAssertTrue(message.contains("; "), "a remedy follows: \(message)")
        }
    }
}
