import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class LocalizationSettingsTests: XCTestCase {
    private typealias Change = @Sendable (inout LocalizationSettings) -> Void

    private func problems(_ change: Change) -> [String] {
        var settings = LocalizationSettings()
        change(&settings)
        return settings.problems
    }

    func testTheDefaultsAreInRange() {
        XCTAssertEqual(LocalizationSettings().problems, [])
    }

    func testEachKeyOutOfRangeIsNamedWithItsRangeAndItsValue() {
        let day = "86400"
        let cases: [(String, Change)] = [
            ("rssiThreshold must be in [-127, 0] dBm, not 1", { $0.rssiThreshold = 1 }),
            ("rssiThreshold must be in [-127, 0] dBm, not nan", { $0.rssiThreshold = .nan }),
            ("positionInterval must be in [0.05, \(day)] s, not 0.049", { $0.positionInterval = .milliseconds(49) }),
            ("venueLostTimeout must be above 0 and at most \(day) s, not 0", { $0.venueLostTimeout = .zero }),
            ("areaDwell must be in [0, \(day)] s, not -1", { $0.areaDwell = .seconds(-1) }),
            ("retryPause must be above 0 and at most \(day) s, not 0", { $0.retryPause = .zero }),
            ("venueSearch.window must be above 0 and at most \(day) s, not 0", { $0.venueSearch.window = .zero }),
            ("venueSearch.lead must be in [1, 1000], not 0.9", { $0.venueSearch.lead = 0.9 }),
            (
                "venueSearch.contestedTime must be in [0, \(day)] s, not -1",
                { $0.venueSearch.contestedTime = .seconds(-1) }
            ),
            (
                "venueSearch.takeoverTime must be in [0, \(day)] s, not 86401",
                { $0.venueSearch.takeoverTime = .seconds(86_401) }
            ),
            ("venueSearch.gnssAccuracy must be in [0, 10000] m, not -1", { $0.venueSearch.gnssAccuracy = -1 }),
            ("venueSearch.gnssCount must be in [1, 1000], not 0", { $0.venueSearch.gnssCount = 0 }),
            (
                "venueSearch.gnssSilence must be in [0, \(day)] s, not -1",
                { $0.venueSearch.gnssSilence = .seconds(-1) }
            ),
            ("floor.settleProbability must be in [0.5, 1], not 0.49", { $0.floor.settleProbability = 0.49 }),
            ("floor.switchProbability must be in [0.5, 1], not 1.01", { $0.floor.switchProbability = 1.01 }),
            ("floor.patience must be in [0, \(day)] s, not -1", { $0.floor.patience = .seconds(-1) }),
            ("floor.switchTime must be in [0, \(day)] s, not -1", { $0.floor.switchTime = .seconds(-1) }),
            (
                "positioning.particleCount must be in [100, 1000000], not 99",
                { $0.positioning.particleCount = 99 }
            ),
            (
                "positioning.globalUpdateInterval must be in [0.1, 60] s, not 0",
                { $0.positioning.globalUpdateInterval = 0 }
            ),
            ("positioning.recoveryShare must be in [0, 1], not 1.1", { $0.positioning.recoveryShare = 1.1 }),
            ("positioning.levelShare must be in [0, 10], not nan", { $0.positioning.levelShare = .nan }),
            ("positioning.priorShare must be in [0, 10], not -0.1", { $0.positioning.priorShare = -0.1 }),
            ("positioning.radiusFloor must be in [0, 1000] m, not -1", { $0.positioning.radiusFloor = -1 }),
            ("positioning.radiusFactor must be in [0, 100], not 101", { $0.positioning.radiusFactor = 101 }),
            (
                "venueSearch.takeoverBeacons must be in [1, 1000], not 0",
                { $0.venueSearch.takeoverBeacons = 0 }
            ),
            (
                "venueSearch.gnssFarDistance must be in [0, 10000000] m, not -1",
                { $0.venueSearch.gnssFarDistance = -1 }
            ),
            (
                "venueSearch.outdoorAccuracy must be in [0, 10000] m, not nan",
                { $0.venueSearch.outdoorAccuracy = .nan }
            ),
            (
                "venueSearch.gnssRSSILimit must be in [-127, 0] dBm, not 1",
                { $0.venueSearch.gnssRSSILimit = 1 }
            ),
        ]
        for (problem, change) in cases { XCTAssertEqual(problems(change), [problem]) }
    }

    func testTheEdgesOfTheRangesAreAllowed() {
        let changes: [Change] = [
            { $0.rssiThreshold = 0 }, { $0.rssiThreshold = -127 }, { $0.positionInterval = .milliseconds(50) },
            { $0.venueLostTimeout = .seconds(86_400) }, { $0.areaDwell = .zero }, { $0.retryPause = .nanoseconds(1) },
            { $0.venueSearch.lead = 1 }, { $0.venueSearch.gnssCount = 1 }, { $0.venueSearch.contestedTime = .zero },
            { $0.floor.settleProbability = 0.5 }, { $0.floor.switchProbability = 1 }, { $0.floor.patience = .zero },
            { $0.positioning.particleCount = 100 },
        ]
        for (index, change) in changes.enumerated() { XCTAssertEqual(problems(change), [], "change \(index)") }
    }

    func testAllProblemsAreFoundInOnePass() {
        XCTAssertEqual(
            problems {
                $0.areaDwell = .seconds(-1)
                $0.floor.patience = .seconds(-1)
            }.count, 2)
    }
}

