import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A test of the diagnoses of a session.
class DiagnosisTestCase: XCTestCase {
    /// An emitted reason and its instant in seconds.
    struct Emitted: Equatable, CustomStringConvertible {
        var seconds: Double
        var reason: SessionDiagnosis.Reason
        var description: String { "\(reason) at \(seconds)" }

        init(_ seconds: Double, _ reason: SessionDiagnosis.Reason) {
            self.seconds = seconds
            self.reason = reason
        }
    }

    /// A machine that reports diagnoses, with all that it has emitted.
    struct Story<Belief: PositioningBelief> {
        typealias Session = LocalizationMachine<Belief>

        var machine: Session
        var diagnoses: [SessionDiagnosis] = []
        var emitted: [Emitted] = []

        /// Handles the events at their seconds, and all wake-ups until `end`.
        mutating func play(_ events: [(Double, Session.Event)] = [], to end: Double) {
            for (seconds, event) in events {
                while let wake = machine.nextWake, wake < Instant(seconds: seconds) { handle(.tick, at: wake) }
                handle(event, at: Instant(seconds: seconds))
            }
            while let wake = machine.nextWake, wake <= Instant(seconds: end) { handle(.tick, at: wake) }
        }

        private mutating func handle(_ event: Session.Event, at now: Instant) {
            for case .diagnose(let diagnosis) in machine.handle(event, at: now) {
                diagnoses.append(diagnosis)
                emitted.append(Emitted(now.seconds, diagnosis.reason))
            }
        }

        func diagnosis(at seconds: Double) -> SessionDiagnosis { machine.diagnosis(at: Instant(seconds: seconds)) }

        /// Returns the diagnosis from all readings of the search.
        func wholeDiagnosis(at seconds: Double) -> SessionDiagnosis {
            machine.diagnosis(at: Instant(seconds: seconds), ofSearch: true)
        }
    }

    func story(
        in stage: SessionStage.Stage, _ settings: LocalizationSettings = LocalizationSettings()
    ) -> Story<FixBelief> {
        Story(machine: SessionStage.machine(in: stage, settings, reportsDiagnosis: true))
    }

    func radio(_ status: RadioEvent.Status, at seconds: Double) -> (Double, Machine.Event) {
        let event = RadioEvent(instant: Instant(seconds: seconds), status: status, adapter: "hci0")
        return (seconds, .reading(.radio(event)))
    }

    func heard(
        _ venue: UInt16, _ minor: UInt16 = 1, from begin: Double, to end: Double, rssi: Double = -60
    ) -> [(Double, Machine.Event)] {
        stride(from: begin, through: end, by: 0.5).map {
            ($0, .reading(SessionStage.heard(venue, minor, at: $0, rssi: rssi)))
        }
    }
}

/// The reasons of a session without positions because of the radio, a request or the floor, and its beginning and end.
final class DiagnosisTests: DiagnosisTestCase {
    // MARK: - The radio

    func testARadioThatIsPoweredOffIsEmittedWithItsAdapterAndItsReturnEndsIt() {
        var story = story(in: .localizationRunning)
        story.play(heard(1, from: 10, to: 12) + [radio(.poweredOff, at: 12), radio(.scanning, at: 20)], to: 20)
        XCTAssertEqual(story.emitted, [Emitted(17, .radioFailed), Emitted(20, .located)])
        XCTAssertEqual(
            story.diagnoses.first?.description, "The radio cannot receive: hci0 is powered off.")
        XCTAssertEqual(story.diagnoses.first?.radio?.status, .poweredOff)
        XCTAssertTrue(story.diagnoses.first?.help?.contains("bluetoothctl power on") ?? false)
    }

    func testARadioThatIsOffForAMomentIsNotEmitted() {
        var story = story(in: .localizationRunning)
        story.play(heard(1, from: 10, to: 12) + [radio(.poweredOff, at: 12), radio(.scanning, at: 16.9)], to: 17)
        XCTAssertEqual(story.emitted, [])
    }

    func testTheSearchContinuesAfterARadioThatWasOff() {
        var story = story(in: .searchVenue)
        story.play([radio(.poweredOff, at: 11), radio(.scanning, at: 30)], to: 100)
        XCTAssertEqual(
            story.emitted, [Emitted(16, .radioFailed), Emitted(30, .searching), Emitted(34, .noBeacons)],
            "the radio listened for 1 s before it was off, and 4 s after it")
    }

