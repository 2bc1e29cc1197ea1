import IndoorLocalization
import IndoorLocalizationTesting
import VenueModel
import XCTest

final class CoverageAnalysisTests: XCTestCase {
    private func grid(_ venue: Venue, _ settings: CoverageSettings = CoverageSettings()) throws -> CoverageGrid {
        try XCTUnwrap(CoverageAnalysis(venue: venue, settings: settings).expectedErrors(on: CoverageHall.map))
    }

    func testMoreBeaconsReduceTheExpectedError() throws {
        let layouts = [(2, 1), (2, 2), (3, 2), (4, 3), (6, 4)]
        let errors = try layouts.map { columns, rows in
            try XCTUnwrap(
                grid(CoverageHall.venue(beacons: CoverageHall.lattice(columns: columns, rows: rows))).meanError)
        }
        XCTAssertEqual(errors, errors.sorted(by: >))
        XCTAssertLessThan(errors[4], errors[0] / 2)
    }

    func testTheExpectedErrorAgreesWithThePublishedBound() throws {
        // Positioning notes, table of the bound: 25 m² per beacon, 4 dB, exponent 2.5, 1 m height, all within 25 m:
        // 0.92 m RMS, which is 0.98 m at 68 %. The hall's edge raises it.
        var settings = CoverageSettings()
        settings.signal.pathLossExponent = 2.5
        settings.signal.heightDifference = 1
        settings.signal.readingDeviation = 4
        settings.signal.unseenDeviation = 0
        settings.signal.unsurveyedDeviation = 0
        settings.signal.fastFading = 0
        settings.signal.sensitivity = -120
        settings.receiverDeviation = 0
        let grid = try grid(CoverageHall.venue(beacons: CoverageHall.lattice(columns: 6, rows: 4)), settings)
        let middle = try XCTUnwrap(grid.error(at: MapPoint(x: 15, y: 10)))
        XCTAssertEqual(middle, 1.51 * 0.92 / 2.0.squareRoot(), accuracy: 0.2)
    }

    func testAHallWithoutBeaconsHasTheErrorOfItsSize() throws {
        let grid = try grid(CoverageHall.venue(beacons: []))
        // The standard deviations of a uniform distribution over 30 × 20 m.
        let expected = 1.51 * ((900.0 + 400) / 12 / 2).squareRoot()
        XCTAssertEqual(try XCTUnwrap(grid.meanError), expected, accuracy: 0.1)
        XCTAssertEqual(grid.detectedBeacons.max(), 0)
    }

    func testAWallRaisesTheExpectedErrorBehindIt() throws {
        // All beacons are in the left half; walls divide the hall.
        let beacons = CoverageHall.lattice(columns: 6, rows: 3).filter { $0.x < 15 }
        let open = try grid(CoverageHall.venue(beacons: beacons))
        let walls = [15.5, 15.7, 15.9].map { [MapPoint(x: $0, y: 0), MapPoint(x: $0, y: 20)] }
        let divided = try grid(CoverageHall.venue(beacons: beacons, walls: walls))
        let (behind, before) = (MapPoint(x: 22, y: 10), MapPoint(x: 7, y: 10))
        XCTAssertGreaterThan(
            try XCTUnwrap(divided.error(at: behind)), 1.1 * (try XCTUnwrap(open.error(at: behind))))
        XCTAssertEqual(
            try XCTUnwrap(divided.error(at: before)), try XCTUnwrap(open.error(at: before)), accuracy: 1e-9)
    }

