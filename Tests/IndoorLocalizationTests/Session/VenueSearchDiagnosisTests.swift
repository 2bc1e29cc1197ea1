import IndoorLocalization
import XCTest

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
