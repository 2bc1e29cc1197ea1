import Foundation
import IndoorVocabulary
import LiveMap
import LiveSurvey
import LocalizationSession
import LoopbackServers
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// The document of a fleet's interface, compared with the server's responses in both directions.
final class TagDescriptionTests: XCTestCase {
    private typealias JSON = SchemaValidator.JSON

    private struct Plans: LiveMapPlans {
        func image(of map: VenueMap, in venue: Venue) async -> LiveMapImage? {
            map.level == 0 ? LiveMapImage(bytes: [0x89, 0x50], mediaType: "image/png") : nil
        }
        func tiles(of map: VenueMap, in venue: Venue) async -> LiveMapVenue.Tiles? {
            LiveMapVenue.Tiles(width: 200, height: 100, tileSize: 254, overlap: 1, format: "png")
        }
        func tile(of map: VenueMap, in venue: Venue, level: Int, column: Int, row: Int) async -> LiveMapImage? {
            column == 0 ? LiveMapImage(bytes: [0x89, 0x50], mediaType: "image/png") : nil
        }
    }

    /// The valid request of each path.
    private static let requests = [
        "/{file}": "/tags.html", "/api/v1/plan": "/api/v1/plan?venue=7&map=1",
        "/api/v1/tile": "/api/v1/tile?venue=7&map=1&level=8&column=0&row=0",
        "/api/v1/tags/{key}": "/api/v1/tags/lift", "/api/v1/tags/{key}/trail": "/api/v1/tags/lift/trail",
        "/api/v1/gateways/{format}": "/api/v1/gateways/minewRaw",
        "/api/v1/tags/{key}/receivers": "/api/v1/tags/AA:BB:CC:DD:EE:01/receivers",
        "/api/v1/receivers/{id}/tags": "/api/v1/receivers/east/tags",
        "/api/v1/history/visits":
            "/api/v1/history/visits?from=2026-11-22T09:00:00Z&to=2026-11-22T10:00:00Z&limit=1",
        "/api/v1/history/dwell":
            "/api/v1/history/dwell?from=2026-11-22T09:00:00Z&to=2026-11-22T10:00:00Z&limit=1",
        "/api/v1/history/activity": "/api/v1/history/activity?from=2026-11-22T09:00:00Z&to=2026-11-22T10:00:00Z",
        "/api/v1/survey/gaps": "/api/v1/survey/gaps?map=1",
        "/api/v1/history/positions":
            "/api/v1/history/positions?from=2026-11-22T09:00:00Z&to=2026-11-22T10:00:00Z&limit=1",
    ]
    /// A request with the status 404 for each path that can have it.
    private static let missing = [
        "/{file}": "/none.js", "/api/v1/plan": "/api/v1/plan?venue=7&map=2",
        "/api/v1/tile": "/api/v1/tile?venue=7&map=1&level=8&column=1&row=0",
        "/api/v1/tags/{key}": "/api/v1/tags/none", "/api/v1/tags/{key}/trail": "/api/v1/tags/none/trail",
        "/api/v1/gateways/{format}": "/api/v1/gateways/none",
        "/api/v1/tags/{key}/receivers": "/api/v1/tags/none/receivers",
        "/api/v1/receivers/{id}/tags": "/api/v1/receivers/none/tags",
        "/api/v1/survey/gaps": "/api/v1/survey/gaps?map=9",
    ]

