import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// Histories of a hundred beacons over three months, drawn from random numbers.
final class BeaconTrendTests: XCTestCase {
    func testBeaconsThatDoNotChangeAreNotReported() {
        for seed in 1...4 as ClosedRange<UInt64> {
            let trends = SimulatedWeeks(beacons: 100, days: 90, seed: seed).history().trends()
            XCTAssertEqual(trends.count, 100)
            XCTAssertEqual(trends.filter { $0.change != .steady }.map(\.change), [], "seed \(seed)")
        }
    }

    func testAFadingBatteryIsReportedWithItsRate() throws {
        let weeks = SimulatedWeeks(beacons: 20, days: 60) { beacon, day, _ in beacon == 3 ? -0.1 * Double(day) : 0 }
        let trends = weeks.history().trends()
        XCTAssertEqual(trends.filter { $0.advice != nil }.map(\.beacon), [SimulatedWeeks.identity(3)])
        guard case .drift(_, let perWeek, let error, let total) = trends[3].change else {
            return XCTFail("\(trends[3].change)")
        }
        XCTAssertEqual(perWeek, -0.7, accuracy: max(3 * error, 0.1))
        XCTAssertEqual(total, -6, accuracy: 1.5)
        XCTAssertEqual(trends[3].advice, .replaceBattery)
    }

    func testAFadingBatteryIsReportedAfterSixWeeks() throws {
        let weeks = SimulatedWeeks(beacons: 100, days: 60) { beacon, day, _ in beacon == 3 ? -0.1 * Double(day) : 0 }
        var growing = weeks.growing
        let first = try XCTUnwrap(
            stride(from: 24, through: 60, by: 3).first { growing.history(until: $0).trends()[3].advice != nil })
        XCTAssertLessThanOrEqual(first, 42)
    }

    func testAWeakerBeaconIsReportedWithTheDayAndThePower() throws {
        let weeks = SimulatedWeeks(beacons: 20, days: 40) { beacon, day, _ in beacon == 5 && day >= 25 ? -6 : 0 }
        let trend = weeks.history().trends()[5]
        guard case .step(let day, let difference, _, let cause) = trend.change else {
            return XCTFail("\(trend.change)")
        }
        XCTAssertEqual(Double(day - SimulatedWeeks.firstDay), 25, accuracy: 2)
        XCTAssertEqual(difference, -6, accuracy: 1.5)
        XCTAssertEqual(cause, .power)
        XCTAssertEqual(trend.advice, .lookAtBeacon)
    }

    /// In early days a step and a drift explain the levels alike.
    func testEarlyDaysAccuseNoWrongCause() {
        for seed in 1...5 as ClosedRange<UInt64> {
            let step = SimulatedWeeks(beacons: 6, days: 34, seed: seed) { beacon, day, _ in
                beacon == 5 && day >= 10 ? -6 : 0
            }
            let wall = SimulatedWeeks(beacons: 6, days: 34, seed: seed) { beacon, day, place in
                beacon == 5 && day >= 10 && place >= 7 ? -10 : 0
            }
            let fading = SimulatedWeeks(beacons: 6, days: 45, seed: seed) { beacon, day, _ in
                beacon == 5 ? -0.25 * Double(day) : 0
            }
            var names: Set<String> = []
            var (sudden, slow) = ([step.growing, wall.growing], fading.growing)
            for days in stride(from: 12, through: 33, by: 3) {
                for index in sudden.indices {
                    let change = sudden[index].history(until: days).trends()[5].change
                    if case .drift = change { XCTFail("seed \(seed), day \(days): \(change)") }
                    if days < 20, case .step(_, _, _, let cause) = change, cause == .power || cause == .shadowed {
                        XCTFail("seed \(seed), day \(days): \(change)")
                    }
                }
                let change = slow.history(until: days + 11).trends()[5].change
                if case .step = change { XCTFail("seed \(seed), day \(days + 11): \(change)") }
                names.insert("\(change)".prefix { $0 != "(" }.description)
            }
            XCTAssertTrue(names.contains("drift"), "seed \(seed): \(names)")
        }
    }

