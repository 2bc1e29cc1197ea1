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

    /// Behaviour §1.5, check 2.
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

    /// Behaviour §1.5, check 2.
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

    /// Behaviour §1.5, check 3.
    func testAfterALossTheNextBeaconsBringTheVenueBack() {
        var machine = SessionStage.machine(in: .localizationRunning)
        let seen = states(machine.pass(to: 60) + play(&machine, heard(1, 61...62)))
        XCTAssertEqual(seen, [.searchVenue, .getPacket(venueID: 1, progress: 0), .findFloor(SessionStage.office)])
    }

    /// Behaviour §1.5, check 6.
    func testAForcedVenueIsLeftForTheSearchWhereAnotherIsDetectedAndNotReplaced() {
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

    /// Behaviour §1.5, check 8.
    func testAVenueThatItsBeaconsFoundFirstIsNotAnnounced() {
        var machine = SessionStage.machine(in: .searchVenue)
        let directives = play(&machine, heard(1, 11...11) + satellites(52, 11...30))
        XCTAssertEqual(fetched(directives), [1])
        XCTAssertEqual(announced(directives), [])
    }

    /// Behaviour §1.5, check 8.
    func testAVenueThatSatellitesFoundIsAnnouncedOnceAndItsBeaconsFetchNothing() {
        var machine = SessionStage.machine(in: .searchVenue)
        let directives = play(&machine, satellites(52, 11...20) + heard(1, 21...40) + satellites(52, 41...50))
        XCTAssertEqual(announced(directives), [1])
        XCTAssertEqual(fetched(directives), [1], "no second download")
        XCTAssertEqual(states(directives).map(\.name), ["getPacket", "findFloor"])
    }

    /// Behaviour §1.1, row getDownloadedVenueDataObservable.
    func testOnceSatellitesHaveFoundAVenueTheirSearchRestsUntilThatIsLost() {
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

    func testAfterALossTheSearchGoesOnByBeaconsAndSatellites() {
        for isBySatellite in [true, false] {
            var machine = SessionStage.machine(in: .localizationRunning)
            _ = machine.pass(to: 45)
            let directives = play(&machine, isBySatellite ? satellites(52, 50...52) : heard(1, 50...52))
            XCTAssertEqual(fetched(directives), [1])
            XCTAssertEqual(announced(directives), isBySatellite ? [1] : [])
        }
    }

    // MARK: - Outdoors

    func testOutdoorPositionsComeOutdoorsAlone() {
        var machine = SessionStage.machine(in: .started)
        var events: [(Double, Machine.Event)] = satellites(52.002, 11...13)
        events.append((14, .catalogue(SessionStage.summaries)))
        events += satellites(52.002, 14...16) + satellites(52, 17...20) + satellites(52.002, 21...24)
        let directives = play(&machine, events)
        XCTAssertEqual(states(directives).map(\.name), ["searchVenue", "getPacket", "findFloor", "searchVenue"])
        XCTAssertEqual(
            outdoors(directives), [11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 22.5, 23.5, 24.5],
            "the second inside finds the venue, the second outside leaves it")
    }

    /// Behaviour §1.1, row outdoor stream.
    func testOutdoorPositionsTellWhatTheReceiverTells() {
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

    func testVagueImpossibleAndOldPositionsAreNotTold() {
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
        XCTAssertEqual(states(play(&machine, events)).map(\.name), ["getPacket", "findFloor"])
    }
}
