import Foundation
import IndoorLocalizationTesting
import XCTest

/// The systemd units of a fleet.
final class FleetUnitTests: XCTestCase {
    private static let units = [
        "indoorloc-track.service", "indoorloc-fleet-ingest@.service", "indoorloc-fleet-work@.service",
        "indoorloc-fleet-store.service",
    ]

    private func text(_ file: String) throws -> String {
        let folder = try FixtureFolder("../.packaging/" + (file.hasSuffix(".service") ? "systemd" : "fleet"))
        return try String(contentsOfFile: try folder.file(file), encoding: .utf8)
    }

    /// A folder with the units, whose programs are those of the build.
    private func installed() throws -> String {
        let folder = try temporaryFolder()
        let programs = URL(filePath: try FleetProgram.path()).deletingLastPathComponent().path
        for unit in Self.units {
            let text = try text(unit).replacing("/usr/local/bin", with: programs)
            try Data(text.utf8).write(to: URL(filePath: folder + "/" + unit))
        }
        return folder
    }

    private func analyze(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/systemd-analyze")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    func testTheTestCoversEveryUnit() throws {
        let folder = try FixtureFolder("../.packaging/systemd").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        // ServiceUnitTests checks the others.
        let own = files.filter { $0.hasPrefix("indoorloc-fleet-") || $0 == "indoorloc-track.service" }
        XCTAssertEqual(own.sorted(), Self.units.sorted())
    }

    func testSystemdVerifiesTheUnits() throws {
        let folder = try installed()
        let result = try analyze(["verify", "--man=no"] + Self.units.map { folder + "/" + $0 })
        XCTAssertEqual(result.status, 0, result.text)
        // systemd-analyze also reports problems of other units on the machine.
        XCTAssertEqual(result.text.split(separator: "\n").filter { $0.contains("indoorloc") }, [])
    }

    func testSystemdRatesTheUnitsAsProtected() throws {
        let folder = try installed()
        for unit in Self.units {
            // The exposure level is from 0 to 10, here in tenths; below 2 is "OK" for a service on the network.
            let result = try analyze(
                ["security", "--offline=yes", "--no-pager", "--threshold=20", folder + "/" + unit])
            XCTAssertEqual(result.status, 0, "\(unit): \(result.text.suffix(300))")
            let text = try text(unit)
            for line in ["DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "LimitCORE=0"] {
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

    func testTheProgramAcceptsTheCommandLinesOfTheUnits() throws {
        for unit in Self.units where unit.hasPrefix("indoorloc-fleet") {
            let result = try FleetProgram(try call(unit) + ["--help"], folder: try temporaryFolder()).end()
            XCTAssertEqual(result.status, 0, "\(unit): \(result.errors)")
            XCTAssertTrue(result.output.hasPrefix("usage: indoorloc-fleet \(try call(unit)[0])"), unit)
        }
    }

    func testTheEnvironmentFileHasEveryVariableOfTheUnits() throws {
        let given = try text("fleet.env").split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: "=").first.map(String.init) }
        var count = 0
        for unit in Self.units {
            let used = try text(unit).matches(of: #/\$\{([A-Z_]+)\}/#).map { String($0.output.1) }
            for name in used where name != "CREDENTIALS_DIRECTORY" {
                XCTAssertTrue(given.contains(name), "\(unit): \(name)")
                count += 1
            }
        }
        XCTAssertGreaterThan(count, 0, "the units use variables")
    }
}
