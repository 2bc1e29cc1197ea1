import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Whether positions can be expected.
final class ServiceStatusTests: XCTestCase {
    func testEachStateHasAStatus() {
        for (stage, status) in [
            (.idle, .stopped), (.started, .available), (.searchVenue, .available), (.getPacket, .available),
            (.findFloor, .available), (.localizationRunning, .available), (.error, .outOfService),
        ] as [(SessionStage.Stage, ServiceStatus)] {
            XCTAssertEqual(SessionStage.machine(in: stage).serviceStatus, status, stage.rawValue)
        }
    }

    func testTheServiceIsUnavailableWithoutTheNetworkUntilTheAnswerArrives() {
        var machine = SessionStage.machine(in: .started)
        _ = machine.handle(.catalogueFailed(SessionStage.network), at: 11)
        XCTAssertEqual(machine.serviceStatus, .unavailable)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 12)
        XCTAssertEqual(machine.serviceStatus, .available)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 13)), at: 13)
        _ = machine.handle(.packetFailed(1, SessionStage.network), at: 14)
        XCTAssertEqual(machine.serviceStatus, .unavailable)
        _ = machine.handle(.packet(1, SessionStage.office), at: 15)
        XCTAssertEqual(machine.serviceStatus, .available)
    }

    func testTheServiceIsLimitedWithoutARadioUntilItReceives() {
        func radio(_ status: RadioEvent.Status) -> Machine.Event {
            .reading(.radio(RadioEvent(instant: Instant(seconds: 11), status: status)))
        }
        for back in [radio(.scanning), .reading(SessionStage.heard(1, at: 12))] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.handle(radio(.poweredOff), at: 11)
            XCTAssertEqual(machine.serviceStatus, .limited)
            _ = machine.handle(back, at: 12)
            XCTAssertEqual(machine.serviceStatus, .available)
        }
        var machine = SessionStage.machine(in: .searchVenue)
        _ = machine.handle(.sourceFailed(LocalizationError(code: .generic, message: "unplugged")), at: 11)
        XCTAssertEqual(machine.serviceStatus, .limited)
        _ = machine.handle(.stop, at: 12)
        _ = machine.handle(.start, at: 12)
        XCTAssertEqual(machine.serviceStatus, .available, "a new session knows nothing of it")
    }

    func testEachStateOfAFloorPlanLocalizerHasAStatus() {
        for (state, status) in [
            (.stopped(nil), .stopped), (.stopped(SessionStage.credential), .outOfService),
            (.reconnecting(SessionStage.network), .unavailable), (.connecting, .available), (.loading, .available),
            (.waitingForFix, .available), (.positioning, .available), (.buffering, .limited),
            (.heavyBuffering, .limited),
        ] as [(FloorPlanLocalizerState, ServiceStatus)] {
            XCTAssertEqual(state.serviceStatus, status, state.name)
        }
    }

    func testALocalizerEmitsEachStatusOnce() async throws {
        let stage = LocalizerStage()
        let statuses = stage.localizer.serviceStatuses
        try await stage.run()
        await stage.localizer.stop()
        let seen = try await Bounded.first(3, of: statuses)
        XCTAssertEqual(seen, [.stopped, .available, .stopped])
    }
}

/// Why a session that hears something gives no positions.
final class UnexplainedSilenceTests: XCTestCase {
    private func errors(_ directives: [Machine.Directive]) -> [LocalizationError] {
        directives.compactMap { if case .report(let error) = $0 { error } else { nil } }
    }

    // MARK: - Beacons of no known venue