    func testAFailedScanIsEmittedWithItsError() {
        var story = story(in: .searchVenue)
        let error = LocalizationError(code: .generic, message: "the adapter is gone", kind: .sensorFailed)
        story.play([(10, .sourceFailed(error))], to: 15)
        XCTAssertEqual(story.emitted, [Emitted(15, .radioFailed)])
        XCTAssertEqual(story.diagnoses.first?.error, error)
    }

    func testAFailedScanHasTheTimeToItsNextAttempt() throws {
        var story = story(in: .searchVenue)
        let error = LocalizationError(code: .generic, message: "the adapter is gone", kind: .sensorFailed)
        story.play([(10, .sourceFailed(error))], to: 10)
        let due = try XCTUnwrap(story.machine.nextWake)
        XCTAssertEqual(story.diagnosis(at: 10).retryAfter, Instant(seconds: 10).duration(to: due))
        XCTAssertEqual(story.diagnosis(at: 12).retryAfter, .zero, "overdue")
    }

    func testARadioThatRestsBeforeItCouldReceiveIsEmitted() {
        var story = story(in: .searchVenue)
        story.play([radio(.resting, at: 11), radio(.scanning, at: 60), radio(.resting, at: 65)], to: 100)
        XCTAssertEqual(
            story.emitted, [Emitted(16, .radioResting), Emitted(60, .searching), Emitted(64, .noBeacons)],
            "5 s without a beacon explain more than the second rest")
    }

    // MARK: - Requests

    func testASlowCatalogueAndItsFailureAreEmitted() {
        var story = story(in: .started)
        story.play(to: 15)
        XCTAssertEqual(story.emitted, [Emitted(15, .loadingCatalogue)])
        var settings = LocalizationSettings()
        settings.retryPause = .seconds(40)
        story = self.story(in: .started, settings)
        story.play([(10, .catalogueFailed(SessionStage.network))], to: 15)
        XCTAssertEqual(story.emitted, [Emitted(15, .catalogueFailed)])
        let diagnosis = story.diagnosis(at: 15)
        XCTAssertEqual(diagnosis.error, SessionStage.network)
        XCTAssertTrue(
            diagnosis.description.hasPrefix(
                "The list of venues could not be fetched: the server is away; the next attempt is in "),
            diagnosis.description)
    }

    func testASlowDownloadIsEmittedWithItsProgress() {
        var story = story(in: .getPacket)
        story.play([(12, .progress(1, 0.25))], to: 15)
        XCTAssertEqual(story.emitted, [Emitted(15, .downloadingPacket)])
        XCTAssertEqual(story.diagnoses.first?.description, "The session is downloading the packet of 'office': 25 %.")
    }

    func testAPacketThatFailsAgainAndAgainIsEmittedOnce() throws {
        var story = story(in: .getPacket)
        story.play([(10, .packetFailed(1, SessionStage.network))], to: 11)
        // Each attempt fails a second later; the failure stays the reason in between.
        for second in [12.0, 14, 17] {
            story.play(
                [(second, .packetFailed(1, SessionStage.network))] + heard(1, from: second, to: second), to: second)
        }
        XCTAssertEqual(story.emitted, [Emitted(15, .packetFailed)])
        let diagnosis = try XCTUnwrap(story.diagnoses.first)
        XCTAssertEqual(diagnosis.error, SessionStage.network)
    }

    func testASlowPreparationIsEmitted() {
        var machine = LocalizationMachine<FixBelief>(
            settings: LocalizationSettings(), seed: 1, reportsDiagnosis: true, preparesApart: true
        ) { _ in FixBelief() }
        for event in [Machine.Event.start, .catalogue(SessionStage.summaries), .reading(SessionStage.heard(1, at: 0))] {
            _ = machine.handle(event, at: 0)
        }
        var story = Story(machine: machine)
        story.play([(1, .packet(1, SessionStage.office))], to: 10)
        XCTAssertEqual(story.emitted, [Emitted(6, .preparingVenue)])
    }

    // MARK: - In a venue

