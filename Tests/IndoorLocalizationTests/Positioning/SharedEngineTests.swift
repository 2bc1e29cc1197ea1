import IndoorLocalization
import XCTest

@testable import IndoorPositioning

/// Many engines in one process.
final class SharedEngineTests: XCTestCase {
    private typealias Stage = PositioningStage

    private func engine(
        _ effort: PositioningEffort = PositioningEffort(), venue: Venue = Stage.venue, seed: UInt64 = 1
    ) -> PositioningEngine {
        PositioningEngine(
            venue: venue, tables: SharedTables(), settings: PositioningSettings(), effort: effort, seed: seed)
    }

    private func hear(_ engine: inout PositioningEngine, at place: MapPoint, _ seconds: Double) {
        for (index, point) in Stage.beaconPoints.enumerated() {
            engine.observe(
                .sighting(
                    Sighting(
                        instant: Instant(seconds: seconds), beacon: Stage.identity(index),
                        rssi: Stage.rssi(from: point, to: place))))
        }
    }

    func testACoarserFieldHasAQuarterOfTheCellsInTheSameStore() {
        let tables = SharedTables()
        let fine = tables.field(of: Stage.surveyedVenue, model: SignalModel())
        let coarse = tables.field(of: Stage.surveyedVenue, model: SignalModel(), cellScale: 2)
        XCTAssertEqual(coarse.maps[0].grid.cellSize, 2 * fine.maps[0].grid.cellSize)
        XCTAssertEqual(coarse.maps[0].grid.count * 4, fine.maps[0].grid.count)
        XCTAssertEqual(tables.field(of: Stage.surveyedVenue, model: SignalModel()).maps[0].grid, fine.maps[0].grid)
        // The tables of the standard model belong to the same grid.
        let place = MapPoint(x: 8, y: 8)
        for beacon in coarse.beacons.indices {
            let values = [fine, coarse].map { $0.expectation(of: beacon, at: place, on: Stage.hall)?.rssi ?? 0 }
            XCTAssertEqual(values[0], values[1], accuracy: 3, "beacon \(beacon)")
        }
    }