/// The settings of a venue count within it, and nowhere else.
final class VenueSettingsTests: XCTestCase {
    private static func office(_ settings: [String: JSONValue]) -> Venue {
        var venue = SessionStage.office
        venue.settings = settings
        return venue
    }

    /// A machine that has just got the office's packet, at second 10, with the directives of that.
    private func entered(
        _ venue: [String: JSONValue], _ settings: SettingsStack = SettingsStack()
    ) -> (machine: Machine, directives: [Machine.Directive]) {
        var machine = Machine(settings: settings, seed: 1) { _, _ in FixBelief() }
        for event in [Machine.Event.start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 10))]
        {
            _ = machine.handle(event, at: 10)
        }
        let directives = machine.handle(.packet(1, Self.office(venue)), at: 10)
        return (machine, directives)
    }

    func testAVenuesSettingsApplyFromItsPacketUntilItsLoss() throws {
        var (machine, _) = entered(["positionInterval": 2, "rssiThreshold": -70, "venueLostTimeout": 5])
        XCTAssertEqual(machine.settings.positionInterval, .seconds(2))
        XCTAssertEqual(try machine.stack.setting("positionInterval").source, .venue)
        XCTAssertEqual(try machine.stack.setting("positionInterval").place, "$.settings.positionInterval")
        _ = machine.pass(to: 16)
        XCTAssertEqual(machine.state, .searchVenue, "lost after the venue's own time-out")
        XCTAssertEqual(machine.settings, LocalizationSettings())
        XCTAssertEqual(try machine.stack.setting("positionInterval").source, .default)
    }

    func testAVenuesSettingsEndWithTheSession() {
        var (machine, _) = entered(["positionInterval": 2])
        _ = machine.handle(.stop, at: 11)
        XCTAssertEqual(machine.settings, LocalizationSettings())
    }

    func testAnOverrideBeatsTheSettingsOfEveryVenue() throws {
        var code = LocalizationSettings()
        code.positionInterval = .milliseconds(250)
        var (machine, _) = entered(
            ["positionInterval": 2, "areaDwell": 7], SettingsStack(localization: code))
        XCTAssertEqual(machine.settings.positionInterval, .milliseconds(250))
        XCTAssertEqual(machine.settings.areaDwell, .seconds(7), "what code leaves alone is the venue's")
        _ = machine.handle(.stop, at: 11)
        var shop = SessionStage.shop
        shop.settings = ["positionInterval": 3, "areaDwell": 8]
        for event in [Machine.Event.start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(2, at: 20))]
        {
            _ = machine.handle(event, at: 20)
        }
        _ = machine.handle(.packet(2, shop), at: 20)
        XCTAssertEqual(machine.settings.positionInterval, .milliseconds(250))
        XCTAssertEqual(machine.settings.areaDwell, .seconds(8))
    }

    func testASightingExactlyAtTheVenuesThresholdIsKept() {
        let log = WatchedBelief()
        var machine = Machine(settings: SettingsStack(), seed: 1) { _, _ in FixBelief(log: log) }
        for event in [Machine.Event.start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 10))]
        {
            _ = machine.handle(event, at: 10)
        }
        _ = machine.handle(.packet(1, Self.office(["rssiThreshold": -70])), at: 10)
        let before = log.readings.count
        _ = machine.handle(.reading(SessionStage.heard(1, at: 11, rssi: -70.1)), at: 11)
        XCTAssertEqual(log.readings.count, before)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 11.1, rssi: -70)), at: 11.1)
        XCTAssertEqual(log.readings.count, before + 1)
    }

    func testTheBeliefIsMadeWithTheVenuesMethod() {
        let seen = Guarded([PositioningSettings]())
        var machine = Machine(settings: SettingsStack(), seed: 1) { _, positioning in
            seen.withLock { $0.append(positioning) }
            return FixBelief()
        }
        for event in [Machine.Event.start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 10))]
        {
            _ = machine.handle(event, at: 10)
        }
        _ = machine.handle(
            .packet(
                1,
                Self.office(["positioning": .object(["method": "trilateration", "signal.beaconLimit": 4])])), at: 10)
        XCTAssertEqual(seen.withLock { $0.map(\.method) }, [.trilateration])
        XCTAssertEqual(seen.withLock { $0.map(\.signal.beaconLimit) }, [4])
    }

    func testTheSessionReportsAnInvalidSettingOfAVenueAndAppliesTheOthers() {
        let (machine, directives) = entered(["positionInterval": "often", "areaDwel": 1, "areaDwell": 3])
        let errors = directives.compactMap { directive -> String? in
            if case .report(let error) = directive { error.message } else { nil }
        }
        XCTAssertEqual(
            errors,
            [
                "settings of venue 1 are ignored: "
                    + "$.settings.areaDwel: there is no setting areaDwel; did you mean areaDwell?; "
                    + "$.settings.positionInterval: positionInterval must be a number in [0.05, 86400] s, not \"often\""
            ])
        XCTAssertEqual(machine.settings.areaDwell, .seconds(3))
        XCTAssertEqual(machine.state.name, "findFloor")
    }

    func testAFenceWithoutATimeoutHasThatOfTheSettings() {
        var (machine, _) = entered(["fenceTimeout": 60, "areaDwell": 0, "positionInterval": 1])
        var entries: [Double] = []
        for second in 11...130 {
            let isInside = second % 20 < 10
            let instant = Double(second)
            _ = machine.handle(.reading(SessionStage.heard(1, at: instant)), at: instant)
            _ = machine.handle(
                .reading(SessionStage.fix(10, isInside ? 5 : 30, isInside ? 5 : 20, at: instant)), at: instant)
            for case .emitEvent(let event) in machine.pass(to: instant) {
                if case .enterFence = event.kind { entries.append(event.instant.seconds) }
            }
        }
        // In at 20 to 29 and every 20 s: the entries at 40, 60 and 80 are within 60 s of the exit at 30.
        XCTAssertEqual(entries, [20, 100])
    }

    func testASteerableRadioReceivesTheVenuesDutyCycleAndItsEnd() {
        var (machine, directives) = entered(["ble.scan.duration-msec": 2000, "ble.scan.interval-msec": 8000])
        let told = ScanSchedule(cycle: DutyCycle(scanDuration: .seconds(2), interval: .seconds(8)))
        XCTAssertTrue(directives.contains(.schedule(told)))
        directives = machine.pass(to: 60)
        XCTAssertEqual(machine.state, .searchVenue)
        XCTAssertTrue(directives.contains(.schedule(ScanSchedule())), "outside the venue nobody wants a rest")
    }

    func testTheRadioReceivesNoDutyCycleWithoutASetting() {
        let (_, directives) = entered(["positionInterval": 2])
        for case .schedule in directives { XCTFail("\(directives)") }
    }

    func testChangedSettingsApplyDuringTheSessionBesideTheVenuesOwn() throws {
        var (machine, _) = entered(["areaDwell": 7])
        var settings = SettingsStack()
        try settings.override("positionInterval", 3)
        XCTAssertEqual(settings.load([SettingsEntry(key: "areaDwell", value: 1)], from: .remote), [])
        XCTAssertEqual(machine.handle(.settings(settings), at: 11), [])
        XCTAssertEqual(machine.settings.positionInterval, LocalizationSettings().positionInterval, "not applied yet")
        settings.apply()
        XCTAssertEqual(machine.handle(.settings(settings), at: 12), [])
        XCTAssertEqual(machine.settings.positionInterval, .seconds(3))
        XCTAssertEqual(machine.settings.areaDwell, .seconds(1), "a server beats a venue")
        settings = SettingsStack()
        _ = machine.handle(.settings(settings), at: 13)
        XCTAssertEqual(machine.settings.areaDwell, .seconds(7))
    }

    func testSettingsOutOfRangeKeepThePreviousOnes() {
        var (machine, _) = entered([:])
        var code = LocalizationSettings()
        code.areaDwell = .seconds(-1)
        let directives = machine.handle(.settings(SettingsStack(localization: code)), at: 11)
        guard case .report(let error)? = directives.first else { return XCTFail("\(directives)") }
        XCTAssertTrue(error.message.contains("areaDwell must be in [0, 86400] s, not -1"), error.message)
        XCTAssertEqual(machine.settings, LocalizationSettings())
    }
}