    /// A belief that doesn't know on which of two floors the device is.
    private struct TornBelief: PositioningBelief {
        mutating func observe(_ reading: SensorReading) {}
        mutating func advance(to now: Instant) {}
        var mapProbabilities: [MapID: Double] { [10: 0.45, 11: 0.55] }
        func estimate(on map: MapID) -> PositioningEngine.Estimate? { nil }
    }

    func testAnUndecidedFloorIsEmittedWithTheProbabilities() {
        var settings = LocalizationSettings()
        settings.floor.patience = .seconds(60)
        var story = Story(
            machine: LocalizationMachine<TornBelief>(settings: settings, seed: 1, reportsDiagnosis: true) { _ in
                TornBelief()
            })
        story.play(
            [
                (10, .start), (10, .catalogue(SessionStage.summaries)), (10, .reading(SessionStage.heard(1, at: 10))),
                (10, .packet(1, SessionStage.office)), (14, .reading(SessionStage.heard(1, at: 14))),
            ], to: 16)
        XCTAssertEqual(story.emitted, [Emitted(15, .undecidedFloor)])
        XCTAssertEqual(story.diagnoses.first?.floors.map(\.mapID), [11, 10])
        XCTAssertEqual(story.diagnoses.first?.description, "The floor is undecided: first 55 %, ground 45 %.")
    }

    func testAFloorWithoutEvidenceIsEmitted() {
        var story = story(in: .findFloor)
        story.play(heard(1, from: 10, to: 16), to: 16)
        XCTAssertEqual(story.emitted, [Emitted(15, .undecidedFloor)])
        XCTAssertEqual(story.diagnoses.first?.floors, [])
    }

    func testSilentBeaconsOfTheVenueAreEmittedAndEndWithTheNextOne() {
        var story = story(in: .localizationRunning)
        story.play([(20.2, .reading(SessionStage.heard(1, at: 20.2)))], to: 21)
        XCTAssertEqual(story.emitted, [Emitted(15, .silentBeacons), Emitted(20.2, .located)])
        XCTAssertEqual(
            story.diagnoses.first?.description,
            "No beacon of 'office' was received for 5 s; the latest positions are predictions.")
    }

    func testTheLossOfAVenueIsASearchWithoutReadings() {
        var story = story(in: .localizationRunning)
        story.play(to: 60)
        XCTAssertEqual(story.machine.state, .searchVenue)
        XCTAssertEqual(story.emitted, [Emitted(15, .silentBeacons), Emitted(40, .noReadings)])
        XCTAssertEqual(story.diagnoses.last?.duration, .seconds(30))
    }

    // MARK: - The beginning and the end

    func testAHealthyStartEmitsNothing() {
        var replay = SessionReplay(venues: [SessionStage.office], settings: LocalizerStage.settings)
        XCTAssertEqual(replay.diagnosis.reason, .notRunning)
        var outputs = replay.start()
        for reading in LocalizerStage.walk(from: 0, for: 10) { outputs += replay.handle(reading) }
        XCTAssertEqual(replay.diagnosis.reason, .located)
        outputs += replay.finish()
        let diagnoses = outputs.filter { if case .diagnosis = $0.content { true } else { false } }
        XCTAssertEqual(diagnoses, [])
        XCTAssertEqual(replay.diagnosis.reason, .notRunning)
    }

    func testTheEndOfASessionIsADiagnosisButNoOutput() {
        var story = story(in: .searchVenue)
        story.play([(20, .stop)], to: 30)
        XCTAssertEqual(story.emitted, [Emitted(15, .noReadings)])
        XCTAssertEqual(story.diagnosis(at: 30).reason, .notRunning)
        story = self.story(in: .searchVenue)
        story.play([(11, .sourceFailed(SessionStage.credential))], to: 30)
        XCTAssertEqual(story.emitted, [])
        XCTAssertEqual(story.diagnosis(at: 30).description, "The session ended with an error: who are you?")
        // The next session emits its reasons anew.
        story.play([(40, .start), (40, .catalogue(SessionStage.summaries))], to: 60)
        XCTAssertEqual(story.emitted, [Emitted(45, .noReadings)])
    }

