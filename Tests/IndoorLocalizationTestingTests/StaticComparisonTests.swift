import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
