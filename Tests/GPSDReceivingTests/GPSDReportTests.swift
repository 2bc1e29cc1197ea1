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

/// The rule by which a device of gpsd delivers positions of this program.
final class GPSDFeedbackTests: XCTestCase {
    private static let known: [String: Set<String>] = [
        "localhost": ["127.0.0.1", "::1"], "name": ["127.0.0.1", "::1"], "127.0.0.1": ["127.0.0.1"], "::1": ["::1"],
        "192.168.1.5": ["192.168.1.5"],
        "me": ["192.168.1.5"], "roof": ["192.168.1.7"], "192.168.1.7": ["192.168.1.7"],
        "192.168.1.255": ["192.168.1.255"],
        "224.0.0.9": ["224.0.0.9"], "0.0.0.0": ["0.0.0.0"],
    ]

    /// This machine is 192.168.1.5, and another one is 192.168.1.7.
    private func feeds(_ own: String, _ device: String, gpsd host: String = "localhost") -> Bool {
        let hosts = HostNames(
            addresses: { Self.known[$0] ?? [] }, resolvedPath: { $0 == "link" ? "/dev/pts/1" : $0 },
            isOwn: ["127.0.0.1", "::1", "192.168.1.5"].contains)
        return GPSDFeedback(GPSDSource(host: host), hosts: hosts).feeds(own, device)
    }

    func testDatagramsToTheAddressOfADeviceAreAFeedback() {
        XCTAssertTrue(feeds("udp://127.0.0.1:5000", "udp://127.0.0.1:5000"))
        XCTAssertTrue(feeds("udp://name:5000", "udp://127.0.0.1:5000"))
        XCTAssertTrue(feeds("udp://name:5000", "udp://[::1]:5000"))
        XCTAssertTrue(feeds("udp://me:5000", "udp://0.0.0.0:5000"))
        XCTAssertTrue(feeds("udp://127.0.0.1:5000", "udp://*:5000"))
        XCTAssertTrue(feeds("udp://192.168.1.255:5000", "udp://0.0.0.0:5000"), "all machines")
        XCTAssertTrue(feeds("udp://224.0.0.9:5000", "udp://224.0.0.9:5000"), "a group")
        XCTAssertTrue(feeds("udp://roof:5000", "udp://0.0.0.0:5000", gpsd: "192.168.1.7"))
        XCTAssertTrue(feeds("udp://roof:5000", "udp://192.168.1.7:5000", gpsd: "roof"))
    }

    func testOtherDatagramsAreNone() {
        XCTAssertFalse(feeds("udp://127.0.0.1:5000", "udp://127.0.0.1:5001"))
        XCTAssertFalse(feeds("udp://roof:5000", "udp://0.0.0.0:5000"), "another machine")
        XCTAssertFalse(feeds("udp://127.0.0.1:5000", "udp://0.0.0.0:5000", gpsd: "roof"), "another machine")
        XCTAssertFalse(feeds("udp://127.0.0.1:5000", "udp://127.0.0.1:5000", gpsd: "roof"), "another machine")
        XCTAssertFalse(feeds("udp://me:5000", "udp://127.0.0.1:5000"), "an address that gpsd doesn't listen at")
        XCTAssertFalse(feeds("udp://127.0.0.1:5000", "tcp://127.0.0.1:5000"))
        XCTAssertFalse(feeds("udp://127.0.0.1:5000", "/dev/ttyACM0"))
        XCTAssertFalse(feeds("udp://127.0.0.1:5000", "gpsd://127.0.0.1:5000"))
        XCTAssertFalse(feeds("udp://127.0.0.1:5000", "udp://127.0.0.1"))
    }

    func testADeviceThatConnectsToThisProgramIsAFeedback() {
        XCTAssertTrue(feeds("tcp://0.0.0.0:7000", "tcp://name:7000"))
        XCTAssertTrue(feeds("tcp://0.0.0.0:7000", "tcp://me:7000", gpsd: "roof"))
        XCTAssertFalse(feeds("tcp://0.0.0.0:7000", "tcp://name:7000", gpsd: "roof"), "a server on that machine")
        XCTAssertFalse(feeds("tcp://0.0.0.0:7000", "tcp://roof:7000"))
        XCTAssertFalse(feeds("tcp://0.0.0.0:7000", "tcp://name:7001"))
    }

    func testTheSystemKnowsTheAddressesOfThisMachine() {
        let hosts = HostNames.ofSystem
        XCTAssertTrue(hosts.isOwn("127.0.0.1"))
        // Reserved for documentation (RFC 5737).
        XCTAssertFalse(hosts.isOwn("192.0.2.1"))
        XCTAssertFalse(hosts.isOwn("localhost"), "no numeric address")
        XCTAssertTrue(hosts.addresses("localhost").contains("127.0.0.1"))
        XCTAssertEqual(hosts.addresses("no..host"), [])
    }

    func testTheSameFileIsAFeedback() {
        XCTAssertTrue(feeds("/dev/pts/1", "/dev/pts/1"))
        XCTAssertTrue(feeds("link", "/dev/pts/1"))
        XCTAssertFalse(feeds("/dev/pts/1", "/dev/pts/2"))
        XCTAssertFalse(feeds("/dev/pts/1", "/dev/pts/1", gpsd: "roof"), "a file of another machine")
    }
}
