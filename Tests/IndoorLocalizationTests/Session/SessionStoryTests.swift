import IndoorLocalization
import XCTest

/// Whole sessions, as an application sees them: which venue, indoors or outdoors, what was downloaded.
final class SessionStoryTests: XCTestCase {
    /// Plays events in order of time, with all that is due between them.
    private func play(
        _ machine: inout Machine, _ events: [(Double, Machine.Event)]
    ) -> [Machine.Directive] {
        var directives: [Machine.Directive] = []
        for (second, event) in events {
            directives += machine.pass(to: second - 0.001)
            for directive in machine.handle(event, at: second) {
                directives.append(directive)
                // The packet is there at once.
                guard case .fetchPacket(let id) = directive else { continue }
                let venue = id == 1 ? SessionStage.office : SessionStage.shop
                directives += machine.handle(.packet(id, venue), at: second)
            }
        }
        return directives
    }

    private func heard(_ venue: UInt16, _ seconds: ClosedRange<Int>) -> [(Double, Machine.Event)] {
        seconds.map { (Double($0), .reading(SessionStage.heard(venue, at: Double($0)))) }
    }

    private func satellites(_ latitude: Double, _ seconds: ClosedRange<Int>) -> [(Double, Machine.Event)] {
        seconds.map { (Double($0) + 0.5, .reading(SessionStage.gnss(latitude, at: Double($0) + 0.5))) }
    }

    private func states(_ directives: [Machine.Directive]) -> [LocalizationState] {
        directives.compactMap { if case .publish(let state) = $0 { state } else { nil } }
    }

    private func announced(_ directives: [Machine.Directive]) -> [VenueID] {
        directives.compactMap { if case .announceVenue(let venue) = $0 { venue.id } else { nil } }
    }

    private func fetched(_ directives: [Machine.Directive]) -> [VenueID] {
        directives.compactMap { if case .fetchPacket(let id) = $0 { id } else { nil } }
    }

    private func outdoors(_ directives: [Machine.Directive]) -> [Double] {
        directives.compactMap { if case .emitOutdoor(let position) = $0 { position.instant.seconds } else { nil } }
    }

    // MARK: - States

    func testIndoorsBeginsWithThePacketAndTheVenueStaysTheSame() {
        let expected: [SessionStage.Stage: Bool?] = [
            .idle: nil, .started: true, .searchVenue: true, .getPacket: false, .findFloor: false,
            .localizationRunning: false, .error: nil,
        ]
        for stage in SessionStage.Stage.allCases {
            let state = SessionStage.machine(in: stage).state
            XCTAssertEqual(state.isOutdoor, expected[stage] ?? nil, stage.rawValue)
            XCTAssertEqual(state.venueID, state.isOutdoor == false ? 1 : nil, stage.rawValue)
        }
    }

    func testTheVenueIsTheSameFromThePacketOnUntilItIsLost() {
        var machine = SessionStage.machine(in: .searchVenue)
        var events = heard(1, 11...40)
        events.insert((15.1, .reading(SessionStage.fix(10, at: 15.1))), at: 5)
        events.insert((25.1, .reading(SessionStage.fix(11, at: 25.1))), at: 16)
        let seen = states(play(&machine, events) + machine.pass(to: 80))
        XCTAssertEqual(
            seen.map(\.name),
            ["getPacket", "findFloor", "localizationRunning", "findFloor", "localizationRunning", "searchVenue"])
        XCTAssertEqual(seen.map(\.venueID), [1, 1, 1, 1, 1, nil])
    }

    func testAfterALossTheNextBeaconsBringTheVenueBack() {
        var machine = SessionStage.machine(in: .localizationRunning)
        let seen = states(machine.pass(to: 60) + play(&machine, heard(1, 61...62)))
        XCTAssertEqual(seen, [.searchVenue, .getPacket(venueID: 1, progress: 0), .findFloor(SessionStage.office)])
    }

    func testTheDetectionOfAnotherVenueEndsAForcedVenueWithoutReplacingIt() {
        var settings = LocalizationSettings()
        settings.forcedVenue = 1
        var machine = SessionStage.machine(in: .localizationRunning, settings)
        let directives = play(&machine, heard(2, 11...60))
        XCTAssertEqual(states(directives).map(\.name), ["searchVenue"])
        XCTAssertEqual(fetched(directives), [])
        let back = play(&machine, heard(1, 64...64))
        XCTAssertEqual(fetched(back), [1], "and found again where it is heard")
    }