    func testANarrowCorridorOfALargeMapHasAnExpectedError() throws {
        func corners(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> [MapPoint] {
            [
                MapPoint(x: x, y: y), MapPoint(x: x + width, y: y), MapPoint(x: x + width, y: y + height),
                MapPoint(x: x, y: y + height),
            ]
        }
        // The cells of this map are 3.5 m long: none has its centre in the corridor, and a door is still smaller.
        for area in [corners(20, 101.3, 320, 1.2), corners(20.05, 101.3, 0.2, 0.2)] {
            let map = VenueMap(id: 1, name: "Site", level: 0, width: 360, height: 200, walkable: [area])
            var venue = CoverageHall.venue(beacons: [MapPoint(x: 22, y: 102), MapPoint(x: 60, y: 102)])
            venue.maps = [map]
            let grid = try XCTUnwrap(CoverageAnalysis(venue: venue).expectedErrors(on: 1))
            XCTAssertNotNil(grid.meanError)
        }
    }

    func testTheErrorIsUnknownOutsideTheWalkableArea() throws {
        let left = [
            MapPoint(x: 0, y: 0), MapPoint(x: 15, y: 0), MapPoint(x: 15, y: 20), MapPoint(x: 0, y: 20),
        ]
        let grid = try grid(
            CoverageHall.venue(beacons: CoverageHall.lattice(columns: 3, rows: 2), walkable: [left]))
        XCTAssertNotNil(grid.error(at: MapPoint(x: 5, y: 5)))
        XCTAssertNil(grid.error(at: MapPoint(x: 25, y: 5)))
        XCTAssertNil(grid.error(at: MapPoint(x: -1, y: 5)))
    }

    /// Draws readings with the analysis's own noise and locates each place by least squares.
    private func simulatedErrors(_ beacons: [MapPoint], settings: CoverageSettings, seed: UInt64) -> [Double] {
        let venue = CoverageHall.venue(beacons: beacons)
        var positioning = PositioningSettings()
        positioning.method = .trilateration
        positioning.signal = settings.signal
        var generator = SeededGenerator(seed: seed)
        return (0..<150).compactMap { _ in
            let place = MapPoint(x: generator.uniform() * 30, y: generator.uniform() * 20)
            var engine = PositioningEngine(venue: venue, settings: positioning, seed: 0)
            for (index, beacon) in beacons.enumerated() {
                let rssi =
                    CoverageHall.rssi(of: beacon, at: place) + settings.signal.readingDeviation * generator.normal()
                engine.observe(
                    .sighting(
                        Sighting(instant: Instant(seconds: 1), beacon: CoverageHall.identity(index), rssi: rssi)))
            }
            engine.advance(to: Instant(seconds: 1))
            return engine.estimate(on: CoverageHall.map)?.point.distance(to: place)
        }.sorted()
    }

    func testLeastSquaresIsNotBetterThanTheBoundAndFollowsItOverLayouts() throws {
        var settings = CoverageSettings()
        settings.signal.readingDeviation = 4
        settings.signal.unseenDeviation = 0
        settings.signal.unsurveyedDeviation = 0
        settings.signal.fastFading = 0
        settings.signal.sensitivity = -120
        settings.receiverDeviation = 0
        var pairs: [(expected: Double, measured: Double)] = []
        for (columns, rows) in [(2, 2), (3, 2), (4, 3), (6, 4)] {
            let beacons = CoverageHall.lattice(columns: columns, rows: rows)
            let expected = try XCTUnwrap(grid(CoverageHall.venue(beacons: beacons), settings).meanError)
            let measured = simulatedErrors(beacons, settings: settings, seed: 5)
            XCTAssertEqual(measured.count, 150)
            pairs.append((expected, measured[102]))
        }
        for pair in pairs { XCTAssertGreaterThan(pair.measured, 0.9 * pair.expected) }
        XCTAssertEqual(pairs.map(\.measured), pairs.map(\.measured).sorted(by: >))
        // In the densest layout, least squares is near the bound.
        XCTAssertLessThan(pairs[3].measured, 1.8 * pairs[3].expected)
    }

    func testASimulatedWalkHasLargerErrorsWhereTheExpectedErrorIsLarger() throws {
        var settings = SimulationSettings()
        settings.radio.exponent = 2.4
        settings.radio.beaconHeight = 1.7
        let path = WalkPath(
            speed: 1,
            points: [(3, 3), (27, 3), (27, 10), (3, 10), (3, 17), (27, 17)].map {
                WalkPath.Point(mapID: CoverageHall.map, point: MapPoint(x: $0.0, y: $0.1))
            })
        var pairs: [(expected: Double, measured: Double)] = []
        for (columns, rows) in [(2, 1), (3, 2), (6, 4)] {
            let venue = CoverageHall.venue(beacons: CoverageHall.lattice(columns: columns, rows: rows))
            let expected = try XCTUnwrap(grid(venue).meanError)
            let simulator = try WalkSimulator(venue: venue, path: path, settings: settings, seed: 3)
            var positioning = PositioningSettings()
            positioning.method = .trilateration
            var engine = PositioningEngine(venue: venue, settings: positioning, seed: 0)
            var errors: [Double] = []
            for entry in simulator.entries() {
                switch entry {
                case .measurement(let reading):
                    if case .sighting = reading { engine.observe(reading) }
                case .truth(let truth):
                    engine.advance(to: truth.instant)
                    guard let point = truth.point, truth.instant.seconds > 5,
                        let estimate = engine.estimate(on: CoverageHall.map)
                    else { continue }
                    errors.append(estimate.point.distance(to: point))
                case .header: break
                }
            }
            XCTAssertGreaterThan(errors.count, 5)
            pairs.append((expected, errors.reduce(0, +) / Double(errors.count)))
        }
        XCTAssertEqual(pairs.map(\.measured), pairs.map(\.measured).sorted(by: >))
    }
}

final class ProposedBeaconTests: XCTestCase {
    func testARemovedBeaconIsProposedAgainInASymmetricHall() throws {
        var beacons = CoverageHall.lattice(columns: 3, rows: 3)
        let removed = beacons.remove(at: 4)
        let proposals = CoverageAnalysis(venue: CoverageHall.venue(beacons: beacons)).proposedBeacons(count: 1)
        let proposed = try XCTUnwrap(proposals.first)
        XCTAssertEqual(proposed.mapID, CoverageHall.map)
        XCTAssertLessThan(proposed.point.distance(to: removed), 4)
    }

