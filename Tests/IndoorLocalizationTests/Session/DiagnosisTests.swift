import IndoorLocalization
import XCTest

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
