import Dispatch
import Foundation
import IndoorVocabulary
import LiveMap
import LiveSurvey
import LocalizationSession
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// A fleet for the tests of its server and page: a venue of two floors, receivers, and tags that a test states.
enum TagStage {
    static let start = Instant(nanoseconds: 1_795_338_000_000_000_000)

    static let venue: Venue = {
        let receivers = [
            VenueReceiver(
                id: "west", identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 1, minor: 1),
                mapID: MapID(rawValue: 1), point: MapPoint(x: 2, y: 5)),
            VenueReceiver(
                id: "east", identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 1, minor: 2),
                mapID: MapID(rawValue: 1), point: MapPoint(x: 18, y: 5)),
        ]
        var venue = Venue(
            id: VenueID(rawValue: 7), name: "Museum", version: 1,
            maps: [
                VenueMap(
                    id: MapID(rawValue: 1), name: "Ground floor", level: 0, width: 20, height: 10,
                    walls: [
                        [
                            MapPoint(x: 0, y: 0), MapPoint(x: 20, y: 0), MapPoint(x: 20, y: 10), MapPoint(x: 0, y: 10),
                            MapPoint(x: 0, y: 0),
                        ]
                    ]),
                VenueMap(id: MapID(rawValue: 2), name: "Upper floor", level: 1, width: 20, height: 10),
            ],
            rooms: [
                Room(
                    id: 1, name: "Hall", mapID: MapID(rawValue: 1),
                    area: .polygon([
                        MapPoint(x: 1, y: 1), MapPoint(x: 10, y: 1), MapPoint(x: 10, y: 9), MapPoint(x: 1, y: 9),
                    ]))
            ])
        venue.receivers = receivers
        return venue
    }()

    /// Returns an output at some seconds after the start.
    static func output(
        _ tag: String, _ sequence: UInt64, _ content: FleetOutput.Content, name: String? = nil, at seconds: Double = 0
    ) throws -> FleetOutput {
        FleetOutput(
            tag: try XCTUnwrap(TagKey(tag)), name: name, epoch: 1, sequence: sequence,
            instant: start.advanced(by: .seconds(seconds)), content: content)
    }

    static func position(
        _ x: Double, _ y: Double = 5, map: Int = 1, label: String? = nil, coordinate: Coordinate? = nil,
        at seconds: Double = 0
    ) -> FleetOutput.Content {
        .position(
            Position(
                instant: start.advanced(by: .seconds(seconds)), venueID: VenueID(rawValue: 7),
                mapID: MapID(rawValue: map), point: MapPoint(x: x, y: y), radius: 1.5, label: label,
                coordinate: coordinate))
    }

    /// The lift and two tags without a state, of which the stage has heard one.
    static func register() throws -> TagRegister {
        TagRegister([
            .init(key: .name("lift")), .init(key: .name("keys"), name: "Keys"), .init(key: .name("rope")),
        ])
    }

    /// Returns what happens to an alert of the cart.
    static func alert(
        _ number: Int, _ state: AlertEvent.State, of alert: Int? = nil, rule: String = "Cart leaves hall",
        at seconds: Double = 0, reason: AlertEvent.Reason? = nil
    ) throws -> AlertEvent {
        var event = AlertEvent(
            id: "1-\(number)", alert: "1-\(alert ?? number)", state: state, rule: rule, condition: .leaves,
            area: "Hall",
            tag: try XCTUnwrap(TagKey("AA:BB:CC:DD:EE:01")), name: "Cart",
            instant: start.advanced(by: .seconds(seconds)),
            since: start.advanced(by: .seconds(seconds)), battery: TagBattery(percent: 80, millivolts: 2_900))
        event.reason = reason
        if case .position(let position) = position(12, at: seconds) { event.position = position }
        return event
    }

    /// The rule of ``alert(_:_:of:rule:at:reason:)`` with an alert that lasts and one that has ended.
    static func alerts() throws -> AlertStatus {
        var rule = AlertRule(name: "Cart leaves hall", condition: .leaves, tags: [.beginning("")])
        rule.area = try AlertArea(.room, "Hall", of: venue)
        let first = try alert(1, .raised, rule: "Old")
        return AlertStatus(
            rules: AlertRules([rule]), tags: [first.tag], active: [try alert(3, .raised)],
            latest: [first, try alert(2, .cleared, of: 1, rule: "Old", reason: .ruleRemoved), try alert(3, .raised)])
    }

    /// Three tags: one in the hall, one on the upper floor, and one that is away.
    static func outputs() throws -> [FleetOutput] {
        [
            try output("AA:BB:CC:DD:EE:01", 1, .present, name: "Cart"),
            try output(
                "AA:BB:CC:DD:EE:01", 2,
                position(5, label: "Hall", coordinate: Coordinate(latitude: 52.5, longitude: 13)), name: "Cart"),
            try output("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", 1, position(8, map: 2)),
            try output("lift", 1, position(3)),
            try output("lift", 2, .away, at: 60),
        ]
    }
}

