import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import LoopbackServers
import SessionMetrics
import VenuePackets
import XCTest

/// `serve` on a recording in real time: its memory and its end.
final class ServeCommandTests: XCTestCase {
    private func content(_ folder: String) throws -> SessionMemoryStore.Content {
        try SessionMemoryStore(folder: folder).read()
    }

    private func memory(_ folder: String) throws -> SessionMemory {
        let content = try content(folder)
        guard case .memory(let memory, _) = content else { throw XCTSkipFailure(content: content) }
        return memory
    }

    private struct XCTSkipFailure: Error {
        let content: SessionMemoryStore.Content
    }

    private func number(_ name: String, of line: String) throws -> Double {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try XCTUnwrap(object?[name] as? Double, "\(name) of \(line)")
    }

    func testSIGTERMAndSIGINTEndTheServiceAndSaveTheMemory() throws {
        for signal in [SIGTERM, SIGINT] {
            let folder = try temporaryFolder()
            let service = try ServiceProcess(
                ServiceProcess.endlessWalk("one-floor", from: 5) + [
                    "--state-directory", folder, "--save-every", "3600",
                ])
            try service.wait(for: "\"type\":\"position\"")
            service.send(signal)
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            let last = try XCTUnwrap(service.told.last)
            XCTAssertTrue(last.contains("\"state\":\"idle\""), last)
            let stay = try XCTUnwrap(try memory(folder).stay)
            XCTAssertEqual(stay.venueID, 1)
            XCTAssertEqual(stay.mapID, 1)
            XCTAssertFalse(stay.places.isEmpty)
            XCTAssertNotNil(try memory(folder).calibration)
        }
    }

