import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// The samples of Nextome's document *Basic Features*, with the calls that its users replace them by.
final class NextomeSampleTests: XCTestCase {
    private static let beginning = LocalizerStage.beginning

    /// The office, with what the samples draw.
    private var office: Venue {
        var office = SessionStage.office
        office.maps[0].tilesPath = "tiles/ground.zip"
        office.pointsOfInterest = [
            PointOfInterest(id: 1, name: "desk", mapID: 10, point: MapPoint(x: 5, y: 5)),
            PointOfInterest(id: 2, name: "roof", mapID: 11, point: MapPoint(x: 5, y: 5)),
        ]
        return office
    }

    /// *Start localization*, *Stop localization*, and the complete example of `getStateObservable()`.
    func testTheSampleOfTheStatesShowsEachState() async throws {
        let stage = LocalizerStage(venues: [office])
        let shown = WatchedState<[String]>([])
        let observer = stage.localizer.watch(\.states) { state in
            let text =
                switch state {
                case .idle: "Sdk is in Idle"
                case .started: "Sdk is Started"
                case .searchVenue: "Sdk is searching for a venue"
                case .getPacket(let venueID, _): "Downloading venue \(venueID)..."
                case .findFloor(let venue): "Finding current Floor on venue \(venue.id)..."
                case .localizationRunning(let running):
                    """
                    map \(running.mapID): \(running.tilesPath ?? "-"), \
                    \(running.mapHeight ?? 0) by \(running.mapWidth ?? 0), \
                    \(running.venue.pointsOfInterest(on: running.mapID).map(\.name)) \
                    of \(running.venue.pointsOfInterest.count)
                    """
                case .error(let error): "\(error.code)"
                }
            let isOutdoor = state.isOutdoor.map { $0 ? ", outdoor" : ", indoor" } ?? ""
            shown.update { $0.append(text + isOutdoor) }
        }
        try await stage.run()
        stage.source.fail(SessionStage.credential)
        try await stage.reach("error")
        try await Bounded.wait(for: "the error") { try await shown.wait { $0.last == "credential" } }
        observer.close()
        await stage.localizer.start()
        await stage.localizer.stop()
        XCTAssertEqual(
            shown.value,
            [
                "Sdk is in Idle", "Sdk is Started, outdoor", "Sdk is searching for a venue, outdoor",
                "Downloading venue 1..., indoor", "Downloading venue 1..., indoor",
                "Finding current Floor on venue 1..., indoor",
                #"map 10: tiles/ground.zip, 300 by 400, ["desk"] of 2, indoor"#, "credential",
            ])
    }

    /// *Observe the user position*.
    func testTheSampleOfThePositionsEndsWithItsObserver() async throws {
        let stage = LocalizerStage()
        let log = WatchedState<[String]>([])
        let observer = stage.localizer.watch(\.positions) { position in
            log.update {
                $0.append(
                    """
                    Got indoor position \(position.label ?? "-") (\(position.x), \(position.y)), \
                    on map \(position.mapID) in venue \(position.venueID)
                    """)
            }
        }
        try await stage.run()
        try await Bounded.wait(for: "a position") { try await log.wait { !$0.isEmpty } }
        let line = try XCTUnwrap(log.value.first)
        XCTAssertNotNil(
            line.wholeMatch(of: /Got indoor position (kitchen|-) \([\d.]+, [\d.]+\), on map 10 in venue 1/), line)
        observer.close()
        let count = log.value.count
        let positions = stage.localizer.positions
        for reading in LocalizerStage.walk(from: Self.beginning + 6, for: 2) { stage.source.send(reading) }
        _ = try await Bounded.first(1, of: positions)
        XCTAssertEqual(log.value.count, count)
    }

    /// *Observe the downloaded data*.
    func testTheSampleOfTheDownloadedDataIsOfTheVenueThatSatellitesFind() async throws {
        let satellites = ScriptedSource()
        let stage = LocalizerStage(venues: [office], gnss: satellites)
        let log = WatchedState<[String]>([])
        let observer = stage.localizer.watch(\.downloadedVenues) { venue in
            log.update { $0.append("Downloaded data is \(venue.name)") }
        }
        await stage.localizer.start()
        try await satellites.waitUntilScanning()
        try await stage.reach("searchVenue")
        for second in 0...1 { satellites.send(SessionStage.gnss(52, at: Self.beginning + Double(second))) }
        try await Bounded.wait(for: "the data") { try await log.wait { $0 == ["Downloaded data is office"] } }
        observer.close()
    }

    /// *Observe errors*.
    func testTheSampleOfTheErrorsDistinguishesTheirKinds() async throws {
        struct Broken: Error {}
        let stage = LocalizerStage()
        let log = WatchedState<[String]>([])
        let watcher = stage.localizer.watch(\.errors) { error in
            switch error.code {
            case .credential: log.update { $0.append("log in") }
            case .critical: log.update { $0.append("restart") }
            case .network, .generic: log.update { $0.append(error.message) }
            }
        }
        let failure = LocalizationError(code: .generic, message: "the adapter was reset")
        let failures: [(error: any Error, shown: String)] = [
            (failure, "the adapter was reset"), (SessionStage.credential, "log in"), (Broken(), "restart"),
        ]
        for (number, (error, shown)) in failures.enumerated() {
            await stage.localizer.start()
            try await stage.source.waitUntilScanning(number + 1)
            try await stage.reach("searchVenue")
            stage.source.fail(error)
            try await Bounded.wait(for: shown) { try await log.wait { $0.last == shown } }
            let isOver = await stage.localizer.state.isOver
            XCTAssertEqual(isOver, number > 0, "a generic error does not end the session")
            if number == 0 { await stage.localizer.stop() }
        }
        watcher.close()
        XCTAssertEqual(log.value, failures.map(\.shown))
    }
}
