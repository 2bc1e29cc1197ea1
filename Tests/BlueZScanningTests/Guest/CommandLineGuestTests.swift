import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// The command line with a real radio: its output, its recordings, and the state of the adapter afterwards.
final class CommandLineGuestTests: GuestTestCase {
    private func tool(_ arguments: [String]) throws -> GuestProcess {
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return try GuestProcess(program.deletingLastPathComponent().appending(path: "indoorloc").path, arguments)
    }

    private func file(_ name: String) throws -> String {
        try Guest.folder().appending(path: "\(UUID().uuidString)-\(name)").path
    }

    private func waitForScan(_ tool: GuestProcess) async throws {
        try await tool.wait(for: "a scan") { lines in
            lines.contains { $0.contains(#""status":"scanning""#) || $0.contains(#""status":"sharing""#) }
        }
    }

    /// Returns the numbers of the series in a recording, in order.
    private func numbers(in path: String) throws -> [Int?] {
        var numbers: [Int?] = []
        if BTSnoopReader.isCapture(path: path) {
            var reader = try BTSnoopReader(path: path)
            while let reading = try reader.next() {
                guard case .advertisement(let advertisement) = reading else { continue }
                numbers.append(try advertisement.sighting().flatMap(BeaconSeries.number))
            }
            return numbers
        }
        var reader = try RecordingReader(path: path)
        while let entry = try reader.next() {
            if case .measurement(.sighting(let sighting)) = entry { numbers.append(BeaconSeries.number(of: sighting)) }
        }
        return numbers
    }

    func testScanPrintsAndRecordsWhatWasSentAndRestoresTheAdapter() async throws {
        for (name, signal) in [("scan.jsonl.gz", SIGINT), ("scan.btsnoop", SIGTERM)] {
            let controller = try await pluggedIn(.bluetooth5)
            let path = try file(name)
            let tool = try tool(["scan", "--adapter", controller.name, "--record", path])
            try await waitForScan(tool)
            controller.hear((0..<100).map(BeaconSeries.transmission))
            try await tool.wait(for: "100 beacons") { lines in lines.count { $0.contains(#""type":"beacon""#) } >= 100 }
            try await tool.end(signal)
            XCTAssertEqual(tool.output.value.status, 0, "\(tool.output.value.lines.suffix(5))")
            XCTAssertTrue(tool.output.value.lines.contains { $0.hasPrefix("indoorloc: hci: ") })
            XCTAssertEqual(try numbers(in: path), Array(0..<100), name)
            try await controller.waitForScan(false)
            try await controller.unplug()
        }
    }

    func testScanUsesTheServiceOnRequest() async throws {
        let controller = try await pluggedIn()
        _ = try await services()
        let tool = try tool(["scan", "--route", "dbus"])
        try await waitForScan(tool)
        controller.hear([BeaconSeries.transmission(3)])
        try await tool.wait(for: "a beacon") { lines in lines.contains { $0.contains(#""minor":3"#) } }
        try await tool.end(SIGINT)
        XCTAssertEqual(tool.output.value.status, 0)
        try await controller.waitForScan(false)
    }

    func testRegionEntriesAndExitsAreReportedLive() async throws {
        let controller = try await pluggedIn()
        let tool = try tool([
            "regions", "watch", "--region", "series=\(BeaconSeries.uuid)", "--rangings", "--set",
            "scanner.regions.exitTimeout=2",
        ])
        try await tool.wait(for: "a scan") { lines in lines.contains { $0.contains("\(controller.name) scans") } }
        controller.hear([BeaconSeries.transmission(0), BeaconSeries.transmission(1)])
        try await tool.wait(for: "an exit") { lines in lines.contains { $0.contains(#""event":"exit""#) } }
        try await tool.end(SIGINT)
        XCTAssertEqual(tool.output.value.status, 0, "\(tool.output.value.lines.suffix(5))")
        let lines = tool.output.value.lines
        XCTAssertEqual(lines.count { $0.contains(#""event":"enter","region":"series""#) }, 1, "\(lines)")
        XCTAssertTrue(lines.contains { $0.contains(#""type":"ranging""#) }, "\(lines)")
        try await controller.waitForScan(false)
    }

    func testScanListsTheAdapters() async throws {
        let controller = try await pluggedIn()
        let tool = try tool(["scan", "--list"])
        let status = try await tool.waitForEnd()
        XCTAssertEqual(status, 0)
        let lines = tool.output.value.lines
        XCTAssertEqual(lines.count, 1, "\(lines)")
        XCTAssertTrue(lines.allSatisfy { $0.hasPrefix(controller.name + " ") }, "\(lines)")
    }

    func testLocatePrintsPositionsAndItsRecordingReplays() async throws {
        let walk = try OfficeWalk("one-floor", seed: 103)
        let controller = try await pluggedIn()
        let office = try FixtureFolder("office").path
        let path = try file("walk.jsonl")
        let tool = try tool(["locate", "--venue", office, "--route", "hci", "--record", path])
        try await controller.waitForScan()
        try await controller.play(walk.schedule.filter { $0.at < 10 })
        try await tool.wait(for: "five positions") { lines in
            lines.count { $0.contains(#""type":"position""#) } >= 5
        }
        try await tool.end(SIGINT)
        XCTAssertEqual(tool.output.value.status, 0, "\(tool.output.value.lines.suffix(5))")
        let replay = try self.tool(["replay", "--venue", office, path])
        try await replay.waitForEnd()
        let replayed = replay.output.value.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertGreaterThanOrEqual(replayed, 5, "\(replay.output.value.lines.suffix(5))")
    }
}