    func testAMachineThatReportsNoDiagnosisHasNoWakeUpForIt() {
        let machine = SessionStage.machine(in: .searchVenue)
        XCTAssertNil(machine.nextWake)
        XCTAssertEqual(machine.diagnosis(at: Instant(seconds: 15)).reason, .noReadings)
    }

    func testEveryReasonHasWordsAndAProblemHasHelpUnlessTheSessionWorksOnIt() {
        for reason in SessionDiagnosis.Reason.allCases {
            let diagnosis = SessionDiagnosis(state: .searchVenue, reason: reason)
            XCTAssertTrue(diagnosis.description.hasSuffix("."), diagnosis.description)
            let works: Set<SessionDiagnosis.Reason> = [.loadingCatalogue, .downloadingPacket, .preparingVenue]
            XCTAssertEqual(diagnosis.help != nil, reason.isProblem && !works.contains(reason), "\(reason)")
        }
    }
}

/// The reasons of a session that searches for a venue, and the instants at which it emits them.
final class VenueSearchDiagnosisTests: DiagnosisTestCase {
    func testTwentyUnknownBeaconsAreEmittedAfterFiveSecondsWithTheirIdentities() throws {
        var story = story(in: .searchVenue)
        let events = (0..<200).map { tick -> (Double, Machine.Event) in
            let (seconds, minor) = (Double(101 + tick) / 10, UInt16(tick % 20 + 1))
            return (seconds, .reading(SessionStage.heard(7, minor, at: seconds, rssi: -60 - Double(minor))))
        }
        story.play(events, to: 30)
        XCTAssertEqual(story.emitted, [Emitted(15.1, .unknownBeacons)])
        let diagnosis = try XCTUnwrap(story.diagnoses.first)
        XCTAssertEqual(
            diagnosis.unknownBeacons, (1...20).map { SessionStage.beacon(7, UInt16($0)) }, "the strongest first")
        XCTAssertEqual(diagnosis.state, .searchVenue)
        let names = (1...3).map { "\(SessionStage.beacon(7, UInt16($0)))" }.joined(separator: ", ")
        XCTAssertEqual(
            diagnosis.description,
            "20 beacons were received, of which none belongs to a known venue: \(names) and 17 more.")
        XCTAssertNotNil(diagnosis.help)
    }

    func testUnknownBeaconsAreEmittedWithoutAFurtherReading() {
        var story = story(in: .searchVenue)
        story.play([(10.1, .reading(SessionStage.heard(7, 1, at: 10.1)))] + heard(7, 2, from: 11, to: 14), to: 14.9)
        XCTAssertEqual(story.emitted, [])
        XCTAssertEqual(story.diagnosis(at: 14.9).reason, .searching)
        XCTAssertNil(story.diagnosis(at: 14.9).help)
        story.play(to: 15.1)
        XCTAssertEqual(story.emitted, [Emitted(15.1, .unknownBeacons)])
        story.play(to: 100)
        XCTAssertEqual(
            story.emitted.dropFirst(), [Emitted(19, .noBeacons), Emitted(44, .noReadings)],
            "5 s and 30 s after the last one")
    }

    func testTheNumberOfUnknownBeaconsIsBounded() throws {
        var story = story(in: .searchVenue)
        let events = (0..<1000).map { tick -> (Double, Machine.Event) in
            let seconds = 10 + Double(tick) / 100
            return (seconds, .reading(SessionStage.heard(7, UInt16(tick), at: seconds)))
        }
        story.play(events, to: 20)
        XCTAssertEqual(story.diagnosis(at: 20).unknownBeacons.count, 64)
    }

    func testTheVenueEndsTheDiagnosisOfUnknownBeaconsWithTheFirstPosition() {
        var story = story(in: .searchVenue)
        story.play(heard(7, from: 10, to: 20), to: 20)
        story.play(
            [
                (21, .reading(SessionStage.heard(1, at: 21))), (21, .packet(1, SessionStage.office)),
                (21, .reading(SessionStage.fix(10, at: 21))),
            ], to: 22)
        XCTAssertEqual(story.emitted, [Emitted(15, .unknownBeacons), Emitted(21, .located)])
        XCTAssertEqual(story.diagnosis(at: 22).description, "Positions are available.")
    }