    func testBeaconsOfNoKnownVenueAreReportedOnceAfterFiveSeconds() throws {
        var machine = SessionStage.machine(in: .searchVenue)
        for (seconds, minor) in [(10.0, 7), (12, 8), (14.9, 7)] as [(Double, UInt16)] {
            let directives = machine.handle(.reading(SessionStage.heard(7, minor, at: seconds)), at: seconds)
            XCTAssertEqual(directives, [], "\(seconds) s")
        }
        let told = errors(machine.handle(.reading(SessionStage.heard(7, 7, at: 15)), at: 15))
        XCTAssertEqual(told.map(\.code), [.generic])
        guard case .unknownBeacons(let beacons)? = told.first?.reason else { return XCTFail("\(told)") }
        XCTAssertEqual(beacons.map(\.identity), [SessionStage.beacon(7, 7), SessionStage.beacon(7, 8)])
        let message = try XCTUnwrap(told.first?.message)
        XCTAssertTrue(message.contains("\(SessionStage.beacon(7, 8))"), message)
        for seconds in [16.0, 30, 1000] {
            XCTAssertEqual(machine.handle(.reading(SessionStage.heard(7, 7, at: seconds)), at: seconds), [])
        }
        XCTAssertEqual(machine.state, .searchVenue)
        // Each session tells it anew.
        _ = machine.handle(.stop, at: 1000)
        _ = machine.handle(.start, at: 1000)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 1000)
        _ = machine.handle(.reading(SessionStage.heard(7, 7, at: 1000)), at: 1000)
        XCTAssertEqual(errors(machine.handle(.reading(SessionStage.heard(7, 7, at: 1005)), at: 1005)).count, 1)
    }

    func testABeaconOfAKnownVenueRestartsTheFiveSeconds() {
        var settings = LocalizationSettings()
        // Another venue than the one that is heard: the search goes on.
        settings.forcedVenue = 2
        var machine = SessionStage.machine(in: .searchVenue, settings)
        var told: [Double] = []
        for (seconds, venue) in [(10.0, 7), (14, 7), (14.5, 1), (15, 7), (19.9, 7), (20, 7), (21, 7)] {
            let reading = SessionStage.heard(UInt16(venue), 1, at: seconds)
            if !errors(machine.handle(.reading(reading), at: seconds)).isEmpty { told.append(seconds) }
        }
        XCTAssertEqual(told, [20])
    }

    func testUnknownBeaconsAreNotReportedOnceAVenueWasFound() {
        var machine = SessionStage.machine(in: .findFloor)
        _ = machine.pass(to: 1000)
        XCTAssertEqual(machine.state, .searchVenue)
        for seconds in [1000.0, 1006, 1020] {
            XCTAssertEqual(machine.handle(.reading(SessionStage.heard(7, 7, at: seconds)), at: seconds), [])
        }
    }

    func testWeakBeaconsAreNotReported() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        var machine = SessionStage.machine(in: .searchVenue, settings)
        for seconds in [10.0, 16] {
            let reading = SessionStage.heard(7, 7, at: seconds, rssi: -81)
            XCTAssertEqual(machine.handle(.reading(reading), at: seconds), [])
        }
    }

    func testTheNearestKnownBeaconIsNamed() {
        let uuid = SessionStage.beacon(1, 1).uuid
        var search = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        let far = BeaconUUID(high: .max, low: .max)
        search.learn([
            VenueSummary(
                id: 1, name: "a", version: 1,
                regions: [
                    BeaconRegion(uuid: uuid, major: 1, minor: 1), BeaconRegion(uuid: uuid, major: 1, minor: 20),
                    BeaconRegion(uuid: uuid, major: 30, minor: 5),
                ]),
            VenueSummary(id: 2, name: "b", version: 1, regions: [BeaconRegion(uuid: far, major: 77)]),
        ])
        let slip = BeaconUUID(high: uuid.high ^ 0x10, low: uuid.low ^ 0xF000)
        let cases: [(BeaconUUID, UInt16, UInt16, BeaconRegion?)] = [
            (uuid, 1, 3, BeaconRegion(uuid: uuid, major: 1, minor: 1)),  // same UUID and major
            (uuid, 1, 18, BeaconRegion(uuid: uuid, major: 1, minor: 20)),
            (uuid, 31, 5, BeaconRegion(uuid: uuid, major: 30, minor: 5)),  // same UUID and minor
            (uuid, 200, 300, BeaconRegion(uuid: uuid, major: 30, minor: 5)),  // same UUID
            (slip, 1, 20, BeaconRegion(uuid: uuid, major: 1, minor: 20)),  // a slip in the UUID
            (BeaconUUID(high: 5, low: 5), 30, 5, BeaconRegion(uuid: uuid, major: 30, minor: 5)),  // another UUID
            (BeaconUUID(high: 5, low: 5), 6, 6, nil),
        ]
        for (uuid, major, minor, nearest) in cases {
            let beacon = BeaconIdentity(uuid: uuid, major: major, minor: minor)
            let unknown = search.unknown(beacon)
            XCTAssertEqual(unknown, UnknownBeacon(identity: beacon, nearest: nearest, venueID: nearest.map { _ in 1 }))
        }
    }

    func testABeaconThatIsKnownByItsAddressAloneIsNoSimilarBeacon() {
        var search = VenueSearchMachine(settings: VenueSearchSettings(), forced: nil)
        let derived = BeaconIdentity(address: DeviceAddress(rawValue: 0xC47C_8D00_0101))
        search.learn([VenueSummary(id: 1, name: "hall", version: 1, regions: [BeaconRegion(derived)])])
        let eddystone = BeaconIdentity(uuid: BeaconUUID(high: 5, low: 5), major: 0, minor: 0)
        XCTAssertEqual(search.unknown(eddystone), UnknownBeacon(identity: eddystone))
    }

    func testALocalizerReportsUnknownBeacons() async throws {
        let stage = LocalizerStage()
        let errors = stage.localizer.errors
        await stage.localizer.start()
        try await stage.source.waitUntilScanning()
        // Before the session knows its venues, a reading identifies none.
        try await stage.reach("searchVenue")
        for tick in 0...60 {
            stage.source.send(SessionStage.heard(1, 40, at: LocalizerStage.beginning + Double(tick) / 10))
        }
        let told = try await Bounded.first(1, of: errors)
        let nearest = BeaconRegion(SessionStage.beacon(1, 3))
        XCTAssertEqual(
            told.first?.reason,
            .unknownBeacons([UnknownBeacon(identity: SessionStage.beacon(1, 40), nearest: nearest, venueID: 1)]))
    }

    // MARK: - Instants that do not advance

    func testReadingsWhoseInstantsDoNotAdvanceAreReportedOnce() {
        var replay = SessionReplay(venues: [SessionStage.office])
        var outputs = replay.start()
        for count in 0..<100 { outputs += replay.handle(SessionStage.heard(1, UInt16(count % 3 + 1), at: 0)) }
        outputs += replay.finish()
        let told = outputs.compactMap { if case .error(let error) = $0.content { error } else { nil } }
        XCTAssertEqual(told, [.instantsStandStill(at: .zero)])
        XCTAssertEqual(told.first?.code, .generic)
        XCTAssertEqual(told.first?.reason, .instantsStandStill(.zero))
    }

    func testManyReadingsOfOneInstantAreNoError() {
        // A scan of a second that gives all its beacons, and each of them several times, the instant of its end.
        var machine = SessionStage.machine(in: .searchVenue)
        for scan in 0..<20 {
            for reading in 0..<60 {
                let seconds = 10 + Double(scan) / 10
                let heard = SessionStage.heard(7, UInt16(reading % 6), at: seconds)
                XCTAssertEqual(machine.handle(.reading(heard), at: seconds), [])
            }
        }
    }

    func testAnInertialSensorWhoseInstantsDoNotAdvanceIsReported() {
        var machine = SessionStage.machine(in: .findFloor)
        let told = (0..<500).flatMap { _ in errors(machine.handle(.reading(SessionStage.motion(at: 10)), at: 10)) }
        XCTAssertEqual(told.map(\.reason), [.instantsStandStill(Instant(seconds: 10))])
    }
}

