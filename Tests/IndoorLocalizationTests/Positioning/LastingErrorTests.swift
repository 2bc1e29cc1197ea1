import CMath
import XCTest

@testable import IndoorPositioning
import IndoorLocalization

/// The errors of readings that last while a device stands, and change while it walks.
final class LastingErrorTests: XCTestCase {
    private typealias Stage = PositioningStage
    private typealias Table = ReceiverReference.Table
    private static let levels = 0...cmath_vector_level()

    /// Hypotheses with a receiver and a lasting error each, as the loop takes them.
    private struct Hypotheses {
        static let nowhere: Float = 1e9
        var x: [Float] = []
        var y: [Float] = []
        /// Counted from 1; 0 is outside.
        var cells: [Int32] = []
        var receivers: [[Float]] = []
        /// The error, its variance, and the place of the latest reading.
        var errors: [[Float]] = []
        var sums: [Float] = []
        /// What remains of the errors, and the variance of the fading.
        var keep: Float = 0.9
        var fading: Float = 1.5

        init(count: Int, seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            for index in 0..<count {
                x.append(Float(30 * generator.uniform() - 5))
                y.append(Float(30 * generator.uniform() - 5))
                cells.append(Int32.random(in: 0..<Table.cells + 1, using: &generator))
                receivers.append(ReceiverReference.State.random(&generator).fields.map { Float($0) })
                let place = index % 5 == 0 ? Self.nowhere : x[index] + Float(2 * generator.normal())
                errors.append([
                    Float(4 * generator.normal()), Float(9 * generator.uniform()), place,
                    y[index] + Float(2 * generator.normal()),
                ])
                sums.append(Float(generator.normal()))
            }
        }

        mutating func hear(_ level: Int32, _ table: Table, remembering: Bool = true) {
            let count = x.count
            var receivers = (0..<9).flatMap { field in self.receivers.map { $0[field] } }
            var errors = (0..<4).flatMap { field in self.errors.map { $0[field] } }
            receivers.withUnsafeMutableBufferPointer { receivers in
                errors.withUnsafeMutableBufferPointer { errors in
                    guard let z = receivers.baseAddress, let e = errors.baseAddress else { return }
                    let all = cmath_receivers(
                        offset: z, body_x: z + count, body_y: z + 2 * count, c00: z + 3 * count, c01: z + 4 * count,
                        c02: z + 5 * count, c11: z + 6 * count, c12: z + 7 * count, c22: z + 8 * count)
                    var last = cmath_lasting(
                        error: e, variance: e + count, x: e + 2 * count, y: e + 3 * count, keep: keep,
                        per_metre: 0.75, fading: fading)
                    table.with { heard in
                        if remembering {
                            cmath_hear_lasting_at(
                                level, &heard, &last, Table.columns, cells, x, y, 0, count, all, &sums)
                        } else {
                            cmath_hear_at(level, &heard, Table.columns, cells, x, y, 0, count, all, &sums)
                        }
                    }
                }
            }
            for index in 0..<count {
                self.receivers[index] = (0..<9).map { receivers[$0 * count + index] }
                self.errors[index] = (0..<4).map { errors[$0 * count + index] }
            }
        }

        var bits: [[UInt32]] { (receivers + errors + [sums]).map { $0.map(\.bitPattern) } }
    }

    // MARK: The loop

