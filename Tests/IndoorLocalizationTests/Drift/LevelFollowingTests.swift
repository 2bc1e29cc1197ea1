import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// The corrections that follow slow drifts of beacons, in simulated weeks.
final class LevelFollowingTests: XCTestCase {
    /// Follows a history day by day, as a service that starts each morning. Returns what it followed on each day.
    private static func followed(
        _ weeks: SimulatedWeeks, every step: Int = 3
    ) -> [(day: Int, following: LevelFollowing)] {
        var (history, following) = (BeaconHistory(), LevelFollowing())
        var states: [(Int, LevelFollowing)] = []
        for day in 0..<weeks.days {
            history.add(weeks.levels(on: day), day: SimulatedWeeks.firstDay + day)
            guard (day + 1) % step == 0 else { continue }
            following.follow(history.trends())
            states.append((day, following))
        }
        return states
    }

    private static func correction(_ following: LevelFollowing, _ beacon: Int) -> Double {
        following.corrections[SimulatedWeeks.identity(beacon)] ?? 0
    }

    func testAFadingBatteryIsFollowed() {
        var corrections: [Double] = []
        for seed in 1...3 as ClosedRange<UInt64> {
            let weeks = SimulatedWeeks(beacons: 8, days: 60, seed: seed) { beacon, day, _ in
                beacon == 3 ? -0.1 * Double(day) : 0
            }
            let states = Self.followed(weeks)
            let last = states[states.count - 1].following
            corrections.append(Self.correction(last, 3))
            XCTAssertTrue((-6...0).contains(corrections[corrections.count - 1]), "seed \(seed)")
            XCTAssertTrue(Set(last.corrections.keys).isSubset(of: [SimulatedWeeks.identity(3)]), "seed \(seed)")
        }
        print("after 60 days: \(corrections) dB")
        // In some histories, 60 days don't tell yet whether the level has changed slowly or suddenly.
        XCTAssertLessThan(corrections.sorted()[1], -3.5)
    }

    func testACorrectionStaysAfterTheDrift() {
        let weeks = SimulatedWeeks(beacons: 8, days: 160) { beacon, day, _ in
            beacon == 3 ? max(-0.1 * Double(day), -4) : 0
        }
        let states = Self.followed(weeks, every: 5)
        XCTAssertEqual(Self.correction(states[states.count - 1].following, 3), -4, accuracy: 1.5)
    }

    func testAnAttackIsBoundedInRateAndInAll() {
        // 0.2 dB a day for 200 days are 40 dB; 0.13 dB a day is slower than the bound.
        for rate in [0.2, 0.13, -0.2] {
            let weeks = SimulatedWeeks(beacons: 6, days: 200) { beacon, day, _ in
                beacon == 3 ? rate * Double(day) : 0
            }
            var largest = 0.0
            for (day, following) in Self.followed(weeks, every: 8) {
                let correction = Self.correction(following, 3).magnitude
                XCTAssertLessThanOrEqual(correction, following.bounds.total)
                XCTAssertLessThanOrEqual(correction, following.bounds.perWeek * Double(day) / 7, "day \(day)")
                largest = max(largest, correction)
            }
            print("\(rate) dB a day: at most \(largest) dB")
            XCTAssertGreaterThan(largest, 3, "\(rate) dB a day is followed until the bound")
        }
    }

    func testAMovedBeaconIsNotFollowed() {
        for seed in 1...3 as ClosedRange<UInt64> {
            let weeks = SimulatedWeeks(beacons: 6, days: 60, seed: seed) { beacon, day, _ in
                beacon == 3 && day >= 20 ? -8 : 0
            }
            for (day, following) in Self.followed(weeks) {
                XCTAssertEqual(Self.correction(following, 3), 0, "seed \(seed), day \(day)")
            }
        }
    }

    func testASilentBeaconIsNotFollowed() {
        var weeks = SimulatedWeeks(beacons: 6, days: 40)
        weeks.reception = { beacon, day in beacon == 3 && day >= 30 ? 0 : 1 }
        for (_, following) in Self.followed(weeks, every: 8) { XCTAssertEqual(following.corrections, [:]) }
    }