    func testEachProposalReducesTheMeanErrorOfTheOnesBefore() throws {
        let venue = CoverageHall.venue(beacons: [MapPoint(x: 3, y: 3)])
        let analysis = CoverageAnalysis(venue: venue)
        let before = try XCTUnwrap(analysis.expectedErrors(on: CoverageHall.map)?.meanError)
        let proposals = analysis.proposedBeacons(count: 4)
        XCTAssertEqual(proposals.count, 4)
        let errors = [before] + proposals.map(\.meanError)
        XCTAssertEqual(errors, errors.sorted(by: >))
        XCTAssertLessThan(errors[4], 0.6 * before)
        // The last mean error is that of a venue with all of these beacons.
        let all = CoverageHall.venue(beacons: venue.beacons.map(\.point) + proposals.map(\.point))
        let after = try XCTUnwrap(CoverageAnalysis(venue: all).expectedErrors(on: CoverageHall.map)?.meanError)
        XCTAssertEqual(after, errors[4], accuracy: 1e-6)
        XCTAssertNil(proposals[0].shareWithinTarget)
    }

    func testProposalsRaiseTheShareWithinTheTarget() throws {
        var settings = CoverageSettings()
        settings.target = 4
        let venue = CoverageHall.venue(beacons: CoverageHall.lattice(columns: 2, rows: 1))
        let proposals = CoverageAnalysis(venue: venue, settings: settings).proposedBeacons(count: 6)
        let shares = try proposals.map { try XCTUnwrap($0.shareWithinTarget) }
        XCTAssertGreaterThan(try XCTUnwrap(shares.last), shares[0] + 0.2)
    }

    func testProposalsAtWallsAreNearWalls() {
        var settings = CoverageSettings()
        settings.placement = .atWalls(within: 1.2)
        let outline = [
            MapPoint(x: 0, y: 0), MapPoint(x: 30, y: 0), MapPoint(x: 30, y: 20), MapPoint(x: 0, y: 20),
            MapPoint(x: 0, y: 0),
        ]
        let venue = CoverageHall.venue(beacons: [MapPoint(x: 15, y: 10)], walls: [outline])
        let proposals = CoverageAnalysis(venue: venue, settings: settings).proposedBeacons(count: 4)
        XCTAssertEqual(proposals.count, 4)
        for proposal in proposals {
            let point = proposal.point
            XCTAssertLessThanOrEqual(min(point.x, point.y, 30 - point.x, 20 - point.y), 1.2)
        }
    }