    /// `timeout` sends its signal twice, to the program and to its group.
    func testARepeatedSignalEndsTheServiceOnce() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", folder, "--save-every", "3600"])
        try service.wait(for: "\"type\":\"position\"")
        // Both signals arrive when the process goes on, however long this one waits between them.
        for signal in [SIGSTOP, SIGTERM, SIGINT, SIGCONT] { service.send(signal) }
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertTrue(try XCTUnwrap(service.told.last).contains("\"state\":\"idle\""), "\(service.told)")
        XCTAssertEqual(try memory(folder).stay?.venueID, 1)
    }

    /// Log lines go to standard error, for the journal.
    func testLogLinesHaveTheSessionsTraceID() throws {
        let folder = try temporaryFolder()
        var names: Set<Substring> = []
        for _ in 0..<2 {
            let service = try ServiceProcess(
                ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once"])
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            let traces = service.errors.map { $0.firstMatch(of: #/ \[trace ([0-9a-f]{16})\]$/#)?.output.1 }
            XCTAssertFalse(traces.isEmpty)
            XCTAssertFalse(traces.contains(nil), "\(service.errors)")
            XCTAssertEqual(Set(traces).count, 1, "one session: \(service.errors)")
            names.formUnion(traces.compactMap(\.self))
        }
        XCTAssertEqual(names.count, 2, "each run is a session of its own")
    }

    func testEachLineHasTheTimeOfDay() throws {
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", try temporaryFolder(), "--once"])
        XCTAssertEqual(try service.end(), 0)
        XCTAssertTrue(service.told.contains { $0.contains(#""type":"position""#) }, "\(service.told)")
        for line in service.told {
            XCTAssertEqual(try number("time", of: line), Date().timeIntervalSince1970, accuracy: Tool.bound)
        }
    }

    func testOnceEndsTheServiceAfterTheFirstPosition() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once"])
        XCTAssertEqual(try service.end(), 0)
        XCTAssertGreaterThan(service.told.count { $0.contains("\"position\"") }, 0)
        XCTAssertEqual(try memory(folder).stay?.mapID, 1)
    }

    func testAServiceWithATimeLimitEndsAndSavesItsMemory() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5), environment: ["STATE_DIRECTORY": folder + ":/nowhere"])
        // The memory is in the first of systemd's directories.
        try service.wait(for: "\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertNotNil(try memory(folder).stay)
        let pass = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 8) + ["--state-directory", folder, "--seconds", "1"])
        XCTAssertEqual(try pass.end(), 0)
        XCTAssertTrue(pass.errors.contains { $0.contains("restored the memory of venue 1") }, "\(pass.errors)")
    }

    func testARestartDoesNotLeaveRooms() throws {
        let folder = try temporaryFolder()
        let state = ["--state-directory", folder]
        let first = try ServiceProcess(ServiceProcess.endlessWalk("stairs", from: 50) + state)
        try first.wait(for: "\"enterRoom\"")
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
        XCTAssertFalse(first.told.contains { $0.contains("\"exitRoom\"") }, "\(first.told)")
        let rooms = try XCTUnwrap(try memory(folder).stay?.rooms)
        XCTAssertFalse(rooms.isEmpty)
        // The device stays there.
        let second = try ServiceProcess(ServiceProcess.endlessWalk("stairs", from: 53.5) + state)
        try second.wait(for: "\"position\"")
        second.send(SIGTERM)
        XCTAssertEqual(try second.end(), 0)
        for room in rooms {
            XCTAssertFalse(second.told.contains { $0.contains("\"enterRoom\"") && $0.contains("\"id\":\(room.id),") })
        }
    }

    func testTheServiceAppendsLinesToAFile() throws {
        let folder = try temporaryFolder()
        let file = folder + "/positions.jsonl"
        for run in 1...2 {
            let service = try ServiceProcess(
                ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once", "--output", file])
            XCTAssertEqual(try service.end(), 0, "\(service.errors)")
            XCTAssertEqual(service.told, [])
            let lines = String(decoding: try bytes(file), as: UTF8.self).split(separator: "\n")
            XCTAssertEqual(lines.count { $0.contains("\"started\"") }, run)
        }
    }

    func testAnUnreadableMemoryIsMovedAndReported() throws {
        let folder = try temporaryFolder()
        for (text, words) in [
            ("{", "is not JSON"), ("{\"format\":\"other\"}", "is not a session memory"),
            ("{\"format\":\"indoor-localization-memory\",\"version\":99}", "is of version 99"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: folder + "/memory.json"))
            let service = try ServiceProcess(
                ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--once"])
            XCTAssertEqual(try service.end(), 0)
            XCTAssertTrue(
                service.errors.contains { $0.contains(words) && $0.contains("moved to") }, "\(service.errors)")
            XCTAssertEqual(try bytes(folder + "/memory.json.unusable"), Data(text.utf8))
            XCTAssertNotNil(try memory(folder).stay, "the session begins without a memory")
        }
    }

    func testTwoServicesDoNotShareAFolder() throws {
        let folder = try temporaryFolder()
        let arguments = try ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", folder]
        let first = try ServiceProcess(arguments)
        try first.wait(for: "\"position\"")
        let second = try ServiceProcess(arguments)
        XCTAssertEqual(try second.end(), 1)
        XCTAssertTrue(second.errors.contains { $0.contains("in use by another process") }, "\(second.errors)")
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
    }

    func testAnUnwritableStateFolderIsReportedAndTheServiceContinues() throws {
        let folder = try temporaryFolder()
        // A folder has the path of the new file.
        try FileManager.default.createDirectory(
            atPath: folder + "/memory.json.new/inside", withIntermediateDirectories: true)
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", folder, "--save-every", "0.05"])
        try service.waitForError("the memory can't be saved")
        try service.wait(for: "\"position\"")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        XCTAssertEqual(service.errors.count { $0.contains("the memory can't be saved") }, 1, "\(service.errors)")
    }

    func testAStartOffsetBeyondTheRecordingIsAFailure() throws {
        let service = try ServiceProcess(
            ServiceProcess.walk("one-floor", from: 9999) + ["--state-directory", try temporaryFolder()])
        XCTAssertEqual(try service.end(), 1)
        XCTAssertTrue(
            service.errors.contains { $0.contains("scan.jsonl.gz: the recording ends at 30.0 s") }, "\(service.errors)")
        XCTAssertEqual(service.told, [])
    }

    func testTheOutputIsPrivateAndNeverAnInput() throws {
        let folder = try temporaryFolder()
        let walk = try ServiceProcess.walk("one-floor", from: 5)
        let file = folder + "/positions.jsonl"
        let service = try ServiceProcess(walk + ["--state-directory", folder, "--once", "--output", file])
        XCTAssertEqual(try service.end(), 0)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        let settings = folder + "/settings.json"
        try Data("{}".utf8).write(to: URL(filePath: settings))
        let refused = try ServiceProcess(
            walk + ["--state-directory", folder, "--once", "--settings", settings, "--output", settings])
        XCTAssertEqual(try refused.end(), 1)
        XCTAssertTrue(refused.errors.contains { $0.contains("is also an input of this command") }, "\(refused.errors)")
        XCTAssertEqual(try bytes(settings), Data("{}".utf8))
    }

    func testTheServiceSucceedsWhenTheReaderClosesThePipe() throws {
        let call = try ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", try temporaryFolder()]
        let words = ["-c", "set -o pipefail; \"$@\" | head -1", "bash", try Tool.path(), "serve"] + call
        let result = try Tool.run(words, program: "/bin/bash")
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.output.split(separator: "\n").count, 1)
        XCTAssertFalse(result.errors.contains("Broken pipe"), result.errors)
    }

    func testInvalidServeOptionsAreRefused() throws {
        for (arguments, words) in [
            ([], "--venue is missing"), (["--venue", "x", "--save-every", "0"], "--save-every must be"),
            (["--venue", "x", "--replay-from", "-1"], "--replay-from must be"),
            (["--venue", "x", "--seconds", "none"], "--seconds must be"),
            (["--venue", "x", "--save-every", "0"], "from 0.01 to 86400, not '0'"),
            (["--venue", "x", "--replay-from", "1"], "--replay-from requires --replay"),
            (["--venue", "x", "--replay", "y", "--adapter", "hci0"], "--adapter can't be combined with --replay"),
            (["--venue", "x", "--replay", "y", "--route", "hci"], "--route can't be combined with --replay"),
            (["--venue", "x", "--state-directory", ""], "--state-directory must be a folder"),
            (["--venue", "Fixtures/office", "--venue", "Fixtures/office"], "has the same venue id"),
        ] as [([String], String)] {
            let result = try Tool.run(["serve"] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(words), result.errors)
        }
    }
}

