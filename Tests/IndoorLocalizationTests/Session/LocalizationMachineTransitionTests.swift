import IndoorLocalization
import XCTest

/// Each row of the table of `LocalizationState`: what is to be done, and the next state.
final class LocalizationMachineTransitionTests: XCTestCase {
    private let office = SessionStage.office

    private var running: LocalizationState {
        .localizationRunning(RunningState(venue: office, mapID: 10))
    }

    func testTheStagesAreTheStatesTheyAreNamedAfter() {
        for stage in SessionStage.Stage.allCases {
            XCTAssertEqual(SessionStage.machine(in: stage).state.name, stage.rawValue)
        }
    }

    func testStartBeginsASession() {
        var machine = SessionStage.machine(in: .idle)
        XCTAssertEqual(machine.handle(.start, at: 0), [.publish(.started), .fetchCatalogue, .startScanning])
        XCTAssertEqual(machine.state, .started)
    }

    func testStartAfterAnErrorBeginsANewSession() {
        var machine = SessionStage.machine(in: .error)
        XCTAssertEqual(machine.handle(.start, at: 20), [.publish(.started), .fetchCatalogue, .startScanning])
        XCTAssertEqual(machine.state, .started)
    }

    func testStartWithSettingsOutOfRangeIsACriticalErrorThatNamesThem() throws {
        var settings = LocalizationSettings()
        settings.positionInterval = .zero
        for stage in [SessionStage.Stage.idle, .error] {
            var machine = SessionStage.machine(in: stage, settings)
            let directives = machine.handle(.start, at: 0)
            guard case .error(let error) = machine.state else { return XCTFail("\(machine.state)") }
            XCTAssertEqual(error.code, .critical)
            let problem = "positionInterval must be in [0.05, 86400] s, not 0"
            XCTAssertTrue(error.message.contains(problem), error.message)
            XCTAssertEqual(directives, [.publish(.error(error)), .report(error)])
            XCTAssertNil(machine.nextWake)
        }
    }

    func testASessionIsOverInTheStatesInWhichStartBeginsOne() {
        for stage in SessionStage.Stage.allCases {
            XCTAssertEqual(SessionStage.machine(in: stage).state.isOver, [.idle, .error].contains(stage), "\(stage)")
        }
    }

    func testTheCatalogueBeginsTheSearch() {
        var machine = SessionStage.machine(in: .started)
        XCTAssertEqual(machine.handle(.catalogue(SessionStage.summaries), at: 10), [.publish(.searchVenue)])
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testABeaconStartsTheRequestOfItsVenuesPacket() {
        var machine = SessionStage.machine(in: .searchVenue)
        let next = LocalizationState.getPacket(venueID: 2, progress: 0)
        XCTAssertEqual(
            machine.handle(.reading(SessionStage.heard(2, at: 11)), at: 11), [.publish(next), .fetchPacket(2)])
        XCTAssertEqual(machine.state, next)
    }

    func testTwoSatellitePositionsInAVenueStartTheRequestOfItsPacketAndTheDeviceStaysOutdoors() {
        var machine = SessionStage.machine(in: .searchVenue)
        XCTAssertEqual(
            machine.handle(.reading(SessionStage.gnss(52, at: 11)), at: 11), [SessionStage.outdoors(52, at: 11)])
        let next = LocalizationState.getPacket(venueID: 1, progress: 0)
        XCTAssertEqual(
            machine.handle(.reading(SessionStage.gnss(52, at: 12)), at: 12),
            [.fetchPacket(1), SessionStage.outdoors(52, at: 12)])
        XCTAssertEqual(machine.state, next)
        XCTAssertEqual(machine.shownState, .searchVenue)
    }

    func testProgressIsPublished() {
        var machine = SessionStage.machine(in: .getPacket)
        let next = LocalizationState.getPacket(venueID: 1, progress: 0.25)
        XCTAssertEqual(machine.handle(.progress(1, 0.25), at: 11), [.publish(next)])
        XCTAssertEqual(machine.state, next)
    }

    func testProgressIsAtMostOne() {
        var machine = SessionStage.machine(in: .getPacket)
        XCTAssertEqual(
            machine.handle(.progress(1, 7), at: 11), [.publish(.getPacket(venueID: 1, progress: 1))])
    }

    func testThePacketBeginsTheSearchForTheFloor() {
        var machine = SessionStage.machine(in: .getPacket)
        XCTAssertEqual(machine.handle(.packet(1, office), at: 11), [.publish(.findFloor(office))])
        XCTAssertEqual(machine.state, .findFloor(office))
        XCTAssertEqual(machine.nextWake, Instant(seconds: 11), "what was heard before may tell the floor")
    }

    func testThePacketOfAVenueFoundBySatellitesIsAnnounced() {
        var machine = SessionStage.machine(in: .searchVenue)
        for second in [11.0, 12] { _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: second) }
        XCTAssertEqual(
            machine.handle(.packet(1, office), at: 13), [.announceVenue(office)])
        XCTAssertEqual(machine.state, .findFloor(office))
        XCTAssertEqual(machine.shownState, .searchVenue)
    }

