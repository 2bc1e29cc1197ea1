import Dispatch
import Foundation
import IndoorLocalizationTesting
import IndoorPositioning
import IndoorVocabulary
import LiveSurvey
import LocalizationSession
import TagTracking
import TagTrackingService
import VenueModel
import VenuePackets
import XCTest

/// The fleet of the office in `Fixtures/tags`, whose gateways hear a tag on simulated walks, with a folder for surveys and a
/// packet that gets the radio map.
final class StagedOffice: StagedWalks {
    static let tag = "C3:00:00:12:AB:34"

    /// The time of the fleet, which walks advance.
    private final class Clock: Sendable {
        private let instant = Guarded(TagStage.start)
        var now: Instant { instant.withLock { $0 } }
        func set(_ time: Instant) { instant.withLock { $0 = time } }
    }

    let packet: String
    let folder: String
    let venue: Venue
    let carrier = SurveyCarrier.tag(StagedOffice.tag)
    let engine: FleetEngine
    private let fleet: SurveyedFleet
    let desk: SurveyDesk
    let maps: SurveyMapDesk
    private let clock = Clock()

    /// - Parameters:
    ///   - folder: an empty folder.
    ///   - place: where the packet is written; nil for its folder.
    init(in folder: String, place: SurveyMapDesk.Place? = nil) throws {
        packet = folder + "/office"
        self.folder = folder + "/walks"
        try FileManager.default.copyItem(atPath: try FixtureFolder("tags/office").path, toPath: packet)
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        venue = try VenuePacketReader().read(packet).venue
        var settings = FleetSettings()
        settings.defaultClass = "light"
        engine = try FleetEngine.start(
            FleetEngine.Setup(model: FleetModel(venue: venue, settings: settings)), in: nil, at: TagStage.start
        ).engine
        fleet = SurveyedFleet(engine)
        maps = Self.maps(of: fleet, folder: self.folder, place ?? .folder(packet))
        desk = SurveyDesk(fleet, folder: self.folder, maps: maps, priority: .usual) { [clock] in clock.now }
        // A walk begins with a tag that was heard.
        try walk([(3, 10), (4, 10)], seed: 99)
    }

    /// Learns maps without a bound of time, also while other processes use the processors.
    static func maps(of fleet: SurveyedFleet, folder: String, _ place: SurveyMapDesk.Place) -> SurveyMapDesk {
        var limits = SurveyMapJob.Limits()
        limits.judging = nil
        return SurveyMapDesk(fleet, folder: folder, place: place, limits: limits, priority: .usual)
    }

    @discardableResult
    func walk(_ points: [(Double, Double)], seed: UInt64, mark: (MapPoint) throws -> Void) throws -> [Double] {
        try walk(points, seed: seed, map: 1, mark: mark)
    }

