import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The option `--nmea` of `serve`, `locate` and `replay`, with a real gpsd.
final class NMEACommandTests: XCTestCase {
    private func service(_ options: [String]) throws -> ServiceProcess {
        try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", try temporaryFolder()] + options)
    }

    private func end(_ service: ServiceProcess) throws {
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }

    func testGpspipeReportsThePositionsOfTheService() throws {
        let port = try TestPort.freeForDatagrams()
        let device = "udp://127.0.0.1:\(port)"
        let gpsd = try GPSDServer(devices: [device])
        let service = try service(["--nmea", device])
        let report = try GPSDServer.report(at: gpsd.port, "position") { report in
            report["class"] as? String == "TPV" && report["eph"] != nil && report["lat"] != nil
        }
        XCTAssertEqual(report["device"] as? String, device)
        XCTAssertEqual(report["status"] as? Int, 5, "dead reckoning")
        // The service prints the same place, with more decimals.
        let latitude = try XCTUnwrap(report["lat"] as? Double)
        let line = try service.wait(for: #""type":"position""#)
        let printed = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        XCTAssertEqual(latitude, try XCTUnwrap(printed["latitude"] as? Double), accuracy: 0.0005)
        XCTAssertGreaterThan(try XCTUnwrap(report["eph"] as? Double), 0)
        try end(service)
        withExtendedLifetime(gpsd) {}
    }

    func testTheServiceRefusesTheGpsdThatItFeeds() throws {
        let port = try TestPort.freeForDatagrams()
        let device = "udp://127.0.0.1:\(port)"
        let gpsd = try GPSDServer(devices: [device])
        let folder = try temporaryFolder()
        let result = try Tool.run(
            ["serve"] + (try ServiceProcess.walk("one-floor"))
                + ["--state-directory", folder, "--gnss", "gpsd:127.0.0.1:\(gpsd.port)", "--nmea", device])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("reads \(device), to which this session sends"), result.errors)
        XCTAssertTrue(result.errors.contains("Remove that device from gpsd"), result.errors)
        XCTAssertFalse(result.errors.contains("session started"), result.errors)
    }

    func testReadersConnectToTheServiceAndGetOneLastSentenceWithoutPosition() throws {
        // At its end, the service sends for a second at most, which can be too short on a busy machine.
        var last = ""
        for _ in 0..<5 where !last.hasPrefix("$GPRMC,") || !last.contains(",V,") { last = try lastSentence() }
        XCTAssertTrue(last.hasPrefix("$GPRMC,") && last.contains(",V,") && last.contains(",N*"), last)
    }

    /// Reads the sentences of a service with positions from the first one to its end, and returns the last one.
    private func lastSentence() throws -> String {
        let service = try service(["--nmea", "tcp-listen://127.0.0.1:0"])
        try service.waitForError("listening at tcp-listen://127.0.0.1:")
        let line = try XCTUnwrap(service.errors.first { $0.contains("tcp-listen://") })
        let digits = line.split(separator: "127.0.0.1:").last?.prefix(while: \.isNumber)
        let port = try XCTUnwrap(digits.flatMap { UInt16($0) }, line)
        let lines = ReadTexts()
        let descriptor = try TestPort.connect(to: port)
        lines.follow(lines: descriptor)
        close(descriptor)
        XCTAssertNotNil(lines.first(from: 0, within: Tool.bound) { $0.hasPrefix("$GPGGA,") && $0.contains(",E,6,") })
        try end(service)
        XCTAssertTrue(lines.waitForEnd())
        return try XCTUnwrap(lines.all.last)
    }

    func testAVenueWithoutGeoreferenceEndsTheCommandBeforeAnythingRuns() throws {
        let port = try TestPort.freeForDatagrams()
        for command in ["serve", "locate"] {
            let result = try Tool.run([
                command, "--venue", "Fixtures/packets/accepted/smallest", "--nmea", "udp://127.0.0.1:\(port)",
            ])
            XCTAssertEqual(result.status, 1, command)
            XCTAssertTrue(result.errors.contains("has no georeference; give a center and bearing"), result.errors)
            XCTAssertFalse(result.errors.contains("session started"), result.errors)
        }
    }