    func testPositionsStartWithAKnownFloor() throws {
        var machine = SessionStage.machine(in: .findFloor)
        XCTAssertEqual(machine.handle(.reading(SessionStage.fix(10, at: 10)), at: 10), [])
        let directives = machine.handle(.tick, at: 10)
        let position = Position(
            instant: Instant(seconds: 10), venueID: 1, mapID: 10, point: MapPoint(x: 20, y: 20), radius: 1,
            pixel: PixelPoint(x: 200, y: 200), floorCertainty: 1)
        XCTAssertEqual(directives, [.publish(running), .emit(position)])
        XCTAssertEqual(machine.state, running)
    }

    func testARunningSessionEmitsPositionsAtTheirInterval() {
        var machine = SessionStage.machine(in: .localizationRunning)
        let directives = machine.pass(to: 12)
        let instants = directives.compactMap { directive in
            if case .emit(let position) = directive { position.instant.seconds } else { nil }
        }
        XCTAssertEqual(instants, [10.5, 11, 11.5, 12])
        XCTAssertEqual(directives.count, 4)
        XCTAssertEqual(machine.state, running)
    }

    func testAChangeOfFloorGoesThroughFindFloor() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.reading(SessionStage.fix(11, at: 10.1)), at: 10.1)
        let states = machine.pass(to: 13).compactMap { directive in
            if case .publish(let state) = directive { state } else { nil }
        }
        let above = LocalizationState.localizationRunning(RunningState(venue: office, mapID: 11))
        XCTAssertEqual(states, [.findFloor(office), above])
        XCTAssertEqual(machine.state, above)
    }

    func testTheSessionLosesASilentVenueInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            _ = machine.pass(to: 39.999)
            XCTAssertEqual(machine.state.name, stage.rawValue)
            let directives = machine.pass(to: 40)
            XCTAssertEqual(directives, [.cancelFetch, .publish(.searchVenue)], stage.rawValue)
            XCTAssertEqual(machine.state, .searchVenue, stage.rawValue)
            XCTAssertNil(machine.nextWake, stage.rawValue)
        }
    }

    func testASightingKeepsTheVenueInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            _ = machine.pass(to: 30)
            _ = machine.handle(.reading(SessionStage.heard(1, at: 30)), at: 30)
            _ = machine.pass(to: 59.999)
            XCTAssertEqual(machine.state.name, stage.rawValue)
            _ = machine.pass(to: 60.5)
            XCTAssertEqual(machine.state, .searchVenue, stage.rawValue)
        }
    }

    func testSatellitePositionsOutdoorsEndTheVenueInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            let told = stage == .localizationRunning ? [] : [SessionStage.outdoors(52.002, at: 16)]
            XCTAssertEqual(
                machine.handle(.reading(SessionStage.gnss(52.002, at: 16)), at: 16), told, stage.rawValue)
            XCTAssertEqual(
                machine.handle(.reading(SessionStage.gnss(52.002, at: 17)), at: 17),
                [.cancelFetch, .publish(.searchVenue), SessionStage.outdoors(52.002, at: 17)], stage.rawValue)
            XCTAssertEqual(machine.state, .searchVenue, stage.rawValue)
        }
    }

    func testAnotherVenueTakesOverInEveryState() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            // After 3 s the office is out of the window; then the shop must lead for 5 s.
            for second in stride(from: 11.0, through: 18, by: 1) {
                _ = machine.handle(.reading(SessionStage.heard(2, at: second)), at: second)
                XCTAssertEqual(machine.state.venueID, 1, "\(stage) at \(second) s")
            }
            XCTAssertEqual(
                machine.handle(.reading(SessionStage.heard(2, at: 20)), at: 20),
                [.cancelFetch, .publish(.searchVenue)], stage.rawValue)
            _ = machine.handle(.reading(SessionStage.heard(2, at: 21)), at: 21)
            XCTAssertEqual(machine.state, .getPacket(venueID: 2, progress: 0), stage.rawValue)
        }
    }

    func testStopEndsEveryState() {
        for stage in SessionStage.Stage.allCases where stage != .idle && stage != .error {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(
                machine.handle(.stop, at: 10), [.cancelFetch, .stopScanning, .publish(.idle)], stage.rawValue)
            XCTAssertEqual(machine.state, .idle, stage.rawValue)
            XCTAssertNil(machine.nextWake, stage.rawValue)
        }
    }

    func testStopAfterAnErrorIsIdle() {
        var machine = SessionStage.machine(in: .error)
        XCTAssertEqual(machine.handle(.stop, at: 10), [.publish(.idle)])
        XCTAssertEqual(machine.state, .idle)
    }

    func testTheEndOfTheSourceEndsEveryState() {
        for stage in [SessionStage.Stage.started, .searchVenue, .getPacket, .findFloor] {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(
                machine.handle(.sourceEnded, at: 10), [.cancelFetch, .stopScanning, .publish(.idle)], stage.rawValue)
            XCTAssertEqual(machine.state, .idle, stage.rawValue)
        }
    }

    func testTheEndOfTheSourceEmitsALastPosition() {
        var machine = SessionStage.machine(in: .localizationRunning)
        let directives = machine.handle(.sourceEnded, at: 10.3)
        guard case .emit(let position) = directives.first else { return XCTFail("\(directives)") }
        XCTAssertEqual(position.instant, Instant(seconds: 10.3))
        XCTAssertEqual(directives.dropFirst(), [.cancelFetch, .stopScanning, .publish(.idle)])
        XCTAssertEqual(machine.state, .idle)
        XCTAssertNil(machine.nextWake)
    }

    func testACriticalOrCredentialErrorOfTheSourceEndsEveryState() {
        for code in [LocalizationError.Code.critical, .credential] {
            let error = LocalizationError(code: code, message: "no radio")
            for stage in SessionStage.Stage.allCases where stage != .idle && stage != .error {
                var machine = SessionStage.machine(in: stage)
                XCTAssertEqual(
                    machine.handle(.sourceFailed(error), at: 10),
                    [.cancelFetch, .stopScanning, .publish(.error(error)), .report(error)], stage.rawValue)
                XCTAssertEqual(machine.state, .error(error), stage.rawValue)
                XCTAssertNil(machine.nextWake)
            }
        }
    }

    func testACredentialErrorOfARequestEndsTheSession() {
        let error = SessionStage.credential
        for (stage, event) in [
            (.started, .catalogueFailed(error)), (.getPacket, .packetFailed(1, error)),
        ] as [(SessionStage.Stage, Machine.Event)] {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(
                machine.handle(event, at: 10),
                [.cancelFetch, .stopScanning, .publish(.error(error)), .report(error)], stage.rawValue)
            XCTAssertEqual(machine.state, .error(error), stage.rawValue)
        }
    }

    func testTheDeviceLeavesRoomsAndFencesWithTheSessionAndTheVenue() {
        for (event, second) in [(.stop, 13), (.tick, 40)] as [(Machine.Event, Double)] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10)), at: 10)
            let entered = machine.pass(to: 13).compactMap(\.event)
            XCTAssertEqual(entered.map(\.kind), [.enterRoom(office.rooms[0]), .enterFence(office.fences[0])])
            _ = machine.pass(to: second - 0.001)
            let left = machine.handle(event, at: second).prefix(2).compactMap(\.event)
            XCTAssertEqual(left.map(\.kind), [.exitRoom(office.rooms[0]), .exitFence(office.fences[0])])
            XCTAssertEqual(left.map(\.instant), [Instant(seconds: second), Instant(seconds: second)])
        }
    }
}

