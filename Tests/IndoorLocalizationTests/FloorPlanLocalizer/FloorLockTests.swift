import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Floor lock and indoor lock of a session.
final class FloorLockTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// A forced map is kept until it is unlocked.
    func testALockedFloorHoldsAgainstContraryEvidence() {
        var machine = SessionStage.machine(in: .localizationRunning)
        XCTAssertEqual(machine.handle(.lockFloor(10), at: 10), [])
        _ = machine.handle(.reading(SessionStage.fix(11, at: 10.1)), at: 10.1)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 20)), at: 20)
        _ = machine.pass(to: 25)
        guard case .localizationRunning(let running) = machine.state else { return XCTFail("\(machine.state)") }
        XCTAssertEqual(running.mapID, 10)
        XCTAssertEqual(machine.handle(.lockFloor(nil), at: 25), [])
        _ = machine.pass(to: 28)
        guard case .localizationRunning(let free) = machine.state else { return XCTFail("\(machine.state)") }
        XCTAssertEqual(free.mapID, 11, "evidence decides again")
    }

    func testAnUnlockWithoutALockDoesNothing() {
        var (first, second) = (
            SessionStage.machine(in: .localizationRunning), SessionStage.machine(in: .localizationRunning)
        )
        XCTAssertEqual(first.handle(.lockFloor(nil), at: 10), [])
        XCTAssertEqual(first.pass(to: 15), second.pass(to: 15))
    }

    func testALockOnAFloorOfAnotherVenueDoesNothing() {
        var machine = SessionStage.machine(in: .localizationRunning)
        _ = machine.handle(.lockFloor(99), at: 10)
        _ = machine.handle(.reading(SessionStage.fix(11, at: 10.1)), at: 10.1)
        _ = machine.pass(to: 13)
        guard case .localizationRunning(let running) = machine.state else { return XCTFail("\(machine.state)") }
        XCTAssertEqual(running.mapID, 11)
    }

    /// The hall's beacons are heard as loud as can be, and yet the device stays in the gallery.
    func testTheEngineStaysOnTheLockedFloorAndLeavesItAfterwards() throws {
        for seed in UInt64(1)...3 {
            var receiver = HallReceiver(
                at: MapPoint(x: 10, y: 10), seed: seed, venue: Stage.twoFloors, field: Stage.twoFloorField)
            receiver.lock(to: Stage.gallery)
            receiver.listen(seconds: 6)
            XCTAssertEqual(receiver.engine.mapProbabilities, [Stage.gallery: 1], "seed \(seed)")
            XCTAssertNotNil(receiver.engine.estimate(on: Stage.gallery))
            receiver.lock(to: nil)
            receiver.listen(seconds: 6)
            XCTAssertGreaterThan(receiver.engine.mapProbabilities[Stage.hall] ?? 0, 0.9, "seed \(seed)")
        }
    }

    func testALockedFloorHasNoProbabilityBeforeEvidence() {
        for method in PositioningMethod.allCases {
            var settings = PositioningSettings()
            settings.method = method
            var engine = PositioningEngine(
                venue: Stage.twoFloors, field: Stage.twoFloorField, settings: settings, seed: 1)
            engine.lock(to: Stage.gallery)
            XCTAssertEqual(engine.mapProbabilities, [:], "\(method)")
        }
    }

    func testTheFloorCertaintyIsWithinZeroAndOne() throws {
        /// The certainty of each position of a receiver that hears some of the hall's beacons.
        func certainties(beacons: Range<Int>) -> [Double] {
            var replay = SessionReplay(venues: [Stage.twoFloors], seed: 1)
            var outputs = replay.start()
            for second in 0..<10 {
                for index in beacons {
                    let rssi = Stage.rssi(from: Stage.beaconPoints[index], to: MapPoint(x: 10, y: 10))
                    let sighting = Sighting(
                        instant: Instant(seconds: Double(second)), beacon: Stage.identity(index), rssi: rssi)
                    outputs += replay.handle(.sighting(sighting))
                }
            }
            outputs += replay.finish()
            return outputs.compactMap { output in
                if case .position(let position) = output.content { position.floorCertainty } else { nil }
            }
        }
        let (clear, unclear) = (certainties(beacons: Stage.beaconPoints.indices), certainties(beacons: 0..<1))
        XCTAssertGreaterThan(min(clear.count, unclear.count), 10)
        for certainty in clear + unclear { XCTAssertTrue((0...1).contains(certainty), "\(certainty)") }
        XCTAssertGreaterThan(try XCTUnwrap(clear.last), try XCTUnwrap(clear.first), "what is heard makes it surer")
        XCTAssertGreaterThan(try XCTUnwrap(clear.last), 0.8)
        XCTAssertLessThan(
            try XCTUnwrap(unclear.first), try XCTUnwrap(clear.first) - 0.05, "one beacon tells less than eight")
    }

    func testAnIndoorLockKeepsTheDeviceInItsVenueUntilItIsLifted() {
        for isLocked in [true, false] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.handle(.lockIndoors(isLocked), at: 10)
            for second in 11...14 {
                _ = machine.handle(.reading(SessionStage.gnss(52.5, at: Double(second))), at: Double(second))
            }
            XCTAssertEqual(machine.state.name, isLocked ? "localizationRunning" : "searchVenue")
        }
    }

    func testALocalizerCanBeLockedWhileItRuns() async throws {
        let stage = LocalizerStage()
        await stage.localizer.lockFloor(11)
        await stage.localizer.lockIndoors(true)
        let states = stage.localizer.states
        try await stage.run()
        _ = try await Bounded.elements(of: states, until: "the locked floor") { state in
            if case .localizationRunning(let running) = state { running.mapID == 11 } else { false }
        }
        await stage.localizer.unlockFloor()
    }
}
