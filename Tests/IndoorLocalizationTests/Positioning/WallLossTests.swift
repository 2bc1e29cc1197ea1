import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import IndoorPositioning
@testable import VenueModel

final class WallCountTests: XCTestCase {
    /// Rooms with joints, a polyline, walls in all directions, and walls of no length.
    private let walls: [[MapPoint]] = [
        [(2, 2), (8, 2), (8, 6), (2, 6), (2, 2)], [(8, 4), (14, 4)], [(3, 8), (6, 11), (9, 8), (12, 11)],
        [(10, 0), (10, 3.5)], [(5, 4), (5, 4)], [(0, 7), (15, 7.001)],
    ].map { $0.map { MapPoint(x: $0.0, y: $0.1) } }

    func testTheCountsOfAGridAreThoseOfItsCells() {
        let map = VenueMap(id: 1, name: "rooms", level: 0, width: 15, height: 12, walls: walls)
        let crossings = WallCrossings(of: map)
        var generator = SeededGenerator(seed: 1)
        // On walls, on joints, in rooms, at the edge, and outside of the plan.
        var points = [(8, 2), (5, 2), (8, 4), (3, 3), (0, 0), (15, 7), (-4, 20), (2.5, 6), (6, 7), (12, 7.0008)]
            .map { MapPoint(x: $0.0, y: $0.1) }
        points += (0..<40).map { _ in MapPoint(x: 15 * generator.uniform(), y: 12 * generator.uniform()) }
        func grid(_ x: Double, _ y: Double, _ edge: Double, _ columns: Int, _ rows: Int) -> MapGrid {
            let size = MapPoint(x: (Double(columns) - 0.1) * edge, y: (Double(rows) - 0.1) * edge)
            return MapGrid(from: MapPoint(x: x, y: y), to: MapPoint(x: x, y: y) + size, cellSize: edge)
        }
        let rectangles = [
            (grid(0, 0, 0.5, 30, 24), 0..<30, 0..<24), (grid(0, 0, 0.5, 30, 24), 5..<20, 3..<11),
            // The centers of its cells are on the walls and their joints.
            (grid(-0.5, -0.5, 1, 16, 13), 0..<16, 0..<13), (grid(-8.15, -4.15, 2.3, 12, 9), 0..<12, 0..<9),
        ]
        var most = 0
        for point in points {
            for (grid, columns, rows) in rectangles {
                let counts = crossings.counts(from: point, to: grid, columns: columns, rows: rows)
                XCTAssertEqual(counts.count, columns.count * rows.count)
                for (place, count) in counts.enumerated() {
                    let (row, column) = place.quotientAndRemainder(dividingBy: columns.count)
                    let center = grid.center(
                        of: (rows.lowerBound + row) * grid.columns + columns.lowerBound + column)
                    let expected = crossings.count(from: point, to: center)
                    most = max(most, expected)
                    guard Int(count) != expected else { continue }
                    return XCTFail("\(count) walls, not \(expected), from \(point) to \(center)")
                }
            }
        }
        XCTAssertGreaterThan(most, 5)
    }

    func testTheNearestCellOfAGridIsFound() {
        let grid = MapGrid(from: MapPoint(x: 0, y: 0), to: MapPoint(x: 10, y: 4), cellSize: 0.5)
        XCTAssertEqual([grid.columns, grid.rows], [20, 8])
        XCTAssertEqual(grid.nearestCell(to: MapPoint(x: 0.7, y: 0.3)), 1)
        XCTAssertEqual(grid.nearestCell(to: MapPoint(x: 9.9, y: 3.9)), 159)
        XCTAssertEqual(grid.nearestCell(to: MapPoint(x: -3, y: 1e12)), 140)
    }

    func testAMapOfAnySizeHasATableOfABoundedSize() {
        let sizes: [(Double, Double)] = [
            (400, 250), (1e6, 0.5), (0, 0), (.infinity, 4), (.nan, 4), (.infinity, .infinity), (1e300, 1e300),
        ]
        for (width, height) in sizes {
            let map = VenueMap(id: 1, name: "hall", level: 0, width: width, height: height, walls: [])
            let table = WallCounts(from: MapPoint(x: 1, y: 1), on: map, WallCrossings(of: map))
            XCTAssertLessThanOrEqual(table.cellCount, 250_000, "\(width)")
            XCTAssertEqual(table.count(to: MapPoint(x: width, y: .nan)), 0)
        }
        let large = VenueMap(id: 1, name: "hall", level: 0, width: 400, height: 250, walls: [])
        XCTAssertLessThanOrEqual(
            WallCounts(from: MapPoint(x: 1, y: 1), on: large, WallCrossings(of: large)).cellCount, 41_000)
    }
}