    /// Lets the gateways hear the tag on a walk.
    ///
    /// - Parameter mark: called when the carrier is at a point of the path, except on a floor that the survey doesn't have.
    /// - Returns: the errors of the tag's positions in metres on the right floor, from 5 s on.
    @discardableResult
    func walk(
        _ points: [(Double, Double)], seed: UInt64, map: MapID = 1, mark: (MapPoint) throws -> Void = { _ in }
    ) throws -> [Double] {
        var settings = SimulationSettings()
        settings.radio.advertisingInterval = 1
        // Strong shadowing, of which only a survey knows.
        settings.radio.shadowing = 6
        settings.sensors.pressureInterval = 0
        let path = WalkPath(points: points.map { WalkPath.Point(mapID: map, point: MapPoint(x: $0.0, y: $0.1)) })
        let entries = try WalkSimulator(venue: venue.forTags, path: path, settings: settings, seed: seed).entries()
        let names = Dictionary(venue.receivers.map { ($0.identity, $0.id) }, uniquingKeysWith: { first, _ in first })
        let start = clock.now
        var truths: [SurveyRecording.Waypoint] = []
        var messages: [GatewayMessage] = []
        for entry in entries {
            switch entry {
            case .truth(let truth): if let waypoint = truth.waypoint { truths.append(waypoint) }
            case .measurement(.sighting(let sighting)):
                let name = try XCTUnwrap(names[sighting.beacon])
                messages.append(
                    GatewayMessage(
                        topic: "home/\(name)/BTtoMQTT/C3000012AB34",
                        payload: Array(#"{"id":"\#(Self.tag)","rssi":\#(Int(sighting.rssi))}"#.utf8),
                        arrival: start.advanced(by: Instant.zero.duration(to: sighting.instant))))
            default: break
            }
        }
        var corners = truths.filter { truth in points.contains { MapPoint(x: $0.0, y: $0.1) == truth.point } }[...]
        var errors: [Double] = []
        let last = try XCTUnwrap(truths.last).instant.seconds + 1
        for step in 1...Int(last * 4) {
            let seconds = Double(step) / 4
            let now = start.advanced(by: .seconds(seconds))
            clock.set(now)
            let end = messages.firstIndex { $0.arrival > now } ?? messages.count
            let batch = Array(messages[..<end])
            messages.removeFirst(end)
            let outputs = try ask { [engine, fleet, desk] in
                let step = await engine.step(batch, to: now)
                await desk.add(fleet.surveyed(step.readings))
                await desk.save { XCTFail($0) }
                return step.outputs
            }
            while let corner = corners.first, corner.instant.seconds <= seconds {
                corners.removeFirst()
                try mark(corner.point)
            }
            for case .position(let position) in outputs.map(\.content) {
                let time = start.seconds(to: position.instant)
                guard time >= 5, let truth = truths.place(at: time), truth.mapID == position.mapID else { continue }
                errors.append(truth.point.distance(to: position.point))
            }
        }
        return errors
    }
}

extension XCTestCase {
    /// A fleet of the office, whose folder is removed after the test.
    func stagedOffice(place: SurveyMapDesk.Place? = nil) throws -> StagedOffice {
        let folder = FileManager.default.temporaryDirectory.appending(path: "office-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        return try StagedOffice(in: folder, place: place)
    }
}

/// A survey of the office with a telephone: walks, the map that is learned from them, and positions with it.
final class SurveyMapPageTests: BrowserTestCase {
    /// The walks of the survey on the ground floor.
    private static let walks: [[(Double, Double)]] = [
        [(2.5, 10), (6, 9), (6, 4), (3, 3), (7.5, 2.5), (6, 8), (9.5, 10), (7, 13), (3, 13), (3, 17), (11, 17)],
        [(11, 13), (7, 10.5), (13, 10), (13, 7), (11, 3), (15, 3), (13, 7), (13, 10), (17, 10), (17, 13), (14.5, 17)],
        [(19, 17), (17, 13), (17, 10), (21, 10), (21, 7), (19, 3), (23, 3), (21, 7), (21, 10), (24.5, 10), (24.5, 13)],
        [
            (23, 17), (26.5, 17), (24.5, 13), (24.5, 10), (27, 10), (27, 2.5), (27, 10), (31.5, 10), (31.5, 13),
            (33.5, 16),
        ],
        [(33.5, 10), (30.25, 10), (21, 10), (13, 10), (7, 10), (2.5, 10)],
    ]
    /// The walk with which positions are compared.
    private static let track: [(Double, Double)] = [
        (3, 10), (7, 10), (7, 15), (10, 16), (7, 13), (7, 10.5), (17, 10), (17, 14), (19.5, 17), (23, 17), (24.5, 13),
        (24.5, 10), (31.5, 10), (31.5, 16),
    ]

    private func shown(_ office: StagedOffice) throws -> BrowserPage {
        let board = TagBoard(receivers: office.venue.receivers, run: "r")
        board.put([try TagStage.output(StagedOffice.tag, 1, TagStage.position(2))])
        let server = try tagServer(board, hearings: office.engine, survey: office.desk, venue: office.venue)
        return try surveyPage(of: server)
    }

    private func text(_ id: String, _ page: BrowserPage) throws -> String {
        try page.evaluate("document.querySelector('#\(id)').textContent")
    }

    private func mean(_ errors: [Double]) -> Double { errors.reduce(0, +) / Double(max(1, errors.count)) }

