import CGPS
import GPSDReceiving
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The conversion of gpsd's reports.
final class GPSDReportTests: XCTestCase {
    private let instant = Instant(seconds: 7)

    private func report(_ change: (inout cgps_report) -> Void = { _ in }) -> cgps_report {
        var report = cgps_report(
            is_version: false, has_position: true, mode: 3, latitude: 1, longitude: 2, altitude: 3, eph: 10, epx: 30,
            epy: 40,
            speed: 4, track: 5, devices: 0)
        change(&report)
        return report
    }

    func testAFixContainsAllKnownValues() {
        XCTAssertEqual(
            GNSSFix(report(), at: instant),
            GNSSFix(
                instant: instant, coordinate: Coordinate(latitude: 1, longitude: 2), accuracy: 6.167, altitude: 3,
                speed: 4,
                course: 5))
    }

    func testAReportWithoutPositionOrAccuracyIsNoFix() {
        let changes: [String: (inout cgps_report) -> Void] = [
            "no position": { $0.has_position = false }, "no latitude": { $0.latitude = .nan },
            "no longitude": { $0.longitude = .infinity }, "beyond the pole": { $0.latitude = 90.1 },
            "no accuracy": { ($0.eph, $0.epx, $0.epy) = (.nan, .nan, 1) }, "perfect": { $0.eph = 0 },
            "negative": { $0.eph = -1 }, "infinite": { ($0.eph, $0.epx) = (.infinity, .infinity) },
        ]
        for (name, change) in changes { XCTAssertNil(GNSSFix(report(change), at: instant), name) }
    }

    func testErrorsAlongTheAxesReplaceAMissingPositionError() throws {
        let fix = try XCTUnwrap(GNSSFix(report { $0.eph = .nan }, at: instant))
        XCTAssertEqual(fix.accuracy, 50 * 0.6167, accuracy: 1e-9)
    }

    func testUnknownAltitudeAndMotionAreNil() throws {
        for change in [
            { ($0.mode, $0.speed, $0.track) = (2, .nan, .nan) },
            { ($0.altitude, $0.speed, $0.track) = (.nan, -1, 360) },
        ] as [(inout cgps_report) -> Void] {
            let fix = try XCTUnwrap(GNSSFix(report(change), at: instant))
            XCTAssertNil(fix.altitude)
            XCTAssertNil(fix.speed)
            XCTAssertNil(fix.course)
        }
    }

    /// The errors are drawn from the distribution that the conversion assumes.
    func testTheConvertedRadiusContains68PercentOfErrors() {
        var generator = SeededGenerator(seed: 5)
        let errors = (0..<100_000).map { _ in
            let (north, east) = generator.normalPair()
            return (north * north + east * east).squareRoot()
        }.sorted()
        // The standard error of such shares is 0.0015 and 0.0007; the radii differ by less than 1 %.
        XCTAssertEqual(errors[68_000] / errors[95_000], GNSSFix.shareOf95Percent, accuracy: 0.01, "seed 5")
    }
}