    func testAMovedBeaconIsStrongerAtSomePlacesAndWeakerAtOthers() throws {
        let weeks = SimulatedWeeks(beacons: 20, days: 40) { beacon, day, place in
            beacon == 5 && day >= 20 ? (place < 3 ? 9 : -7) : 0
        }
        let trend = weeks.history().trends()[5]
        guard case .step(_, _, _, .moved) = trend.change else { return XCTFail("\(trend.change)") }
        XCTAssertEqual(trend.advice, .lookWhetherMoved)
    }

    func testAWallIsReportedWithTheAreaBehindIt() throws {
        let weeks = SimulatedWeeks(beacons: 20, days: 40) { beacon, day, place in
            beacon == 5 && day >= 20 && place >= 8 ? -10 : 0
        }
        let trend = weeks.history().trends()[5]
        guard case .step(_, _, _, .shadowed) = trend.change else { return XCTFail("\(trend.change)") }
        XCTAssertEqual(trend.advice, .surveyAgain)
        let area = try XCTUnwrap(trend.area)
        XCTAssertEqual(area.mapID, 1)
        XCTAssertGreaterThanOrEqual(area.x.lowerBound, 8 * BeaconLevels.Place.edge)
        XCTAssertLessThanOrEqual(area.x.upperBound, 12 * BeaconLevels.Place.edge)
    }

    func testASilentBeaconIsReportedWithinDays() throws {
        var weeks = SimulatedWeeks(beacons: 100, days: 34)
        weeks.reception = { beacon, day in beacon == 7 && day >= 30 ? 0 : 1 }
        let trends = weeks.history().trends()
        XCTAssertEqual(trends.filter { $0.advice != nil }.map(\.beacon), [SimulatedWeeks.identity(7)])
        guard case .silent(let since?) = trends[7].change else { return XCTFail("\(trends[7].change)") }
        XCTAssertEqual(Double(since - SimulatedWeeks.firstDay), 30, accuracy: 2)
    }

    func testABeaconThatIsNeverReceivedIsSilent() {
        var weeks = SimulatedWeeks(beacons: 20, days: 10)
        weeks.reception = { beacon, _ in beacon == 7 ? 0 : 1 }
        XCTAssertEqual(weeks.history().trends()[7].change, .silent(since: nil))
    }

    func testABeaconThatIsReceivedHalfAsOftenIsFaint() {
        var weeks = SimulatedWeeks(beacons: 20, days: 50)
        weeks.reception = { beacon, day in beacon == 7 && day >= 36 ? 0.5 : 1 }
        let trends = weeks.history().trends()
        guard case .faint(let share) = trends[7].change else { return XCTFail("\(trends[7].change)") }
        XCTAssertEqual(share, 0.55, accuracy: 0.12)
        XCTAssertEqual(trends.count { $0.advice != nil }, 1)
    }

    func testADeviceThatReceivesLessAccusesNoBeacon() {
        var weeks = SimulatedWeeks(beacons: 20, days: 50)
        weeks.reception = { _, day in day >= 36 ? 0.5 : 1 }
        XCTAssertEqual(weeks.history().trends().filter { $0.advice != nil }.map(\.change), [])
    }

    func testTheMemoryIsBoundedAndKeepsTheLatestDays() {
        var history = BeaconHistory()
        for day in 0..<120 {
            var levels = BeaconLevels()
            for column in 0..<40 as Range<Int32> {
                levels.cells[
                    BeaconLevels.Key(
                        beacon: SimulatedWeeks.identity(0),
                        place: BeaconLevels.Place(mapID: 1, column: column, row: 0))] = BeaconLevels.Cell(
                        looks: 2, heard: 1, readings: Double(column), sum: 0)
            }
            history.add(levels, day: day)
        }
        XCTAssertEqual(history.knownDays, Array(28..<120))
        let places = Set(history.cells(of: SimulatedWeeks.identity(0)).map(\.key.place.column))
        XCTAssertEqual(places, Set(8..<40), "the places with the most readings")
        XCTAssertEqual(
            history.cells(of: SimulatedWeeks.identity(0)).count, BeaconHistory.mostDays * BeaconHistory.mostPlaces)
    }

