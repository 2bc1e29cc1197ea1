import XCTest

import IndoorLocalization
@testable import IndoorPositioning

/// Audits of the hall's beacons by four sessions of a minute each, made by devices with other receivers.
final class BeaconAuditTests: XCTestCase {
    /// Returns what a device receives in place of the advertisement of a beacon.
    private typealias Change =
        @Sendable (_ beacon: Int, _ rssi: Double, _ place: MapPoint) -> (beacon: Int, rssi: Double)?

    private static func session(_ number: Int, _ change: Change) -> [SensorReading] {
        var noise = SeededGenerator(seed: UInt64(number) &+ 500)
        let (phase, offset) = (Double(number) * 11, [0, -6, 4, 9][number % 4])
        var readings: [SensorReading] = []
        for second in 1...60 {
            // The walks differ in their radius.
            let round = IntegrityWalk.place(at: Double(second) + phase)
            let scale = 0.6 + 0.25 * Double(number % 3)
            let place = MapPoint(x: 10 + (round.x - 10) * scale, y: 10 + (round.y - 10) * scale)
            for (index, beacon) in PositioningStage.beaconPoints.enumerated() {
                let level = PositioningStage.rssi(from: beacon, to: place) + 2.5 * noise.normal() + Double(offset)
                guard let heard = change(index, level, place) else { continue }
                readings.append(
                    .sighting(
                        Sighting(
                            instant: Instant(seconds: Double(second)), beacon: PositioningStage.identity(heard.beacon),
                            rssi: heard.rssi)))
            }
        }
        return readings
    }

    private static func audit(
        sessions: Range<Int> = 0..<4, seed: UInt64 = 1, venue: Venue = PositioningStage.surveyedVenue,
        _ change: Change = { beacon, rssi, _ in (beacon, rssi) }
    ) -> BeaconAudit {
        var audit = BeaconAudit(venue: venue, seed: seed)
        for number in sessions { audit.add(session(number, change)) }
        return audit
    }

    /// A beacon that sends 8 dB more, in one audit of all sessions.
    private static let stronger: Change = { beacon, rssi, _ in (beacon, beacon == 4 ? rssi + 8 : rssi) }
    private static let strongerAudit = audit(stronger)

    func testHealthyBeaconsAreNotReported() {
        for seed in 1...3 as ClosedRange<UInt64> {
            let audit = Self.audit(seed: seed)
            XCTAssertEqual(audit.findings(), [], "seed \(seed)")
            XCTAssertEqual(audit.sessionCount, 4)
            XCTAssertEqual(audit.receivedCount, 8)
        }
        XCTAssertEqual(Self.audit(venue: PositioningStage.venue).findings(), [], "without a survey")
    }

    func testAMovedBeaconIsReportedWithItsPlaceAndItsDistance() throws {
        let target = MapPoint(x: 14, y: 12)
        let audit = Self.audit { beacon, rssi, place in
            let home = PositioningStage.rssi(from: PositioningStage.beaconPoints[0], to: place)
            return (beacon, beacon == 0 ? rssi - home + PositioningStage.rssi(from: target, to: place) : rssi)
        }
        let finding = try XCTUnwrap(audit.findings().first)
        XCTAssertEqual(audit.findings().map(\.fault.beacon), [PositioningStage.identity(0)])
        guard case .moved(let place, let distance) = finding.fault.kind else { return XCTFail("\(finding)") }
        XCTAssertLessThan(place.point.distance(to: target), 2.5)
        XCTAssertEqual(
            try XCTUnwrap(distance), target.distance(to: PositioningStage.beaconPoints[0]), accuracy: 2.5)
        XCTAssertEqual(finding.sessions, 4)
        XCTAssertGreaterThan(finding.places, 10)
    }

    func testAChangedPowerIsReportedWithItsDifference() throws {
        let findings = Self.strongerAudit.findings()
        XCTAssertEqual(findings.map(\.fault.beacon), [PositioningStage.identity(4)])
        guard case .powerChanged(let difference) = try XCTUnwrap(findings.first).fault.kind else {
            return XCTFail("\(findings)")
        }
        XCTAssertEqual(difference, 8, accuracy: 2.5)
    }

    func testExchangedBeaconsAreReportedWithEachOther() {
        let findings = Self.audit { beacon, rssi, _ in ([0: 7, 7: 0][beacon] ?? beacon, rssi) }.findings()
        XCTAssertEqual(findings.map(\.fault.beacon), [PositioningStage.identity(0), PositioningStage.identity(7)])
        XCTAssertEqual(
            findings.map(\.fault.kind),
            [.exchanged(with: PositioningStage.identity(7)), .exchanged(with: PositioningStage.identity(0))])
    }

    func testABeaconThatNoSessionReceivesIsSilent() {
        let findings = Self.audit { beacon, rssi, _ in beacon == 3 ? nil : (beacon, rssi) }.findings()
        XCTAssertEqual(findings.map(\.fault.beacon), [PositioningStage.identity(3)])
        XCTAssertEqual(findings.map(\.fault.kind), [.silent])
        XCTAssertEqual(findings.map(\.sessions), [0])
    }

    func testABeaconIsNotSilentIfOneSessionReceivesIt() {
        var audit = Self.audit(sessions: 0..<3) { beacon, rssi, _ in beacon == 3 ? nil : (beacon, rssi) }
        audit.add(Self.audit(sessions: 3..<4))
        XCTAssertEqual(audit.findings(), [])
    }

    func testJoinedAuditsGiveTheFindingsOfOne() {
        var joined = Self.audit(sessions: 0..<2, Self.stronger)
        joined.add(Self.audit(sessions: 2..<4, Self.stronger))
        let one = Self.strongerAudit
        XCTAssertEqual(joined.findings().map(\.fault.beacon), one.findings().map(\.fault.beacon))
        XCTAssertEqual(joined.findings().map(\.fault.kind.name), one.findings().map(\.fault.kind.name))
        XCTAssertEqual(joined.findings().map(\.places), one.findings().map(\.places))
        for (part, whole) in zip(joined.findings(), one.findings()) {
            XCTAssertEqual(part.evidence, whole.evidence, accuracy: 1e-3, "the sums round in another order")
        }
        XCTAssertFalse(one.findings().isEmpty)
        XCTAssertEqual(joined.sessionCount, 4)
        XCTAssertEqual(joined.seconds, one.seconds, accuracy: 1e-9)
    }

    func testASessionWithoutBeaconsOfTheVenueDoesNotCount() {
        var audit = BeaconAudit(venue: PositioningStage.surveyedVenue)
        audit.add([])
        audit.add([
            .sighting(
                Sighting(
                    instant: .zero, beacon: BeaconIdentity(uuid: BeaconUUID(high: 9, low: 9), major: 9, minor: 9),
                    rssi: -60))
        ])
        XCTAssertEqual(audit.sessionCount, 0)
        XCTAssertEqual(audit.findings(), [])
    }
}