    func testSilenceIsEmittedByAWakeUp() {
        var story = story(in: .searchVenue)
        XCTAssertEqual(story.machine.nextWake, Instant(seconds: 15))
        story.play(to: 1000)
        XCTAssertEqual(story.emitted, [Emitted(15, .noReadings)])
        XCTAssertEqual(story.diagnoses.first?.duration, .seconds(5))
        XCTAssertEqual(story.diagnosis(at: 70).description, "No reading arrived for 60 s.")
        XCTAssertNil(story.machine.nextWake, "only a reading changes the reason")
    }

    func testABeaconNowAndThenDoesNotEndTheSilence() {
        var story = story(in: .searchVenue)
        let events = stride(from: 10.0, to: 100, by: 7).map { seconds -> (Double, Machine.Event) in
            (seconds, .reading(SessionStage.heard(7, 1, at: seconds)))
        }
        story.play(events, to: 100)
        XCTAssertEqual(story.emitted, [Emitted(15, .noBeacons)])
    }

    func testOtherDevicesWithoutABeaconAreEmitted() {
        var story = story(in: .searchVenue)
        let events = stride(from: 10.0, to: 20, by: 0.5).map { seconds -> (Double, Machine.Event) in
            let advertisement = Advertisement(
                instant: Instant(seconds: seconds), address: DeviceAddress(rawValue: 7), rssi: -60, data: [2, 1, 6])
            return (seconds, .reading(.advertisement(advertisement)))
        }
        story.play(events, to: 20)
        XCTAssertEqual(story.emitted, [Emitted(15, .noBeacons)])
        XCTAssertEqual(
            story.diagnoses.first?.description,
            "No beacon was received for 5 s, but other Bluetooth devices were.")
    }

    func testWeakBeaconsOfTheVenueAreEmitted() {
        var settings = LocalizationSettings()
        settings.rssiThreshold = -80
        var story = story(in: .searchVenue, settings)
        story.play(heard(1, from: 11, to: 20, rssi: -85), to: 20)
        XCTAssertEqual(story.emitted, [Emitted(16, .weakBeacons)])
        XCTAssertEqual(
            story.diagnoses.first?.description,
            "All received beacons of venue 1 are below the rssiThreshold of -80 dBm; the strongest is -85 dBm.")
    }

    func testABeaconAtTheThresholdIsNotWeak() {
        var settings = LocalizationSettings()
        settings.forcedVenue = 2
        settings.rssiThreshold = -80
        var story = story(in: .searchVenue, settings)
        story.play(heard(1, from: 11, to: 20, rssi: -80), to: 20)
        XCTAssertEqual(story.emitted, [Emitted(16, .otherVenue)])
    }

    func testBeaconsOfAnotherVenueThanTheForcedOneAreEmitted() {
        var settings = LocalizationSettings()
        settings.forcedVenue = 2
        var story = story(in: .searchVenue, settings)
        story.play(heard(1, from: 11, to: 20), to: 20)
        XCTAssertEqual(story.emitted, [Emitted(16, .otherVenue)])
        XCTAssertEqual(story.diagnoses.first?.receivedVenues, [1])
        XCTAssertEqual(story.diagnoses.first?.forcedVenue, 2)
    }

    func testBeaconsOfAVenueThatSatellitesContradictAreEmitted() {
        var settings = LocalizationSettings()
        settings.venueSearch.gnssSearchRadius = 0
        var story = story(in: .searchVenue, settings)
        let events = stride(from: 11.0, through: 20, by: 0.5).flatMap { seconds -> [(Double, Machine.Event)] in
            [
                (seconds, .reading(SessionStage.gnss(52.002, at: seconds))),
                (seconds, .reading(SessionStage.heard(1, at: seconds, rssi: -90))),
            ]
        }
        story.play(events, to: 20)
        XCTAssertEqual(story.emitted, [Emitted(16, .undecidedVenue)])
        XCTAssertEqual(
            story.diagnoses.first?.description,
            "The radio receives beacons of venue 1, but they are not enough to choose the venue.")
        var contested = SessionDiagnosis(state: .searchVenue, reason: .undecidedVenue)
        contested.receivedVenues = [1, 2]
        XCTAssertEqual(
            contested.description,
            "The radio receives beacons of venues 1 and 2, and none of these venues is clearly stronger.")
    }

