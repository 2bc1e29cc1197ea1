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
        let states = localizer.states
        await localizer.start()
        try await source.waitForScans()
        _ = try await Bounded.elements(of: states, until: "searchVenue") { $0 == .searchVenue }
        let readings = Self.readings(seconds: 20)
        // The first ones are used when the venue is prepared; the others one by one.
        for reading in readings[..<50] { source.send(reading) }
        _ = try await Bounded.elements(of: localizer.positions, until: "a position") { _ in true }
        for reading in readings[50...] { source.send(reading) }
        try await Bounded.wait(for: "all readings") {
            while await localizer.activityCounts.readings < readings.count { await Task.yield() }
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
