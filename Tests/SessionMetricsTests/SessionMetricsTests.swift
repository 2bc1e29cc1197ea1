import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import SessionMetrics
import XCTest

final class SessionMetricsTests: XCTestCase {
    private static let beginning = 5000.0
    private static let venue = Venue(
        id: 7, name: "office", version: 3, maps: [VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30)],
        beacons: (1...3).map { minor in
            VenueBeacon(identity: beacon(minor), mapID: 10, point: MapPoint(x: Double(minor) * 5, y: 5))
        })

    private static func beacon(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: minor)
    }

    /// Three beacons of the venue and one of no venue, ten times a second.
    private static func readings(seconds: Double) -> [SensorReading] {
        (0..<Int(seconds * 10)).map { tick in
            .sighting(
                Sighting(
                    instant: Instant(seconds: beginning + Double(tick) / 10),
                    beacon: beacon(UInt16(tick % 4 + 1)), rssi: -60))
        }
    }

    /// A live session that has positions, with its last tick done.
    private func runningLocalizer(measured: Bool) async throws -> (Localizer, ManualClock) {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 100
        let clock = ManualClock(now: Instant(seconds: 777))
        let source = ScriptedSource()
        let localizer = Localizer(
            source: source, venues: VenueLibrary([Self.venue]), settings: settings, clock: clock, seed: 1)
        let elapsed = ContinuousClock.now
        if measured { await localizer.measureCycles { elapsed.duration(to: .now) } }
        let (states, positions) = (localizer.states, localizer.positions)
        await localizer.start()
        try await source.waitForScans()
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        let readings = Self.readings(seconds: 20)
        // The first ones are used when the venue is prepared; the others one by one.
        for reading in readings[..<50] { source.send(reading) }
        _ = try await Bounded.elements(of: positions, until: "a position") { _ in true }
        for reading in readings[50...] { source.send(reading) }
        try await Bounded.poll(for: "all readings") {
            await localizer.activityCounts.readings == readings.count
        }
        return (localizer, clock)
    }

    /// The value of a sample in the text.
    private func value(_ sample: String, in text: String) throws -> Double {
        let line = text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
        return try XCTUnwrap(Double(try XCTUnwrap(line, "\(sample) in\n\(text)").dropFirst(sample.count + 1)))
    }

    func testTheMetricsOfARunningSessionHaveItsValues() async throws {
        let (localizer, _) = try await runningLocalizer(measured: true)
        let facts = await SessionFacts(
            of: localizer, uptime: .seconds(90), lostReadings: 5, residentMemory: 1 << 20)
        let text = SessionMetrics.text(of: facts)
        guard case .indoors(let position) = await localizer.latestPlace else { return XCTFail("no position") }
        let counts = await localizer.activityCounts
        XCTAssertGreaterThan(counts.readings, 190)
        for (sample, expected) in [
            ("indoorloc_readings_total", Double(counts.readings)),
            ("indoorloc_sightings_total", Double(counts.readings)),
            ("indoorloc_readings_lost_total", 5), ("indoorloc_scan_passes_total", 1),
            ("indoorloc_positions_total", Double(counts.positions)),
            (#"indoorloc_errors_total{code="network"}"#, 0), ("indoorloc_uptime_seconds", 90),
            (#"indoorloc_session_state{indoorloc_session_state="localizationRunning"}"#, 1),
            (#"indoorloc_session_state{indoorloc_session_state="idle"}"#, 0),
            (#"indoorloc_venue_packet_version{venue="7"}"#, 3),
            (#"indoorloc_beacons{membership="known"}"#, 3), (#"indoorloc_beacons{membership="unknown"}"#, 1),
            ("indoorloc_position_radius_meters", position.radius),
            ("indoorloc_floor_certainty_ratio", try XCTUnwrap(position.floorCertainty)),
            ("indoorloc_reading_duration_seconds_count", Double(counts.readings)),
            ("process_resident_memory_bytes", 1_048_576),
        ] {
            XCTAssertEqual(try value(sample, in: text), expected, sample)
        }
        XCTAssertEqual(try value("indoorloc_position_age_seconds", in: text), 0, "the clock stands still")
        XCTAssertGreaterThan(try value("indoorloc_consistency_ratio", in: text), 0)
        XCTAssertGreaterThan(try value("indoorloc_update_duration_seconds_count", in: text), 5)
        XCTAssertGreaterThan(try value("indoorloc_update_duration_seconds_sum", in: text), 0)
        XCTAssertFalse(text.contains("00000000-0000-0001"), "no beacon's identity is a label")
    }

    func testTheAgeOfThePositionGrowsAfterTheSession() async throws {
        let (localizer, clock) = try await runningLocalizer(measured: false)
        await localizer.stop()
        clock.advance(by: .seconds(100))
        let text = SessionMetrics.text(of: await SessionFacts(of: localizer, uptime: .seconds(120)))
        XCTAssertEqual(try value("indoorloc_position_age_seconds", in: text), 100)
        XCTAssertFalse(text.contains("indoorloc_beacons{"), "no session receives beacons")
        XCTAssertFalse(text.contains("indoorloc_venue_packet_version{"), "no session is in a venue")
    }

    func testASessionMeasuresNothingUnlessRequested() async throws {
        let (localizer, _) = try await runningLocalizer(measured: false)
        let facts = await SessionFacts(of: localizer, uptime: .zero)
        XCTAssertNil(facts.cycleTimes)
        let text = SessionMetrics.text(of: facts)
        XCTAssertTrue(text.contains("# TYPE indoorloc_reading_duration_seconds histogram"))
        XCTAssertFalse(text.contains("indoorloc_reading_duration_seconds_count"))
    }

    func testErrorsAreCountedByTheirCode() async throws {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 0
        let localizer = Localizer(
            source: ScriptedSource([]), venues: VenueLibrary([Self.venue]), settings: settings)
        await localizer.start()
        let facts = await SessionFacts(of: localizer, uptime: .zero)
        let text = SessionMetrics.text(of: facts)
        XCTAssertEqual(try value(#"indoorloc_errors_total{code="critical"}"#, in: text), 1)
        XCTAssertEqual(try value(#"indoorloc_errors_total{code="generic"}"#, in: text), 0)
        XCTAssertEqual(try value(#"indoorloc_session_state{indoorloc_session_state="error"}"#, in: text), 1)
    }

    func testABucketContainsTheDurationsUpToItsBound() {
        var histogram = CycleTimes.Histogram()
        for nanoseconds in [0, 10_000, 10_001, 1_000_000_000, 1_000_000_001] {
            histogram.add(.nanoseconds(nanoseconds))
        }
        XCTAssertEqual(histogram.counts, [2, 1, 0, 0, 0, 1, 1])
        XCTAssertEqual(histogram.count, 5)
        XCTAssertEqual(histogram.sum, 2.000_020_002, accuracy: 1e-12)
    }
}

final class MetricTextTests: XCTestCase {
    private let families = [
        MetricFamily(
            "app_errors", .counter, help: "Errors \"by\" code\\kind.\nSecond line.",
            samples: [
                .init(.number(3), labels: [.init("code", "a\\b\"c\nd"), .init("kind", "ä")]),
                .init(.number(0.5)),
            ]),
        MetricFamily("app_radius_meters", .gauge, unit: .meters, help: "Radius.", samples: [.init(.number(2.25))]),
        MetricFamily(
            "app_step_seconds", .histogram, unit: .seconds, help: "Steps.",
            samples: [.init(.histogram(bounds: [0.001, 1], counts: [2, 0, 1], sum: 3.5), labels: [.init("k", "v")])]),
        MetricFamily(
            "app_state", .stateSet, help: "State.",
            samples: [
                .init(.number(1), labels: [.init("app_state", "on")]),
                .init(.number(0), labels: [.init("app_state", "off")]),
            ]),
        MetricFamily("app_unknown_ratio", .gauge, unit: .ratio, help: "Unknown."),
    ]

    func testTheWriterWritesOpenMetrics() {
        XCTAssertEqual(
            MetricText.text(of: families),
            #"""
            # TYPE app_errors counter
            # HELP app_errors Errors \"by\" code\\kind.\nSecond line.
            app_errors_total{code="a\\b\"c\nd",kind="ä"} 3
            app_errors_total 0.5
            # TYPE app_radius_meters gauge
            # UNIT app_radius_meters meters
            # HELP app_radius_meters Radius.
            app_radius_meters 2.25
            # TYPE app_step_seconds histogram
            # UNIT app_step_seconds seconds
            # HELP app_step_seconds Steps.
            app_step_seconds_bucket{k="v",le="0.001"} 2
            app_step_seconds_bucket{k="v",le="1.0"} 2
            app_step_seconds_bucket{k="v",le="+Inf"} 3
            app_step_seconds_sum{k="v"} 3.5
            app_step_seconds_count{k="v"} 3
            # TYPE app_state stateset
            # HELP app_state State.
            app_state{app_state="on"} 1
            app_state{app_state="off"} 0
            # TYPE app_unknown_ratio gauge
            # UNIT app_unknown_ratio ratio
            # HELP app_unknown_ratio Unknown.
            # EOF

            """#)
    }

    func testTheWriterWritesTheTextFormatOfPrometheus() {
        let text = MetricText.text(of: families, as: .prometheus)
        XCTAssertTrue(
            text.hasPrefix(
                #"""
                # TYPE app_errors_total counter
                # HELP app_errors_total Errors "by" code\\kind.\nSecond line.
                app_errors_total{code="a\\b\"c\nd",kind="ä"} 3

                """#), text)
        XCTAssertTrue(text.contains("# TYPE app_state gauge\n"), text)
        XCTAssertFalse(text.contains("# UNIT"), text)
        XCTAssertFalse(text.contains("# EOF"), text)
    }

    func testNumbersThatAreNotFiniteHaveTheirNamesInTheFormat() {
        let numbers = [Double.nan, .infinity, -.infinity, 1e300, -0.000001, 9_007_199_254_740_992]
        let family = MetricFamily("a", .gauge, help: "A.", samples: numbers.map { .init(.number($0)) })
        let lines = MetricText.text(of: [family]).split(separator: "\n").filter { !$0.hasPrefix("#") }
        XCTAssertEqual(lines, ["a NaN", "a +Inf", "a -Inf", "a 1e+300", "a -1e-06", "a 9007199254740992.0"])
    }
}

/// The page of the documentation about metrics, and its examples.
final class MetricsPageTests: XCTestCase {
    private func page() throws -> String {
        let root = URL(filePath: try FixtureFolder("office").path).appending(path: "../..")
        return try String(
            contentsOf: root.appending(path: "Sources/IndoorLocalization/IndoorLocalization.docc/Metrics.md"),
            encoding: .utf8)
    }

    /// Facts with all values, so that each family has samples.
    private var facts: SessionFacts {
        let venue = Venue(
            id: 1, name: "office", maps: [VenueMap(id: 10, name: "ground", level: 0, width: 4, height: 3)])
        return SessionFacts(
            uptime: .seconds(60), state: .localizationRunning(RunningState(venue: venue, mapID: 10)),
            place: .init(age: .seconds(0.5), radius: 2.5, floorCertainty: 0.9), beacons: .init(known: 3, unknown: 1),
            consistencyRatio: 1.2, cycleTimes: CycleTimes(), residentMemory: 1 << 26)
    }

    func testThePageListsEachMetricWithItsTypeAndUnit() throws {
        let rows = try page().split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").prefix(3).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let families = SessionMetrics.families(of: facts).map { family in
            let name = family.kind == .counter ? family.name + "_total" : family.name
            return [
                "`\(name)`", family.kind == .stateSet ? "state set" : family.kind.rawValue, family.unit?.rawValue ?? "",
            ]
        }
        XCTAssertEqual(rows, families)
    }

    func testPromtoolAcceptsTheMetrics() throws {
        XCTAssertTrue(SessionMetrics.families(of: facts).allSatisfy { !$0.samples.isEmpty })
        let text = SessionMetrics.text(of: facts, as: .prometheus)
        let result = try Promtool.run(["check", "metrics"], input: text)
        XCTAssertEqual(result.status, 0, result.output)
        XCTAssertEqual(result.output, "")
        // The check rejects what it should.
        let wrong = text.replacing("# HELP indoorloc_readings_total ", with: "# ")
        XCTAssertNotEqual(try Promtool.run(["check", "metrics"], input: wrong).status, 0)
    }

    func testPromtoolAcceptsTheExamplesOfThePage() throws {
        let blocks = try page().components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        XCTAssertEqual(blocks.count, 2)
        for (block, command) in zip(blocks, ["config", "rules"]) {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appending(path: "indoorloc.yml")
            try Data(block.utf8).write(to: file)
            try Data("secret\n".utf8).write(to: folder.appending(path: "indoorloc.token"))
            let result = try Promtool.run(["check", command, file.path])
            XCTAssertEqual(result.status, 0, "\(command): \(result.output)")
        }
        // A rule about a metric that doesn't exist never fires.
        let names = Set(
            SessionMetrics.families(of: facts).map { $0.kind == .counter ? $0.name + "_total" : $0.name })
        let used = blocks[1].matches(of: #/\b(indoorloc_[a-z_]+?|process_[a-z_]+?)(_bucket)?\b/#).map {
            String($0.output.1)
        }
        XCTAssertFalse(used.isEmpty)
        for name in used { XCTAssertTrue(names.contains(name), name) }
    }
}

/// Debian's `promtool`, which checks metrics and configurations of Prometheus.
enum Promtool {
    struct Result {
        let status: Int32
        /// Standard output and standard error.
        let output: String
    }

    /// Runs the tool with a text on standard input.
    ///
    /// - Throws: if the tool isn't installed.
    static func run(_ arguments: [String], input: String = "") throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/promtool")
        process.arguments = arguments
        let (source, sink) = (Pipe(), Pipe())
        process.standardInput = source
        process.standardOutput = sink
        process.standardError = sink
        try process.run()
        // The text fits into the pipe's buffer.
        try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try source.fileHandleForWriting.close()
        let output = try sink.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }
}