final class WallLossTests: XCTestCase {
    private static let wall = [MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 12)]
    private static let second = [MapPoint(x: 14, y: 6), MapPoint(x: 14, y: 12)]

    private static func identity(_ index: Int) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0xA, low: 0xB), major: 1, minor: UInt16(index))
    }

    /// Two rooms side by side, and a third behind the second half of the right one.
    private static func venue(walls: [[MapPoint]] = [wall, second]) -> Venue {
        let points = [(2.0, 2.0), (2, 10), (8, 6), (12, 2), (12, 10), (18, 2), (18, 10)]
        return Venue(
            id: 1, name: "rooms",
            maps: [
                VenueMap(id: 1, name: "ground", level: 0, width: 20, height: 12, walls: walls),
                VenueMap(id: 2, name: "upper", level: 1, width: 20, height: 12, walls: walls),
            ],
            beacons: points.enumerated().map { index, point in
                VenueBeacon(
                    identity: identity(index), mapID: 1, point: MapPoint(x: point.0, y: point.1), measuredPower: -60)
            })
    }

    func testEachWallOfTheOwnMapWeakensTheExpectedLevel() throws {
        var model = SignalModel()
        let open = SignalField(venue: Self.venue(), model: model)
        model.wallLoss = 5
        let walled = SignalField(venue: Self.venue(), model: model)
        for (point, walls) in [((5.0, 2.0), 0.0), ((12, 2), 1), ((18, 3), 1), ((18, 10), 2)] {
            let place = MapPoint(x: point.0, y: point.1)
            let before = try XCTUnwrap(open.expectation(of: 1, at: place, on: 1)).rssi
            let after = try XCTUnwrap(walled.expectation(of: 1, at: place, on: 1)).rssi
            XCTAssertEqual(before - after, 5 * walls, accuracy: 1e-4, "\(point)")
            // A signal to another floor doesn't pass the walls of its own.
            XCTAssertEqual(
                open.expectation(of: 1, at: place, on: 2)?.rssi, walled.expectation(of: 1, at: place, on: 2)?.rssi)
        }
        // A beacon is received less often behind walls: fewer detections of all beacons together.
        let cell = try XCTUnwrap(open.maps[0].grid.cell(at: MapPoint(x: 18, y: 10)))
        XCTAssertLessThan(walled.maps[0].logRate[cell], open.maps[0].logRate[cell] - 0.05)
    }

    func testTheWallsOfASurveyedVenueAreInItsSurvey() {
        var model = SignalModel()
        model.wallLoss = 5
        let place = RadioMap.Fingerprint(
            mapID: 1, point: MapPoint(x: 18, y: 10), duration: 2,
            readings: [RadioMap.Reading(beacon: 0, rssi: -80, count: 2)])
        var venue = Self.venue()
        venue.radioMap = RadioMap(
            beacons: [RadioMap.Beacon(identity: Self.identity(0), mapID: 1, point: MapPoint(x: 2, y: 2), power: -60)],
            fingerprints: [place], pathLossExponent: 2.4, readingDeviation: 3)
        let field = SignalField(venue: venue, model: model)
        let open = SignalField(venue: venue, model: SignalModel())
        for point in [MapPoint(x: 18, y: 10), MapPoint(x: 12, y: 2)] {
            XCTAssertEqual(
                field.expectation(of: 0, at: point, on: 1)?.rssi, open.expectation(of: 0, at: point, on: 1)?.rssi)
        }
        XCTAssertEqual(model.inEffect(in: venue), SignalModel().inEffect(in: venue))
        XCTAssertEqual(model.inEffect(in: Self.venue(walls: [])), SignalModel().inEffect(in: Self.venue(walls: [])))
        XCTAssertNotEqual(model.inEffect(in: Self.venue()), SignalModel().inEffect(in: Self.venue()))
    }

    /// Pieces of recordings at random places.
    ///
    /// - Parameter sensitivity: the level of which half is received; nil if all signals are.
    private func pieces(
        wallLoss: Double, sensitivity: Double? = nil, in venue: Venue
    ) -> [[FingerprintCutter.Piece]] {
        var generator = SeededGenerator(seed: 2)
        let crossings = WallCrossings(of: venue.maps[0])
        return (0..<8).map { _ in
            (0..<40).map { _ in
                let point = MapPoint(x: 20 * generator.uniform(), y: 12 * generator.uniform())
                var readings: [BeaconIdentity: (sum: Double, count: Int)] = [:]
                for beacon in venue.beacons {
                    let planar = beacon.point.distance(to: point)
                    let level =
                        -60 - 5 * SignalModel().pathLossExponent * log10(planar * planar + 0.25)
                        - wallLoss * Double(crossings.count(from: beacon.point, to: point)) + 4 * generator.normal()
                    let chance = sensitivity.map { 1 / (1 + exp(($0 - level) / 2)) } ?? 1
                    if generator.uniform() < chance { readings[beacon.identity] = (2 * level, 2) }
                }
                return FingerprintCutter.Piece(
                    mapID: 1, point: point, duration: 2, readings: readings, deviation: 0.3)
            }
        }
    }

    func testTheLossThroughAWallIsLearned() throws {
        let venue = Self.venue()
        for loss in [0.0, 2, 6] {
            let calibration = try XCTUnwrap(
                CalibrationFit(venue: venue, model: SignalModel()).calibration(
                    of: pieces(wallLoss: loss, in: venue)))
            let wallLoss = try XCTUnwrap(calibration.wallLoss)
            XCTAssertEqual(wallLoss.value, loss, accuracy: 0.5)
            XCTAssertLessThan(wallLoss.standardError, 0.7)
            XCTAssertGreaterThan(wallLoss.readings, 500)
            // The walls don't count as weak beacons: the powers stay those of the packet.
            for power in calibration.powers { XCTAssertEqual(power.value, -60, accuracy: 1) }
            XCTAssertEqual(calibration.applied(to: PositioningSettings()).signal.wallLoss, wallLoss.value)
            XCTAssertEqual(calibration.settings.map(\.key).last, "positioning.signal.wallLoss")
        }
    }

    /// Most signals through two walls are too weak, and those that are received are the strongest of them.
    func testTheLossIsLearnedThoughWeakSignalsAreMissing() throws {
        let venue = Self.venue()
        let recordings = pieces(wallLoss: 6, sensitivity: -88, in: venue)
        let heard = recordings.joined().reduce(0) { $0 + $1.readings.count }
        XCTAssertLessThan(heard, 8 * 40 * 7 * 3 / 4)
        let calibration = try XCTUnwrap(
            CalibrationFit(venue: venue, model: SignalModel()).calibration(of: recordings))
        XCTAssertEqual(try XCTUnwrap(calibration.wallLoss).value, 6, accuracy: 1)
        XCTAssertEqual(calibration.sensitivity, -88, accuracy: 2.5)
        for power in calibration.powers { XCTAssertEqual(power.value, -60, accuracy: 1.2) }
    }

    /// The mean error of normal levels that are received with a logistic probability, by integration.
    func testReceivedLevelsExceedTheExpectedOneByTheExpectedError() {
        let (deviation, width) = (5.0, 2.0)
        let reception = Reception(level: -85, width: width, deviation: deviation)
        for expected in [-60.0, -75, -80, -85, -90] {
            var (sum, weights) = (0.0, 0.0)
            for error in stride(from: -40.0, through: 40, by: 0.05) {
                let weight =
                    exp(-error * error / (2 * deviation * deviation)) / (1 + exp((-85 - expected - error) / width))
                sum += weight * error
                weights += weight
            }
            XCTAssertEqual(reception.expectedError(at: expected), sum / weights, accuracy: 0.25, "\(expected)")
        }
    }

    func testWithoutWallsTheirLossIsNotLearned() throws {
        let venue = Self.venue(walls: [])
        let calibration = try XCTUnwrap(
            CalibrationFit(venue: venue, model: SignalModel()).calibration(of: pieces(wallLoss: 0, in: venue)))
        XCTAssertNil(calibration.wallLoss)
        XCTAssertFalse(calibration.settings.map(\.key).contains("positioning.signal.wallLoss"))
    }
}