    /// What the loop has to come to for one hypothesis: the reading less the expected error, with the variance of what is
    /// unknown of it; and the Kalman filter of the error.
    func testEachErrorFollowsTheFormulas() {
        for seed in UInt64(1)...3 {
            let table = Table(seed: seed)
            let before = Hypotheses(count: 1003, seed: seed)
            for level in Self.levels {
                var after = before
                after.hear(level, table)
                for index in before.x.indices {
                    let place = "hypothesis \(index), level \(level), seed \(seed)"
                    let (cell, x, y) = (before.cells[index], before.x[index], before.y[index])
                    let state = ReceiverReference.State(fields: before.receivers[index].map { Double($0) })
                    let old = before.errors[index].map { Double($0) }
                    let gain = Double(after.sums[index]) - Double(before.sums[index])
                    let new = after.errors[index].map { Double($0) }
                    guard let entry = Self.entry(of: cell) else {
                        XCTAssertEqual(gain, 0, place)
                        XCTAssertEqual(after.receivers[index], before.receivers[index], place)
                        XCTAssertEqual(new[2], Double(Hypotheses.nowhere), "the error is forgotten: \(place)")
                        continue
                    }
                    let moved = hypot(Double(x) - old[2], Double(y) - old[3])
                    let rest = Double(before.keep) * exp(-0.75 * moved)
                    let fading = Double(before.fading)
                    let lasting = Double(table.noise) + Double(table.variance[entry]) - fading
                    let part = rest * rest * old[1] + (1 - rest * rest) * lasting
                    var same = table
                    same.rssi = Float(Double(table.rssi) - rest * old[0])
                    same.noise = Float(part + fading - Double(table.variance[entry]))
                    let expected = same.hear(state, cell: cell, x: x, y: y)
                    XCTAssertEqual(gain, expected.likelihood, accuracy: 2e-3, place)
                    for (value, expected) in zip(after.receivers[index], expected.state.fields) {
                        XCTAssertEqual(Double(value), expected, accuracy: 2e-3 + 1e-3 * abs(expected), place)
                    }
                    XCTAssertEqual([new[2], new[3]], [Double(x), Double(y)], place)
                    XCTAssertLessThan(new[1], part + 1e-3, "a reading never makes the error less certain: \(place)")
                    XCTAssertGreaterThan(new[1], 0, place)
                }
            }
        }
    }

    private static func entry(of cell: Int32) -> Int? {
        let (row, column) = (Int(cell - 1) / Int(Table.columns) - 11, Int(cell - 1) % Int(Table.columns) - 7)
        return cell > 0 && (0..<20).contains(row) && (0..<30).contains(column) ? row * 30 + column : nil
    }

    func testAReadingWithoutAnEarlierOneCountsAsAnyOther() {
        let table = Table(seed: 4)
        var known = Hypotheses(count: 300, seed: 4)
        for index in known.x.indices { known.errors[index][2] = Hypotheses.nowhere }
        var unknown = known
        known.hear(0, table)
        unknown.hear(0, table, remembering: false)
        for index in known.x.indices { XCTAssertEqual(known.sums[index], unknown.sums[index], accuracy: 1e-4) }
    }

    /// Equal seeds give equal bytes, on whatever processor.
    func testAllVectorLevelsGiveTheSameBits() {
        func bits(_ level: Int32) -> [[UInt32]] {
            var heard = Hypotheses(count: 1003, seed: 5)
            for seed in UInt64(0)..<5 { heard.hear(level, Table(seed: seed)) }
            return heard.bits
        }
        for level in Self.levels { XCTAssertEqual(bits(level), bits(0), "level \(level)") }
    }

    func testExtremeReadingsKeepAllNumbersFinite() {
        for rssi in [-1e30, 1e30] as [Float] {
            var table = Table(seed: 8)
            table.rssi = rssi
            var heard = Hypotheses(count: 500, seed: 8)
            for _ in 0..<4 { heard.hear(cmath_vector_level(), table) }
            XCTAssertTrue((heard.receivers + heard.errors + [heard.sums]).joined().allSatisfy(\.isFinite), "\(rssi)")
        }
    }

    // MARK: The evidence

    /// The log-likelihood ratio of two places after each of many equal readings, taken every half second.
    private func ratios(_ count: Int, moving: Double = 0) -> [Float] {
        let field = Stage.surveyedField
        let receiver = Stage.offset(deviation: 0.1)
        var remembered = RememberedBeacons()
        var particles = ParticleFilter.Particles()
        let (here, there) = (MapPoint(x: 8, y: 8), MapPoint(x: 8, y: 12))
        particles.place([here, there], receiver)
        particles.errors.resize(to: 2)
        var sums: [Float] = [0, 0]
        var ratios: [Float] = []
        for turn in 0..<count {
            var evidence = Stage.evidence(at: MapPoint(x: 8, y: 9))
            evidence.time = Double(turn) / 2
            let step = moving * Double(turn)
            let places = [here, there].map { $0 + MapPoint(x: step, y: 0) }
            for (index, place) in places.enumerated() { particles.x[index] = Float(place.x) }
            let changed = remembered.remember(evidence)
            particles.errors.open(remembered.count)
            for slot in 0..<remembered.count where changed & 1 << slot != 0 { particles.errors.forget(slot) }
            Stage.likelihood(field, evidence, receiver: receiver).hear(
                &particles, 0..<2, mapIndex: 0,
                cells: places.map { Int32((field.maps[0].grid.cell(at: $0) ?? -1) + 1) }, sums: &sums,
                remembered: remembered)
            remembered.use(evidence)
            ratios.append(sums[0] - sums[1])
        }
        return ratios
    }

