import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Rooms of the regions that a scanner tracks.
final class BeaconScannerRoomTests: XCTestCase {
    /// Tells the room by the strongest beacon, from three beacons on.
    private struct StrongestBeacon: Classifier {
        func classify(_ scan: RoomScan) -> RoomEstimate? {
            guard scan.rssi.count >= 3, let strongest = scan.rssi.max(by: { $0.value < $1.value }) else { return nil }
            return RoomEstimate(
                instant: scan.instant, candidates: [.init(room: "room\(strongest.key.minor)", probability: 1)])
        }
    }

    private func stage() async -> ScannerStage {
        var settings = ScannerSettings(dutyCycle: .continuous)
        settings.rooms = RoomSettings(changeRule: .immediate)
        let stage = ScannerStage(ScriptedSource(), settings)
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        await stage.scanner.insertClassifier(StrongestBeacon(), for: "home")
        return stage
    }

    /// Three beacons, of which one is the strongest, up to the ranging at so many seconds since the start.
    private func hear(_ stage: ScannerStage, strongest: UInt16, until seconds: Double) async throws {
        for minor in 1...UInt16(3) {
            try await stage.hear(ScannerStage.beacon(1, minor), rssi: minor == strongest ? -50 : -80)
        }
        try await stage.ring(at: seconds)
    }

    private func text(_ events: [RoomEvent]) -> [String] { events.map { "\($0.kind) \($0.regionID) \($0.room)" } }

    func testRoomEventsAreEmittedOnlyAfterTheStart() async throws {
        let stage = await stage()
        let events = stage.scanner.roomEvents
        let rangings = stage.scanner.rangings
        try await stage.start()
        try await hear(stage, strongest: 1, until: 1)
        _ = try await Bounded.first(1, of: rangings)
        let isTelling = await stage.scanner.isTellingRooms
        XCTAssertFalse(isTelling)
        await stage.scanner.startRooms()
        try await hear(stage, strongest: 1, until: 2)
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(text(seen), ["enter home room1", "current home room1"])
        XCTAssertEqual(seen.map { $0.instant.seconds - ScannerStage.beginning }, [2, 2], "nothing at 1 s")
        let rooms = await stage.scanner.presentRooms
        XCTAssertEqual(rooms, ["home": "room1"])
    }

    func testEachScanUpdatesTheProbabilitiesOfAllRooms() async throws {
        let stage = await stage()
        let estimates = stage.scanner.roomEstimates(in: "home")
        await stage.scanner.startRooms()
        try await stage.start()
        for second in 1...2 { try await hear(stage, strongest: 1, until: Double(second)) }
        let seen = try await Bounded.first(2, of: estimates)
        XCTAssertEqual(seen.map(\.room), ["room1", "room1"])
        XCTAssertEqual(seen.map { $0.instant.seconds - ScannerStage.beginning }, [1, 2])
        XCTAssertEqual(seen.map { $0.probability(of: "room2") }, [0, 0])
    }

    func testAfterAPauseTheRoomIsEnteredAgain() async throws {
        let stage = await stage()
        let events = stage.scanner.roomEvents
        await stage.scanner.startRooms()
        try await stage.start()
        try await hear(stage, strongest: 2, until: 1)
        _ = try await Bounded.first(2, of: events)
        await stage.scanner.pauseTracking()
        await stage.scanner.resumeTracking()
        try await hear(stage, strongest: 2, until: 2)
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(text(seen), ["enter home room2", "current home room2"])
    }

    func testAfterThePresenceWasForgottenTheRoomIsEnteredAgain() async throws {
        let stage = await stage()
        let events = stage.scanner.roomEvents
        await stage.scanner.startRooms()
        try await stage.start()
        try await hear(stage, strongest: 2, until: 1)
        _ = try await Bounded.first(2, of: events)
        await stage.scanner.forgetPresence()
        try await hear(stage, strongest: 2, until: 2)
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(text(seen), ["enter home room2", "current home room2"])
    }

    func testARoomIsLeftBeforeItsRegion() {
        var settings = ScannerSettings(dutyCycle: .continuous)
        settings.rooms = RoomSettings(changeRule: .immediate)
        var machine = ScanMachine(settings: settings, pace: .recorded, seed: 0)
        _ = machine.regions.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        machine.rooms.insert(StrongestBeacon(), for: "home")
        machine.rooms.start()
        var directives = machine.handle(.start, at: .zero)
        for minor in 1...UInt16(3) {
            let reading = ScannerStage.sighting(ScannerStage.beacon(1, minor), at: 0.5, rssi: minor == 1 ? -50 : -80)
            directives += machine.handle(.reading(reading), at: reading.instant)
        }
        directives += machine.handle(.tick, at: Instant(seconds: 60))
        let told = directives.compactMap { directive -> String? in
            switch directive {
            case .emitRegionEvent(let event): "\(event.kind) \(event.regionID)"
            case .emitRoomEvent(let event): "\(event.kind) \(event.room)"
            default: nil
            }
        }
        XCTAssertEqual(told, ["enter home", "enter room1", "current room1", "exit room1", "exit home"])
    }
}