extension Machine.Directive {
    var event: LocalizationEvent? {
        if case .emitEvent(let event) = self { event } else { nil }
    }
}

/// Each pair of state and event that must do nothing.
final class LocalizationMachineSilenceTests: XCTestCase {
    private typealias Stage = SessionStage.Stage

    private let everything: [(name: String, event: Machine.Event)] = [
        ("start", .start), ("stop", .stop), ("tick", .tick), ("weather", .reading(SessionStage.motion(at: 10))),
        ("own beacon", .reading(SessionStage.heard(1, at: 10))), ("one fix", .reading(SessionStage.gnss(52, at: 10))),
        ("catalogue", .catalogue(SessionStage.summaries)), ("catalogue failed", .catalogueFailed(SessionStage.network)),
        ("catalogue refused", .catalogueFailed(SessionStage.credential)), ("progress", .progress(1, 0.5)),
        ("packet", .packet(1, SessionStage.office)), ("packet failed", .packetFailed(1, SessionStage.network)),
        ("packet refused", .packetFailed(1, SessionStage.credential)), ("source ended", .sourceEnded),
        ("source failed", .sourceFailed(SessionStage.network)),
        ("source refused", .sourceFailed(SessionStage.credential)),
    ]

    /// What of `everything` means something in a state; nothing else may.
    private let meaningful: [SessionStage.Stage: Set<String>] = [
        .idle: ["start"],
        .error: ["start", "stop"],
        .started: ["stop", "one fix", "catalogue", "catalogue failed", "catalogue refused"],
        .searchVenue: ["stop", "own beacon", "one fix"],
        .getPacket: ["stop", "one fix", "progress", "packet", "packet failed", "packet refused"],
        .findFloor: ["stop", "one fix", "tick"],
        .localizationRunning: ["stop"],
    ]