    func testAnUnknownMapHasNoErrorsAndNoProposals() {
        let analysis = CoverageAnalysis(venue: CoverageHall.venue(beacons: []))
        XCTAssertNil(analysis.expectedErrors(on: 9))
        XCTAssertEqual(analysis.proposedBeacons(count: 2, on: 9), [])
    }
}

/// What counts as inside of a building, on plans with a garden around it.
final class MapInteriorTests: XCTestCase {
    private static func rectangle(_ x: ClosedRange<Double>, _ y: ClosedRange<Double>) -> [MapPoint] {
        [
            MapPoint(x: x.lowerBound, y: y.lowerBound), MapPoint(x: x.upperBound, y: y.lowerBound),
            MapPoint(x: x.upperBound, y: y.upperBound), MapPoint(x: x.lowerBound, y: y.upperBound),
        ]
    }

    /// The outer walls of a house at 8…22 × 6…14 m on a plan of 30 × 20 m, with a door of 1 m in the north and the south.
    private static let house: [[MapPoint]] = [
        [
            MapPoint(x: 14.5, y: 6), MapPoint(x: 8, y: 6), MapPoint(x: 8, y: 14), MapPoint(x: 14.5, y: 14),
        ],
        [
            MapPoint(x: 15.5, y: 6), MapPoint(x: 22, y: 6), MapPoint(x: 22, y: 14), MapPoint(x: 15.5, y: 14),
        ],
    ]
    private static let (inHouse, inGarden) = (
        [MapPoint(x: 9, y: 7), MapPoint(x: 15, y: 10), MapPoint(x: 21, y: 13), MapPoint(x: 15, y: 7)],
        [MapPoint(x: 3, y: 10), MapPoint(x: 15, y: 3), MapPoint(x: 15, y: 17), MapPoint(x: 28, y: 18)]
    )

    private func assert(
        _ venue: Venue, inside: [MapPoint], outside: [MapPoint], line: UInt = #line
    ) {
        let interior = MapInterior(of: venue.maps[0], in: venue)
        XCTAssertTrue(interior.isKnown, line: line)
        for point in inside { XCTAssertTrue(interior.contains(point), "\(point)", line: line) }
        for point in outside { XCTAssertFalse(interior.contains(point), "\(point)", line: line) }
    }

    func testWallsWithDoorsEncloseAHouse() {
        assert(CoverageHall.venue(beacons: [], walls: Self.house), inside: Self.inHouse, outside: Self.inGarden)
    }

    func testRoomsEncloseTheCorridorBetweenThem() {
        var venue = CoverageHall.venue(beacons: [])
        for (index, x) in [8...12.0, 13...17, 18...22].enumerated() {
            for (row, y) in [6...9.0, 11...14].enumerated() {
                venue.rooms.append(
                    Room(
                        id: 2 * index + row, name: "Room", mapID: CoverageHall.map,
                        area: .polygon(Self.rectangle(x, y))))
            }
        }
        let corridor = [MapPoint(x: 9.5, y: 10), MapPoint(x: 15, y: 10), MapPoint(x: 20.5, y: 10)]
        assert(venue, inside: corridor + [MapPoint(x: 10, y: 7)], outside: Self.inGarden)
    }

    /// The plan ends at the outer walls, which aren't described.
    func testAPlanWithoutMarginIsInsideUpToItsEdges() {
        let partitions = [
            [MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 12)], [MapPoint(x: 20, y: 20), MapPoint(x: 20, y: 8)],
            [MapPoint(x: 0, y: 12), MapPoint(x: 8, y: 12)], [MapPoint(x: 30, y: 8), MapPoint(x: 22, y: 8)],
        ]
        assert(
            CoverageHall.venue(beacons: [], walls: partitions),
            inside: Self.inHouse + Self.inGarden + [MapPoint(x: 0.5, y: 0.5), MapPoint(x: 29.5, y: 19.5)], outside: [])
    }

