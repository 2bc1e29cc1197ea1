import Foundation
import IndoorVocabulary
import LiveMap
import LocalizationSession
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
    ]
    /// A request with the status 404 for each path that can have it.
    private static let missing = [
        "/{file}": "/none.js", "/api/v1/plan": "/api/v1/plan?venue=7&map=2",
        "/api/v1/tile": "/api/v1/tile?venue=7&map=1&level=8&column=1&row=0",
        "/api/v1/tags/{key}": "/api/v1/tags/none", "/api/v1/tags/{key}/trail": "/api/v1/tags/none/trail",
        "/api/v1/gateways/{format}": "/api/v1/gateways/none",
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
        return board
    }

    private func document(_ port: UInt16) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(RawClient.get("/api/v1/openapi.json", port: port).body))
    }

    func testTheDocumentHasAllPathsParametersAndFormats() throws {
        let port = try tagServer(try board(), gateways: { _, _, _ in .accepted }).address.port
        let document = try document(port)
        XCTAssertEqual(document["openapi"]?.string, "3.1.0")
        let paths = try XCTUnwrap(document["paths"]?.object)
        XCTAssertEqual(Set(paths.keys), Set(TagRoutes.Path.allCases.map(\.rawValue) + ["/", "/{file}"]))
        for (path, item) in paths {
            let method = path.hasPrefix("/api/v1/gateways") ? "post" : "get"
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
        let gateways: TagRoutes.GatewayReceiver = { _, _, _ in .accepted }
        let metrics: @Sendable () async -> String = { "# EOF\n" }
        let port = try tagServer(board, plans: Plans(), metrics: metrics, gateways: gateways).address.port
        let locked = try tagServer(board, token: "0123456789abcdef").address.port
        let full = try tagServer(board, connections: 1).address.port
        let bare = try tagServer(board).address.port
        let only = try RawClient.stream(port: full)
        try only.receive { $0.contains("retry") }
        var check = ResponseCheck(
            try document(port),
            events: ["tags": "Tags", "event": "Output", "removed": "RemovedTag", "receiver": "Receiver"])
        for (path, item) in try XCTUnwrap(check.validator.document["paths"]?.object) {
            let target = Self.requests[path] ?? path
            let method = path.hasPrefix("/api/v1/gateways") ? "POST" : "GET"
            func ask(
                _ target: String, _ port: UInt16, host: String? = nil, _ headers: [String] = [], body: String = "[]"
            ) throws {
                let reply = try RawClient.request(
                    method, target, port: port, host: host, headers: headers, body: method == "POST" ? body : nil)
                check.check(reply, path, item)
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
            if path == "/api/v1/tags" { try ask("/api/v1/tags?limit=1", port) }
            try ask(target.contains("?") ? target + "&x=1" : target + "?x=1", port)
            try ask(target, locked)
            try ask(target, port, host: "example.org")
            try ask(target + "?x=" + String(repeating: "x", count: 3_000), port)
            try ask(target, full)
            if let missing = Self.missing[path] { try ask(missing, port) }
            if path == "/metrics" { try ask(target, bare) }
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