    func testAnExchangedWorkspaceLeavesTheParticlesOnly() {
        var (engine, owner) = (engine(), engine())
        var workspace = ParticleFilter.Workspace()
        for second in 1...6 {
            hear(&engine, at: MapPoint(x: 5, y: 5), Double(second))
            hear(&owner, at: MapPoint(x: 5, y: 5), Double(second))
            engine.exchangeWorkspace(with: &workspace)
            engine.advance(to: Instant(seconds: Double(second)))
            engine.exchangeWorkspace(with: &workspace)
            owner.advance(to: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(engine.estimate(on: Stage.hall), owner.estimate(on: Stage.hall))
        XCTAssertEqual(engine.filter.workspace.byteCount, 0)
        XCTAssertGreaterThan(workspace.byteCount, 100_000)
        XCTAssertLessThan(engine.byteCount, 140_000)
        XCTAssertGreaterThan(owner.byteCount, engine.byteCount + 100_000)
    }

    func testACopyWithAnotherSeedHasThePositionsOfAnEngineWithThatSeed() {
        var (copy, original) = (engine(seed: 1), engine(seed: 2))
        copy.begin(seed: 2)
        for second in 1...4 {
            hear(&copy, at: MapPoint(x: 15, y: 5), Double(second))
            hear(&original, at: MapPoint(x: 15, y: 5), Double(second))
            copy.advance(to: Instant(seconds: Double(second)))
            original.advance(to: Instant(seconds: Double(second)))
        }
        XCTAssertEqual(copy.estimate(on: Stage.hall), original.estimate(on: Stage.hall))
    }

    func testAnImprobableMapHasTheFewestParticles() {
        var effort = PositioningEffort()
        effort.fewestParticles = 20
        for (effort, expected) in [(PositioningEffort(), 100), (effort, 20)] {
            var engine = engine(effort, venue: Stage.twoFloors)
            for second in 1...20 {
                hear(&engine, at: MapPoint(x: 2.5, y: 2.5), Double(second))
                engine.advance(to: Instant(seconds: Double(second)))
            }
            XCTAssertEqual(engine.filter.particles.range(of: 1).count, expected)
        }
    }

    /// Without a new reading, the readings of the last seconds are those of an earlier place.
    func testAnEngineOfAFleetMakesNoGlobalUpdateWithoutANewReading() {
        var effort = PositioningEffort()
        effort.needsNewEvidence = true
        for (effort, makesUpdates) in [(PositioningEffort(), true), (effort, false)] {
            var engine = engine(effort)
            hear(&engine, at: MapPoint(x: 5, y: 5), 0)
            engine.advance(to: .zero)
            for second in 1...9 { engine.advance(to: Instant(seconds: Double(second))) }
            XCTAssertEqual(engine.lastLook == .zero, !makesUpdates)
            hear(&engine, at: MapPoint(x: 5, y: 5), 10)
            engine.advance(to: Instant(seconds: 10))
            XCTAssertEqual(engine.lastLook, Instant(seconds: 10))
        }
    }

    func testAStatedPowerSetsTheOffsetAndItsDeviation() {
        var engine = engine()
        engine.begin(power: Stage.power - 8)
        XCTAssertEqual(engine.firstReceiver.value, -8, accuracy: 1e-9)
        XCTAssertEqual(engine.firstReceiver.variance, 25, accuracy: 1e-9)
        engine.begin(power: .nan)
        XCTAssertEqual(engine.firstReceiver.value, -8, accuracy: 1e-9)
    }

    func testASummaryContinuesTheBeliefOnEachMap() throws {
        var engine = engine(venue: Stage.twoFloors)
        for second in 1...10 {
            hear(&engine, at: MapPoint(x: 6, y: 12), Double(second))
            engine.advance(to: Instant(seconds: Double(second)))
        }
        let summary = try XCTUnwrap(engine.summary)
        XCTAssertTrue(summary.isValid)
        XCTAssertEqual(summary.instant, Instant(seconds: 10))
        var later = self.engine(venue: Stage.twoFloors, seed: 9)
        later.begin(with: summary)
        let (before, after) = (
            try XCTUnwrap(engine.estimate(on: Stage.hall)), try XCTUnwrap(later.estimate(on: Stage.hall))
        )
        XCTAssertLessThan(before.point.distance(to: after.point), 0.5)
        XCTAssertEqual(after.radius, before.radius, accuracy: 0.5)
        for (map, probability) in engine.mapProbabilities {
            XCTAssertEqual(try XCTUnwrap(later.mapProbabilities[map]), probability, accuracy: 2e-3)
        }
        XCTAssertEqual(later.offsets[0].value, engine.offsets[0].value, accuracy: 1e-6)
        XCTAssertEqual(later.consistencyRatio, engine.consistencyRatio)
    }

    func testAnInvalidSummaryIsIgnored() throws {
        var engine = engine()
        hear(&engine, at: MapPoint(x: 6, y: 12), 1)
        engine.advance(to: Instant(seconds: 1))
        let summary = try XCTUnwrap(engine.summary)
        let changes: [(inout BeliefSummary) -> Void] = [
            { $0.places = [] }, { $0.places[0].mapIndex = 5 }, { $0.places[0].mapIndex = -1 },
            { $0.places[0].probability = 1.5 }, { $0.places[0].mean.x = .nan }, { $0.places[0].covariance.xx = -1 },
            { $0.places[0].covariance.xy = 1e9 }, { $0.places[0].walkingShare = .infinity },
            { $0.places[0].velocity.y = 1e9 }, { $0.places[0].velocityVariance = -1 }, { $0.offset.variance = -1 },
            { $0.consistency.weight = .nan }, { $0.places.append($0.places[0]) },
        ]
        for (index, change) in changes.enumerated() {
            var damaged = summary
            change(&damaged)
            var later = self.engine()
            later.begin(with: damaged)
            XCTAssertNil(later.estimate(on: Stage.hall), "change \(index)")
        }
    }

    func testTheExpectedRSSIOverABeliefIsThatAtItsPlace() throws {
        var engine = engine()
        let place = MapPoint(x: 10, y: 8)
        XCTAssertNil(engine.expectedRSSI(of: Stage.identity(1), on: Stage.hall))
        for second in 1...15 {
            hear(&engine, at: place, Double(second))
            engine.advance(to: Instant(seconds: Double(second)))
        }
        let expected = try XCTUnwrap(engine.expectedRSSI(of: Stage.identity(1), on: Stage.hall))
        XCTAssertEqual(expected.mean, Stage.rssi(from: Stage.beaconPoints[1], to: place), accuracy: 2)
        let certain = try XCTUnwrap(engine.expectedRSSI(of: Stage.identity(1), at: place, on: Stage.hall))
        XCTAssertGreaterThan(expected.deviation, certain.deviation)
        XCTAssertNil(engine.expectedRSSI(of: Stage.identity(99), on: Stage.hall))
    }
}