    func testASurveyOfTheOfficeIsLearnedJudgedAdoptedAndTakenBack() throws {
        let office = try stagedOffice()
        // After the first walk, the power of the tag is known.
        try office.walk(Self.track, seed: 100)
        let before = try office.walk(Self.track, seed: 100)
        let page = try shown(office)
        try page.wait(until: "window.tagMap.state().coverage !== null")
        try page.stopClock()
        let unvisited = try text("unvisited-list", page)
        XCTAssertTrue(unvisited.hasPrefix("Ground floor: Lobby, "), unvisited)
        XCTAssertTrue(unvisited.contains("Kitchen"), unvisited)
        let rooms = try page.evaluate("window.tagMap.state().coverage.unvisitedRooms.length") as Int
        for (number, points) in Self.walks.enumerated() {
            try page.wait(until: "!document.querySelector('#survey-start').hidden")
            try page.run("document.querySelector('#survey-start').click()")
            try page.wait(until: "!document.querySelector('#survey-stop').hidden")
            XCTAssertTrue(try page.evaluate("window.tagMap.state().showsGaps") as Bool)
            var count = 0
            try office.walk(points, seed: UInt64(number)) { point in
                try page.run("document.querySelector('#stage').scrollIntoView()")
                let place: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, \(point.x), \(point.y))")
                try page.click(x: place.x, y: place.y)
                count += 1
                try page.wait(
                    until: """
                        window.tagMap.state().waiting === 0
                            && window.tagMap.state().walks.find((one) => one.running)?.marks.length === \(count)
                        """)
            }
            try page.wait(until: "window.tagMap.state().coverage.unvisitedRooms.length < \(rooms - number)")
            try page.run("document.querySelector('#survey-stop').click()")
            try page.wait(until: "document.querySelector('#survey-state').textContent.startsWith('\(number + 1) walk')")
            if number == 0 {
                _ = try office.waitForMap()
                try page.wait(
                    until: "document.querySelector('#map-errors').textContent.startsWith('It can’t be judged yet')")
            }
        }
        // The way back of each walk, without the page.
        for (number, points) in Self.walks.enumerated() {
            try office.survey(points.reversed(), seed: 10 + UInt64(number))
        }
        let status = try office.waitForMap()
        let figures = try XCTUnwrap(status.machine.figures, status.machine.problem ?? "")
        let (old, new) = (try XCTUnwrap(figures.before), try XCTUnwrap(figures.after))
        print("left out: \(old) -> \(new), \(figures)")
        XCTAssertEqual(figures.walks, 10)
        XCTAssertGreaterThan(figures.points, 100)
        XCTAssertLessThan(new.mean, 0.8 * old.mean)
        // An earlier learning can have had a part of the last walk.
        try page.wait(until: "window.tagMap.state().map?.figures?.points === \(figures.points)")
        try page.wait(until: "document.querySelector('#map-errors').textContent.startsWith('Mean error')")
        let words = try text("map-errors", page)
        XCTAssertTrue(words.contains("at \(figures.points) places of walks that were left out"), words)
        XCTAssertLessThanOrEqual(try page.evaluate("document.documentElement.scrollWidth") as Int, 390)

        try page.run("document.querySelector('#map-adopt').click()")
        try page.wait(until: "window.tagMap.state().map.adopted && !window.tagMap.state().map.changing")
        XCTAssertEqual(try text("map-takeBack", page), "Take back edition 1")
        let venue = try VenuePacketReader().read(office.packet).venue
        XCTAssertEqual(venue.version, 2)
        XCTAssertNotNil(venue.radioMap)
        let after = try office.walk(Self.track, seed: 100)
        print("track: \(mean(before)) m -> \(mean(after)) m, \(before.count) and \(after.count) positions")
        XCTAssertGreaterThan(before.count, 40)
        XCTAssertGreaterThan(after.count, before.count - 10, "the tag is located on")
        XCTAssertLessThan(mean(after), 0.8 * mean(before))

        try page.run("document.querySelector('#map-takeBack').click()")
        try page.wait(until: "window.tagMap.state().map.edition === 1 && !window.tagMap.state().map.changing")
        XCTAssertEqual(try VenuePacketReader().read(office.packet).venue, office.venue)
        XCTAssertFalse(try page.evaluate("document.querySelector('#map-adopt').hidden") as Bool)
        let last = try office.walk(Self.track, seed: 100)
        print("taken back: \(mean(last)) m")
        XCTAssertGreaterThan(mean(last), 1.15 * mean(after))
        XCTAssertEqual(page.problems, [])
    }

