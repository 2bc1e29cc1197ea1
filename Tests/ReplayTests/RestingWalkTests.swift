import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// An hour of walking and standing in the office, with a radio that is off most of the time.
final class RestingWalkTests: XCTestCase {
    /// Returns a walk of an hour: rounds through the corridor with stays in the rooms beside it.
    private func hour(through venue: Venue) throws -> WalkSimulator {
        var points: [WalkPath.Point] = []
        for round in 0..<8 {
            for (x, y, pause) in [
                (5.0, 5.0, 100.0), (5.5, 10, 0), (16, 10, 0), (16, 15, 150), (16, 10, 0), (25, 10, 0), (25, 15, 60),
                (25, 10, 20), (30, 10, 0), (31.5, 15, Double(60 + 5 * round)), (30, 10, 0), (5.5, 10, 0),
            ] { points.append(WalkPath.Point(mapID: 2, point: MapPoint(x: x, y: y), pause: pause)) }
        }
        var settings = SimulationSettings()
        // An hour takes long in a debug build.
        settings.radio.advertisingInterval = 1
        return try WalkSimulator(venue: venue, path: WalkPath(points: points), settings: settings, seed: 1)
    }

    private func office() throws -> Venue { try VenuePacketReader().read(FixtureFolder("office").path).venue }

    /// Returns the outputs of a session for the walk, with the radio in that duty cycle.
    private func replay(_ walk: WalkSimulator, _ cycle: DutyCycle) async throws -> [SessionReplay.Output] {
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 200
        settings.positionInterval = .seconds(2)
        // A global update takes long in a debug build. This is one in each scan of ten seconds, and some in each pause.
        settings.positioning.globalUpdateInterval = 10
        var replay = SessionReplay(venues: [walk.venue], settings: settings)
        var outputs = replay.start()
        let source: any ScanSource = walk.dutyCycled(cycle)
        for try await reading in source.readings() { outputs += replay.handle(reading) }
        return outputs + replay.finish()
    }

    func testTheDutyCycleOfThePackagedUnitKeepsTheVenueForAnHour() async throws {
        let walk = try hour(through: try office())
        XCTAssertGreaterThan(walk.duration, .seconds(3600))
        let cycle = PowerMode.eco.dutyCycle
        XCTAssertGreaterThan(
            cycle.interval, LocalizationSettings().venueLostTimeout, "the pause must be longer than the limit")
        let outputs = try await replay(walk, cycle)
        let states = outputs.compactMap { output -> String? in
            if case .state(let state) = output.content { state.name } else { nil }
        }
        XCTAssertEqual(states.count { $0 == "searchVenue" }, 1, "\(states)")
        XCTAssertEqual(Set(states.suffix(1)), ["idle"])
        for output in outputs {
            if case .position(let position) = output.content { XCTAssertEqual(position.mapID, 2) }
        }
        let end = try XCTUnwrap(outputs.last).instant
        for output in outputs where output.instant < end {
            guard case .event = output.content else { continue }
            let phase = output.instant.seconds.truncatingRemainder(dividingBy: 100)
            XCTAssertLessThanOrEqual(phase, 10.5, "the output at \(output.instant.seconds) s is not from a scan")
        }
        XCTAssertGreaterThan(outputs.count { if case .event = $0.content { true } else { false } }, 10)
        checkRadius(outputs, walk)
    }

    /// Checks that the radius grows during the pauses, so that it contains the true position there too.
    private func checkRadius(_ outputs: [SessionReplay.Output], _ walk: WalkSimulator) {
        let truths = walk.entries().compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        var (inside, all) = (0, 0)
        for output in outputs {
            guard case .position(let position) = output.content,
                let next = truths.firstIndex(where: { $0.instant > output.instant }), next > 0,
                let before = truths[next - 1].point, let after = truths[next].point
            else { continue }
            let span = max(truths[next - 1].instant.duration(to: truths[next].instant).seconds, 1e-9)
            let share = truths[next - 1].instant.duration(to: output.instant).seconds / span
            let truth = before + (after - before) * share
            all += 1
            if truth.distance(to: position.point) <= position.radius { inside += 1 }
        }
        XCTAssertGreaterThan(all, 1500)
        XCTAssertGreaterThan(Double(inside) / Double(max(1, all)), 0.6, "\(inside) of \(all)")
    }
}