    func testAVenueWithoutBeaconsAndAnUnknownForcedVenueAreEmitted() {
        var kiosk = SessionStage.office
        kiosk.beacons = []
        for (venues, forced, text) in [
            ([kiosk], nil, "'office' has neither beacons nor a radio map."), ([], nil, "There is no known venue."),
            ([kiosk, kiosk], 7, "Venue 7 of the setting forcedVenue is not among the known venues."),
        ] as [([Venue], VenueID?, String)] {
            var settings = LocalizationSettings()
            settings.forcedVenue = forced
            var story = story(in: .started, settings)
            story.play([(10, .catalogue(venues.map(VenueSummary.init)))], to: 20)
            XCTAssertEqual(story.emitted, [Emitted(15, .noUsableVenue)])
            XCTAssertEqual(story.diagnoses.first?.description, text)
        }
    }

    func testSatellitePositionsOutdoorsAreNoProblem() {
        var story = story(in: .searchVenue)
        story.play(stride(from: 10.0, to: 60, by: 1).map { ($0, .reading(SessionStage.gnss(53, at: $0))) }, to: 60)
        XCTAssertEqual(story.emitted, [])
        XCTAssertEqual(story.diagnosis(at: 60).reason, .outdoors)
        story.play(to: 100)
        XCTAssertEqual(
            story.emitted, [Emitted(74, .noBeacons), Emitted(89, .noReadings)],
            "15 s and 30 s after the last satellite position")
    }

    // MARK: - The whole search

    func testTheDiagnosisOfAWholeSearchCountsReadingsThatAreLongAgo() {
        var story = story(in: .searchVenue)
        story.play([], to: 100)
        XCTAssertEqual(story.wholeDiagnosis(at: 100).reason, .noReadings)
        let advertisement = Advertisement(
            instant: Instant(seconds: 110), address: DeviceAddress(rawValue: 7), rssi: -60, data: [2, 1, 6])
        story.play([(110, .reading(.advertisement(advertisement)))], to: 200)
        let diagnosis = story.wholeDiagnosis(at: 200)
        XCTAssertEqual(diagnosis.reason, .noBeacons)
        XCTAssertEqual(diagnosis.receivesOtherDevices, true)
        XCTAssertNil(diagnosis.duration, "the whole search")
        XCTAssertEqual(story.diagnosis(at: 200).reason, .noReadings, "none lately")
        story.play([(210, .reading(SessionStage.heard(7, 1, at: 210)))], to: 300)
        XCTAssertEqual(story.wholeDiagnosis(at: 300).reason, .unknownBeacons)
    }

    func testTheDiagnosisOfAWholeSearchNamesTheAnchorsBeforeTheRadio() {
        var story = story(in: .searchVenue)
        story.play([radio(.poweredOff, at: 11)], to: 20)
        XCTAssertEqual(story.wholeDiagnosis(at: 20).reason, .radioFailed)
        let range = RangeReading(instant: Instant(seconds: 21), anchor: "Z1", distance: 3, technology: .wifi)
        story.play([(21, .reading(.range(range)))], to: 30)
        let diagnosis = story.wholeDiagnosis(at: 30)
        XCTAssertEqual(diagnosis.reason, .unknownAnchors)
        XCTAssertEqual(diagnosis.unknownAnchors, ["Z1"])
    }
}

/// The diagnoses of a localizer: a value, a stream and outputs.
final class DiagnosisStreamTests: XCTestCase {
    private func reasons(
        in stream: AsyncStream<SessionDiagnosis>, until last: SessionDiagnosis.Reason
    ) async throws -> [SessionDiagnosis.Reason] {
        try await Bounded.elements(of: stream, until: last.rawValue) { $0.reason == last }.map(\.reason)
    }

    func testTheStreamBeginsWithTheCurrentReasonAndContainsEveryChange() async throws {
        let stage = LocalizerStage()
        let diagnoses = stage.localizer.diagnoses
        try await stage.run()
        let seen = try await reasons(in: diagnoses, until: .located)
        XCTAssertEqual(seen.first, .notRunning)
        XCTAssertEqual(seen.last, .located)
        XCTAssertTrue(seen.contains(.searching), "\(seen)")
        let current = await stage.localizer.diagnosis
        XCTAssertEqual(current.reason, .located)
        XCTAssertNil(current.help)
        let again = try await Bounded.first(1, of: stage.localizer.diagnoses)
        XCTAssertEqual(again.map(\.reason), [.located])
        await stage.localizer.stop()
        let last = try await Bounded.elements(of: stage.localizer.diagnoses, until: "the end") {
            $0.reason == .notRunning
        }
        XCTAssertEqual(last.last?.state, .idle)
    }