/// The reports of a session about beacons that its belief finds at fault.
final class BeaconFaultReportTests: XCTestCase {
    /// A belief whose faults a test sets by sightings: an RSSI below -90 dBm is a fault of the beacon, one of -80 dBm ends
    /// it, and -85 dBm is another kind.
    private struct FaultyBelief: PositioningBelief {
        private(set) var beaconFaults: [BeaconFault] = []
        private(set) var isContradictory = false

        mutating func observe(_ reading: SensorReading) {
            guard case .sighting(let sighting) = reading, sighting.rssi <= -80 else { return }
            beaconFaults.removeAll { $0.beacon == sighting.beacon }
            isContradictory = sighting.rssi == -99
            guard sighting.rssi < -80 else { return }
            beaconFaults.append(
                BeaconFault(
                    beacon: sighting.beacon, kind: sighting.rssi == -85 ? .silent : .contradictory,
                    since: sighting.instant))
        }

        mutating func advance(to now: Instant) {}
        var mapProbabilities: [MapID: Double] { [10: 1] }
        func estimate(on map: MapID) -> PositioningEngine.Estimate? {
            PositioningEngine.Estimate(at: MapPoint(x: 5, y: 5), radius: 1)
        }
    }

    /// Plays sightings of a beacon; returns the reported faults with their seconds.
    private func reports(
        _ sightings: [(Double, Double)], to end: Double
    ) -> [(seconds: Double, error: LocalizationError)] {
        var machine = LocalizationMachine(settings: LocalizationSettings(), seed: 1, reportsDiagnosis: true) { _ in
            FaultyBelief()
        }
        typealias Event = LocalizationMachine<FaultyBelief>.Event
        var reports: [(Double, LocalizationError)] = []
        func handle(_ event: Event, at now: Instant) {
            for case .report(let error) in machine.handle(event, at: now) { reports.append((now.seconds, error)) }
        }
        let start: [Event] = [
            .start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 0)),
            .packet(1, SessionStage.office),
        ]
        for event in start { handle(event, at: .zero) }
        // A healthy beacon keeps the session in its venue.
        let healthy = stride(from: 0.5, through: end, by: 5).map { ($0, SessionStage.heard(1, 2, at: $0)) }
        let events = healthy + sightings.map { ($0.0, SessionStage.heard(1, at: $0.0, rssi: $0.1)) }
        for (seconds, reading) in events.sorted(by: { $0.0 < $1.0 }) {
            while let wake = machine.nextWake, wake < Instant(seconds: seconds) { handle(.tick, at: wake) }
            handle(.reading(reading), at: Instant(seconds: seconds))
        }
        while let wake = machine.nextWake, wake <= Instant(seconds: end) { handle(.tick, at: wake) }
        return reports
    }

    func testAFaultIsReportedOnceWithItsReason() throws {
        let reports = reports([(10, -95), (20, -95), (30, -95)], to: 40)
        XCTAssertEqual(reports.count, 1)
        let error = try XCTUnwrap(reports.first).error
        XCTAssertEqual(error.code, .generic)
        XCTAssertEqual(error.kind, .beaconFault)
        guard case .beaconFault(let fault)? = error.reason else { return XCTFail("\(error)") }
        XCTAssertEqual(fault.beacon, SessionStage.beacon(1, 1))
        XCTAssertEqual(fault.kind, .contradictory)
        XCTAssertTrue(error.message.hasPrefix("beacon \(fault.beacon) contradicts"), error.message)
    }

    func testAnotherKindIsReportedAgain() {
        let kinds = reports([(10, -95), (20, -85)], to: 40).map { report -> BeaconFault.Kind? in
            if case .beaconFault(let fault)? = report.error.reason { fault.kind } else { nil }
        }
        XCTAssertEqual(kinds, [.contradictory, .silent])
    }

    func testAFaultThatReturnsIsReportedAgainAfterAMinuteOnly() {
        XCTAssertEqual(reports([(10, -95), (20, -80), (50, -95)], to: 60).count, 1)
        let later = reports([(10, -95), (20, -80), (100, -95)], to: 110)
        XCTAssertEqual(later.count, 2)
        XCTAssertEqual(later.last?.seconds ?? 0, 100, accuracy: 1)
    }

    func testTheDiagnosisListsFaultsAndContradictions() {
        var machine = LocalizationMachine(settings: LocalizationSettings(), seed: 1, reportsDiagnosis: true) { _ in
            FaultyBelief()
        }
        _ = machine.handle(.start, at: .zero)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: .zero)
        _ = machine.handle(.reading(SessionStage.heard(1, at: 0)), at: .zero)
        _ = machine.handle(.packet(1, SessionStage.office), at: .zero)
        _ = machine.handle(.tick, at: .zero)
        XCTAssertEqual(machine.diagnosis(at: .zero).beaconFaults, [])
        var emitted: [SessionDiagnosis] = []
        func play(_ seconds: ClosedRange<Int>, rssi: Double) {
            for second in seconds {
                let now = Instant(seconds: Double(second))
                for event in [.reading(SessionStage.heard(1, at: now.seconds, rssi: rssi)), .tick]
                    as [LocalizationMachine<FaultyBelief>.Event]
                {
                    for case .diagnose(let diagnosis) in machine.handle(event, at: now) { emitted.append(diagnosis) }
                }
            }
        }
        play(1...5, rssi: -95)
        let faulty = machine.diagnosis(at: Instant(seconds: 5))
        XCTAssertEqual(faulty.reason, .located, "one beacon is at fault; positions are reliable")
        XCTAssertEqual(faulty.beaconFaults.map(\.beacon), [SessionStage.beacon(1, 1)])
        XCTAssertEqual(emitted, [])
        play(6...20, rssi: -99)
        XCTAssertEqual(emitted.map(\.reason), [.contradictoryBeacons])
        play(21...22, rssi: -80)
        XCTAssertEqual(emitted.map(\.reason), [.contradictoryBeacons, .located])
        XCTAssertEqual(emitted.last?.beaconFaults, [])
    }

    func testEachKindHasAMessageWithARemedy() {
        let place = BeaconFault.Place(mapID: 10, point: MapPoint(x: 3, y: 4), deviation: 2)
        let kinds: [BeaconFault.Kind: String] = [
            .moved(place: place, distance: 9.4): "seems to stand 9 m from its place, near x 3 m, y 4 m on map 10",
            .moved(place: place, distance: nil): "seems to stand on another floor, near x 3 m, y 4 m on map 10",
            .exchanged(with: SessionStage.beacon(1, 2)): "at the place of beacon \(SessionStage.beacon(1, 2))",
            .duplicated: "seems to be sent by two transmitters",
            .tooStrong(excess: 21.6): "22 dB stronger than it can be at any place",
            .powerChanged(difference: 6.1): "6 dB stronger than expected",
            .powerChanged(difference: -6.1): "6 dB weaker than expected",
            .silent: "is not received where it is expected",
            .contradictory: "contradicts the other beacons",
        ]
        for (kind, words) in kinds {
            let fault = BeaconFault(beacon: SessionStage.beacon(1, 1), kind: kind, since: .zero)
            let message = LocalizationError.beaconFault(fault).message
            XCTAssertTrue(message.contains(words), message)
            XCTAssertTrue(message.contains("; "), "a remedy follows: \(message)")
        }
    }
}