    /// The bodies of each path with the method POST.
    private static let bodies = [
        "/api/v1/gateways/{format}": ["[]"],
        "/api/v1/rooms/training": [
            #"{"action": "start", "tag": "C3:00:00:12:AB:34", "room": "Attic"}"#,
            #"{"action": "start", "tag": "C3:00:00:12:AB:34"}"#,
            #"{"action": "start", "tag": "none", "room": "Attic"}"#,
            #"{"action": "finish", "tag": "C3:00:00:12:AB:34"}"#,
            #"{"action": "cancel", "tag": "C3:00:00:12:AB:34"}"#, "[]",
        ],
        "/api/v1/rooms/correction": [
            #"{"tag": "C3:00:00:12:AB:34", "room": "Hall"}"#, #"{"tag": "C3:00:00:12:AB:34", "room": "Hall"}"#,
            #"{"tag": "C3:00:00:12:AB:34", "room": ""}"#,
            #"{"tag": "", "room": "Hall"}"#,
        ],
        "/api/v1/survey/walks": [
            #"{"action": "start", "tag": "C3:00:00:12:AB:34"}"#, #"{"action": "start", "tag": "none"}"#,
            #"{"action": "undo", "tag": "C3:00:00:12:AB:34"}"#, #"{"action": "start", "tag": "C3:00:00:12:AB:34"}"#,
            "{}",
        ],
        "/api/v1/survey/marks": [
            #"{"tag": "C3:00:00:12:AB:34", "mapId": 1, "x": 2.5, "y": 4, "delay": 0.2, "id": "a-1"}"#,
            #"{"tag": "C3:00:00:12:AB:34", "mapId": 1, "x": 2.5, "y": 4, "delay": 1e300}"#,
            #"{"tag": "C3:00:00:12:AB:34", "mapId": 1, "x": 99, "y": 4}"#,
            #"{"tag": "C3:00:00:12:AB:34", "room": 1, "id": "a-2"}"#, #"{"tag": "C3:00:00:12:AB:34", "room": 9}"#,
            #"{"tag": "C3:00:00:12:AB:34", "room": 1, "x": 2}"#, "{}",
        ],
        "/api/v1/survey/map": [
            #"{"action": "learn"}"#, #"{"action": "adopt"}"#, #"{"action": "takeBack"}"#, "{}",
        ],
        "/api/v1/rooms/removal": [
            #"{"room": "Cellar"}"#, #"{"room": "None"}"#, #"{"room": "Kitchen"}"#, "{}",
        ],
    ]

    private func board() throws -> TagBoard {
        let board = TagBoard(receivers: TagStage.venue.receivers, run: "r")
        board.put(try TagStage.outputs())
        var full = Position(
            instant: TagStage.start, venueID: VenueID(rawValue: 7), mapID: MapID(rawValue: 1),
            point: MapPoint(x: 5, y: 5), radius: 1, covariance: PositionCovariance(xx: 1, xy: 0, yy: 1),
            label: "Hall", rooms: [RoomProbability(id: 1, name: "Hall", probability: 0.9)],
            coordinate: Coordinate(latitude: 52.5, longitude: 13), course: 90, speed: 1, floorCertainty: 1)
        full.instant = TagStage.start
        board.put([try TagStage.output("AA:BB:CC:DD:EE:01", 3, .position(full))])
        board.put([.name("lift"): TagBattery(percent: 55, millivolts: 2_870)])
        board.put(try TagStage.alerts())
        board.put([try TagStage.alert(4, .repeated, of: 3)])
        let fence = Fence(id: 3, name: "Gate", mapID: MapID(rawValue: 1), area: .polygon([]))
        for (number, kind) in [
            LocalizationEvent.Kind.enterRoom(TagStage.venue.rooms[0]), .exitRoom(TagStage.venue.rooms[0]),
            .enterFence(fence), .exitFence(fence),
        ].enumerated() {
            board.put([
                try TagStage.output(
                    "AA:BB:CC:DD:EE:01", UInt64(4 + number),
                    .event(LocalizationEvent(instant: TagStage.start, venueID: VenueID(rawValue: 7), kind: kind)),
                    name: "Cart")
            ])
        }
        board.put([
            ReceiverEvent(receiver: "east", instant: TagStage.start, health: .deaf, text: "no tags of its neighbours")
        ])
        var activity = GatewayActivity()
        activity.latest = ["east": TagStage.start]
        activity.unknownGateways = [.init(name: "wets", latest: TagStage.start, nearest: "west")]
        board.put(activity)
        board.put([try TagStage.output("gone", 1, .present)])
        board.drop([.name("gone")])
        board.put(try TagStage.register())
        return board
    }