    private func assertNothing(_ machine: Machine, _ event: Machine.Event, at second: Double, _ name: String) {
        var machine = machine
        let (state, wake) = (machine.state, machine.nextWake)
        XCTAssertEqual(machine.handle(event, at: second), [], name)
        XCTAssertEqual(machine.state, state, name)
        XCTAssertEqual(machine.nextWake, wake, name)
    }

    func testEventsThatAStateIgnoresDoNothing() {
        for stage in Stage.allCases {
            let ends: Set = ["source ended", "source failed", "source refused"]
            let expected = (meaningful[stage] ?? []).union(stage == .idle || stage == .error ? [] : ends)
            for (name, event) in everything where !expected.contains(name) {
                assertNothing(SessionStage.machine(in: stage), event, at: 10, "\(stage): \(name)")
            }
        }
    }

    func testEventsThatAStateHandlesHaveAnEffect() {
        for stage in Stage.allCases {
            for (name, event) in everything where meaningful[stage]?.contains(name) ?? false {
                var machine = SessionStage.machine(in: stage)
                let (state, wake) = (machine.state, machine.nextWake)
                let directives = machine.handle(event, at: 10)
                XCTAssertTrue(
                    !directives.isEmpty || machine.state != state || machine.nextWake != wake, "\(stage): \(name)")
            }
        }
    }

    func testProgressNeverDecreases() {
        var machine = SessionStage.machine(in: .getPacket)
        _ = machine.handle(.progress(1, 0.5), at: 10)
        for fraction in [0.5, 0.4, 0, -1, .nan] {
            assertNothing(machine, .progress(1, fraction), at: 10, "\(fraction)")
        }
    }

    func testProgressIsCompleteOnce() {
        var machine = SessionStage.machine(in: .getPacket)
        _ = machine.handle(.progress(1, 1.1), at: 10)
        XCTAssertEqual(machine.state, .getPacket(venueID: 1, progress: 1))
        assertNothing(machine, .progress(1, 1.2), at: 10, "beyond the whole")
    }

    func testAnswersAboutAnotherVenueDoNothing() {
        let machine = SessionStage.machine(in: .getPacket)
        assertNothing(machine, .progress(2, 0.5), at: 10, "progress")
        assertNothing(machine, .packet(2, SessionStage.shop), at: 10, "packet")
        assertNothing(machine, .packetFailed(2, SessionStage.credential), at: 10, "failure")
    }

    func testATickBeforeItsTimeDoesNothing() {
        for stage in Stage.allCases {
            assertNothing(SessionStage.machine(in: stage), .tick, at: 9.999, stage.rawValue)
        }
    }