/// What the receivers of the stage have heard.
actor StagedHearings: HearingSource {
    private var table = HearingTable(venue: TagStage.venue)

    /// Creates the readings of the stage: the cart at both receivers and at one that the venue doesn't have, and a tag
    /// that has no state.
    init() throws {
        let cart = try XCTUnwrap(TagKey("AA:BB:CC:DD:EE:01"))
        for (tag, receiver, rssi, seconds) in [
            (cart, "WEST", -60.0, 0.0), (cart, "east", -80, 1), (cart, "cellar", -90, 2),
            (.name("keys"), "east", -70, 3),
        ] as [(TagKey, String, Double, Double)] {
            table.add(
                TagReading(
                    tag: tag, receiver: receiver, instant: TagStage.start.advanced(by: .seconds(seconds)), rssi: rssi))
        }
    }

    func hearings(of tag: TagKey) -> [HearingTable.Hearing] { table.hearings(of: tag) }

    func hearings(by receiver: String) -> [HearingTable.Hearing]? { table.hearings(by: receiver) }

    func lastReadings(of tags: [TagKey]) -> [TagKey: Instant] {
        Dictionary(uniqueKeysWithValues: tags.compactMap { tag in table.lastReading(of: tag).map { (tag, $0) } })
    }
}

// The clients of these tests block, so that the tests run on a thread of their own, and not in tasks.
extension TagBoard {
    /// Writes outputs, and returns after that.
    nonisolated func put(_ outputs: [FleetOutput]) { block { await $0.write(outputs) } }

    /// Writes changes of receivers, and returns after that.
    nonisolated func put(_ events: [ReceiverEvent]) { block { await $0.write(events) } }

    /// Writes what gateways have sent, and returns after that.
    nonisolated func put(_ activity: GatewayActivity) { block { await $0.write(activity) } }

    /// Writes what happens to alerts, and returns after that.
    nonisolated func put(_ alerts: [AlertEvent]) { block { await $0.write(alerts) } }

    /// Uses the alerts at the start, and returns after that.
    nonisolated func put(_ alerts: AlertStatus) { block { await $0.use(alerts) } }

    /// Writes the batteries of tags, and returns after that.
    nonisolated func put(_ batteries: [TagKey: TagBattery]) { block { await $0.write(batteries) } }

    /// Uses a register, and returns after that.
    nonisolated func put(_ register: TagRegister) { block { await $0.use(register: register, removing: []) } }

    /// Removes tags, and returns after that.
    nonisolated func drop(_ tags: [TagKey]) { block { await $0.remove(tags) } }

    private nonisolated func block(_ operation: @escaping @Sendable (TagBoard) async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await operation(self)
            done.signal()
        }
        done.wait()
    }
}