    /// A hundred readings at one place have one lasting error, so that they tell little more than the first ones.
    func testReadingsAtOnePlaceAreNotIndependent() {
        let ratios = ratios(100)
        XCTAssertGreaterThan(ratios[0], 1, "the first reading tells the places apart")
        XCTAssertLessThan(ratios[99], 8 * ratios[0], "independent readings would have a ratio of 100")
    }

    /// After some metres, the error is another one.
    func testReadingsAtDistantPlacesAreIndependent() {
        let (standing, walking) = (ratios(6), ratios(6, moving: 1))
        XCTAssertGreaterThan(walking[5] - walking[0], 2 * (standing[5] - standing[0]))
    }

    /// The readings of a session that stands for a minute have errors that last, as large as the field expects.
    func testTheRadiusOfAStandingDeviceContainsItsError() {
        var inside = 0
        for seed in UInt64(0)..<20 {
            var generator = SeededGenerator(seed: 100 + seed)
            let place = MapPoint(x: 4 + 12 * generator.uniform(), y: 4 + 12 * generator.uniform())
            let errors = Stage.beaconPoints.map { _ in Stage.surveyedField.readingDeviation * generator.normal() }
            var engine = PositioningEngine(
                venue: Stage.surveyedVenue, field: Stage.surveyedField, settings: PositioningSettings(), seed: seed)
            for half in 0..<120 {
                let now = Instant(seconds: Double(half) / 2)
                for (index, beacon) in Stage.beaconPoints.enumerated() {
                    let rssi = Stage.rssi(from: beacon, to: place) + errors[index] + 2 * generator.normal()
                    engine.observe(.sighting(Sighting(instant: now, beacon: Stage.identity(index), rssi: rssi)))
                }
                engine.advance(to: now)
            }
            guard let estimate = engine.estimate(on: Stage.hall) else { return XCTFail("no estimate") }
            if estimate.point.distance(to: place) <= estimate.radius { inside += 1 }
        }
        print("standing with lasting errors: \(inside) of 20 inside the 68 % radius")
        XCTAssertGreaterThanOrEqual(inside, 10)
    }

    // MARK: The slots

    func testTheStrongestBeaconsAreRememberedAndKeepTheirSlots() {
        let limit = RememberedBeacons.limit
        var remembered = RememberedBeacons()
        func evidence(_ beacons: Range<Int>, at time: Double) -> Evidence {
            Evidence(
                duration: 0.5, time: time,
                heard: beacons.map {
                    Evidence.Heard(beacon: $0, rssi: -60 - Float($0), variance: 1, share: 1, draws: 1)
                })
        }
        XCTAssertEqual(remembered.remember(evidence(0..<20, at: 0)), (1 << UInt(limit)) - 1)
        remembered.use(evidence(0..<20, at: 0))
        XCTAssertEqual(remembered.slot(of: limit - 1)?.index, limit - 1)
        XCTAssertNil(remembered.slot(of: limit))
        // The first beacons are silent; soon after, nothing changes.
        XCTAssertEqual(remembered.remember(evidence(limit - 2..<20, at: 4)), 0)
        remembered.use(evidence(limit - 2..<20, at: 4))
        XCTAssertEqual(remembered.slot(of: limit - 1)?.latest, 4)
        XCTAssertEqual(remembered.remember(evidence(limit - 2..<limit + 2, at: 6)).nonzeroBitCount, 2)
        XCTAssertNotNil(remembered.slot(of: limit))
        XCTAssertNotNil(remembered.slot(of: limit - 2), "a beacon that is heard keeps its slot")
    }

