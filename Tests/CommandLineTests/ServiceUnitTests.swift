import Foundation
import IndoorLocalizationTesting
import XCTest

/// The units for systemd among the fixtures.
final class ServiceUnitTests: XCTestCase {
    private static let units = ["indoorloc.service", "indoorloc-pass.service", "indoorloc-pass.timer"]

    private func text(_ unit: String) throws -> String {
        String(decoding: try bytes(try FixtureFolder("systemd").file(unit)), as: UTF8.self)
    }

    func testEveryUnitIsAmongThem() throws {
        let folder = try FixtureFolder("systemd").path
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder).sorted(), Self.units.sorted())
    }

    func testSystemdFindsNothingWrong() throws {
        let folder = try temporaryFolder()
        for unit in Self.units {
            // Where the program is installed there, it is the built one here.
            let installed = try text(unit).replacing("/usr/local/bin/indoorloc", with: try Tool.path())
            try Data(installed.utf8).write(to: URL(filePath: folder + "/" + unit))
        }
        let result = try Tool.run(
            ["verify", "--man=no"] + Self.units.map { folder + "/" + $0 }, program: "/usr/bin/systemd-analyze")
        XCTAssertEqual(result.status, 0, result.errors)
        // It also tells of what it does not know in other units of the machine.
        let own = result.errors.split(separator: "\n").filter { $0.contains("indoorloc") }
        XCTAssertEqual(own, [])
    }

    func testTheirCallsAreUnderstood() throws {
        for unit in Self.units where unit.hasSuffix(".service") {
            let joined = try text(unit).replacing("\\\n", with: " ")
            let start = try XCTUnwrap(joined.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
            let words = start.split(separator: " ").map(String.init)
            let result = try Tool.run(Array(words.dropFirst()) + ["--help"])
            XCTAssertEqual(result.status, 0, "\(unit): \(result.errors)")
            XCTAssertTrue(result.output.hasPrefix("usage: indoorloc serve"), unit)
        }
    }
}
