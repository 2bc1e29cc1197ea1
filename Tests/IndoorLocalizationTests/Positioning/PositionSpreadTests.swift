import XCTest

@testable import IndoorPositioning
import IndoorLocalization

/// The ellipse and the rooms of a position.
final class PositionSpreadTests: XCTestCase {
    func testTheEllipseOfARoundErrorIsACircle() throws {
        let ellipse = try XCTUnwrap(PositionCovariance(xx: 4, xy: 0, yy: 4).ellipse(probability: 0.68))
        // √(−2 ln 0.32) = 1.5096 deviations.
        XCTAssertEqual(ellipse.semiMajorAxis, 3.019, accuracy: 1e-3)
        XCTAssertEqual(ellipse.semiMinorAxis, 3.019, accuracy: 1e-3)
    }

    /// The plan's y axis points down: a corridor from the upper left to the lower right lies at 135° from the top.
    func testTheLongAxisHasACompassDirection() throws {
        let corridor = try XCTUnwrap(PositionCovariance(xx: 5, xy: 4, yy: 5).ellipse())
        XCTAssertEqual(corridor.direction, 135, accuracy: 1e-9)
        XCTAssertEqual(corridor.semiMajorAxis / corridor.semiMinorAxis, 3, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(PositionCovariance(xx: 5, xy: -4, yy: 5).ellipse()).direction, 45, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(PositionCovariance(xx: 9, xy: 0, yy: 1).ellipse()).direction, 90, accuracy: 1e-9)
        XCTAssertEqual(try XCTUnwrap(PositionCovariance(xx: 1, xy: 0, yy: 9).ellipse()).direction, 0, accuracy: 1e-9)
    }

    func testTheEllipseContainsItsStatedShareOfErrors() throws {
        var generator = SeededGenerator(seed: 4)
        let covariance = PositionCovariance(xx: 9, xy: 3, yy: 4)
        for probability in [0.3, 0.68, 0.95] {
            let ellipse = try XCTUnwrap(covariance.ellipse(probability: probability))
            let course = ellipse.direction * .pi / 180
            var inside = 0
            for _ in 0..<20_000 {
                // A Cholesky factor of the matrix: (3, 0), (1, √3).
                let (u, v) = generator.normalPair()
                let (x, y) = (3 * u, u + 3.0.squareRoot() * v)
                let (along, across) = (x * sin(course) - y * cos(course), x * cos(course) + y * sin(course))
                inside +=
                    pow(along / ellipse.semiMajorAxis, 2) + pow(across / ellipse.semiMinorAxis, 2) <= 1 ? 1 : 0
            }
            XCTAssertEqual(Double(inside) / 20_000, probability, accuracy: 0.012, "seed 4")
        }
    }

    func testAnInvalidCovarianceHasNoEllipse() {
        XCTAssertNil(PositionCovariance(xx: 1, xy: 2, yy: 1).ellipse())
        XCTAssertNil(PositionCovariance(xx: .nan, xy: 0, yy: 1).ellipse())
        for probability in [0, 1, -0.5, 2, .nan] {
            XCTAssertNil(PositionCovariance(xx: 1, xy: 0, yy: 1).ellipse(probability: probability))
        }
    }

    // MARK: - Of a session

    /// Two rooms side by side, and a beacon in the left one.
    private static func venue() -> Venue {
        var venue = SessionStage.office
        venue.rooms = [
            Room(id: 1, name: "left", mapID: 10, area: .polygon(square(0..<5))),
            Room(id: 2, name: "right", mapID: 10, area: .polygon(square(5..<40))),
            Room(id: 3, name: "upstairs", mapID: 11, area: .polygon(square(0..<40))),
            Room(id: 4, name: "trained", mapID: 10),
        ]
        return venue
    }

    private static func square(_ x: Range<Double>) -> [MapPoint] {
        [(x.lowerBound, 0), (x.upperBound, 0), (x.upperBound, 30), (x.lowerBound, 30)].map { MapPoint(x: $0, y: $1) }
    }

    private func positions(of venue: Venue, seed: UInt64 = 0) -> [Position] {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 2000
        var replay = SessionReplay(venues: [venue], settings: settings, seed: seed)
        var outputs = replay.start()
        for reading in LocalizerStage.walk(from: 0, for: 10) { outputs += replay.handle(reading) }
        return outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
    }

    func testAPositionListsTheRoomsThatItCanBeIn() throws {
        let last = try XCTUnwrap(positions(of: Self.venue()).last)
        // The beacons hang above the wall between both: neither is sure.
        XCTAssertEqual(Set(last.rooms.map(\.name)), ["left", "right"])
        XCTAssertEqual(last.rooms.map(\.probability), last.rooms.map(\.probability).sorted(by: >))
        let certainty = try XCTUnwrap(last.floorCertainty)
        XCTAssertEqual(last.rooms.reduce(0) { $0 + $1.probability }, certainty, accuracy: 0.02)
        for room in last.rooms { XCTAssertGreaterThan(room.probability, 0.2, "\(last.rooms)") }
    }

    func testAPositionOmitsRoomsWithoutAShapeOrOnOtherFloors() throws {
        for position in positions(of: Self.venue()) {
            XCTAssertTrue(Set(position.rooms.map(\.id)).isSubset(of: [1, 2]), "\(position.rooms)")
        }
        var venue = SessionStage.office
        venue.rooms = []
        XCTAssertTrue(positions(of: venue).allSatisfy(\.rooms.isEmpty))
    }

    func testTheEllipseIsAsWideAsTheRadius() throws {
        let all = positions(of: Self.venue())
        XCTAssertFalse(all.isEmpty)
        for position in all {
            let covariance = try XCTUnwrap(position.covariance)
            // The circle of 68 % around a round error of the same total variance.
            XCTAssertEqual(1.51 * ((covariance.xx + covariance.yy) / 2).squareRoot(), position.radius, accuracy: 1e-6)
            XCTAssertNotNil(covariance.ellipse())
        }
    }

    /// A long corridor whose beacons stand in a row: across it little is known.
    func testTheEllipseIsLongAlongTheUncertainDirection() throws {
        var filter = ParticleFilter(walls: [WallIndex(walls: [])], motion: MotionModel(), count: 400, seed: 1)
        let points = (0..<400).map { MapPoint(x: 10 + Double($0 % 20) / 2, y: 5 + Double($0 / 20) / 20) }
        filter.particles.place(points, ReceiverOffset(deviation: 0))
        for index in points.indices { filter.particles.weight[index] = 1 }
        let covariance = try XCTUnwrap(filter.covariance(mapIndex: 0, around: MapPoint(x: 14.75, y: 5.475)))
        XCTAssertEqual(covariance.xx, 8.3125, accuracy: 1e-3)
        XCTAssertEqual(covariance.yy, 0.083_125, accuracy: 1e-4)
        XCTAssertEqual(covariance.xy, 0, accuracy: 1e-3)
        XCTAssertNil(filter.covariance(mapIndex: 1, around: MapPoint(x: 0, y: 0)))
    }
}