    // MARK: - Downloaded venues

    func testAVenueThatItsBeaconsFoundFirstIsNotAnnounced() {
        var machine = SessionStage.machine(in: .searchVenue)
        let directives = play(&machine, heard(1, 11...11) + satellites(52, 11...30))
        XCTAssertEqual(fetched(directives), [1])
        XCTAssertEqual(announced(directives), [])
    }

    func testAVenueThatSatellitesFoundIsAnnouncedOnceAndItsBeaconsFetchNothing() {
        var machine = SessionStage.machine(in: .searchVenue)
        let directives = play(&machine, satellites(52, 11...20) + heard(1, 21...40) + satellites(52, 41...50))
        XCTAssertEqual(announced(directives), [1])
        XCTAssertEqual(fetched(directives), [1], "no second download")
        XCTAssertEqual(states(directives).map(\.name), ["getPacket", "findFloor"], "when its beacons are received")
    }

    func testTheSatelliteSearchRestsFromTheDetectionOfAVenueUntilItsLoss() {
        var machine = SessionStage.machine(in: .searchVenue)
        let way = satellites(52, 11...20) + heard(1, 21...60)
        // The beacons are still heard well: it is the office, although satellites now see the device 100 m away.
        let away = satellites(52.0009, 21...60)
        var directives = play(&machine, (way + away).sorted { $0.0 < $1.0 })
        XCTAssertEqual(announced(directives), [1])
        directives = machine.pass(to: 91)
        XCTAssertEqual(states(directives), [.searchVenue])
        directives = play(&machine, satellites(52.01, 95...97))
        XCTAssertEqual(announced(directives), [2], "the search goes on with satellites")
    }