    private func document(_ port: UInt16) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(RawClient.get("/api/v1/openapi.json", port: port).body))
    }

    func testTheDocumentHasAllPathsParametersAndFormats() throws {
        let port = try tagServer(try board(), gateways: { _, _, _, _ in .accepted }).address.port
        let document = try document(port)
        XCTAssertEqual(document["openapi"]?.string, "3.1.0")
        let paths = try XCTUnwrap(document["paths"]?.object)
        XCTAssertEqual(
            Set(paths.keys),
            Set(
                TagRoutes.Path.allCases.map(\.rawValue) + SurveyRoutes.Path.allCases.map(\.rawValue) + ["/", "/{file}"])
        )
        for (path, item) in paths {
            let method = Self.bodies[path] == nil ? "get" : "post"
            XCTAssertEqual(item.object.map { Array($0.keys) }, [method], path)
            guard path != "/{file}" else { continue }
            let parameters = (item[method, "parameters"]?.array ?? []).filter { $0["in"]?.string == "query" }
            let names = parameters.compactMap { $0["name"]?.string }
            // The server lists its parameters in the error of an unknown one.
            let target = (Self.requests[path] ?? path).split(separator: "?")[0] + "?no-parameter"
            let reply = try RawClient.request(
                method.uppercased(), String(target), port: port, body: method == "post" ? "[]" : nil)
            let list = names.isEmpty ? "This path has no parameters." : "Known are \(names.joined(separator: ", "))."
            XCTAssertTrue(reply.text.contains(list), "\(path): \(reply.text)")
        }
        let formats = paths["/api/v1/gateways/{format}"]?["post", "parameters"]?.array?.first?["schema", "enum"]
        XCTAssertEqual(formats?.array?.compactMap(\.string), GatewayFormat.allCases.map(\.rawValue))
        let health = document["components", "schemas"]?["Receiver", "properties", "health", "enum"]
        XCTAssertEqual(health?.array?.compactMap(\.string), ReceiverEvent.Health.allCases.map(\.rawValue))
    }

    func testAllResponsesMatchTheDocument() throws {
        let board = try board()
        let trained = try StagedRooms()
        board.put([try TagStage.output("C3:00:00:12:AB:34", 1, trained.room())])
        let readOnly = try StagedRooms(path: "/none/home.json")
        readOnly.train("Attic", seconds: 3)
        let unsaved = try tagServer(board, rooms: readOnly.desk).address.port
        let survey = try StagedSurvey()
        try survey.startWithAMark()
        var limits = SurveyDesk.Limits()
        limits.marks = 1
        let fullSurvey = try StagedSurvey(limits: limits)
        try fullSurvey.startWithAMark()
        let fullWalk = try tagServer(board, survey: fullSurvey.desk).address.port
        let noFolder = try StagedSurvey(folder: "/none/survey")
        let unwritable = try tagServer(board, survey: noFolder.desk).address.port
        let office = try stagedOffice()
        for seed in 1...3 as ClosedRange<UInt64> { try office.survey([(3, 10), (15, 10), (3, 10)], seed: seed) }
        _ = try office.waitForMap()
        try office.ask { try? await office.maps.adopt() }
        XCTAssertTrue(try office.waitForMap().machine.isAdopted)
        let mapped = try tagServer(board, survey: office.desk).address.port
        // The edition can't be kept under this name.
        try FileManager.default.createDirectory(
            atPath: office.packet + "/venue-edition-2.json", withIntermediateDirectories: false)
        let gateways: TagRoutes.GatewayReceiver = { _, _, _, _ in .accepted }
        let metrics: @Sendable () async -> String = { "# EOF\n" }
        let port = try tagServer(
            board, plans: Plans(), metrics: metrics, gateways: gateways, hearings: try StagedHearings(),
            history: try stagedHistory(), hasAlerts: true, rooms: trained.desk,
            survey: survey.desk
        ).address.port
        let locked = try tagServer(board, token: "0123456789abcdef").address.port
        let full = try tagServer(board, connections: 1).address.port
        let bare = try tagServer(board).address.port
        let only = try RawClient.stream(port: full)
        try only.receive { $0.contains("retry") }
        var check = ResponseCheck(
            try document(port),
            events: [
                "tags": "Tags", "event": "Output", "removed": "RemovedTag", "receiver": "Receiver", "alert": "Alert",
            ])
        for (path, item) in try XCTUnwrap(check.validator.document["paths"]?.object) {
            let target = Self.requests[path] ?? path
            let method = Self.bodies[path] == nil ? "GET" : "POST"
            func ask(
                _ target: String, _ port: UInt16, host: String? = nil, _ headers: [String] = [], body: String? = nil,
                type: String = "application/json"
            ) throws {
                let body = method == "POST" ? body ?? Self.bodies[path]?.first : nil
                let reply = try RawClient.request(
                    method, target, port: port, host: host,
                    headers: headers + (body == nil ? [] : ["Content-Type: \(type)"]), body: body)
                check.check(reply, path, item)
                let schema = item["post", "requestBody", "content", "application/json", "schema"]
                if let schema, let body, [200, 409, 500].contains(reply.status) {
                    let json = try JSONDecoder().decode(JSON.self, from: Data(body.utf8))
                    check.validator.validate(json, schema, at: "\(path) request")
                }
                if reply.status == 200, let tag = reply.headers["etag"], headers.isEmpty {
                    try ask(target, port, ["If-None-Match: \(tag)"])
                }
            }
            if path == "/api/v1/stream" {
                let client = try RawClient.stream(port: port, headers: ["Last-Event-ID: r-0"])
                try client.receive { $0.contains("event: removed") && $0.hasSuffix("\n\n") }
                check.check(try client.reply(), path, item)
                check.check(try RawClient.request("HEAD", target, port: port), path, item)
            } else {
                try ask(target, port)
            }
            if path == "/api/v1/survey" { try ask(target, fullWalk) }
            if path == "/api/v1/survey/gaps" {
                try ask(path, port)
                try ask(target, mapped)
            }
            if path == "/api/v1/survey/map" {
                for body in Self.bodies[path]?.reversed() ?? [] { try ask(target, mapped, body: body) }
                XCTAssertTrue(try office.waitForMap().machine.figures?.after != nil)
            }
            if path == "/api/v1/tags" { try ask("/api/v1/tags?limit=1", port) }
            try ask(target.contains("?") ? target + "&x=1" : target + "?x=1", port)
            try ask(target, locked)
            try ask(target, port, host: "example.org")
            try ask(target + "?x=" + String(repeating: "x", count: 3_000), port)
            try ask(target, full)
            if let missing = Self.missing[path] { try ask(missing, port) }
            if ["/metrics", "/api/v1/alerts"].contains(path) || path.hasPrefix("/api/v1/history/")
                || path.hasPrefix("/api/v1/rooms") || path.hasPrefix("/api/v1/survey")
            {
                try ask(target, bare)
            }
            for body in Self.bodies[path]?.dropFirst() ?? [] {
                try ask(target, port, body: body)
                try ask(target, path.hasPrefix("/api/v1/survey") ? unwritable : unsaved, body: body)
            }
            if path.hasPrefix("/api/v1/rooms/") || path.hasPrefix("/api/v1/survey/") {
                try ask(target, port, type: "text/plain")
            }
            if method == "POST" {
                try ask(target, port, body: String(repeating: " ", count: TagRoutes.largestMessage + 1))
            }
        }
        XCTAssertEqual(check.validator.problems, [])
        XCTAssertEqual(check.problems, [])
        XCTAssertEqual(check.documented.subtracting(check.seen), [], "documented, but not observed")
        // The venue of the stage has no circle, fence, beacon or point of interest, which the description of the live
        // map's interface checks.
        let elsewhere = ["Circle.", "InstalledBeacon.", "PointOfInterest.", "Area.circle"]
        let unseen = check.validator.allProperties.subtracting(check.validator.seen).filter { property in
            !elsewhere.contains { property.hasPrefix($0) }
        }
        XCTAssertEqual(unseen, [], "documented, but not observed")
    }
}
