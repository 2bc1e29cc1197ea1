import IndoorLocalization
import XCTest
@testable import IndoorLocalizationTesting

final class StaticHallTests: XCTestCase {
    private static func hall(
        width: Double = 36, height: Double = 20, walkable: [[MapPoint]] = [], _ settings: StaticHallSettings = .init()
    ) throws -> StaticHall {
        let map = VenueMap(id: 1, name: "hall", level: 0, width: width, height: height, walkable: walkable)
        return try StaticHall(venue: Venue(id: 1, name: "hall", maps: [map]), map: map, settings: settings)
    }

    func testBeaconsAreOnAGridOfTheConfiguredDensity() throws {
        let hall = try Self.hall()
        // 720 m² with one beacon in 50 m²: five by three, each in 48 m².
        XCTAssertEqual(hall.beacons.count, 15)
        XCTAssertEqual(Set(hall.beacons.map(\.point.x)).count, 5)
        XCTAssertEqual(Set(hall.beacons.map(\.identity)).count, 15)
        XCTAssertTrue(hall.beacons.allSatisfy { (0...36).contains($0.point.x) && (0...20).contains($0.point.y) })
    }

    func testShadowingIsConstantUnlessItIsIndependent() throws {
        var settings = StaticHallSettings()
        settings.seconds = 3
        var generator = SeededGenerator(seed: 1)
        let staying = try Self.hall(settings).readings(at: MapPoint(x: 5, y: 5), using: &generator)
        XCTAssertEqual(staying[0], staying[2])
        settings.isIndependent = true
        let changing = try Self.hall(settings).readings(at: MapPoint(x: 5, y: 5), using: &generator)
        XCTAssertNotEqual(changing[0], changing[2])
    }

    func testPlacesAreWalkable() throws {
        let corner = [MapPoint(x: 0, y: 0), MapPoint(x: 6, y: 0), MapPoint(x: 6, y: 6), MapPoint(x: 0, y: 6)]
        let hall = try Self.hall(walkable: [corner])
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<50 {
            let place = try hall.place(using: &generator)
            XCTAssertTrue(place.x <= 6 && place.y <= 6, "\(place)")
        }
    }

    func testAMapWithoutAWalkablePlaceIsAnError() throws {
        XCTAssertThrowsError(try Self.hall(width: 0)) { XCTAssertEqual($0 as? StaticHallError, .noArea(1)) }
        let outside = [MapPoint(x: 50, y: 50), MapPoint(x: 60, y: 50), MapPoint(x: 60, y: 60)]
        let hall = try Self.hall(walkable: [outside])
        var generator = SeededGenerator(seed: 3)
        XCTAssertThrowsError(try hall.place(using: &generator)) {
            XCTAssertEqual($0 as? StaticHallError, .noArea(1))
        }
    }

    func testTheExactMeanOfNoiselessReadingsIsTheTruePlace() throws {
        var settings = StaticHallSettings()
        settings.shadowing = 0.5
        settings.gridEdge = 0.1
        let hall = try Self.hall(width: 12, height: 10, settings)
        let place = MapPoint(x: 4.3, y: 6.2)
        let mean = try XCTUnwrap(ExactPosterior(of: hall).mean(of: hall.beacons.map { hall.mean(of: $0, at: place) }))
        // Half a decibel is about 0.2 m; the mean of the posterior is slightly off its maximum.
        XCTAssertEqual(mean.distance(to: place), 0, accuracy: 0.1)
    }

    func testTheExactMeanOfUninformativeReadingsIsTheMiddle() throws {
        var settings = StaticHallSettings()
        settings.shadowing = 20
        let hall = try Self.hall(width: 12, height: 12, settings)
        let mean = try XCTUnwrap(ExactPosterior(of: hall).mean(of: hall.beacons.map { _ in -75 }))
        XCTAssertEqual(mean.distance(to: MapPoint(x: 6, y: 6)), 0, accuracy: 0.01)
    }