    func testAfterALossTheSearchContinuesByBeaconsAndSatellites() {
        for isBySatellite in [true, false] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.pass(to: 45)
            let directives = play(&machine, isBySatellite ? satellites(52, 50...52) : heard(1, 50...52))
            XCTAssertEqual(fetched(directives), [1])
            XCTAssertEqual(announced(directives), isBySatellite ? [1] : [])
        }
    }

    // MARK: - Outdoors

    func testTheSessionEmitsOutdoorPositionsUntilAFloorIsKnown() {
        var machine = SessionStage.machine(in: .started)
        var events: [(Double, Machine.Event)] = satellites(52.002, 11...13)
        events.append((14, .catalogue(SessionStage.summaries)))
        events += satellites(52.002, 14...16) + satellites(52, 17...20)
        events += [(21, .reading(SessionStage.heard(1, at: 21))), (21.1, .reading(SessionStage.fix(10, at: 21.1)))]
        events += satellites(52, 22...24)
        let directives = play(&machine, events)
        XCTAssertEqual(
            states(directives).map(\.name), ["searchVenue", "getPacket", "findFloor", "localizationRunning"])
        XCTAssertEqual(outdoors(directives), [11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5])
    }

    func testWithoutASearchRadiusAVenueIsFoundInsideAndLeftOutsideOfItself() {
        var settings = LocalizationSettings()
        settings.venueSearch.gnssSearchRadius = 0
        var machine = SessionStage.machine(in: .searchVenue, settings)
        let directives = play(&machine, satellites(52.002, 14...16) + satellites(52, 17...20))
        XCTAssertEqual(announced(directives), [1])
        XCTAssertEqual(machine.state, .findFloor(SessionStage.office))
        XCTAssertEqual(states(directives + play(&machine, satellites(52.002, 21...24))), [], "outdoors all the time")
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testADeviceThatIsLockedIndoorsHasNoOutdoorPositionsInAKnownVenue() {
        for isLocked in [false, true] {
            var machine = SessionStage.machine(in: .findFloor)
            _ = machine.handle(.lockIndoors(isLocked), at: 10)
            XCTAssertEqual(outdoors(play(&machine, satellites(52, 11...12))), isLocked ? [] : [11.5, 12.5])
        }
    }

    // MARK: - A venue nearby

    /// The nearest venue's data come far from its beacons.
    func testTheSessionEmitsTheDataOfANearbyVenueWhileTheDeviceStaysOutside() {
        // 52.003° is 334 m from the office's centre.
        var machine = SessionStage.machine(in: .searchVenue)
        let directives = play(&machine, satellites(52.003, 11...300))
        XCTAssertEqual(states(directives), [], "it searches, outdoors, for minutes")
        XCTAssertEqual(machine.shownState.isOutdoor, true)
        XCTAssertEqual(machine.state, .findFloor(SessionStage.office), "it stays near the venue")
        XCTAssertEqual(announced(directives), [1])
        XCTAssertEqual(outdoors(directives).count, 290)
        // 51.994° is 667 m from there.
        XCTAssertEqual(states(play(&machine, satellites(51.994, 301...310))), [])
        XCTAssertEqual(machine.state, .searchVenue)
    }

    func testStrongBeaconsOfANearbyVenueStartPositionsAndFaintOnesDoNot() {
        for (rssi, expected) in [
            (-80.0, []), (-60, ["getPacket", "findFloor", "localizationRunning"]),
        ] {
            // 52.001° is 111 m from the office's centre, 61 m outside.
            var machine = SessionStage.machine(in: .searchVenue)
            var events = satellites(52.001, 11...30)
            events += (15...30).map { ($0, rssi) }.map { second, rssi in
                (Double(second), .reading(SessionStage.heard(1, at: Double(second), rssi: rssi)))
            }
            events.append((15.1, .reading(SessionStage.fix(10, at: 15.1))))
            events.sort { $0.0 < $1.0 }
            XCTAssertEqual(states(play(&machine, events)).map(\.name), expected, "\(rssi) dBm")
        }
    }

    func testReadingsFromInFrontOfAVenueDoNotLocateTheDeviceAfterItEnters() {
        let log = WatchedBelief()
        var machine = SessionStage.machine(in: .searchVenue, log: log)
        var events = satellites(52.001, 11...60)
        events += (15...59).map { ($0 == 59 ? -60 : -85, $0) }.map { rssi, second in
            (Double(second), .reading(SessionStage.heard(1, at: Double(second), rssi: rssi)))
        }
        events.sort { $0.0 < $1.0 }
        _ = play(&machine, events.filter { $0.0 < 59 })
        XCTAssertEqual(log.readings, [], "faint, and contradicted by satellites")
        _ = play(&machine, events.filter { $0.0 >= 59 })
        let heard = log.readings.filter { if case .sighting = $0 { true } else { false } }.map(\.instant.seconds)
        XCTAssertEqual(heard.last, 59)
        XCTAssertGreaterThan(heard.first ?? 0, 38, "of the last seconds, as where a venue is entered at once")
    }

    func testBeaconsOfAnotherVenueOverrideAVenueFoundBySatellitesAtOnce() {
        var machine = SessionStage.machine(in: .searchVenue)
        _ = play(&machine, satellites(52.0042, 11...20))
        XCTAssertEqual(machine.state, .findFloor(SessionStage.office))
        let directives = play(&machine, heard(2, 30...31))
        XCTAssertEqual(fetched(directives), [2])
        XCTAssertEqual(machine.state, .findFloor(SessionStage.shop))
    }

    /// Satellites go on when indoor positions are lost.
    func testAfterTheLossOfIndoorPositionsThereAreNeverTwoMinutesWithoutAPosition() {
        for timeout in [30.0, 3600] {
            // At the spot, 111 m and 334 m away, beyond the search radius, and too vague to tell the venue.
            for (latitude, accuracy) in [(52.0, 5.0), (52.001, 5), (52.003, 5), (51.98, 5), (52.003, 40)] {
                var settings = LocalizerStage.settings
                settings.venueLostTimeout = .seconds(timeout)
                // Half an hour of positions takes long in a debug build.
                settings.positionInterval = .seconds(5)
                settings.positioning.globalUpdateInterval = 30
                var replay = SessionReplay(venues: [SessionStage.office, SessionStage.shop], settings: settings)
                var outputs = replay.start()
                for reading in LocalizerStage.walk(from: 0, for: 10) { outputs += replay.handle(reading) }
                for second in stride(from: 10.0, to: 900, by: 10) {
                    outputs += replay.handle(SessionStage.gnss(latitude, at: second, accuracy: accuracy))
                }
                let told = outputs.compactMap { output in
                    switch output.content {
                    case .position, .outdoorPosition: output.instant.seconds
                    default: nil
                    }
                }
                let gaps = zip(told, told.dropFirst()).map { $1 - $0 } + [900 - (told.last ?? 0)]
                XCTAssertLessThan(gaps.max() ?? .infinity, 120, "\(latitude)° ± \(accuracy) m, \(timeout) s")
            }
        }
    }

    // MARK: - What has told the venue

    func testTheDetectionIsBySatellitesUntilABeaconOfTheVenueIsHeard() {
        var machine = SessionStage.machine(in: .searchVenue)
        XCTAssertNil(machine.detection)
        _ = machine.handle(.reading(SessionStage.gnss(52.001, at: 11)), at: 11)
        XCTAssertNil(machine.detection)
        _ = machine.handle(.reading(SessionStage.gnss(52.001, at: 12)), at: 12)
        XCTAssertEqual(machine.state.name, "getPacket")
        XCTAssertEqual(machine.detection, .satellites)
        _ = machine.handle(.packet(1, SessionStage.office), at: 13)
        XCTAssertEqual(machine.state.name, "findFloor")
        XCTAssertEqual(machine.detection, .satellites)
        _ = machine.handle(.reading(SessionStage.heard(2, at: 14)), at: 14)
        XCTAssertNotEqual(machine.detection, .beacons, "a beacon of another venue")
        var other = SessionStage.machine(in: .searchVenue)
        for second in [11.0, 12] { _ = other.handle(.reading(SessionStage.gnss(52.001, at: second)), at: second) }
        _ = other.handle(.reading(SessionStage.heard(1, at: 13)), at: 13)
        XCTAssertEqual(other.detection, .beacons)
        _ = other.pass(to: 80)
        XCTAssertEqual(other.state, .searchVenue)
        XCTAssertNil(other.detection, "outdoors")
    }

    func testTheDetectionIsByBeaconsWhereTheyFoundTheVenue() {
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            XCTAssertEqual(SessionStage.machine(in: stage).detection, .beacons, stage.rawValue)
        }
        for stage in [SessionStage.Stage.idle, .started, .searchVenue, .error] {
            XCTAssertNil(SessionStage.machine(in: stage).detection, stage.rawValue)
        }
    }

    func testOutdoorPositionsContainTheValuesOfTheReceiver() {
        var machine = SessionStage.machine(in: .searchVenue)
        let fix = GNSSFix(
            instant: Instant(seconds: 11), coordinate: Coordinate(latitude: 1, longitude: 2), accuracy: 3, altitude: 4,
            speed: 5, course: 6)
        XCTAssertEqual(
            machine.handle(.reading(.gnss(fix)), at: 11),
            [
                .emitOutdoor(
                    OutdoorPosition(
                        instant: Instant(seconds: 11), coordinate: Coordinate(latitude: 1, longitude: 2), radius: 3,
                        altitude: 4, speed: 5, course: 6))
            ])
    }

    func testTheSessionEmitsNoInaccurateImpossibleOrOldOutdoorPositions() {
        var settings = LocalizationSettings()
        settings.venueSearch.outdoorAccuracy = 30
        var machine = SessionStage.machine(in: .searchVenue, settings)
        for (latitude, accuracy, isTold) in [
            (50, 30, true), (50, 30.1, false), (50, .nan, false), (50, -1, false), (.nan, 5, false), (91, 5, false),
        ] as [(Double, Double, Bool)] {
            let reading = SessionStage.gnss(latitude, at: 11, accuracy: accuracy)
            XCTAssertEqual(machine.handle(.reading(reading), at: 11).count, isTold ? 1 : 0, "\(latitude) ± \(accuracy)")
        }
        XCTAssertEqual(machine.handle(.reading(SessionStage.gnss(50, at: 10.9)), at: 11), [], "an older one")
    }

    func testNearTheEdgeOfAVenueTheStateDoesNotFlicker() {
        // 52.00045° is 50.04 m from the centre, just outside; the accuracy is 5 m.
        var machine = SessionStage.machine(in: .searchVenue)
        var events = satellites(52.0004, 11...13)
        for second in 14...60 { events += satellites(second.isMultiple(of: 2) ? 52.00045 : 52.0004, second...second) }
        XCTAssertEqual(states(play(&machine, events)), [])
        XCTAssertEqual(machine.state, .findFloor(SessionStage.office))
    }

    // MARK: - From outdoors to indoors

    func testTheDeviceIsOutdoorsUntilItReceivesABeaconOfTheVenueThatSatellitesFound() {
        var machine = SessionStage.machine(in: .searchVenue)
        var directives = play(&machine, satellites(52, 11...190))
        XCTAssertEqual(announced(directives), [1])
        XCTAssertEqual(states(directives), [])
        XCTAssertEqual(machine.shownState, .searchVenue)
        XCTAssertEqual(machine.diagnosis(at: Instant(seconds: 191)).state, .searchVenue)
        XCTAssertEqual(machine.diagnosis(at: Instant(seconds: 191)).reason, .outdoors)
        directives = play(&machine, heard(1, 191...191))
        XCTAssertEqual(
            states(directives), [.getPacket(venueID: 1, progress: 1), .findFloor(SessionStage.office)])
        XCTAssertEqual(machine.shownState.isOutdoor, false)
        XCTAssertEqual(fetched(directives), [], "the packet is there")
    }

    func testAPositionInsideAVenueThatSatellitesFoundEndsTheOutdoors() {
        var machine = SessionStage.machine(in: .searchVenue)
        _ = play(&machine, satellites(52, 11...20))
        let directives = machine.handle(
            .fix(
                Fix(
                    instant: Instant(seconds: 21), mapID: 10, point: MapPoint(x: 5, y: 5), radius: 1)), at: 21)
        XCTAssertEqual(
            states(directives + machine.pass(to: 22)).map(\.name), ["getPacket", "findFloor", "localizationRunning"])
    }

    func testABeaconDuringTheDownloadOfAVenueThatSatellitesFoundShowsTheDownload() {
        var machine = SessionStage.machine(in: .searchVenue)
        for second in [11.0, 12] { _ = machine.handle(.reading(SessionStage.gnss(52, at: second)), at: second) }
        XCTAssertEqual(states(machine.handle(.progress(1, 0.5), at: 13)), [])
        XCTAssertEqual(
            states(machine.handle(.reading(SessionStage.heard(1, at: 14)), at: 14)),
            [.getPacket(venueID: 1, progress: 0.5)])
        XCTAssertEqual(states(machine.handle(.progress(1, 0.75), at: 15)), [.getPacket(venueID: 1, progress: 0.75)])
        XCTAssertEqual(
            states(machine.handle(.packet(1, SessionStage.office), at: 16)), [.findFloor(SessionStage.office)])
    }

    func testStoppingInFrontOfAVenueEndsInIdle() {
        var machine = SessionStage.machine(in: .searchVenue)
        _ = play(&machine, satellites(52, 11...20))
        XCTAssertEqual(states(machine.handle(.stop, at: 21)), [.idle])
        XCTAssertEqual(machine.shownState, .idle)
    }

    /// Each way from state to state that an application can see.
    func testEachTransitionHasItsCause() {
        typealias Cause = (Machine.Event, Double)
        let outside: [Cause] = [16.0, 17].map { (.reading(SessionStage.gnss(52.002, at: $0)), $0) }
        let ways: [(SessionStage.Stage, [Cause], String)] = [
            (.idle, [(.start, 10)], "started"),
            (.started, [(.catalogue(SessionStage.summaries), 11)], "searchVenue"),
            (.searchVenue, [(.reading(SessionStage.heard(1, at: 11)), 11)], "getPacket"),
            (.getPacket, [(.packet(1, SessionStage.office), 11)], "findFloor"),
            (.findFloor, [(.reading(SessionStage.fix(10, at: 11)), 11), (.tick, 11)], "localizationRunning"),
            (.getPacket, outside, "searchVenue"), (.findFloor, outside, "searchVenue"),
            (.localizationRunning, outside, "searchVenue"),
            (.started, [(.stop, 11)], "idle"), (.searchVenue, [(.stop, 11)], "idle"),
            (.getPacket, [(.stop, 11)], "idle"),
            (.findFloor, [(.stop, 11)], "idle"), (.localizationRunning, [(.stop, 11)], "idle"),
        ]
        for (stage, causes, expected) in ways {
            var machine = SessionStage.machine(in: stage)
            var seen: [LocalizationState] = []
            for (event, second) in causes { seen += states(machine.handle(event, at: second)) }
            XCTAssertEqual(seen.map(\.name), [expected], "from \(stage.rawValue)")
            XCTAssertEqual(machine.shownState.name, expected, "from \(stage.rawValue)")
        }
        var upstairs = SessionStage.machine(in: .localizationRunning)
        let climb = upstairs.handle(.reading(SessionStage.fix(11, at: 11)), at: 11) + upstairs.pass(to: 30)
        XCTAssertEqual(states(climb).map(\.name), ["findFloor", "localizationRunning"], "another floor")
        for stage in [SessionStage.Stage.getPacket, .findFloor, .localizationRunning] {
            var machine = SessionStage.machine(in: stage)
            XCTAssertEqual(states(machine.pass(to: 60)), [.searchVenue], "silence loses the venue in \(stage.rawValue)")
        }
    }
}
