import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import SessionMetrics
import XCTest

/// A real Prometheus on this machine, which scrapes a target once a second.
private final class PrometheusServer {
    private let process = Process()
    private let port: UInt16

    /// - Parameters:
    ///   - target: the host and port of the metrics.
    ///   - folder: the folder for its files.
    init(target: String, folder: String) throws {
        port = try TestPort.free()
        let configuration = """
            global: {scrape_interval: 1s}
            scrape_configs:
              - job_name: indoorloc
                static_configs: [{targets: ["\(target)"]}]
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
        let prometheus = try PrometheusServer(target: "127.0.0.1:\(server.port)", folder: folder)
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
            ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", folder, "--http", "127.0.0.1:0"])
        try service.waitForError("live map: http://")
        let line = try XCTUnwrap(service.errors.first { $0.contains("live map: http://") })
        let target = try XCTUnwrap(line.firstMatch(of: #/http://([0-9.:]+)//#)).output.1
        try service.wait(for: "\"type\":\"position\"")
        let prometheus = try PrometheusServer(target: String(target), folder: folder)
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
}
