import IndoorLocalization
import XCTest

/// How far satellites are used, and whether they are asked for the place of the local frame.
final class SatelliteSettingsTests: XCTestCase {
    private func machine(_ settings: LocalizationSettings) -> Machine {
        var machine = Machine(settings: settings, seed: 1, reportsMotion: true) { _ in FixBelief() }
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: .zero)
        return machine
    }

    /// When outdoor positions are told of satellite positions once a second.
    private func outdoorSeconds(_ use: SatelliteUse) -> [Double] {
        var settings = LocalizationSettings()
        settings.satellites = use
        var machine = machine(settings)
        return (1...25).flatMap { second in
            machine.handle(.reading(SessionStage.gnss(10, at: Double(second))), at: Instant(seconds: Double(second)))
        }.compactMap { if case .emitOutdoor(let position) = $0 { position.instant.seconds } else { nil } }
    }

    /// The positioning modes high accuracy, low accuracy and off.
    func testSatellitesAreUsedAllOrOneInTenSecondsOrNone() {
        XCTAssertEqual(outdoorSeconds(.highAccuracy), (1...25).map(Double.init))
        XCTAssertEqual(outdoorSeconds(.lowAccuracy), [1, 11, 21])
        XCTAssertEqual(outdoorSeconds(.off), [])
    }

    func testSatellitesThatAreOffFindNoVenue() {
        for use in SatelliteUse.allCases {
            var settings = LocalizationSettings()
            settings.satellites = use
            var machine = machine(settings)
            for second in [0.0, 11] {
                _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: Instant(seconds: second))
            }
            XCTAssertEqual(machine.state.venueID, use == .off ? nil : 1, "\(use)")
        }
    }

    /// Walks ahead, which is to the east, with satellites.
    private func walk(_ machine: inout Machine, from begin: Double = 0) -> MotionEstimate? {
        var last: MotionEstimate?
        for index in 0..<60 {
            let instant = Instant(seconds: begin + Double(index) * 0.5)
            let there = Coordinate(latitude: 10, longitude: 13 + Double(index + 1) * 0.7 / 109_639)
            let readings: [SensorReading] = [
                .step(Step(instant: instant, length: 0.7, heading: 0)),
                .gnss(GNSSFix(instant: instant, coordinate: there, accuracy: 2)),
            ]
            for directive in readings.flatMap({ machine.handle(.reading($0), at: instant) }) {
                if case .emitMotion(.motion(let estimate)) = directive { last = estimate }
            }
        }
        return last
    }

    func testGlobalEstimationUsesSatellitesFromTheBeginning() throws {
        var settings = LocalizationSettings()
        var local = machine(settings)
        XCTAssertEqual(try XCTUnwrap(walk(&local)).alignment, .local)
        settings.motion.estimationMode = .global
        var global = machine(settings)
        let estimate = try XCTUnwrap(walk(&global))
        XCTAssertEqual(estimate.alignment, .global)
        XCTAssertLessThan(
            try XCTUnwrap(estimate.coordinate).distance(
                to: Coordinate(latitude: 10, longitude: 13 + 60 * 0.7 / 109_639)), 3)
    }

    func testGlobalEstimationCanBeAskedForDuringASession() throws {
        var machine = machine(LocalizationSettings())
        XCTAssertEqual(try XCTUnwrap(walk(&machine)).alignment, .local)
        var stack = SettingsStack()
        try stack.request("motion.estimationMode", "global")
        try stack.request("motion.estimationMode", "local")
        stack.apply()
        XCTAssertEqual(stack.resolved.localization.motion.estimationMode, .global, "a request for less changes nothing")
        _ = machine.handle(.settings(stack), at: Instant(seconds: 40))
        XCTAssertEqual(try XCTUnwrap(walk(&machine, from: 40)).alignment, .global)
    }

    func testTheDefaultsAreThoseOfTheReference() {
        let settings = SettingsStack().resolved
        XCTAssertEqual(settings.localization.motion.interval, .milliseconds(100), "callback rate")
        XCTAssertEqual(settings.localization.motion.estimationMode, .local)
        XCTAssertEqual(settings.localization.satellites, .highAccuracy, "positioning")
        XCTAssertEqual(ScanSchedule(SettingsStack()).cycle, .continuous, "power: performance")
        XCTAssertEqual(settings.sharing, SharingSettings(), "host and room are unset")
    }

    /// Positioning mode, network rate, host and room.
    func testEachModeHasThePrecedenceOfTheReference() throws {
        var stack = SettingsStack()
        try stack.request("satellites", "lowAccuracy")
        try stack.request("satellites", "off")
        try stack.request("sharing.interval", 0.5)
        try stack.request("sharing.interval", 2)
        try stack.request("sharing.room", "hall")
        try stack.request("sharing.room", "yard")
        try stack.request("sharing.host", "mqtt://one")
        try stack.request("sharing.host", "mqtt://two")
        XCTAssertEqual(stack.resolved.sharing, SharingSettings(), "nothing before apply")
        stack.apply()
        XCTAssertEqual(stack.resolved.localization.satellites, .lowAccuracy)
        XCTAssertEqual(stack.resolved.sharing.interval, .milliseconds(500))
        XCTAssertEqual(stack.resolved.sharing.room, "yard", "of rooms and hosts the last one counts")
        XCTAssertEqual(stack.resolved.sharing.host, "mqtt://two")
        try stack.override("satellites", "off")
        try stack.override("sharing.interval", nil)
        stack.apply()
        XCTAssertEqual(stack.resolved.localization.satellites, .off)
        XCTAssertNil(stack.resolved.sharing.interval)
    }
}