    func testTheNotchOfAnAngledBuildingIsOutside() {
        let angle = [
            MapPoint(x: 4, y: 4), MapPoint(x: 26, y: 4), MapPoint(x: 26, y: 9), MapPoint(x: 11, y: 9),
            MapPoint(x: 11, y: 17), MapPoint(x: 4, y: 17), MapPoint(x: 4, y: 4),
        ]
        assert(
            CoverageHall.venue(beacons: [], walls: [angle]), inside: [MapPoint(x: 7, y: 15), MapPoint(x: 24, y: 6)],
            outside: [MapPoint(x: 20, y: 14), MapPoint(x: 13, y: 11)])
    }

    func testWalkableAreasAloneCountWhereTheyExist() {
        let garden = Self.rectangle(1...5, 8...12)
        assert(
            CoverageHall.venue(beacons: [], walls: Self.house, walkable: [garden]),
            inside: [MapPoint(x: 3, y: 10)], outside: [MapPoint(x: 15, y: 10)])
    }

    func testSurveyedPlacesAreInside() {
        let place = RadioMap.Fingerprint(
            mapID: CoverageHall.map, point: MapPoint(x: 25, y: 17), duration: 1, readings: [])
        let map = RadioMap(beacons: [], fingerprints: [place], pathLossExponent: 2)
        assert(
            CoverageHall.venue(beacons: [], walls: Self.house, radioMap: map),
            inside: Self.inHouse + [MapPoint(x: 26, y: 18)], outside: Array(Self.inGarden.prefix(3)))
    }

    /// One room of many is described, and the beacons are everywhere.
    func testTheWholePlanCountsIfManyBeaconsWouldBeOutside() {
        var venue = CoverageHall.venue(beacons: CoverageHall.lattice(columns: 3, rows: 2))
        venue.rooms = [
            Room(id: 1, name: "Store", mapID: CoverageHall.map, area: .polygon(Self.rectangle(1...4, 1...4)))
        ]
        XCTAssertFalse(MapInterior(of: venue.maps[0], in: venue).isKnown)
        XCTAssertTrue(MapInterior(of: venue.maps[0], in: venue).contains(MapPoint(x: 20, y: 10)))
    }

    func testNothingIsKnownOfAPlanWithoutRoomsAndWalls() {
        var venue = CoverageHall.venue(beacons: [])
        XCTAssertEqual(MapInterior.unknown(in: venue), [], "a map without an image has no margin")
        venue.maps[0].imagePath = "plan.png"
        XCTAssertEqual(MapInterior.unknown(in: venue).map(\.id), [CoverageHall.map])
        venue.maps[0].walls = Self.house
        XCTAssertEqual(MapInterior.unknown(in: venue), [])
    }

    func testBeaconsAreProposedInTheHouseOnly() {
        let venue = CoverageHall.venue(beacons: [MapPoint(x: 15, y: 10)], walls: Self.house)
        let analysis = CoverageAnalysis(venue: venue)
        let proposals = analysis.proposedBeacons(count: 6)
        XCTAssertEqual(proposals.count, 6)
        for proposal in proposals {
            XCTAssertTrue(
                (8...22).contains(proposal.point.x) && (6...14).contains(proposal.point.y), "\(proposal.point)")
        }
        let grid = analysis.expectedErrors(on: CoverageHall.map)
        XCTAssertNotNil(grid?.error(at: MapPoint(x: 9, y: 13)))
        XCTAssertNil(grid?.error(at: MapPoint(x: 3, y: 3)))
    }

    func testAGardenIsNoGapOfASurvey() {
        let venue = CoverageHall.venue(beacons: [], walls: Self.house)
        let gaps = venue.surveyGaps(around: [CoverageHall.map: [MapPoint(x: 10, y: 10)]])
        XCTAssertEqual(gaps.count, 1)
        XCTAssertGreaterThan(gaps.first?.point.x ?? 0, 15)
        XCTAssertLessThan(gaps.first?.area ?? 1000, 14 * 8)
    }
}
