import Foundation
import IndoorLocalizationTesting
import XCTest

/// The systemd units of `indoorloc serve`.
final class ServiceUnitTests: XCTestCase {
    private static let units = ["indoorloc.service", "indoorloc-pass.service", "indoorloc-pass.timer"]

    private func text(_ unit: String) throws -> String {
        String(decoding: try bytes(".packaging/systemd/" + unit), as: UTF8.self)
    }

    func testTheTestCoversEveryUnit() throws {
        let folder = try Checkout.root().appending(path: ".packaging/systemd").path
        let all = try FileManager.default.contentsOfDirectory(atPath: folder)
        // FleetUnitTests checks the others.
        let own = all.filter { !$0.hasPrefix("indoorloc-fleet-") && $0 != "indoorloc-track.service" }
        XCTAssertEqual(own.sorted(), Self.units.sorted())
    }

    func testSystemdVerifiesTheUnits() throws {
        let folder = try temporaryFolder()
        for unit in Self.units {
            // The path of the installed program is replaced with the built one.
            let installed = try text(unit).replacing("/usr/local/bin/indoorloc", with: try Tool.path())
            try Data(installed.utf8).write(to: URL(filePath: folder + "/" + unit))
        }
        let result = try Tool.run(
            ["verify", "--man=no"] + Self.units.map { folder + "/" + $0 }, program: "/usr/bin/systemd-analyze")
        XCTAssertEqual(result.status, 0, result.errors)
        // systemd-analyze also reports problems of other units on the machine.
        let own = result.errors.split(separator: "\n").filter { $0.contains("indoorloc") }
        XCTAssertEqual(own, [])
    }

    func testSystemdRatesTheUnitsAsProtected() throws {
        let folder = try Checkout.root().appending(path: ".packaging/systemd").path
        for unit in Self.units where unit.hasSuffix(".service") {
            // The exposure level is from 0 to 10, here in tenths; below 2 is "OK" for a service on the network.
            let result = try Tool.run(
                ["security", "--offline=yes", "--no-pager", "--threshold=20", "\(folder)/\(unit)"],
                program: "/usr/bin/systemd-analyze")
            XCTAssertEqual(result.status, 0, "\(unit): \(result.output.suffix(300))")
            let text = try text(unit)
            for line in ["DynamicUser=yes", "PrivateDevices=yes", "NoNewPrivileges=yes", "LimitCORE=0"] {
                XCTAssertTrue(text.contains("\n\(line)\n"), "\(unit): \(line)")
            }
            for name in ["MemoryMax", "TasksMax"] { XCTAssertTrue(text.contains("\n\(name)="), "\(unit): \(name)") }
        }
    }

    /// The arguments of a unit's command line, without the program.
    private func call(_ unit: String) throws -> [String] {
        let joined = try text(unit).replacing("\\\n", with: " ")
        let start = try XCTUnwrap(joined.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        return start.split(separator: " ").dropFirst().map(String.init)
    }

    func testThePassUnitUsesTheFilesOfTheService() throws {
        let calls = try ["indoorloc.service", "indoorloc-pass.service"].map { unit in
            let call = try call(unit)
            return ["--venue", "--settings", "--output"].map { option in
                call.firstIndex(of: option).flatMap { call.dropFirst($0 + 1).first }
            }
        }
        XCTAssertEqual(calls[0], calls[1])
        XCTAssertFalse(calls[0].contains(nil), "\(calls[0])")
        for folder in ["StateDirectory", "CacheDirectory", "LogsDirectory"] {
            for unit in Self.units where unit.hasSuffix(".service") {
                XCTAssertTrue(try text(unit).contains("\n\(folder)=indoorloc\n"), "\(unit): \(folder)")
            }
        }
        // Both units share one memory.
        XCTAssertTrue(try text("indoorloc-pass.service").contains("\nConflicts=indoorloc.service\n"))
        XCTAssertTrue(try text("indoorloc-pass.timer").contains("\nConflicts=indoorloc.service\n"))
    }

    func testAUsageErrorIsNotRestarted() throws {
        let status = try Tool.run(["serve", "--venue"]).status
        XCTAssertTrue(try text("indoorloc.service").contains("\nRestartPreventExitStatus=\(status)\n"), "\(status)")
        XCTAssertNotEqual(status, try Tool.run(["serve", "--venue", "/nowhere"]).status, "a venue may come yet")
    }

    func testTheToolAcceptsTheCommandLinesOfTheUnits() throws {
        for unit in Self.units where unit.hasSuffix(".service") {
            let result = try Tool.run(try call(unit) + ["--help"])
            XCTAssertEqual(result.status, 0, "\(unit): \(result.errors)")
            XCTAssertTrue(result.output.hasPrefix("usage: indoorloc serve"), unit)
        }
    }
}