    func testANewBatteryEndsTheCorrection() {
        let weeks = SimulatedWeeks(beacons: 6, days: 75) { beacon, day, _ in
            beacon == 3 && day < 55 ? -0.1 * Double(day) : 0
        }
        let states = Self.followed(weeks)
        XCTAssertLessThan(Self.correction(states[17].following, 3), -2.5)
        XCTAssertEqual(Self.correction(states[24].following, 3), 0)
    }

    func testImpossibleEntriesAreLimited() {
        let beacon = SimulatedWeeks.identity(0)
        for (value, expected) in [(90.0, 6.0), (-.infinity, 0), (.nan, 0), (-2, -2)] {
            let following = LevelFollowing(entries: [beacon: LevelFollowing.Entry(correction: value, day: 1)])
            XCTAssertEqual(following.corrections[beacon] ?? 0, expected)
        }
    }

    /// Three of eight beacons fade by 6 dB in 60 days.
    func testPositionsWithFadedBeaconsAreAlmostThoseWithoutThem() {
        let faded: Set<Int> = [0, 3, 5]
        let weeks = SimulatedWeeks(beacons: 8, days: 60) { beacon, day, _ in
            faded.contains(beacon) ? -0.1 * Double(day) : 0
        }
        let states = Self.followed(weeks)
        let corrections = Dictionary(
            uniqueKeysWithValues: faded.map { beacon in
                (PositioningStage.identity(beacon), Self.correction(states[states.count - 1].following, beacon))
            })
        for venue in [PositioningStage.venue, PositioningStage.surveyedVenue] {
            func error(_ venue: Venue, fading: Bool) -> Double {
                let errors = (1...6 as ClosedRange<UInt64>).map { seed in
                    var walk = IntegrityWalk(venue: venue, seed: seed)
                    walk.walk(150) { beacon, rssi, _, _ in
                        [(beacon, fading && faded.contains(beacon) ? rssi - 6 : rssi)]
                    }
                    return walk.meanError
                }
                return errors.reduce(0, +) / 6
            }
            let unfaded = error(venue, fading: false)
            let without = error(venue, fading: true)
            let with = error(venue.corrected(by: venue.usable(corrections)), fading: true)
            print("error \(unfaded) m, faded \(without) m, followed \(with) m")
            XCTAssertGreaterThan(without, 1.15 * unfaded, "the fading must matter")
            XCTAssertLessThan(with - unfaded, 0.75 * (without - unfaded))
        }
    }

    func testACorrectedVenueExpectsTheCorrectedLevels() throws {
        let (beacon, point) = (PositioningStage.identity(4), MapPoint(x: 12, y: 9))
        for venue in [PositioningStage.venue, PositioningStage.surveyedVenue] {
            let (before, after) = (SignalField(venue: venue), SignalField(venue: venue.corrected(by: [beacon: -4])))
            for (other, index) in before.indexes {
                let old = try XCTUnwrap(before.expectation(of: index, at: point, on: PositioningStage.hall))
                let new = try XCTUnwrap(after.expectation(of: index, at: point, on: PositioningStage.hall))
                XCTAssertEqual(new.rssi - old.rssi, other == beacon ? -4 : 0, accuracy: 0.4)
            }
        }
        var unknown = PositioningStage.venue
        unknown.beacons[4].measuredPower = nil
        XCTAssertEqual(unknown.usable([beacon: -4]), [:], "the packet doesn't say what to expect")
        XCTAssertEqual(PositioningStage.venue.usable([beacon: -4]), [beacon: -4])
    }

    func testLevelsOfACorrectedVenueBecomeThoseOfThePacket() throws {
        let beacon = PositioningStage.identity(4)
        let place = BeaconLevels.Place(mapID: 1, column: 0, row: 0)
        let key = BeaconLevels.Key(beacon: beacon, place: place)
        let levels = BeaconLevels(cells: [key: BeaconLevels.Cell(looks: 5, heard: 4, readings: 4, sum: -2)])
        XCTAssertEqual(levels.withoutCorrections([beacon: -3]).cells[key]?.sum, -14)
        XCTAssertEqual(levels.withoutCorrections([:]), levels)
        let weak = BeaconLevels(cells: [key: BeaconLevels.Cell(looks: 5, heard: 4, readings: 4, sum: -158)])
        XCTAssertEqual(weak.withoutCorrections([beacon: -3]).cells[key]?.isValid, true)
    }
}