    func testTheBoundEqualsTheOneFromNumericDerivatives() throws {
        let hall = try Self.hall()
        let place = MapPoint(x: 11.3, y: 4.7)
        let step = 1e-4
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for beacon in hall.beacons {
            func slope(_ direction: MapPoint) -> Double {
                let (ahead, behind) = (place + direction * step, place + direction * -step)
                return (hall.mean(of: beacon, at: ahead) - hall.mean(of: beacon, at: behind)) / (2 * step)
            }
            let (dx, dy) = (slope(MapPoint(x: 1, y: 0)), slope(MapPoint(x: 0, y: 1)))
            xx += dx * dx / 16
            xy += dx * dy / 16
            yy += dy * dy / 16
        }
        let expected = (xx + yy) / (xx * yy - xy * xy)
        let bound = try XCTUnwrap(CramerRaoBound(hall: hall).meanSquare(at: place))
        XCTAssertEqual(bound, expected, accuracy: 1e-4 * expected)
    }

    func testIndependentReadingsLowerTheBoundByTheirNumber() throws {
        var settings = StaticHallSettings()
        let place = MapPoint(x: 10, y: 10)
        let one = try XCTUnwrap(CramerRaoBound(hall: Self.hall(settings)).meanSquare(at: place))
        settings.isIndependent = true
        let five = try XCTUnwrap(CramerRaoBound(hall: Self.hall(settings)).meanSquare(at: place))
        XCTAssertEqual(one / five, 5, accuracy: 1e-9)
    }
}

final class StaticComparisonTests: XCTestCase {
    private static let hall = Venue(
        id: 1, name: "hall", maps: [VenueMap(id: 1, name: "hall", level: 0, width: 20, height: 15)])

    /// Measures with few places and particles, so that a debug build needs only a second.
    private static func measure(
        seconds: Int = 2, isIndependent: Bool = false, seed: UInt64 = 1
    ) throws -> StaticComparison {
        var settings = StaticHallSettings()
        settings.places = 40
        settings.seconds = seconds
        settings.isIndependent = isIndependent
        settings.gridEdge = 0.5
        return try StaticComparison.measure(venue: hall, settings: settings, particleCount: 400, seed: seed)
    }

    func testAnEngineWithMatchingSettingsIsWithinThreePercentOfTheSmallestError() throws {
        let result = try Self.measure()
        print("engine \(result.engine) m, exact \(result.exact) m, bound \(result.cramerRao) m, seed 1")
        XCTAssertLessThan(result.ratio, 1.03, "seed 1")
        // The exact mean is the best only on average; over forty places the engine can be slightly better.
        XCTAssertGreaterThan(result.ratio, 0.98, "seed 1")
    }

    func testIndependentReadingsReduceTheErrorOfTheEngine() throws {
        let once = try Self.measure()
        let often = try Self.measure(seconds: 4, isIndependent: true)
        // The error would be exactly half with four readings instead of one.
        XCTAssertLessThan(often.engine, 0.7 * once.engine, "seed 1")
        // The grid cells are half a metre wide, which matters for an error of a metre.
        XCTAssertLessThan(often.ratio, 1.06, "seed 1")
    }

    func testDefaultSettingsHaveALargerErrorThanMatchingOnes() throws {
        let result = try Self.measure()
        XCTAssertGreaterThan(result.engineAtDefaults, result.engine, "seed 1")
        XCTAssertLessThan(result.engineAtDefaults, 2 * result.engine, "seed 1")
    }

    func testTheSameSeedGivesTheSameFigures() throws {
        XCTAssertEqual(try Self.measure(seconds: 1, seed: 5), try Self.measure(seconds: 1, seed: 5))
        XCTAssertNotEqual(try Self.measure(seconds: 1, seed: 5), try Self.measure(seconds: 1, seed: 6))
    }

    func testAMissingMapIsAnError() {
        XCTAssertThrowsError(try StaticComparison.measure(venue: Self.hall, mapID: 9)) {
            XCTAssertEqual($0 as? StaticHallError, .unknownMap(9))
        }
        XCTAssertThrowsError(try StaticComparison.measure(venue: Venue(id: 1, name: "nothing", maps: []))) {
            XCTAssertEqual($0 as? StaticHallError, .noMap)
        }
    }
}