    func testADayOfAWrongClockRemovesNothing() {
        var history = SimulatedWeeks(beacons: 3, days: 60).history()
        let before = history.knownDays
        let levels = BeaconLevels(cells: [
            BeaconLevels.Key(
                beacon: SimulatedWeeks.identity(0), place: BeaconLevels.Place(mapID: 1, column: 0, row: 0)):
                BeaconLevels.Cell(looks: 1, heard: 1, readings: 1, sum: 0)
        ])
        history.add(levels, day: 90_000)
        XCTAssertEqual(history.knownDays, before + [90_000])
    }

    func testPartsOfADayAddUpToTheWhole() {
        let weeks = SimulatedWeeks(beacons: 3, days: 2)
        var (whole, parts) = (BeaconHistory(), BeaconHistory())
        var both = weeks.levels(on: 0)
        both.add(weeks.levels(on: 1))
        whole.add(both, day: 7)
        parts.add(weeks.levels(on: 0), day: 7)
        parts.add(weeks.levels(on: 1), day: 7)
        XCTAssertEqual(whole, parts)
    }

    func testImpossibleNumbersAreLeftOut() {
        var history = BeaconHistory()
        let key = BeaconLevels.Key(
            beacon: SimulatedWeeks.identity(0), place: BeaconLevels.Place(mapID: 1, column: 0, row: 0))
        for cell in [
            BeaconLevels.Cell(looks: .nan, heard: 0, readings: 1, sum: 0),
            BeaconLevels.Cell(looks: 1, heard: 2, readings: 1, sum: 0),
            BeaconLevels.Cell(looks: 1, heard: 1, readings: 1, sum: 1e6),
            BeaconLevels.Cell(looks: 1, heard: 1, readings: -1, sum: 0),
        ] { history.add(BeaconLevels(cells: [key: cell]), day: 1) }
        XCTAssertTrue(history.isEmpty)
    }
}

/// The levels that an engine collects in the hall of `PositioningStage`.
final class BeaconLevelsTests: XCTestCase {
    private static func levels(
        seed: UInt64 = 1, offset: Double = 0, venue: Venue = PositioningStage.surveyedVenue,
        _ change: @escaping (Int) -> Double? = { _ in 0 }
    ) throws -> [Int: BeaconLevels.Cell] {
        var settings = PositioningSettings()
        settings.testedBeacons = .surveyed
        var walk = IntegrityWalk(venue: venue, settings: settings, seed: seed)
        walk.engine.collectLevels()
        walk.walk(300) { beacon, rssi, _, _ in change(beacon).map { [(beacon, rssi + $0 + offset)] } ?? [] }
        let levels = try XCTUnwrap(walk.engine.drainLevels())
        XCTAssertNil(walk.engine.drainLevels(), "drained twice")
        var sums: [Int: BeaconLevels.Cell] = [:]
        for (key, cell) in levels.cells {
            XCTAssertTrue(cell.isValid)
            sums[Int(key.beacon.minor), default: BeaconLevels.Cell()].add(cell)
        }
        return sums
    }

    func testHealthyBeaconsHaveTheExpectedLevelWithAnyReceiver() throws {
        for offset in [0.0, -9] {
            let levels = try Self.levels(offset: offset)
            for beacon in 0..<8 {
                let cell = try XCTUnwrap(levels[beacon])
                XCTAssertEqual(try XCTUnwrap(cell.level), 0, accuracy: 1.5, "beacon \(beacon), offset \(offset)")
                XCTAssertGreaterThan(cell.readings, 20)
                XCTAssertLessThan(cell.readings, 150, "a look each 2 s isn't independent")
                XCTAssertGreaterThan(cell.heard, 0.9 * cell.looks)
            }
        }
    }

    func testAWeakerBeaconDoesNotConfirmItself() throws {
        for venue in [PositioningStage.surveyedVenue, PositioningStage.venue] {
            let levels = try Self.levels(venue: venue) { $0 == 4 ? -6 : 0 }
            XCTAssertEqual(try XCTUnwrap(levels[4]?.level), -6, accuracy: 1.8)
            for beacon in 0..<8 where beacon != 4 {
                XCTAssertEqual(try XCTUnwrap(levels[beacon]?.level), 0, accuracy: 2, "beacon \(beacon)")
            }
        }
    }

    func testASilentBeaconIsExpectedAndNotHeard() throws {
        let cell = try XCTUnwrap(try Self.levels { $0 == 1 ? nil : 0 }[1])
        XCTAssertGreaterThan(cell.looks, 20)
        XCTAssertEqual(cell.heard, 0)
        XCTAssertNil(cell.level)
    }

