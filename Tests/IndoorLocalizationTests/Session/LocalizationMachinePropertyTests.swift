import IndoorLocalization
import XCTest

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