    func testABeaconWithoutWeightHasNoSlot() {
        var remembered = RememberedBeacons()
        var evidence = Stage.evidence(at: MapPoint(x: 5, y: 5))
        for index in evidence.heard.indices.dropFirst(3) { evidence.heard[index].share = 0 }
        evidence.heard[0].share = 0
        XCTAssertEqual(remembered.remember(evidence), 0b11)
        XCTAssertNil(remembered.slot(of: evidence.heard[0].beacon))
    }

    /// Copies take the errors along, and others have none.
    func testErrorsFollowTheirParticles() {
        var errors = LastingErrors()
        errors.open(2)
        errors.resize(to: 3)
        func places(_ slot: Int) -> [Float] {
            var places: [Float] = []
            let count = errors.count
            errors.withPointers(slot, after: 0, fading: 1) { last in places = (0..<count).map { last.x[$0] } }
            return places
        }
        errors.withPointers(1, after: 0, fading: 1) { last in for index in 0..<3 { last.x[index] = Float(index) } }
        var (origins, fresh, scratch): ([Int32], [Int32], [Float]) = ([-1, 2, 0, -1, 2], [], [])
        errors.rearrange(&origins, fresh: &fresh, scratch: &scratch)
        XCTAssertEqual(places(1), [1e9, 2, 0, 1e9, 2])
        XCTAssertEqual(places(0), [1e9, 1e9, 1e9, 1e9, 1e9])
        origins = [4, 2]
        errors.rearrange(&origins, fresh: &fresh, scratch: &scratch)
        XCTAssertEqual(places(1), [2, 0])
        errors.open(3)
        errors.resize(to: 4)
        XCTAssertEqual(places(1), [2, 0, 1e9, 1e9])
        XCTAssertEqual(places(2), [1e9, 1e9, 1e9, 1e9])
    }

    /// Without a survey, an error is shadowing of many metres, which the walk itself averages.
    func testNothingIsRememberedWithoutASurvey() {
        var engine = PositioningEngine(
            venue: Stage.venue, field: SignalField(venue: Stage.venue), settings: PositioningSettings(), seed: 3)
        for half in 0..<20 {
            let now = Instant(seconds: Double(half) / 2)
            for (index, beacon) in Stage.beaconPoints.enumerated() {
                let rssi = Stage.rssi(from: beacon, to: MapPoint(x: 9, y: 9))
                engine.observe(.sighting(Sighting(instant: now, beacon: Stage.identity(index), rssi: rssi)))
            }
            engine.advance(to: now)
        }
        XCTAssertNotNil(engine.estimate(on: Stage.hall))
        XCTAssertEqual(engine.belief.filter.remembered.count, 0)
        XCTAssertEqual(engine.belief.filter.motion.standingWander, MotionModel().standingWander)
    }

    /// The particles of a filter have errors for each beacon in a slot, also after beacons come and go and particles are drawn
    /// anew: the memory of both has other sizes then.
    func testErrorsHaveTheSizeOfTheFilterAtAllTimes() {
        var engine = PositioningEngine(
            venue: Stage.surveyedVenue, field: Stage.surveyedField, settings: PositioningSettings(), seed: 3)
        var generator = SeededGenerator(seed: 4)
        for half in 0..<240 {
            let now = Instant(seconds: Double(half) / 2)
            let place = MapPoint(x: 4 + 12 * generator.uniform(), y: 4 + 12 * generator.uniform())
            for (index, beacon) in Stage.beaconPoints.enumerated() where generator.uniform() < 0.3 {
                let rssi = Stage.rssi(from: beacon, to: place) + 3 * generator.normal()
                engine.observe(.sighting(Sighting(instant: now, beacon: Stage.identity(index), rssi: rssi)))
            }
            if half % 50 == 49 {
                engine.observe(
                    .fix(
                        Fix(
                            instant: now, mapID: Stage.hall, point: MapPoint(x: 10, y: 10), radius: 2,
                            isSoft: half % 100 == 49)))
            }
            engine.advance(to: now)
            XCTAssertEqual(engine.belief.filter.particles.errors.count, engine.belief.filter.particles.count)
            XCTAssertEqual(engine.belief.filter.particles.errors.slots, engine.belief.filter.remembered.count)
        }
        XCTAssertEqual(engine.belief.filter.remembered.count, RememberedBeacons.limit)
    }
}
