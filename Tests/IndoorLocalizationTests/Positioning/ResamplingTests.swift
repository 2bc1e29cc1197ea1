import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class ResamplingTests: XCTestCase {
    /// A few that weigh much, many that weigh little, some nothing.
    private static let weights: [Float] = (0..<50).map { index in
        if index % 10 == 3 { return 5 }
        return index % 7 == 0 ? 0 : 0.1 + Float(index % 5)
    }

    func testBothSchemesDrawParticlesInProportionToTheirWeights() {
        let repeats = 4000
        let total = Self.weights.reduce(0, +)
        for scheme in Resampling.Scheme.allCases {
            let seed: UInt64 = 17
            var generator = SeededGenerator(seed: seed)
            var taken = [Int](repeating: 0, count: Self.weights.count)
            for _ in 0..<repeats { for pick in Self.picks(scheme, 40, using: &generator) { taken[pick] += 1 } }
            for (index, weight) in Self.weights.enumerated() {
                // A particle's number deviates by at most √½ from its mean: five standard errors of 4000 are 0.056.
                let expected = Double(40 * weight / total)
                XCTAssertEqual(
                    Double(taken[index]) / Double(repeats), expected, accuracy: 0.056,
                    "\(scheme), particle \(index), seed \(seed)")
            }
        }
    }

    func testSystematicDrawsDifferLessFromTheWeightsThanStratifiedOnes() {
        var generator = SeededGenerator(seed: 5)
        let total = Self.weights.reduce(0, +)
        var errors: [Resampling.Scheme: Double] = [:]
        for scheme in Resampling.Scheme.allCases {
            for _ in 0..<500 {
                let picks = Self.picks(scheme, 40, using: &generator)
                for (index, weight) in Self.weights.enumerated() {
                    let difference = Double(picks.filter { $0 == index }.count) - Double(40 * weight / total)
                    errors[scheme, default: 0] += difference * difference
                    // Within one of the weight's share for equal distances, within two for a draw in each share.
                    XCTAssertLessThan(
                        abs(difference), scheme == .systematic ? 1.001 : 2, "\(scheme), particle \(index)")
                }
            }
        }
        XCTAssertLessThan(errors[.systematic] ?? .infinity, errors[.stratified] ?? 0, "seed 5")
    }

    func testNoSchemeDrawsAParticleOfWeightZero() {
        var generator = SeededGenerator(seed: 3)
        for scheme in Resampling.Scheme.allCases {
            for _ in 0..<200 {
                for pick in Self.picks(scheme, 40, using: &generator) {
                    XCTAssertGreaterThan(Self.weights[pick], 0, "\(scheme), particle \(pick), seed 3")
                }
            }
        }
    }

    func testZeroWeightsGiveUniformDraws() {
        var particles = ParticleFilter.Particles()
        particles.resize(to: 10)
        var generator = SeededGenerator(seed: 1)
        var picks: [Int32] = []
        particles.pick(10, of: 0..<10, using: &generator, into: &picks)
        XCTAssertEqual(picks, Array(0..<10))
    }

    func testTheEffectiveShareDecidesWhenTheFilterResamples() {
        // Half weigh three times as much as the others: (Σw)² / Σw² is 80 of 100.
        for (share, isDrawn) in [(0, false), (0.5, false), (0.79, false), (0.81, true), (1, true)] {
            for scheme in Resampling.Scheme.allCases {
                var filter = ParticleFilter(
                    walls: [WallIndex(walls: [])], motion: MotionModel(),
                    resampling: Resampling(scheme: scheme, effectiveShare: share), count: 100, seed: 1)
                filter.particles.resize(to: 100)
                for index in 0..<100 { filter.particles.weight[index] = index % 2 == 0 ? 0.005 : 0.015 }
                filter.resampleIfNeeded(mapCount: 1)
                let isEven = Set(filter.particles.weight).count == 1
                XCTAssertEqual(isEven, isDrawn, "\(scheme), \(share)")
            }
        }
    }

    func testTheEngineUsesTheStratifiedScheme() {
        let place = MapPoint(x: 7, y: 12)
        let (systematic, stratified) = (Self.estimate(at: place, .systematic), Self.estimate(at: place, .stratified))
        expectClose(stratified?.point.distance(to: place), 0, within: 2, "seed 1")
        XCTAssertNotEqual(systematic, stratified, "the scheme changed nothing")
    }

    private static func estimate(
        at place: MapPoint, _ scheme: Resampling.Scheme
    ) -> PositioningEngine.Estimate? {
        typealias Stage = PositioningStage
        var settings = PositioningSettings()
        settings.resampling.scheme = scheme
        var engine = PositioningEngine(venue: Stage.venue, field: Stage.packetField, settings: settings, seed: 1)
        for second in 0..<8 {
            for (index, beacon) in Stage.beaconPoints.enumerated() {
                let sighting = Sighting(
                    instant: Instant(seconds: Double(second) + 0.5), beacon: Stage.identity(index),
                    rssi: Stage.rssi(from: beacon, to: place))
                engine.observe(.sighting(sighting))
            }
            engine.advance(to: Instant(seconds: Double(second + 1)))
        }
        return engine.estimate(on: Stage.hall)
    }

    private static func picks(
        _ scheme: Resampling.Scheme, _ count: Int, using generator: inout SeededGenerator
    ) -> [Int] {
        var particles = ParticleFilter.Particles()
        particles.resize(to: weights.count)
        particles.weight = weights
        var picks: [Int32] = []
        switch scheme {
        case .systematic:
            particles.pick(count, of: 0..<weights.count, start: Float(generator.uniform()), into: &picks)
        case .stratified: particles.pick(count, of: 0..<weights.count, using: &generator, into: &picks)
        }
        XCTAssertEqual(picks.count, count)
        return picks.map(Int.init)
    }
}