    func testALiveSessionThatReceivesNothingEmitsItAfterFiveSecondsOfTheClock() async throws {
        let stage = LocalizerStage()
        let outputs = stage.localizer.outputs
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        let begin = stage.clock.now
        try await stage.ring(within: 5)
        let seen = try await Bounded.elements(of: outputs, until: "a diagnosis") {
            if case .diagnosis = $0.content { true } else { false }
        }
        guard case .diagnosis(let diagnosis)? = seen.last?.content else { return XCTFail("\(seen)") }
        XCTAssertEqual(diagnosis.reason, .noReadings)
        XCTAssertEqual(begin.duration(to: stage.clock.now), .seconds(5))
        XCTAssertEqual(seen.last?.instant, Instant(seconds: 5))
    }

    func testARadioThatIsOffAndOnAgainIsEmittedTwice() async throws {
        let stage = LocalizerStage()
        try await stage.run()
        _ = try await reasons(in: stage.localizer.diagnoses, until: .located)
        let diagnoses = stage.localizer.diagnoses
        func radio(_ status: RadioEvent.Status, at seconds: Double) {
            let instant = Instant(seconds: LocalizerStage.beginning + seconds)
            stage.source.send(.radio(RadioEvent(instant: instant, status: status, adapter: "hci0")))
        }
        radio(.blocked, at: 5.6)
        radio(.scanning, at: 6)
        stage.source.send(SessionStage.heard(1, at: LocalizerStage.beginning + 6.1))
        let seen = try await Bounded.first(3, of: diagnoses)
        XCTAssertEqual(seen.map(\.reason), [.located, .radioFailed, .located])
        XCTAssertEqual(seen[1].description, "The radio cannot receive: hci0 is blocked by a radio switch (rfkill).")
    }

    func testARequestForALocationFailsWithTheReason() async throws {
        let stage = LocalizerStage()
        let localizer = stage.localizer
        let request = Task { try await localizer.requestLocation(timeout: .seconds(10)) }
        try await stage.reach("searchVenue")
        let alarms = Task { [clock = stage.clock] in
            while true { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { alarms.cancel() }
        do {
            let place = try await request.value
            XCTFail("\(place)")
        } catch let error as LocalizationError {
            let message =
                #/no position came within 10\.0 s, as no reading arrived for \d+ s; check that beacons are near, and .+/#
            XCTAssertNotNil(try message.wholeMatch(in: error.message), error.message)
        }
    }

    func testAReplayAndALocalizerEmitTheSameDiagnosesOfUnknownBeacons() async throws {
        let readings = (0..<400).map { tick in
            SessionStage.heard(7, UInt16(tick % 20), at: 3 + Double(tick) / 20, rssi: -50 - Double(tick % 20))
        }
        let stage = LocalizerStage(ScriptedSource(readings))
        let outputs = stage.localizer.outputs
        await stage.localizer.start()
        var replay = SessionReplay(
            venues: [SessionStage.office, SessionStage.shop], settings: LocalizerStage.settings, seed: 1)
        var expected = replay.start()
        for reading in readings { expected += replay.handle(reading) }
        XCTAssertEqual(replay.diagnosis.unknownBeacons.count, 20)
        expected += replay.finish()
        try await stage.reach("idle")
        let seen = try await Bounded.first(expected.count, of: outputs)
        XCTAssertEqual(seen, expected)
        let emitted = expected.compactMap { output in
            if case .diagnosis(let diagnosis) = output.content { (output.instant.seconds, diagnosis) } else { nil }
        }
        XCTAssertEqual(emitted.map(\.0), [8])
        XCTAssertEqual(emitted.map(\.1.reason), [.unknownBeacons])
        XCTAssertEqual(emitted.first?.1.unknownBeacons, (0..<20).map { SessionStage.beacon(7, $0) })
    }
}
