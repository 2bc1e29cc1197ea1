import Foundation
import IndoorVocabulary
import LiveMap
import LocalizationSession
import LoopbackServers
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// The HTTP interface of a fleet.
final class TagServerTests: XCTestCase {
    private typealias JSON = SchemaValidator.JSON

    private func board() throws -> TagBoard {
        let board = TagBoard(receivers: TagStage.venue.receivers, run: "r")
        board.put(try TagStage.outputs())
        return board
    }

    private func get(_ target: String, _ port: UInt16, status: Int = 200) throws -> JSON {
        let reply = try RawClient.get(target, port: port)
        XCTAssertEqual(reply.status, status, "\(target): \(reply.text)")
        return try JSONDecoder().decode(JSON.self, from: Data(reply.body))
    }

    private func keys(_ list: JSON) -> [String] { (list["tags"]?.array ?? []).compactMap { $0["tag"]?.string } }

    // MARK: Tags

    func testTheListHasAllTagsAndItsFiltersSelect() throws {
        let port = try tagServer(try board()).address.port
        let (cart, beacon, lift) = ("AA:BB:CC:DD:EE:01", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "lift")
        let cases: [(query: String, expected: [String])] = [
            ("", [cart, beacon, lift]), ("?room=hall", [cart]), ("?room=Lab", []), ("?map=2", [beacon]),
            ("?map=1", [cart, lift]), ("?q=cart", [cart]), ("?q=e2c5", [beacon]), ("?present=false", [lift]),
            ("?present=true&map=1", [cart]), ("?q=%2F1%2F2", [beacon]),
        ]
        for (query, expected) in cases {
            let list = try get("/api/v1/tags" + query, port)
            XCTAssertEqual(keys(list), expected, query)
            XCTAssertEqual(list["count"]?.number, Double(expected.count), query)
        }
        XCTAssertEqual(try RawClient.get("/api/v1/tags?present=maybe", port: port).status, 400)
        XCTAssertEqual(try RawClient.get("/api/v1/tags?rom=1", port: port).status, 400)
    }

    func testManyTagsAreSentInPages() throws {
        let board = TagBoard(run: "r")
        board.put(try (0..<2500).map { try TagStage.output("tag \($0)", 1, .present) })
        let port = try tagServer(board).address.port
        var (found, after) = ([String](), "")
        var pages = 0
        while true {
            let encoded = after.replacingOccurrences(of: " ", with: "%20")
            let page = try get("/api/v1/tags?limit=1000" + (after.isEmpty ? "" : "&after=\(encoded)"), port)
            found += keys(page)
            pages += 1
            XCTAssertEqual(page["count"]?.number, 2500)
            guard let next = page["next"]?.string else { break }
            after = next
        }
        XCTAssertEqual(pages, 3)
        XCTAssertEqual(found.count, 2500)
        XCTAssertEqual(Set(found).count, 2500)
        XCTAssertEqual(found, found.sorted())
    }