extension XCTestCase {
    /// A history in a temporary file, in which the cart was in the hall for 20 s.
    ///
    /// - Parameter walks: the number of tags that also walk through the hall, a metre in each 5 s, for 50 s.
    func stagedHistory(walks: Int = 0) throws -> TagHistory {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).db").path
        addTeardownBlock {
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
        }
        let history = try TagHistory(path: path)
        let enter = LocalizationEvent(
            instant: TagStage.start, venueID: VenueID(rawValue: 7), kind: .enterRoom(TagStage.venue.rooms[0]))
        var outputs = [
            try TagStage.output("AA:BB:CC:DD:EE:01", 1, .event(enter), name: "Cart"),
            try TagStage.output(
                "AA:BB:CC:DD:EE:01", 2, TagStage.position(5, label: "Hall", at: 20), name: "Cart", at: 20),
        ]
        for walker in 0..<walks {
            outputs.append(try TagStage.output("walker \(walker)", 1, .event(enter)))
            for step in 0...10 {
                let (x, seconds) = (1 + Double(step), 5 * Double(step))
                outputs.append(
                    try TagStage.output(
                        "walker \(walker)", UInt64(step + 2),
                        TagStage.position(
                            x, 2 + 2 * Double(walker), label: "Hall",
                            coordinate: Coordinate(latitude: 52.5, longitude: 13), at: seconds), at: seconds))
            }
        }
        let done = DispatchSemaphore(value: 0)
        Task.detached { [outputs] in
            await history.write(outputs)
            await history.flush()
            done.signal()
        }
        done.wait()
        return history
    }

    /// Starts the server of a board, which stops after the test.
    func tagServer(
        _ board: TagBoard, token: String? = nil, connections: Int = 256, plans: (any LiveMapPlans)? = nil,
        metrics: (@Sendable () async -> String)? = nil, gateways: TagRoutes.GatewayReceiver? = nil,
        hearings: (any HearingSource)? = nil, history: TagHistory? = nil, hasAlerts: Bool = false,
        rooms: RoomDesk? = nil, survey: SurveyDesk? = nil, interval: Duration = .milliseconds(10),
        waitingBytes: Int? = nil, venue: Venue = TagStage.venue
    ) throws -> LiveMapServer {
        var limits = LiveMapServer.Limits()
        limits.connections = connections
        if let waitingBytes {
            limits.waitingBytes = waitingBytes
            // Only the end of the test may end the stream of a reader that doesn't read.
            limits.silence = .seconds(3600)
        }
        let routes = TagRoutes(
            board: board, title: "Museum tags", venue: venue, plans: plans, metrics: metrics,
            gateways: gateways, hearings: hearings, history: history, hasAlerts: hasAlerts,
            rooms: rooms, survey: survey, interval: interval)
        let server = try LiveMapServer(
            routes: routes, listener: try LiveMapListener(try LiveMapAddress("127.0.0.1:0"), token: token),
            limits: limits)
        addTeardownBlock { server.stop() }
        return server
    }
}

extension BrowserTestCase {
    /// Opens the page of a server of tags, and waits until it has read the tags.
    func tagPage(
        of server: LiveMapServer, width: Int = 390, height: Int = 844, isTouch: Bool = true, isDark: Bool = false
    ) throws -> BrowserPage {
        let page = try page()
        try page.setViewport(width: width, height: height, isTouch: isTouch)
        try page.setPreferences(.init(isDark: isDark))
        try page.open(server.url)
        try page.wait(until: "window.tagMap !== undefined")
        try page.run("await window.tagMap.ready")
        return page
    }

    /// Opens the page of a server of tags on a telephone, with the survey of its first tag.
    func surveyPage(of server: LiveMapServer) throws -> BrowserPage {
        let page = try tagPage(of: server)
        try page.run("document.querySelector('#tag-list button').click()")
        try page.wait(until: "!document.querySelector('#survey-note').closest('[hidden]')")
        return page
    }
}

extension ShownMap {
    /// Checks that the page fits screens of these sizes, that its controls don't cover each other, and that its texts are
    /// legible in both themes.
    ///
    /// - Parameters:
    ///   - grounds: the elements on which controls may lie, as a CSS selector.
    ///   - open: opens what is to be shown, at each size and in each theme.
    ///   - close: closes it after the check of a size.
    func assertLegible(
        at sizes: [(Int, Int)], grounds: String = "#plan, #panels *", open: () throws -> Void = {},
        close: () throws -> Void = {}
    ) throws {
        for (width, height) in sizes {
            try page.setViewport(width: width, height: height, isTouch: width < 900)
            try open()
            try waitForDrawing()
            let place = "\(width) × \(height)"
            XCTAssertFalse(try page.scrollsSideways, place)
            XCTAssertEqual(try page.misplacedControls(grounds: grounds), [], place)
            try close()
        }
        for isDark in [false, true] {
            try page.setPreferences(.init(isDark: isDark))
            try page.wait(until: "document.documentElement.dataset.theme === '\(isDark ? "dark" : "light")'")
            try open()
            try waitForDrawing()
            let found = try page.textsOfLowContrast(backdrop: try page.rootProperty("--plan"))
            XCTAssertEqual(found, [], "dark \(isDark)")
        }
        XCTAssertEqual(page.problems, [])
    }
}