    func testAfterTheLossOfAVenueItsAnswersDoNothing() {
        var machine = SessionStage.machine(in: .getPacket)
        _ = machine.pass(to: 40)
        XCTAssertEqual(machine.state, .searchVenue)
        assertNothing(machine, .progress(1, 0.5), at: 40, "progress")
        assertNothing(machine, .packet(1, SessionStage.office), at: 40, "packet")
        assertNothing(machine, .packetFailed(1, SessionStage.credential), at: 40, "failure")
    }
}

/// Random events by the ten thousand: what must hold whatever happens.
final class LocalizationMachinePropertyTests: XCTestCase {
    private static let eventCount = 20_000

    /// The changes of state that the table of `LocalizationState` allows; a change of progress is none.
    private static let allowed: [String: Set<String>] = [
        "idle": ["started"],
        "started": ["searchVenue", "idle", "error"],
        "searchVenue": ["getPacket", "idle", "error"],
        "getPacket": ["findFloor", "searchVenue", "idle", "error"],
        "findFloor": ["localizationRunning", "searchVenue", "idle", "error"],
        "localizationRunning": ["findFloor", "searchVenue", "idle", "error"],
        "error": ["started", "idle"],
    ]

    /// Follows what a session tells and complains about what must not be.
    private struct Witness {
        var published = LocalizationState.idle
        var visited: [String: Int] = [:]
        var lastPosition: Instant?
        var lastOutdoor: Instant?
        var positions = 0
        var outdoors = 0
        var isScanning = false
        var diagnoses: Set<SessionDiagnosis.Reason> = []
        var complaints: [String] = []

        mutating func see(_ step: SessionDriver<Machine>.Step) {
            let isOver = published.name == "idle" || published.name == "error"
            switch step.directive {
            case .publish(let state): change(to: state)
            case .emit(let position):
                positions += 1
                if published.name != "localizationRunning" { complaints.append("position in \(published.name)") }
                if position.instant < lastPosition ?? position.instant { complaints.append("time runs backwards") }
                if case .localizationRunning(let running) = published, running.mapID != position.mapID {
                    complaints.append("position on another map")
                }
                lastPosition = position.instant
            case .emitEvent, .emitInteraction, .announceVenue, .fetchCatalogue, .fetchPacket, .prepareBelief:
                if isOver { complaints.append("\(step.directive) in \(published.name)") }
            case .emitOutdoor(let position):
                outdoors += 1
                if isOver || published.name == "localizationRunning" {
                    complaints.append("outdoors in \(published.name)")
                }
                if position.instant < lastOutdoor ?? position.instant { complaints.append("time runs backwards") }
                lastOutdoor = position.instant
            case .startScanning, .startReceiving:
                if isOver { complaints.append("scan in \(published.name)") }
                isScanning = true
            case .stopScanning: isScanning = false
            case .report(let error):
                if isOver, published != .error(error) { complaints.append("\(error) in \(published.name)") }
            case .emitMotion: complaints.append("motion that nobody asked for")
            case .diagnose(let diagnosis):
                diagnoses.insert(diagnosis.reason)
                if isOver || diagnosis.state != published { complaints.append("\(diagnosis) in \(published.name)") }
            case .cancelFetch, .schedule: break
            case .emitLevels: complaints.append("levels that nobody asked for")
            }
        }

        private mutating func change(to state: LocalizationState) {
            if case .getPacket(let id, let before) = published, case .getPacket(id, let now) = state, now <= before {
                complaints.append("progress from \(before) to \(now)")
            }
            let isProgress = published.name == "getPacket" && state.name == "getPacket"
            if !isProgress, !(LocalizationMachinePropertyTests.allowed[published.name]?.contains(state.name) ?? false) {
                complaints.append("\(published.name) → \(state.name)")
            }
            if state.name == "started" { (lastPosition, lastOutdoor) = (nil, nil) }
            if !isProgress { visited[state.name, default: 0] += 1 }
            published = state
        }
    }