    func testTheListLacksTheTagsThatAnotherProcessLocatesNow() async throws {
        let board = try board()
        await board.forget { $0 == .name("lift") }
        let port = try tagServer(board).address.port
        XCTAssertEqual(
            keys(try get("/api/v1/tags", port)), ["AA:BB:CC:DD:EE:01", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2"])
    }

    func testATagIsFoundByItsKeyWithPlainAndEncodedSlashes() throws {
        let board = try board()
        board.put([try TagStage.output("a/trail", 1, .present)])
        let port = try tagServer(board).address.port
        for path in ["E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0%2F1%2F2"] {
            let tag = try get("/api/v1/tags/" + path, port)
            XCTAssertEqual(tag["position", "mapId"]?.number, 2, path)
            XCTAssertEqual(try get("/api/v1/tags/\(path)/trail", port)["points"]?.array?.count, 1, path)
        }
        XCTAssertEqual(try get("/api/v1/tags/a/trail", port)["tag"]?.string, "a/trail")
        XCTAssertEqual(try get("/api/v1/tags/a/trail/trail", port)["points"]?.array?.count, 0)
        let cart = try get("/api/v1/tags/AA:BB:CC:DD:EE:01", port)
        XCTAssertEqual(cart["name"]?.string, "Cart")
        XCTAssertEqual(cart["present"], .bool(true))
        XCTAssertEqual(cart["position", "label"]?.string, "Hall")
        let lift = try get("/api/v1/tags/lift", port)
        XCTAssertEqual(lift["present"], .bool(false))
        XCTAssertEqual(lift["since"]?.string, "2026-11-22T09:01:00.000Z")
        XCTAssertEqual(lift["position", "x"]?.number, 3)
        XCTAssertEqual(
            try get("/api/v1/tags/none", port, status: 404)["error"]?.string, "The tag 'none' is unknown.")
    }

    // MARK: Hearings

    func testTheReceiversOfATagAreListedByTheirSignal() throws {
        let port = try tagServer(try board(), hearings: try StagedHearings()).address.port
        let heard = try get("/api/v1/tags/AA:BB:CC:DD:EE:01/receivers", port)
        let receivers = try XCTUnwrap(heard["receivers"]?.array)
        // The gateway spells its name in upper case.
        XCTAssertEqual(receivers.map { $0["id"]?.string }, ["west", "east", "cellar"])
        XCTAssertEqual(receivers.map { $0["known"] }, [.bool(true), .bool(true), .bool(false)])
        XCTAssertEqual(receivers.map { $0["rssi"]?.number }, [-60, -80, -90])
        XCTAssertEqual(receivers[1]["time"]?.string, "2026-11-22T09:00:01.000Z")
        // A tag that is known but was not heard, a tag whose key ends like the path, and a tag that nobody knows.
        XCTAssertEqual(try get("/api/v1/tags/lift/receivers", port)["receivers"]?.array?.count, 0)
        XCTAssertEqual(
            try get("/api/v1/tags/none/receivers", port, status: 404)["error"]?.string, "The tag 'none' is unknown.")
        let bare = try tagServer(try board()).address.port
        XCTAssertEqual(
            try get("/api/v1/tags/lift/receivers", bare, status: 404)["error"]?.string,
            "This process doesn't list which receivers hear a tag.")
    }

    func testTheTagsOfAReceiverAreListedByTheirSignal() throws {
        let port = try tagServer(try board(), hearings: try StagedHearings()).address.port
        let heard = try get("/api/v1/receivers/east/tags", port)
        XCTAssertEqual(heard["id"]?.string, "east")
        XCTAssertEqual(keys(heard), ["keys", "AA:BB:CC:DD:EE:01"])
        XCTAssertEqual(heard["tags"]?.array?.map { $0["name"]?.string }, [nil, "Cart"])
        XCTAssertEqual(heard["count"]?.number, 2)
        XCTAssertEqual(keys(try get("/api/v1/receivers/cellar/tags", port)), ["AA:BB:CC:DD:EE:01"])
        XCTAssertEqual(try RawClient.get("/api/v1/receivers/attic/tags", port: port).status, 404)
    }

    func testTheRegisterTellsLocatedTagsFromHeardOnesAndFromOthers() throws {
        let board = try board()
        let port = try tagServer(board, hearings: try StagedHearings()).address.port
        XCTAssertEqual(try get("/api/v1/register", port)["count"]?.number, 0)
        XCTAssertNil(try get("/api/v1/tags/lift", port)["registered"])
        let before = try get("/api/v1/tags", port)["change"]?.string
        board.put(try TagStage.register())
        XCTAssertNotEqual(try get("/api/v1/tags", port)["change"]?.string, before, "readers get all tags again")
        XCTAssertEqual(try get("/api/v1/tags/lift", port)["registered"], .bool(true))
        XCTAssertEqual(try get("/api/v1/tags/AA:BB:CC:DD:EE:01", port)["registered"], .bool(false))
        let all = try get("/api/v1/register", port)
        XCTAssertEqual(keys(all), ["keys", "lift", "rope"])
        XCTAssertEqual(all["tags"]?.array?.map { $0["located"] }, [.bool(false), .bool(true), .bool(false)])
        let rest = try XCTUnwrap(get("/api/v1/register?located=false", port)["tags"]?.array)
        XCTAssertEqual(rest.map { $0["tag"]?.string }, ["keys", "rope"])
        XCTAssertEqual(rest.map { $0["lastReading"]?.string }, ["2026-11-22T09:00:03.000Z", nil])
        XCTAssertEqual(rest.map { $0["name"]?.string }, ["Keys", nil])
        XCTAssertEqual(keys(try get("/api/v1/register?located=true", port)), ["lift"])
        XCTAssertEqual(try RawClient.get("/api/v1/register?located=maybe", port: port).status, 400)
    }

    func testTheHistoryTellsWhoWasInARoomAndForHowLong() throws {
        let history = try stagedHistory()
        let port = try tagServer(try board(), history: history).address.port
        let span = "from=2026-11-22T09:00:10Z&to=2026-11-22T09:00:15Z"
        let visits = try XCTUnwrap(get("/api/v1/history/visits?room=hall&\(span)", port)["visits"]?.array)
        XCTAssertEqual(visits.map { $0["name"]?.string }, ["Cart"])
        XCTAssertEqual(visits.first?["start"]?.string, "2026-11-22T09:00:00.000Z")
        XCTAssertEqual(visits.first?["end"]?.string, "2026-11-22T09:00:20.000Z")
        // The history is older than a minute.
        XCTAssertEqual(visits.first?["open"], .bool(false))
        let dwell = try XCTUnwrap(get("/api/v1/history/dwell?\(span)", port)["rooms"]?.array)
        XCTAssertEqual(dwell.map { $0["seconds"]?.number }, [5])
        XCTAssertEqual(try get("/api/v1/history/visits?room=lab&\(span)", port)["visits"]?.array?.count, 0)
        XCTAssertEqual(try RawClient.get("/api/v1/history/visits?from=noon", port: port).status, 400)
        let bare = try tagServer(try board()).address.port
        XCTAssertEqual(try RawClient.get("/api/v1/history/visits", port: bare).status, 404)
    }

    func testVisitsAndTimesInRoomsAreReadInPages() throws {
        let history = try stagedHistory(walks: 3)
        let port = try tagServer(try board(), history: history).address.port
        let span = "from=2026-11-22T09:00:00Z&to=2026-11-22T09:10:00Z"
        for (path, list) in [("visits", "visits"), ("dwell", "rooms")] {
            for limit in [1, 2, 3] {
                var (tags, next): ([String?], String?) = ([], nil)
                repeat {
                    let after =
                        next.map { "&after=" + $0.replacing("/", with: "%2F").replacing(" ", with: "%20") } ?? ""
                    let page = try get("/api/v1/history/\(path)?limit=\(limit)&\(span)\(after)", port)
                    tags += try XCTUnwrap(page[list]?.array).map { $0["tag"]?.string }
                    next = page["next"]?.string
                } while next != nil && tags.count < 10
                XCTAssertEqual(tags, ["AA:BB:CC:DD:EE:01", "walker 0", "walker 1", "walker 2"], "\(path) by \(limit)")
            }
            for after in ["x", "1%2Fx%2Fy", "x%2F1%2Fy"] {
                let target = "/api/v1/history/\(path)?after=\(path == "dwell" ? "x%2F" : "")\(after)"
                XCTAssertEqual(try RawClient.get(target, port: port).status, 400, target)
            }
        }
    }

    func testStoredPositionsAreReadInPagesThinnedCountedAndExported() throws {
        let history = try stagedHistory(walks: 3)
        let port = try tagServer(try board(), history: history).address.port
        let span = "from=2026-11-22T09:00:00Z&to=2026-11-22T09:10:00Z"
        var (times, next): ([String], String?) = ([], nil)
        repeat {
            let after = next.map { "&after=" + $0.replacing("/", with: "%2F").replacing(" ", with: "%20") } ?? ""
            let page = try get("/api/v1/history/positions?tag=walker%201&limit=4&\(span)\(after)", port)
            times += try XCTUnwrap(page["positions"]?.array).compactMap { $0["time"]?.string }
            next = page["next"]?.string
        } while next != nil
        XCTAssertEqual(times.count, 11)
        XCTAssertEqual(times, Set(times).sorted())
        let thinned = try XCTUnwrap(
            get("/api/v1/history/positions?tag=walker%201&step=30&\(span)", port)["positions"]?.array)
        // The last one of each half minute.
        XCTAssertEqual(
            thinned.map { $0["time"]?.string?.dropFirst(14).prefix(5) }, ["00:25", "00:50"])
        let activity = try get("/api/v1/history/activity?parts=10&\(span)", port)
        XCTAssertEqual(activity["positions"]?.number, 34)
        XCTAssertEqual(activity["tags"]?.array?.map { $0.number ?? -1 }, [4, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        XCTAssertEqual(activity["first"]?.string, "2026-11-22T09:00:00.000Z")
        XCTAssertEqual(activity["last"]?.string, "2026-11-22T09:00:50.000Z")
        let table = try RawClient.get("/api/v1/history/positions.csv?room=hall&\(span)", port: port)
        XCTAssertEqual(table.headers["content-disposition"], #"attachment; filename="history.csv""#)
        XCTAssertEqual(table.text.split(separator: "\n").count, 1 + 34)
        XCTAssertTrue(
            table.text.contains("\n2026-11-22T09:00:20.000Z,AA:BB:CC:DD:EE:01,Cart,1,5.000,5.000,1.500,Hall,,\n"),
            table.text)
        let collection = try get("/api/v1/history/positions.geojson?tag=walker%202&\(span)", port)
        XCTAssertEqual(collection["type"]?.string, "FeatureCollection")
        XCTAssertEqual(collection["features"]?.array?.count, 11)
        for query in ["positions?after=x", "positions?step=0", "activity?parts=0", "positions?limit=10001"] {
            XCTAssertEqual(try RawClient.get("/api/v1/history/\(query)", port: port).status, 400, query)
        }
        XCTAssertEqual(
            try get("/api/v1/history/positions?tag=nobody&\(span)", port)["positions"]?.array?.count, 0)
    }

    func testAlertsThatLastAndTheLatestEventsAreListed() throws {
        let board = try board()
        board.put(try TagStage.alerts())
        XCTAssertEqual(try RawClient.get("/api/v1/alerts", port: tagServer(board).address.port).status, 404)
        let port = try tagServer(board, hasAlerts: true).address.port
        func ids(_ list: JSON, _ member: String) -> [String] {
            (list[member]?.array ?? []).compactMap { $0["id"]?.string }
        }
        let before = try get("/api/v1/alerts", port)
        XCTAssertEqual(before["rules"]?.array?.compactMap { $0["area"]?.string }, ["Hall"])
        XCTAssertEqual(ids(before, "active"), ["1-3"])
        XCTAssertEqual(ids(before, "latest"), ["1-3", "1-2", "1-1"])
        let client = try RawClient.stream("/api/v1/stream?after=r-5", port: port)
        board.put([try TagStage.alert(4, .cleared, of: 3), try TagStage.alert(5, .raised)])
        board.put([try TagStage.alert(6, .repeated, of: 5)])
        try client.receive { $0.contains(#"{"type":"alert","id":"1-6""#) }
        let after = try get("/api/v1/alerts", port)
        XCTAssertEqual(ids(after, "active"), ["1-5"])
        XCTAssertEqual(ids(after, "latest"), ["1-6", "1-5", "1-4", "1-3", "1-2", "1-1"])
    }

    func testOfManyAlertsTheNewestAreListedOnceAndAllAreCounted() throws {
        let board = try board()
        var status = try TagStage.alerts()
        status.active = try (1...1_002).map { try TagStage.alert($0, .raised) }
        board.put(status)
        let port = try tagServer(board, hasAlerts: true).address.port
        // The status after a change of the rules can have an alert before its event.
        board.put([try TagStage.alert(1_002, .raised)])
        let alerts = try get("/api/v1/alerts", port)
        XCTAssertEqual(alerts["activeCount"]?.number, 1_002)
        let ids = (alerts["active"]?.array ?? []).compactMap { $0["id"]?.string }
        XCTAssertEqual(ids, (3...1_002).map { "1-\($0)" })
    }

    func testATagHasTheBatteryThatItTells() throws {
        let board = try board()
        let port = try tagServer(board).address.port
        XCTAssertNil(try get("/api/v1/tags/lift", port)["battery"])
        board.put([.name("lift"): TagBattery(percent: 55), .name("unknown"): TagBattery(percent: 1)])
        XCTAssertEqual(try get("/api/v1/tags/lift", port)["battery", "percent"]?.number, 55)
        board.put([.name("lift"): TagBattery(percent: 54, millivolts: 2_870)])
        XCTAssertEqual(try get("/api/v1/tags/lift", port)["battery", "volts"]?.number, 2.87)
    }

    func testATrailHasThePointsOfTheLastMinutes() throws {
        let board = TagBoard(run: "r")
        for second in 0...300 {
            board.put([
                try TagStage.output(
                    "a", UInt64(second + 1), TagStage.position(Double(second)), at: Double(second))
            ])
        }
        let port = try tagServer(board).address.port
        let trail = try XCTUnwrap(try get("/api/v1/tags/a/trail?minutes=2", port)["points"]?.array)
        XCTAssertEqual(trail.count, 121)
        XCTAssertEqual(trail.first?["x"]?.number, 180)
        XCTAssertEqual(trail.last?["time"]?.string, "2026-11-22T09:05:00.000Z")
        XCTAssertEqual(try get("/api/v1/tags/a/trail", port)["points"]?.array?.count, 301)
        XCTAssertEqual(try RawClient.get("/api/v1/tags/a/trail?minutes=11", port: port).status, 400)
    }

    func testTheGeoJSONHasTagsWithCoordinatesOnly() throws {
        let port = try tagServer(try board()).address.port
        let reply = try RawClient.get("/api/v1/tags.geojson", port: port)
        XCTAssertEqual(reply.headers["content-type"], "application/geo+json")
        let json = try JSONDecoder().decode(JSON.self, from: Data(reply.body))
        XCTAssertEqual(json["type"]?.string, "FeatureCollection")
        XCTAssertEqual(json["features"]?.array?.count, 1)
        XCTAssertEqual(
            json["features"]?.array?.first?["geometry", "coordinates"], .array([.number(13), .number(52.5)]))
        XCTAssertEqual(json["omitted"]?.number, 2)
        let away = try get("/api/v1/tags.geojson?present=false", port)
        XCTAssertEqual(away["omitted"]?.number, 1)
    }

    func testReceiversHaveTheirHealth() throws {
        let board = try board()
        board.put([
            ReceiverEvent(receiver: "east", instant: TagStage.start, health: .silent, text: "no message for 60 s"),
            ReceiverEvent(receiver: "unknown", instant: TagStage.start, health: .silent, text: "no message for 60 s"),
        ])
        let port = try tagServer(board).address.port
        let list = try XCTUnwrap(try get("/api/v1/receivers", port)["receivers"]?.array)
        XCTAssertEqual(list.compactMap { $0["id"]?.string }, ["east", "west"])
        XCTAssertEqual(list[0]["health"]?.string, "silent")
        XCTAssertEqual(list[0]["text"]?.string, "no message for 60 s")
        XCTAssertNil(list[1]["health"])
    }

    func testReceiversHaveTheirLatestMessageAndUnknownGatewaysASimilarName() throws {
        let board = try board()
        let port = try tagServer(board).address.port
        let before = try get("/api/v1/receivers", port)
        XCTAssertNil(before["unknown"], "the server doesn't know what gateways have sent")
        var activity = GatewayActivity()
        activity.latest = ["east": TagStage.start]
        activity.unknownGateways = [
            .init(name: "other", latest: TagStage.start), .init(name: "wets", latest: TagStage.start, nearest: "west"),
        ]
        board.put(activity)
        let after = try get("/api/v1/receivers", port)
        let list = try XCTUnwrap(after["receivers"]?.array)
        XCTAssertEqual(list.map { $0["lastMessage"]?.string }, ["2026-11-22T09:00:00.000Z", nil])
        let unknown = try XCTUnwrap(after["unknown"]?.array)
        XCTAssertEqual(
            unknown.map { $0["text"]?.string },
            [#"unknown gateway "other""#, #"unknown gateway "wets": is it "west"?"#])
        XCTAssertEqual(unknown.map { $0["nearest"]?.string }, [nil, "west"])
    }

    // MARK: Access and gateways

    func testATokenIsRequiredAndGivenOnceAtTheRoot() throws {
        let token = "0123456789abcdef"
        let port = try tagServer(try board(), token: token).address.port
        for path in ["/", "/tags.html", "/api/v1/tags", "/metrics"] {
            XCTAssertEqual(try RawClient.get(path, port: port).status, 401, path)
        }
        XCTAssertEqual(try RawClient.request("POST", "/api/v1/gateways/minewRaw", port: port, body: "[]").status, 401)
        let page = try RawClient.get("/?token=\(token)", port: port)
        XCTAssertEqual(page.status, 200)
        let cookie = try XCTUnwrap(page.headers["set-cookie"]?.split(separator: ";").first)
        XCTAssertEqual(try RawClient.get("/api/v1/tags", port: port, headers: ["Cookie: \(cookie)"]).status, 200)
        XCTAssertEqual(
            try RawClient.get("/api/v1/tags", port: port, headers: ["Authorization: Bearer \(token)"]).status, 200)
    }

    func testAGatewaysMessageReachesTheReceiverWithItsFormatAndPath() throws {
        let messages = Guarded<[String]>([])
        let port = try tagServer(
            try board(),
            gateways: { format, path, body, client in
                messages.withLock { $0.append("\(format.rawValue) \(path) \(body.count) \(client ?? "unknown")") }
                if body.isEmpty { return .invalid("the message is empty") }
                return body.count == 1 ? .busy : .accepted
            }
        ).address.port
        func post(_ path: String, _ body: String, _ headers: [String] = []) throws -> RawClient.Reply {
            try RawClient.request("POST", "/api/v1/gateways/" + path, port: port, headers: headers, body: body)
        }
        XCTAssertEqual(try post("ruuviHTTP", "{}").status, 204)
        XCTAssertEqual(try post("minewRaw/hall/gateway%201", "[1]").status, 204)
        let empty = try post("minewRaw", "")
        XCTAssertEqual(empty.status, 400)
        XCTAssertEqual(empty.text, #"{"error":"the message is empty"}"#)
        let busy = try post("minewRaw", "1")
        XCTAssertEqual(busy.status, 503)
        XCTAssertEqual(busy.headers["retry-after"], "1")
        XCTAssertEqual(try post("smoke-signals", "{}").status, 404)
        XCTAssertEqual(try post("minewRaw", "[1]", ["Origin: http://evil.example"]).status, 403)
        XCTAssertEqual(try RawClient.get("/api/v1/gateways/minewRaw", port: port).status, 405)
        let largest = String(repeating: " ", count: TagRoutes.largestMessage)
        XCTAssertEqual(try post("minewRaw", largest).status, 204)
        XCTAssertEqual(try post("minewRaw", largest + " ").status, 413)
        XCTAssertEqual(
            messages.withLock { $0 },
            ["ruuviHTTP  2", "minewRaw hall/gateway 1 3", "minewRaw  0", "minewRaw  1", "minewRaw  1000000"]
                .map { $0 + " 127.0.0.1" })
    }

    // MARK: Stream

    /// The events of a stream whose name and data are complete.
    private func events(_ text: String) -> [(id: String?, name: String, data: String)] {
        text.components(separatedBy: "\n\n").dropLast().compactMap { event in
            var fields: [Substring: Substring] = [:]
            for line in event.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { fields[parts[0]] = parts[1].dropFirst() }
            }
            guard let name = fields["event"] else { return nil }
            return (fields["id"].map(String.init), String(name), String(fields["data"] ?? ""))
        }
    }

    func testAStreamBeginsWithAllTagsAndContinuesAfterTheLastID() throws {
        let board = try board()
        let port = try tagServer(board).address.port
        let first = try RawClient.stream(port: port)
        try first.receive { $0.contains("id: r-5\n") && $0.hasSuffix("\n\n") }
        let all = events(first.text)
        XCTAssertEqual(all.map(\.name), ["tags"])
        XCTAssertEqual(
            Set(keys(try JSONDecoder().decode(JSON.self, from: Data(all[0].data.utf8)))),
            ["AA:BB:CC:DD:EE:01", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "lift"])
        let room = Room(id: 1, name: "Hall", mapID: MapID(rawValue: 1))
        board.put([
            try TagStage.output(
                "lift", 3,
                .event(
                    LocalizationEvent(
                        instant: TagStage.start, venueID: VenueID(rawValue: 7), kind: .enterRoom(room))))
        ])
        board.drop([.name("lift")])
        board.put([
            ReceiverEvent(receiver: "west", instant: TagStage.start, health: .healthy, text: "12 tags")
        ])
        for headers in [["Last-Event-ID: r-5"], []] {
            let query = headers.isEmpty ? "?after=r-5" : ""
            let second = try RawClient.stream("/api/v1/stream" + query, port: port, headers: headers)
            try second.receive { $0.contains("id: r-8\n") && $0.hasSuffix("\n\n") }
            XCTAssertEqual(events(second.text).map(\.name), ["event", "removed", "receiver"], query)
            XCTAssertEqual(events(second.text).map(\.id), [nil, nil, "r-8"], query)
        }
        let other = try RawClient.stream(port: port, headers: ["Last-Event-ID: old-5"])
        try other.receive { $0.contains("id: r-8\n") && $0.hasSuffix("\n\n") }
        let states = try XCTUnwrap(events(other.text).first { $0.name == "tags" })
        XCTAssertEqual(
            keys(try JSONDecoder().decode(JSON.self, from: Data(states.data.utf8))).count, 2,
            "an id of another run gives all states")
    }

    func testAReaderThatHasMissedDiscardedNoticesBeginsAnew() throws {
        let board = try board()
        let port = try tagServer(board).address.port
        let target = "/api/v1/stream?tags=AA:BB:CC:DD:EE:01,lift"
        func states(_ client: RawClient) throws -> [[String]] {
            try events(client.text).map {
                XCTAssertEqual($0.name, "tags")
                return keys(try JSONDecoder().decode(JSON.self, from: Data($0.data.utf8))).sorted()
            }
        }
        let all = ["AA:BB:CC:DD:EE:01", "lift"]
        let connected = try RawClient.stream(target, port: port)
        try connected.receive { $0.contains("id: r-5\n") && $0.hasSuffix("\n\n") }
        // One call, so that the connected reader, too, sees none of the notices before the first one is discarded.
        let event = ReceiverEvent(receiver: "west", instant: TagStage.start, health: .healthy, text: "12 tags")
        board.put(Array(repeating: event, count: 10_001))
        try connected.receive { $0.contains("id: r.10006-10006\n") && $0.hasSuffix("\n\n") }
        XCTAssertEqual(try states(connected), [all, all])
        let late = try RawClient.stream(target, port: port, headers: ["Last-Event-ID: r-5"])
        try late.receive { $0.contains("id: r.10006-10006\n") && $0.hasSuffix("\n\n") }
        XCTAssertEqual(try states(late), [all])
        board.put([try TagStage.output("lift", 3, TagStage.position(9))])
        board.put([event])
        // A reader that has the discarded notices, or began anew after them, continues, also within its first states.
        let continued = [
            ("r-7", "r-10008"), ("r.10006-10006", "r.10006-10008"), ("r.10006-5", "r.10006-10008"),
        ]
        for (last, next) in continued {
            let reader = try RawClient.stream(target, port: port, headers: ["Last-Event-ID: \(last)"])
            try reader.receive { $0.contains("id: \(next)\n") && $0.hasSuffix("\n\n") }
            XCTAssertEqual(try states(reader), [["lift"]], last)
        }
    }

    func testAStreamOfSomeTagsHasNoOthers() throws {
        let board = try board()
        let port = try tagServer(board).address.port
        let client = try RawClient.stream("/api/v1/stream?tags=lift,none", port: port)
        try client.receive { $0.contains("\"lift\"") }
        board.put([
            try TagStage.output("AA:BB:CC:DD:EE:01", 3, TagStage.position(6)),
            try TagStage.output("lift", 3, TagStage.position(9)),
        ])
        try client.receive { $0.contains(#""x":9.000"#) }
        XCTAssertFalse(client.text.contains("AA:BB"))
    }

    func testASlowReaderGetsFewerStatesAndTheLatestOne() throws {
        let board = TagBoard(run: "r")
        let port = try tagServer(board, waitingBytes: 100_000).address.port
        let client = try RawClient.stream(port: port, receiveBuffer: 4_096)
        try client.receive { $0.contains("retry") }
        let tags = 200
        let rounds = 300
        for round in 1...rounds {
            board.put(
                try (0..<tags).map { tag in
                    try TagStage.output("tag \(tag)", UInt64(round), TagStage.position(Double(round)))
                })
        }
        try client.receive { $0.contains("id: r-\(tags * rounds)\n") && $0.hasSuffix("\n\n") }
        var latest: [String: Double] = [:]
        var states = 0
        for event in events(client.text) where event.name == "tags" {
            let json = try JSONDecoder().decode(JSON.self, from: Data(event.data.utf8))
            for tag in json["tags"]?.array ?? [] {
                let (key, x) = (try XCTUnwrap(tag["tag"]?.string), try XCTUnwrap(tag["position", "x"]?.number))
                XCTAssertGreaterThan(x, latest[key] ?? 0, key)
                latest[key] = x
                states += 1
            }
        }
        XCTAssertEqual(latest.count, tags)
        XCTAssertEqual(Set(latest.values), [Double(rounds)])
        XCTAssertLessThan(states, tags * rounds / 2)
    }
}

/// The HTTP interface of the command `track`.
final class TrackPageTests: XCTestCase {
    func testThePostedMessagesOfGatewaysGiveAPositionInTheInterfaceOfTrack() throws {
        let port = try TestPort.free()
        // No broker listens at its port, which doesn't concern messages over HTTP.
        let tool = try ToolProcess([
            "track", "--broker", "mqtt://127.0.0.1:\(try TestPort.free())", "--venue", "Fixtures/tags/office", "--http",
            "127.0.0.1:\(port)",
        ])
        defer { tool.kill() }
        try RawClient.wait(for: "the server of track") {
            (try? RawClient.get("/api/v1/health", port: port))?.status == 200
        }
        try RawClient.wait(for: "the position of the tag") {
            for (receiver, rssi) in [("ground-01", -60), ("ground-02", -70), ("ground-03", -65)] {
                let time = Int(Date().timeIntervalSince1970 * 1000)
                let message = """
                    {"transmitterId":"fee150bada55","transmitterIdType":2,"timestamp":\(time),"rssiSignature":
                    [{"receiverId":"\(receiver)","receiverIdType":2,"rssi":\(rssi),"numberOfDecodings":1}]}
                    """
                let reply = try RawClient.request("POST", "/api/v1/gateways/raddec", port: port, body: message)
                XCTAssertEqual(reply.status, 204, reply.text)
            }
            return try RawClient.get("/api/v1/tags/FE:E1:50:BA:DA:55", port: port).text.contains(#""mapId":1,"#)
        }
        XCTAssertEqual(try RawClient.request("POST", "/api/v1/gateways/raddec", port: port, body: "x").status, 400)
        let metrics = try RawClient.get("/metrics", port: port).text
        XCTAssertTrue(metrics.contains("indoorloc_fleet_positions_total"), metrics)
        XCTAssertTrue(metrics.contains("indoorloc_intake_messages_total"), metrics)
        XCTAssertTrue(metrics.hasSuffix("# EOF\n"), metrics)
        XCTAssertEqual(try RawClient.get("/", port: port).status, 200)
        // Gateways of tags that aren't located count, and a misspelt name is answered with a question.
        try RawClient.wait(for: "the misspelt gateway") {
            let message = #"{"trackingId":"someone","sourceId":"ground-O4","rssi":-60}"#
            XCTAssertEqual(
                try RawClient.request("POST", "/api/v1/gateways/kontakt", port: port, body: message).status, 204)
            let text = try RawClient.get("/api/v1/receivers", port: port).text
            return text.contains(#""text":"unknown gateway \"ground-O4\": is it \"ground-0"#)
                && text.contains(#""id":"ground-01""#) && text.contains("lastMessage")
        }
    }
}