    func testAnEngineCollectsNothingUnlessAsked() {
        var walk = IntegrityWalk()
        walk.walk(20)
        XCTAssertNil(walk.engine.drainLevels())
        var settings = PositioningSettings()
        settings.testedBeacons = .none
        var untested = IntegrityWalk(settings: settings)
        untested.engine.collectLevels()
        untested.walk(20)
        XCTAssertNil(untested.engine.drainLevels(), "an engine that tests no beacon knows no level of one")
    }

    func testCollectingLevelsChangesNoPosition() {
        var (plain, collecting) = (IntegrityWalk(), IntegrityWalk())
        collecting.engine.collectLevels()
        plain.walk(60)
        collecting.walk(60)
        XCTAssertEqual(plain.errors, collecting.errors)
    }
}

/// A generator of histories: the readings of days at the places around each beacon.
///
/// Each place has an error of the field of 4 dB that never changes. A third of the places are visited on a day. A beacon's
/// level varies from day to day by 0.7 dB, which lasts for two days, as people and doors do, and a device receives fewer
/// advertisements of all beacons on some days.
struct SimulatedWeeks {
    static let firstDay = 20_000
    static let places = 12

    var beacons: Int
    var days: Int
    var seed: UInt64 = 1
    /// The change of a beacon's level on a day at a place, in dB.
    var change: (_ beacon: Int, _ day: Int, _ place: Int) -> Double = { _, _, _ in 0 }
    /// The factor on the share of received looks of a beacon on a day.
    var reception: (_ beacon: Int, _ day: Int) -> Double = { _, _ in 1 }

    static func identity(_ number: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: UInt16(number))
    }

    func history() -> BeaconHistory {
        var growing = growing
        return growing.history(until: days)
    }

    /// The history at the end of one day after another.
    struct Growing {
        fileprivate let weeks: SimulatedWeeks
        private var history = BeaconHistory()
        private var days = 0

        fileprivate init(weeks: SimulatedWeeks) { self.weeks = weeks }

        /// Adds the days until the given one, which isn't before that of the call before.
        mutating func history(until end: Int) -> BeaconHistory {
            for day in days..<end { history.add(weeks.levels(on: day), day: SimulatedWeeks.firstDay + day) }
            days = end
            return history
        }
    }

    /// The history before its first day.
    var growing: Growing { Growing(weeks: self) }

    func levels(on day: Int) -> BeaconLevels {
        var levels = BeaconLevels()
        var device = SeededGenerator(seed: seed &* 31 &+ UInt64(day) &* 7919)
        let common = 0.8 + 0.2 * device.uniform()
        for beacon in 0..<beacons {
            let stream = seed &* 1_000_003 &+ UInt64(beacon) &* 10_007
            var fixed = SeededGenerator(seed: stream)
            var today = SeededGenerator(seed: stream &+ UInt64(day) &* 104_729 &+ 1)
            var yesterday = SeededGenerator(seed: stream &+ UInt64(max(day - 1, 0)) &* 104_729 &+ 1)
            let drift = 0.7 * (today.normal() + yesterday.normal()) / 2.0.squareRoot()
            for place in 0..<Self.places {
                let (error, share) = (4 * fixed.normal(), 0.6 + 0.38 * fixed.uniform())
                guard today.uniform() < 1.0 / 3 else { continue }
                let looks = 1 + 14 * today.uniform()
                let chance = share * common * reception(beacon, day)
                let heard = (0..<Int(looks.rounded(.up))).reduce(0.0) { sum, _ in
                    today.uniform() < chance ? sum + 1 : sum
                }
                let readings = min(heard, looks)
                let level =
                    error + drift + change(beacon, day, place) + 1.5 * today.normal()
                    + 5 / max(readings, 1).squareRoot() * today.normal()
                levels.cells[
                    BeaconLevels.Key(
                        beacon: Self.identity(beacon),
                        place: BeaconLevels.Place(mapID: 1, column: Int32(place), row: 0))] = BeaconLevels.Cell(
                        looks: looks, heard: readings, readings: readings,
                        sum: readings * min(max(level, -39), 39))
            }
        }
        return levels
    }
}