    func testAnUnreachableDestinationIsReportedAndTheSessionContinues() throws {
        let port = try TestPort.free()
        let service = try service(["--nmea", "tcp://127.0.0.1:\(port)"])
        try service.waitForError("tcp://127.0.0.1:\(port): Connection refused; start the program that reads there")
        let count = service.told.count
        try service.wait(for: #""type":"position""#, from: count)
        try end(service)
        XCTAssertEqual(service.errors.count { $0.contains("Connection refused") }, 1, "\(service.errors)")
    }

    func testInvalidOptionsAreUsageErrors() throws {
        for (words, reason) in [
            (["serve", "--venue", "V", "--nmea", "http://host:1"], "is no destination"),
            (["locate", "--venue", "V", "--nmea", "udp://host"], "is no destination"),
            (["replay", "--venue", "V", "R", "--nmea", "udp://127.0.0.1:5000"], "'serve --replay' sends positions"),
            (["replay", "--venue", "V", "R", "--local-frame"], "--local-frame requires --geojson"),
            (["replay", "--venue", "V", "R", "--gpx", "f", "--kml", "f"], "is the file of two outputs"),
        ] {
            let result = try Tool.run(words)
            XCTAssertEqual(result.status, 2, "\(words)")
            XCTAssertTrue(result.errors.contains(reason), "\(words): \(result.errors)")
        }
    }

    func testALogIsNotWrittenOverAnInput() throws {
        let result = try Tool.run(["serve", "--venue", "Fixtures/office", "--nmea", "Fixtures/office/venue.json"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("is also an input of this command"), result.errors)
    }
}

/// The real GeoClue on a private system bus, which reads the service's local socket.
final class GeoClueTests: XCTestCase {
    /// A program of the test that ends with it.
    private func start(
        _ program: String, _ arguments: [String], bus: String? = nil
    ) throws -> (process: Process, lines: ReadTexts) {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        if let bus {
            let own = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + bus, "LC_ALL": "C.UTF-8"]
            process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try ProcessSignals.withAll { try process.run() }
        try output.fileHandleForWriting.close()
        let lines = ReadTexts()
        lines.follow(lines: output.fileHandleForReading.fileDescriptor)
        addTeardownBlock {
            if process.isRunning { process.terminate() }
            process.waitUntilExit()
        }
        return (process, lines)
    }

    /// A bus on which every program may do everything.
    private func busConfiguration(_ socket: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
          "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>system</type><listen>unix:path=\(socket)</listen>
        <policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/>
        <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/></policy></busconfig>
        """
    }

    /// GeoClue has no other source than the socket, and permits the program where-am-i.
    private func configuration(_ socket: String) -> String {
        let others = ["3g", "cdma", "modem-gps", "wifi"].map { "[\($0)]\nenable=false\n" }.joined()
        return "[agent]\nwhitelist=geoclue-demo-agent\n[network-nmea]\nenable=true\nnmea-socket=\(socket)\n" + others
            + "[geoclue-where-am-i]\nallowed=true\nsystem=true\nusers=\n"
    }

    func testGeoClueGivesThePositionOfTheServiceToItsClients() throws {
        let folder = try temporaryFolder()
        let socket = folder + "/nmea.sock"
        let bus = folder + "/bus.sock"
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5)
                + ["--state-directory", folder + "/state", "--nmea", "unix-listen://" + socket])
        try service.waitForError("listening at unix-listen://" + socket)
        try Data(busConfiguration(bus).utf8).write(to: URL(filePath: folder + "/bus.conf"))
        try Data(configuration(socket).utf8).write(to: URL(filePath: folder + "/geoclue.conf"))

        let daemon = try start(
            try TestPort.program("dbus-daemon", ofPackage: "dbus-daemon").path,
            ["--config-file=" + folder + "/bus.conf", "--nofork", "--print-address=1"])
        XCTAssertNotNil(daemon.lines.first(from: 0, within: Tool.bound) { $0.hasPrefix("unix:path=") })
        // GeoClue reads its configuration at a fixed path: a name space of its own has the test's file there.
        let geoclue = try start(
            "/usr/bin/unshare",
            (geteuid() == 0 ? [] : ["--map-root-user"]) + [
                "--mount", "/bin/sh", "-c",
                "mount --bind \"$0\" /etc/geoclue/geoclue.conf && G_MESSAGES_DEBUG=all exec /usr/libexec/geoclue -t 180",
                folder + "/geoclue.conf",
            ], bus: bus)
        XCTAssertNotNil(
            geoclue.lines.first(from: 0, within: Tool.bound) { $0.contains("GClueNMEASource") }, "\(geoclue.lines.all)")
        let agent = try start("/usr/libexec/geoclue-2.0/demos/agent", [], bus: bus)
        XCTAssertNotNil(
            geoclue.lines.first(from: 0, within: Tool.bound) { $0.contains("New agent for user ID") },
            "\(geoclue.lines.all) \(agent.lines.all)")
        let client = try start("/usr/libexec/geoclue-2.0/demos/where-am-i", ["-t", "180", "-a", "8"], bus: bus)
        let latitude = client.lines.first(from: 0, within: Tool.bound) { $0.hasPrefix("Latitude:") }
        let text = try XCTUnwrap(latitude, "\(client.lines.all) \(geoclue.lines.all) \(service.errors)")
        let line = try service.wait(for: #""type":"position""#)
        let printed = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let number = text.dropFirst("Latitude:".count).filter { "0123456789.-".contains($0) }
        XCTAssertEqual(
            try XCTUnwrap(Double(String(number)), text), try XCTUnwrap(printed["latitude"] as? Double), accuracy: 0.0005
        )
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }
}