    private func event(_ generator: inout SeededGenerator, at seconds: Double) -> Machine.Event {
        let venue = UInt16.random(in: 1...2, using: &generator)
        let id = VenueID(rawValue: Int(venue))
        let code = LocalizationError.Code.allCases.randomElement(using: &generator) ?? .generic
        let error = LocalizationError(
            code: generator.uniform() < 0.7 ? .network : code, message: "something failed")
        switch Int.random(in: 0..<200, using: &generator) {
        case 0..<8: return .start
        case 8: return .stop
        case 9: return .sourceEnded
        case 10: return .sourceFailed(error)
        case 11: return .gnssEnded
        case 12: return .gnssFailed(error)
        case 13..<25: return .catalogue(SessionStage.summaries)
        case 25..<28: return .catalogueFailed(error)
        case 28..<45: return .progress(id, generator.uniform() * 1.2)
        case 45..<60:
            let isRight = generator.uniform() < 0.95
            return .packet(id, (id == 1) == isRight ? SessionStage.office : SessionStage.shop)
        case 60..<64: return .packetFailed(id, error)
        case 64..<80: return .tick
        case 80..<100:
            let latitude = 52 + 0.002 * Double(Int.random(in: 0...6, using: &generator))
            return .reading(SessionStage.gnss(latitude, at: seconds))
        case 100..<125:
            let map = MapID(rawValue: [10, 10, 10, 11, 20][Int.random(in: 0..<5, using: &generator)])
            let place = [5, 5.5, 20][Int.random(in: 0..<3, using: &generator)]
            return .reading(SessionStage.fix(map, place, place, at: seconds))
        case 125..<135: return .reading(SessionStage.motion(at: seconds))
        default:
            let rssi = generator.uniform() < 0.05 ? 127 : -100 + 60 * generator.uniform()
            let minor = UInt16.random(in: 1...3, using: &generator)
            return .reading(SessionStage.heard(generator.uniform() < 0.9 ? 1 : venue, minor, at: seconds, rssi: rssi))
        }
    }

    /// Outdoor positions, which have a stream of their own, come until a floor is known.
    func testTransitionsFollowTheStateTableForRandomEvents() {
        for seed in [1, 2, 3, 0xC0FFEE] as [UInt64] {
            var generator = SeededGenerator(seed: seed)
            var driver = SessionDriver(
                SessionStage.machine(seed: seed, hasReceiver: seed.isMultiple(of: 2), reportsDiagnosis: true))
            var witness = Witness()
            var seconds = 0.0
            for number in 0..<Self.eventCount {
                // Mostly fractions of a second, sometimes a long silence; one in ten is told late.
                seconds += generator.uniform() < 0.01 ? 60 * generator.uniform() : 0.4 * generator.uniform()
                let told = seconds - (generator.uniform() < 0.1 ? generator.uniform() : 0)
                var steps: [SessionDriver<Machine>.Step] = []
                while let woken = driver.wake(before: Instant(seconds: told)) { steps += woken }
                let event = event(&generator, at: told)
                let instants = steps.map(\.instant)
                steps += driver.handle(event, at: Instant(seconds: told))
                for step in steps { witness.see(step) }
                if instants != instants.sorted() { witness.complaints.append("wake-ups out of order") }
                if witness.published != driver.machine.shownState {
                    witness.complaints.append("\(driver.machine.shownState.name) was not published")
                }
                let isOver = ["idle", "error"].contains(driver.machine.state.name)
                if isOver, driver.machine.nextWake != nil { witness.complaints.append("a wake-up after the end") }
                if isOver == witness.isScanning { witness.complaints.append("scanning: \(witness.isScanning)") }
                guard witness.complaints.isEmpty else {
                    return XCTFail("seed \(seed), event \(number) (\(event)): \(witness.complaints)")
                }
            }
            for state in Self.allowed.keys {
                XCTAssertGreaterThan(witness.visited[state] ?? 0, 10, "seed \(seed): hardly ever \(state)")
            }
            XCTAssertGreaterThan(witness.diagnoses.count, 4, "seed \(seed): \(witness.diagnoses)")
            XCTAssertGreaterThan(witness.positions, 500, "seed \(seed): hardly any position")
            XCTAssertGreaterThan(witness.outdoors, 100, "seed \(seed): hardly any outdoor position")
        }
    }

    func testEqualSeedsAndEventsGiveEqualDirectives() {
        let seed: UInt64 = 99
        let runs = (0..<2).map { _ in
            var generator = SeededGenerator(seed: seed)
            var machine = SessionStage.machine(seed: seed)
            return (0..<2000).flatMap { number in
                machine.handle(event(&generator, at: Double(number) / 5), at: Double(number) / 5)
            }
        }
        XCTAssertGreaterThan(runs[0].count, 100)
        XCTAssertEqual(runs[0], runs[1], "seed \(seed)")
    }
}