/// The live map of `serve`.
final class ServeLiveMapTests: XCTestCase {
    private func curl(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["curl", "-sS", "--max-time", "180"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Starts the service, and returns it with its URL.
    private func service(_ options: [String]) throws -> (ServiceProcess, String) {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", folder] + options)
        try service.waitForError("live map: http://")
        let line = try XCTUnwrap(service.errors.first { $0.contains("live map: http://") })
        let url = line[try XCTUnwrap(line.range(of: "http://")).lowerBound...].prefix { $0 != " " }
        return (service, String(url))
    }

    func testTheServiceServesItsSession() throws {
        let (service, url) = try service(["--http", "127.0.0.1:0"])
        try service.wait(for: "\"type\":\"position\"")
        let overview = try JSONDecoder().decode(
            LiveMapOverview.self, from: Data(try curl("--fail", url + "api/v1/venue").output.utf8))
        XCTAssertEqual(overview.mode, .live)
        XCTAssertEqual(overview.venues.map(\.id), [1])
        XCTAssertFalse(overview.acceptsMarks)
        // A frame with a position, and the end of the stream with the service.
        let stream = Process()
        stream.executableURL = URL(filePath: "/usr/bin/env")
        stream.arguments = ["curl", "-sS", "--no-buffer", url + "api/v1/stream"]
        let output = Pipe()
        stream.standardOutput = output
        try stream.run()
        var text = ""
        while !(text.contains("\"estimate\":{") && text.contains("\"venueId\":1")) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
        }
        XCTAssertTrue(text.contains("event: frame\n"), String(text.prefix(400)))
        XCTAssertTrue(text.contains("\"venueId\":1"), String(text.prefix(400)))
        let metrics = try curl("--fail", url + "metrics").output
        XCTAssertTrue(metrics.contains("\nindoorloc_positions_total "), metrics)
        XCTAssertTrue(metrics.hasSuffix("# EOF\n"), metrics)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        _ = try output.fileHandleForReading.readToEnd()
        stream.waitUntilExit()
        XCTAssertEqual(try curl(url).status, 7, "the port is free")
    }

    func testAnAddressInUseEndsTheServiceBeforeItsSession() throws {
        let (service, url) = try service(["--http", "127.0.0.1:0"])
        let port = try XCTUnwrap(URL(string: url)?.port)
        let folder = try temporaryFolder()
        let result = try Tool.run(
            ["serve"] + (try ServiceProcess.walk("one-floor")) + ["--state-directory", folder, "--http", "\(port)"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("The address 127.0.0.1:\(port) is in use"), result.errors)
        XCTAssertFalse(result.errors.contains("session started"), result.errors)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testTheTokenIsReadFromAFileThatOtherUsersCannotRead() throws {
        let file = try temporaryFolder() + "/token"
        try Data("0123456789abcdef\nsecond line\n".utf8).write(to: URL(filePath: file))
        let options = ["--http", "127.0.0.1:0", "--http-token-file", file]
        for mode in [0o644, 0o604] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let result = try Tool.run(["serve"] + (try ServiceProcess.walk("one-floor")) + options)
            XCTAssertEqual(result.status, 1)
            XCTAssertTrue(result.errors.contains("chmod 600"), result.errors)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let (service, url) = try service(options)
        XCTAssertEqual(try curl("--fail", url + "api/v1/health").status, 22)
        let health = try curl("--fail", "-H", "Authorization: Bearer 0123456789abcdef", url + "api/v1/health")
        XCTAssertTrue(health.output.contains("\"status\":\"ok\""), health.output)
        XCTAssertFalse(service.errors.contains { $0.contains("0123456789abcdef") })
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
        try Data("short\n".utf8).write(to: URL(filePath: file))
        let short = try Tool.run(["serve"] + (try ServiceProcess.walk("one-floor")) + options)
        XCTAssertEqual(short.status, 1)
        XCTAssertTrue(short.errors.contains("--http-token-file \(file): Invalid token: it has 5 "), short.errors)
        XCTAssertTrue(short.errors.contains("at least 16"), short.errors)
        try FileManager.default.removeItem(atPath: file)
        let missing = try Tool.run(["serve"] + (try ServiceProcess.walk("one-floor")) + options)
        XCTAssertEqual(missing.status, 1)
        XCTAssertTrue(missing.errors.contains("; create it with 'openssl rand -hex 16 >\(file)'"), missing.errors)
    }

    func testInvalidOptionsAreUsageErrors() throws {
        for (options, reason) in [
            (["--http", "0.0.0.0:8080"], "add --http-token-file"), (["--http", "[::]:8080"], "add --http-token-file"),
            (["--http", "127.0.0.1"], "expected HOST:PORT or PORT"), (["--http", "example.org:80"], "numeric address"),
            (["--http-token-file", "token"], "requires --http"),
        ] {
            for command in ["serve", "locate"] {
                let result = try Tool.run([command, "--venue", "Fixtures/office"] + options)
                XCTAssertEqual(result.status, 2, "\(options)")
                XCTAssertTrue(result.errors.contains(reason), "\(options): \(result.errors)")
            }
        }
    }
}

/// A real Prometheus on this machine, which scrapes its targets once a second.
private final class PrometheusServer {
    private let process = Process()
    private let port: UInt16

    /// - Parameters:
    ///   - targets: the host and port of each target's metrics.
    ///   - folder: the folder for its files.
    init(targets: String..., folder: String) throws {
        port = try TestPort.free()
        let configuration = """
            global: {scrape_interval: 1s}
            scrape_configs:
              - job_name: indoorloc
                static_configs: [{targets: ["\(targets.joined(separator: "\", \""))"]}]
            """
        try configuration.write(toFile: folder + "/prometheus.yml", atomically: true, encoding: .utf8)
        process.executableURL = URL(filePath: "/usr/bin/prometheus")
        process.arguments = [
            "--config.file=\(folder)/prometheus.yml", "--storage.tsdb.path=\(folder)/data",
            "--web.listen-address=127.0.0.1:\(port)",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit { process.terminate() }

    /// The value of the first series of an expression, as soon as it has a number.
    func number(of expression: String) throws -> Double {
        struct Answer: Decodable {
            struct Content: Decodable { var result: [Series] }
            struct Series: Decodable { var value: [Value] }
            enum Value: Decodable {
                case time
                case text(String)

                init(from decoder: any Decoder) throws {
                    self = (try? .text(decoder.singleValueContainer().decode(String.self))) ?? .time
                }
            }
            var status: String
            var error: String?
            var data: Content?
        }
        let deadline = ContinuousClock.now + Bounded.longest
        var latest = ""
        while ContinuousClock.now < deadline {
            latest = try Tool.run(
                [
                    "--silent", "--get", "--data-urlencode", "query=\(expression)",
                    "http://127.0.0.1:\(port)/api/v1/query",
                ],
                program: "/usr/bin/curl"
            ).output
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(latest.utf8))
            if answer?.status == "error" { break }
            for case .text(let text) in answer?.data?.result.first?.value ?? [] {
                if let number = Double(text), number.isFinite { return number }
            }
            poll(nil, 0, 100)
        }
        throw TestPort.Failure(description: "no number for \(expression), but \(latest)")
    }

    /// The answer to a request, as soon as it has all the texts.
    func answer(_ path: String, containing texts: String...) throws -> String {
        let deadline = ContinuousClock.now + Bounded.longest
        var answer = ""
        while ContinuousClock.now < deadline {
            answer = try Tool.run(
                ["--silent", "--globoff", "http://127.0.0.1:\(port)/api/v1/\(path)"], program: "/usr/bin/curl"
            ).output
            if texts.allSatisfy(answer.contains) { return answer }
            poll(nil, 0, 100)
        }
        throw TestPort.Failure(description: "no \(texts) at \(path), but \(answer)")
    }
}

final class PrometheusTests: XCTestCase {
    func testPrometheusReadsTheMetricsAsOpenMetrics() throws {
        let folder = try temporaryFolder()
        let venue = Venue(id: 1, name: "office", version: 4, maps: [])
        let facts = SessionFacts(
            uptime: .seconds(60), state: .findFloor(venue), lostReadings: 12,
            place: .init(age: .seconds(0.5), radius: 2.5, floorCertainty: 0.9), beacons: .init(known: 3, unknown: 1),
            consistencyRatio: 1.25, cycleTimes: CycleTimes(), residentMemory: 1 << 26)
        try SessionMetrics.text(of: facts).write(toFile: folder + "/metrics", atomically: true, encoding: .utf8)
        let server = try NginxServer(
            root: folder, folder: folder,
            NginxServer.Configuration(
                location: "default_type \"\(MetricText.Format.openMetrics.mediaType)\"; charset off;"))
        defer { server.stop() }
        let prometheus = try PrometheusServer(targets: "127.0.0.1:\(server.port)", folder: folder)
        _ = try prometheus.answer("targets", containing: #""health":"up","#, #""lastError":"","#)
        for (query, value) in [
            ("indoorloc_readings_lost_total", "12"), ("indoorloc_position_radius_meters", "2.5"),
            ("indoorloc_session_state{indoorloc_session_state=%22findFloor%22}", "1"),
            ("indoorloc_venue_packet_version{venue=%221%22}", "4"), ("indoorloc_consistency_ratio", "1.25"),
            ("indoorloc_reading_duration_seconds_count", "0"),
        ] {
            _ = try prometheus.answer("query?query=\(query)", containing: ",\"\(value)\"]")
        }
        // Prometheus knows types and units from OpenMetrics only.
        let metadata = try prometheus.answer("metadata?metric=indoorloc_session_state", containing: "stateset")
        XCTAssertTrue(metadata.contains("State of the session."), metadata)
        XCTAssertTrue(
            try prometheus.answer("metadata?metric=indoorloc_position_radius_meters", containing: "meters")
                .contains(#""unit":"meters""#))
    }

    func testPrometheusScrapesAServiceWithTheDurationsOfItsCycles() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", folder, "--http", "127.0.0.1:0"])
        try service.waitForError("live map: http://")
        let line = try XCTUnwrap(service.errors.first { $0.contains("live map: http://") })
        let target = try XCTUnwrap(line.firstMatch(of: #/http://([0-9.:]+)//#)).output.1
        try service.wait(for: "\"type\":\"position\"")
        let prometheus = try PrometheusServer(targets: String(target), folder: folder)
        _ = try prometheus.answer("targets", containing: #""health":"up","#, #""lastError":"","#)
        for name in ["reading", "update"] {
            for query in [
                "indoorloc_\(name)_duration_seconds_count>0", "indoorloc_\(name)_duration_seconds_sum>0",
                "indoorloc_\(name)_duration_seconds_bucket{le=%22+Inf%22}>0",
                "histogram_quantile(0.99,indoorloc_\(name)_duration_seconds_bucket)>0",
            ] {
                let path = "query?query=" + query.replacing(">", with: "%3E").replacing("+", with: "%2B")
                _ = try prometheus.answer(path, containing: "\"value\":[")
            }
        }
        _ = try prometheus.answer("query?query=indoorloc_positions_total%3E0", containing: "\"value\":[")
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
    }

    func testEachPanelOfTheDashboardHasNumbers() throws {
        let path = try Checkout.root().appending(path: ".packaging/grafana/metrics.json")
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(contentsOf: path))
        let expressions = dashboard.panels.flatMap { panel in panel.targets.map { (panel.title, $0.expr) } }
        XCTAssertGreaterThan(expressions.count, 20)
        // A metric that doesn't exist has no numbers.
        let folder = try temporaryFolder()
        let fleet = try ServiceProcess(["--demo", "--class", "light"], command: "track", readsOutput: true)
        let session = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + ["--state-directory", folder, "--http", "127.0.0.1:0"])
        func address(_ service: ServiceProcess, _ words: String) throws -> String {
            try service.waitForError(words)
            let line = try XCTUnwrap(service.errors.first { $0.contains(words) })
            return String(try XCTUnwrap(line.firstMatch(of: #/http://([0-9.:]+)/#)).output.1)
        }
        let prometheus = try PrometheusServer(
            targets: try address(fleet, "page of the tags: "), try address(session, "live map: http://"), folder: folder
        )
        for (title, expression) in expressions {
            let query = expression.replacing("$__rate_interval", with: "30s").replacing("$instance", with: ".*")
            XCTAssertFalse(query.contains("$"), "\(title): \(query)")
            XCTAssertNoThrow(try prometheus.number(of: query), title)
        }
        XCTAssertThrowsError(try prometheus.number(of: "sum("), "an error of the syntax")
    }

    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable { var expr: String }

            var title: String
            var targets: [Target]

            private enum CodingKeys: String, CodingKey { case title, targets }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                title = try container.decode(String.self, forKey: .title)
                // A row has panels below it, and no targets.
                targets = try container.decodeIfPresent([Target].self, forKey: .targets) ?? []
            }
        }

        var panels: [Panel]
    }
}