    func testThePageSaysWhyAMapCannotBeAdopted() throws {
        let office = try stagedOffice(place: .none("It is a zip file."))
        let page = try shown(office)
        try office.survey(Self.walks[4], seed: 1)
        _ = try office.waitForMap()
        try page.wait(until: "!document.querySelector('#map-adopt').hidden")
        try page.run("document.querySelector('#map-adopt').click()")
        try page.wait(until: "document.querySelector('#notice').textContent.includes('It is a zip file.')")
        XCTAssertEqual(try VenuePacketReader().read(office.packet).venue.version, 1)
    }

    func testWalksOfAnEarlierRunAreLearnedAndShownAtTheStart() throws {
        let office = try stagedOffice()
        try office.survey(Self.walks[4], seed: 1)
        _ = try office.waitForMap()
        try office.ask { try? await office.maps.adopt() }
        XCTAssertTrue(try office.waitForMap().machine.isAdopted)
        // Not a recording.
        try Data("{}\n".utf8).write(to: URL(filePath: office.folder + "/0-broken.jsonl"))
        let venue = try VenuePacketReader().read(office.packet).venue
        let engine = try FleetEngine.start(
            FleetEngine.Setup(model: FleetModel(venue: venue, settings: office.engine.model.settings)), in: nil,
            at: TagStage.start
        ).engine
        let fleet = SurveyedFleet(engine)
        let maps = StagedOffice.maps(of: fleet, folder: office.folder, .folder(office.packet))
        let desk = SurveyDesk(fleet, folder: office.folder, maps: maps, priority: .usual) { TagStage.start }
        try office.ask { await maps.begin() }
        let start = ContinuousClock.now
        while try office.ask({ await maps.status.machine.figures == nil }), start.duration(to: .now) < Bounded.longest {
            usleep(20_000)
        }
        let machine = try office.ask { await maps.status.machine }
        XCTAssertEqual(machine.figures?.walks, 1)
        XCTAssertTrue(machine.isAdopted, "the same walks give the map that is in use")
        let problem = machine.problem ?? ""
        XCTAssertTrue(problem.hasSuffix(" 0-broken.jsonl:1: field `type` is missing."), problem)
        let coverage = try XCTUnwrap(try office.ask { await desk.coverage(of: 1) })
        let rooms = coverage.unvisitedRooms.map(\.name)
        XCTAssertFalse(rooms.contains("Corridor ground"), "\(rooms)")
        XCTAssertTrue(rooms.contains("Kitchen"), "\(rooms)")
    }

    func testThePageHasNoFiguresOfAnotherFloor() throws {
        let page = try shown(try stagedOffice())
        try page.wait(until: "document.querySelector('#gap-note').textContent.includes('m² of this floor')")
        try page.run(
            """
            const fetched = window.fetch;
            window.fetch = (path, options) =>
              String(path).includes("survey/gaps") ? new Promise(() => {}) : fetched(path, options);
            """)
        try page.run("document.querySelector(\"#floors [data-map='2']\").click()")
        try page.wait(until: "document.querySelector('#gap-note').textContent === ''")
        try page.run("document.querySelector(\"#floors [data-map='1']\").click()")
        try page.wait(until: "document.querySelector('#gap-note').textContent.includes('m² of this floor')")
    }

    func testRequestsWithTheSameMarksShareOneComputationOfTheGaps() throws {
        let office = try stagedOffice()
        let desk = office.desk
        func count() throws -> Int { try office.ask { await desk.coverageCount } }
        let first = try office.ask {
            await withTaskGroup(of: SurveyCoverage?.self) { group in
                for _ in 0..<8 { group.addTask { await desk.coverage(of: 1) } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
        }
        XCTAssertEqual(first.count, 1)
        XCTAssertEqual(try count(), 1)
        XCTAssertEqual(try office.ask { await desk.coverage(of: 1) }, first.first)
        XCTAssertEqual(try count(), 1)
        try office.survey([(3, 10), (7, 10)], seed: 1)
        _ = try office.waitForMap()
        let second = try office.ask { await desk.coverage(of: 1) }
        XCTAssertNotEqual(second, first.first, "a mark changes it")
        XCTAssertEqual(try count(), 2)
        _ = try office.ask { await desk.coverage(of: 2) }
        XCTAssertEqual(try count(), 3)
        XCTAssertEqual(try office.ask { await desk.coverage(of: 1) }, second)
        XCTAssertEqual(try count(), 3)
    }
}
