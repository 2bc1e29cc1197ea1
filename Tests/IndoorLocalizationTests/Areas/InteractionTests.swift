import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class InteractionTests: XCTestCase {
    /// Beacons without a place in the office's packet.
    private static let guide = BeaconRegion(uuid: SessionStage.beacon(7, 1).uuid, major: 7)

    private func office(_ interactions: [Interaction]) -> Venue {
        var venue = SessionStage.office
        venue.pointsOfInterest = [
            PointOfInterest(id: 5, name: "fountain", mapID: 10, point: MapPoint(x: 22, y: 20)),
            PointOfInterest(id: 6, name: "statue", mapID: 11, point: MapPoint(x: 20, y: 20)),
        ]
        venue.interactions = interactions
        return venue
    }

    /// A session that looks for the floor in the office since second 10, where its beacon is heard.
    private func machine(_ interactions: [Interaction], _ settings: SettingsStack? = nil) -> Machine {
        var localization = LocalizationSettings()
        localization.areaDwell = .zero
        var machine = Machine(settings: settings ?? SettingsStack(localization: localization), seed: 1) { _, _ in
            FixBelief()
        }
        let venue = office(interactions)
        for event: Machine.Event in [
            .start, .catalogue([VenueSummary(of: venue)]), .reading(SessionStage.heard(1, at: 10)), .packet(1, venue),
        ] { _ = machine.handle(event, at: 10) }
        return machine
    }

    /// Returns the events until a second; the device receives the office's beacon all the time, and others as given.
    private func tell(
        _ machine: inout Machine, to end: Double, resting: Range<Double> = 0..<0,
        _ heard: (Double) -> [SensorReading] = { _ in [] }
    ) -> [String] {
        var told: [String] = []
        let begin = (machine.nextWake ?? .zero).seconds.rounded(.up)
        for second in stride(from: begin, through: end, by: 1) {
            var directives = machine.pass(to: second)
            let usual = resting.contains(second) ? [] : [SessionStage.heard(1, at: second)]
            for reading in usual + heard(second) {
                directives += machine.handle(.reading(reading), at: second)
            }
            told += names(directives)
        }
        return told
    }

    private func names(_ directives: [Machine.Directive]) -> [String] {
        directives.compactMap { directive in
            guard case .emitInteraction(let event) = directive else { return nil }
            return "\(event.isEntry ? "enter" : "exit") \(event.interaction.id) at \(event.instant.seconds)"
        }
    }

    // MARK: - Beacons

    func testOverlappingBeaconsOfARegionGiveOneEntryAndNoExitUntilAllAreLost() {
        var machine = machine([Interaction(id: 1, name: "guide", target: .beacon(Self.guide))])
        let told = tell(&machine, to: 100) { second in
            // The first one is heard from 20 to 29, the second one from 25 to 49.
            (20..<30 ~= second ? [SessionStage.heard(7, 1, at: second)] : [])
                + (25..<50 ~= second ? [SessionStage.heard(7, 2, at: second)] : [])
        }
        XCTAssertEqual(told, ["enter 1 at 20.5", "exit 1 at 79.0"], "30 s after 49")
    }

    func testADistanceLimitsTheEntryAndOneAndAHalfTimesItTheExit() {
        let near = Interaction(id: 1, name: "guide", target: .beacon(Self.guide), distance: 3)
        var machine = machine([near])
        // Without a measured power of its own, -62 dBm are 1 m: 7.9 m, 2 m, 4 m, 7.9 m.
        let told = tell(&machine, to: 200) { second in
            let rssi: Double = second < 50 ? -80 : second < 100 ? -68 : second < 150 ? -74 : -80
            return [SessionStage.heard(7, 1, at: second, rssi: rssi)]
        }
        XCTAssertEqual(told.map { String($0.prefix(7)) }, ["enter 1", "exit 1 "])
        let seconds = told.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
        XCTAssertTrue((50...60).contains(seconds.first ?? 0), "\(told)")
        XCTAssertTrue((150...160).contains(seconds.last ?? 0), "\(told)")
    }

    /// A trigger is enter, exit or both.
    func testATriggerSelectsTheReportedDirection() {
        for (trigger, expected) in [
            (Interaction.Trigger.enter, ["enter 1 at 20.5"]), (.exit, ["exit 1 at 50.0"]),
            (.both, ["enter 1 at 20.5", "exit 1 at 50.0"]),
        ] {
            var machine = machine([
                Interaction(id: 1, name: "guide", target: .beacon(Self.guide), trigger: trigger)
            ])
            let told = tell(&machine, to: 100) { $0 == 20 ? [SessionStage.heard(7, 1, at: 20)] : [] }
            XCTAssertEqual(told, expected)
        }
    }

    func testWhileTheRadioRestsBetweenPassesSilenceLastsLonger() throws {
        var machine = machine([Interaction(id: 1, name: "guide", target: .beacon(Self.guide))])
        let told = tell(&machine, to: 100, resting: 30..<60) { second in
            func radio(_ status: RadioEvent.Status) -> SensorReading {
                .radio(RadioEvent(instant: Instant(seconds: Double(second)), status: status))
            }
            return switch second {
            case 20: [SessionStage.heard(7, 1, at: 20)]
            case 30: [radio(.resting)]
            case 60: [radio(.scanning)]
            default: []
            }
        }
        XCTAssertEqual(told, ["enter 1 at 20.5", "exit 1 at 80.0"], "30 s of listening are 60 s")
    }

    // MARK: - Places

    func testAPointOfInterestIsEnteredWithinItsDistanceAndLeftFurtherAway() {
        var machine = machine([
            Interaction(id: 1, name: "near", target: .pointOfInterest(5)),
            Interaction(id: 2, name: "wide", target: .pointOfInterest(5), distance: 10),
            Interaction(id: 3, name: "upstairs", target: .pointOfInterest(6), distance: 10),
        ])
        // 2 m, 4 m, 5 m and 16 m from the fountain.
        let ways = [11.0: 20.0, 20: 18, 30: 17, 40: 6]
        let told = tell(&machine, to: 50) { second in
            ways[second].map { [SessionStage.fix(10, $0, 20, at: second)] } ?? []
        }
        XCTAssertEqual(told, ["enter 1 at 11.5", "enter 2 at 11.5", "exit 1 at 30.5", "exit 2 at 40.5"])
    }

    func testInteractionsOfARoomAndAFenceFollowTheirEvents() {
        var machine = machine([
            Interaction(id: 1, name: "tea", target: .room(1), trigger: .enter),
            Interaction(id: 2, name: "mind the step", target: .fence(2)),
        ])
        _ = machine.handle(.reading(SessionStage.fix(10, 5, 5, at: 10)), at: 10)
        let directives = machine.pass(to: 12)
        XCTAssertEqual(names(directives), ["enter 1 at 10.0", "enter 2 at 10.0"])
        let told = directives.compactMap { directive in
            switch directive {
            case .emitEvent: "event"
            case .emitInteraction: "interaction"
            default: nil
            }
        }
        XCTAssertEqual(told, ["event", "event", "interaction", "interaction"])
        _ = machine.pass(to: 13)
        _ = machine.handle(.reading(SessionStage.fix(10, 20, 20, at: 13)), at: 13)
        XCTAssertEqual(names(machine.pass(to: 14)), ["exit 2 at 13.5"])
    }

    func testTheDeviceLeavesAllTargetsWhenTheVenueIsLostOrTheSessionEnds() {
        for isStopped in [false, true] {
            var machine = machine([
                Interaction(id: 1, name: "guide", target: .beacon(Self.guide)),
                Interaction(id: 2, name: "fountain", target: .pointOfInterest(5)),
                Interaction(id: 3, name: "door", target: .fence(2)),
                Interaction(id: 4, name: "hello", target: .beacon(Self.guide), trigger: .enter),
            ])
            _ = tell(&machine, to: 20) { second in
                [SessionStage.heard(7, 1, at: second), SessionStage.fix(10, 20, 20, at: second)]
            }
            let directives = isStopped ? machine.handle(.stop, at: 21) : machine.pass(to: 60)
            XCTAssertEqual(
                names(directives).map { $0.prefix(6) }.sorted(), ["exit 1", "exit 2"], "stopped: \(isStopped)")
        }
    }

    // MARK: - What users hold

    func testALocalizerEmitsInteractionsWithContentsAndTheWallClock() async throws {
        var venue = EventHistoryTests.everywhere
        let content = Interaction.Content(id: 1, language: "en", text: "Welcome", link: "https://example.org")
        venue.interactions = [
            Interaction(id: 9, name: "welcome", target: .fence(2), trigger: .enter, contents: [content])
        ]
        var settings = LocalizerStage.settings
        settings.areaDwell = .zero
        let stage = LocalizerStage(venues: [venue], settings)
        stage.source.wallClock = WallClock(timeOfZero: .milliseconds(1_700_000_000_000))
        let told = stage.localizer.interactions
        let (calls, called) = AsyncStream.makeStream(of: String.self)
        let subscription = stage.localizer.watch(\.interactions) { called.yield($0.interaction.name) }
        try await stage.run()
        // However late the packet came, there is a position after it.
        stage.source.send(SessionStage.heard(1, at: LocalizerStage.beginning + 10))
        let event = try await Bounded.first(1, of: told)[0]
        XCTAssertEqual(event.interaction, venue.interactions[0])
        XCTAssertEqual(event.venueID, 1)
        XCTAssertTrue(event.isEntry)
        XCTAssertEqual(
            event.unixTime?.milliseconds, 1_700_000_000_000 + event.instant.nanoseconds / 1_000_000)
        let name = try await Bounded.first(1, of: calls)
        XCTAssertEqual(name, ["welcome"])
        subscription.close()
        await stage.localizer.stop()
    }

    func testTheContentWithTheClosestLanguageIsSelected() {
        let contents = ["de", "en-GB", nil, "en"].enumerated().map { index, language in
            Interaction.Content(id: index, language: language, text: language ?? "all")
        }
        var interaction = Interaction(id: 1, name: "", target: .room(1), contents: contents)
        for (language, text) in [("en", "en"), ("EN-gb", "en-GB"), ("en-US", "en-GB"), ("de-CH", "de"), ("fr", "all")] {
            XCTAssertEqual(interaction.content(in: language)?.text, text, language)
        }
        interaction.contents.remove(at: 2)
        XCTAssertNil(interaction.content(in: "fr"))
    }
}
