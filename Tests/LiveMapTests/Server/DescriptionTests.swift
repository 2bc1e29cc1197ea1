import Foundation
import LiveMap
import LiveSurvey
import XCTest

/// The document that describes the server's interface, compared with the server's responses in both directions.
final class DescriptionTests: XCTestCase {
    private typealias JSON = SchemaValidator.JSON

    private let content = StagedContent(frames: 3)
    private static let token = "0123456789abcdef"

    private func server(
        token: String? = nil, connections: Int = 256, survey: StagedDevice? = nil
    ) throws -> UInt16 {
        var limits = LiveMapServer.Limits()
        limits.connections = connections
        let metrics: @Sendable () async -> String = { "# EOF\n" }
        let history: LiveMapRoutes.BeaconHistory = { $0 == 7 ? StagedHistory.text : nil }
        let routes: any HTTPRoutes =
            if let survey {
                SurveyedMapRoutes(content: content, desk: survey.desk, metrics: metrics, beaconHistory: history)
            } else {
                LiveMapRoutes(content: content, metrics: metrics, beaconHistory: history)
            }
        let server = try LiveMapServer(
            routes: routes, listener: try LiveMapListener(try LiveMapAddress("127.0.0.1:0"), token: token),
            limits: limits)
        addTeardownBlock { server.stop() }
        return server.address.port
    }

    private func document(_ port: UInt16) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(RawClient.get("/api/v1/openapi.json", port: port).body))
    }

    /// The valid request of each path.
    private static let requests = [
        "/": "/", "/{file}": "/index.html", "/api/v1/plan": "/api/v1/plan?venue=7&map=1",
        "/api/v1/tile": "/api/v1/tile?venue=7&map=1&level=8&column=1&row=0",
        "/api/v1/frames": "/api/v1/frames?from=0&to=9&limit=2",
        "/api/v1/survey/gaps": "/api/v1/survey/gaps?map=1",
        "/api/v1/beacons/history": "/api/v1/beacons/history?venue=7",
    ]

    /// The valid body of each path that accepts one.
    private static let bodies = [
        "/api/v1/marks": #"{"mapId": 1, "x": 1, "y": 2}"#, "/api/v1/survey/walks": #"{"action": "start"}"#,
        "/api/v1/survey/marks": #"{"mapId": 1, "x": 2.5, "y": 4, "delay": 0.2, "id": "a-1"}"#,
        "/api/v1/survey/map": #"{"action": "learn"}"#,
    ]

    func testTheDocumentHasAllPathsAndParametersOfTheServer() throws {
        let port = try server(survey: try stagedDevice())
        let document = try document(port)
        XCTAssertEqual(document["openapi"]?.string, "3.1.0")
        let paths = try XCTUnwrap(document["paths"]?.object)
        XCTAssertEqual(
            Set(paths.keys),
            Set(
                LiveMapRoutes.Path.allCases.map(\.rawValue) + SurveyRoutes.Path.allCases.map(\.rawValue) + [
                    "/", "/{file}",
                ]))
        for (path, item) in paths {
            let method = Self.bodies[path] == nil ? "get" : "post"
            XCTAssertEqual(item.object.map { Array($0.keys) }, [method], path)
            guard path != "/{file}" else { continue }
            let parameters = item[method, "parameters"]?.array ?? []
            let names = parameters.filter { $0["in"]?.string == "query" }.compactMap { $0["name"]?.string }
            // The server lists its parameters in the error of an unknown one.
            let reply = try RawClient.request(
                method.uppercased(), path + "?no-parameter", port: port, headers: ["Content-Type: application/json"])
            let list = names.isEmpty ? "This path has no parameters." : "Known are \(names.joined(separator: ", "))."
            XCTAssertTrue(reply.text.contains(list), "\(path): \(reply.text)")
            for parameter in parameters where parameter["in"]?.string == "query" {
                try checkRange(parameter, of: path, port)
            }
        }
    }

    func testTheDocumentHasAllCasesOfEnumerations() throws {
        let schemas = try document(try server())["components", "schemas"]
        let kinds = schemas?["Event", "properties", "kind", "enum"]?.array?.compactMap(\.string)
        XCTAssertEqual(kinds, LiveMapEvent.Kind.allCases.map(\.rawValue))
        let modes = schemas?["Mode", "enum"]?.array?.compactMap(\.string)
        XCTAssertEqual(modes, LiveMapOverview.Mode.allCases.map(\.rawValue))
    }

    /// Checks that the server refuses a missing parameter and values beyond the documented range.
    private func checkRange(_ parameter: JSON, of path: String, _ port: UInt16) throws {
        let name = try XCTUnwrap(parameter["name"]?.string)
        var parts = (Self.requests[path] ?? path).split(separator: "?")[...]
        let base = parts.removeFirst()
        let others = (parts.first ?? "").split(separator: "&").filter { !$0.hasPrefix(name + "=") }
        func status(_ value: String?) throws -> Int {
            let query = (others.map(String.init) + (value.map { ["\(name)=\($0)"] } ?? [])).joined(separator: "&")
            return try RawClient.get(base + (query.isEmpty ? "" : "?" + query), port: port).status
        }
        let isRequired = parameter["required"] == .bool(true)
        XCTAssertEqual(try status(nil), isRequired ? 400 : 200, "\(path) \(name)")
        for (bound, step) in [("minimum", -1.0), ("maximum", 1)] {
            guard let limit = parameter["schema", bound]?.number else { continue }
            XCTAssertNotEqual(try status("\(Int(limit))"), 400, "\(path) \(name)")
            XCTAssertEqual(try status("\(Int(limit + step))"), 400, "\(path) \(name)")
        }
        if parameter["schema", "type"]?.string != "string" { XCTAssertEqual(try status("x"), 400, "\(path) \(name)") }
    }

    func testAllResponsesMatchTheDocument() throws {
        let stage = try stagedDevice()
        for seed in 1...3 as ClosedRange<UInt64> { try stage.survey([(3, 10), (13, 10), (3, 10)], seed: seed) }
        XCTAssertEqual(try stage.waitForMap().machine.figures?.walks, 3)
        let port = try server(survey: stage)
        let locked = try server(token: Self.token, survey: stage)
        let full = try server(connections: 1, survey: stage)
        let only = try RawClient.stream(port: full)
        try only.receive { $0.contains("retry") }
        content.emit(.event(StagedContent.event(4)))
        content.emit(.frame(StagedContent.bareFrame(11)))
        var check = ResponseCheck(try document(port), events: ["frame": "Frame", "event": "Event"])
        for (path, item) in try XCTUnwrap(check.validator.document["paths"]?.object) {
            let target = Self.requests[path] ?? path
            let mark = Self.bodies[path]
            let method = mark == nil ? "GET" : "POST"
            func ask(
                _ target: String, _ port: UInt16, host: String? = nil, _ headers: [String] = [], body: String? = nil
            ) throws {
                let headers = headers + (mark == nil || headers.contains { $0.hasPrefix("Content-Type") } ? [] : json)
                let reply = try RawClient.request(
                    method, target, port: port, host: host, headers: headers, body: body ?? mark)
                check.check(reply, path, item)
            }
            let json = ["Content-Type: application/json"]
            if path == "/api/v1/stream" {
                check.check(try streamed(port), path, item)
                check.check(try RawClient.request("HEAD", target, port: port), path, item)
            } else {
                let first = try RawClient.request(
                    method, target, port: port, headers: mark == nil ? [] : json, body: mark)
                check.check(first, path, item)
                if let tag = first.headers["etag"] { try ask(target, port, ["If-None-Match: \(tag)"]) }
            }
            try ask(target.contains("?") ? target + "&x=1" : target + "?x=1", port)
            try ask(target, locked)
            try ask(target, port, host: "example.org")
            try ask(target + "?x=" + String(repeating: "x", count: 3_000), port)
            try ask(target, full)
            if mark != nil {
                try ask(target, port, body: String(repeating: " ", count: 9_000))
                try ask(target, port, ["Content-Type: text/plain"])
            }
            switch path {
            case "/{file}": try ask("/none.js", port)
            case "/api/v1/plan": try ask("/api/v1/plan?venue=7&map=9", port)
            case "/api/v1/tile": try ask("/api/v1/tile?venue=7&map=1&level=1&column=1&row=0", port)
            case "/api/v1/frames": try ask("/api/v1/frames", port)
            case "/api/v1/beacons/history": try ask("/api/v1/beacons/history?venue=8", port)
            case "/api/v1/marks":
                content.refuse("The session has no recording.")
                try ask(target, port)
            default: break
            }
        }
        try checkFailures(&check)
        try checkSurvey(stage, port, &check)
        XCTAssertEqual(check.validator.problems, [])
        XCTAssertEqual(check.problems, [])
        XCTAssertEqual(check.documented.subtracting(check.seen), [], "documented, but not observed")
        XCTAssertEqual(
            check.validator.allProperties.subtracting(check.validator.seen), [], "documented, but not observed")
    }

    /// Checks the responses without content, and those with content that JSON can't represent.
    private func checkFailures(_ check: inout ResponseCheck) throws {
        let empty = try LiveMapServer(content: content, address: try LiveMapAddress("127.0.0.1:0"))
        addTeardownBlock { empty.stop() }
        content.breakNumbers()
        for path in ["/api/v1/venue", "/api/v1/frames", "/api/v1/events", "/api/v1/radio-map", "/metrics"] {
            let item = try XCTUnwrap(check.validator.document["paths", path])
            check.check(try RawClient.get(path, port: empty.address.port), path, item)
        }
        content.removeRadioMap()
        let item = try XCTUnwrap(check.validator.document["paths", "/api/v1/radio-map"])
        check.check(try RawClient.get("/api/v1/radio-map", port: empty.address.port), "/api/v1/radio-map", item)
    }

    /// Checks what depends on the state of a survey.
    private func checkSurvey(_ stage: StagedDevice, _ port: UInt16, _ check: inout ResponseCheck) throws {
        func ask(_ name: String, _ port: UInt16, _ body: String? = nil) throws {
            let path = "/api/v1/survey" + name.prefix { $0 != "?" }
            let item = try XCTUnwrap(check.validator.document["paths", path])
            let reply = try RawClient.request(
                body == nil ? "GET" : "POST", "/api/v1/survey" + name, port: port,
                headers: body == nil ? [] : ["Content-Type: application/json"], body: body)
            check.check(reply, path, item)
            guard let body, let schema = item["post", "requestBody", "content", "application/json", "schema"] else {
                return
            }
            check.validator.validate(
                try JSONDecoder().decode(JSON.self, from: Data(body.utf8)), schema, at: "\(path) request")
        }
        let mark = try XCTUnwrap(Self.bodies["/api/v1/survey/marks"])
        try ask("/walks", port, #"{"action": "start"}"#)
        try ask("/marks", port, mark)
        try ask("/marks", port, #"{"mapId": 1, "x": 99, "y": 4}"#)
        try ask("/marks", port, #"{"room": 12, "delay": 0.2}"#)
        try ask("/gaps", port)
        try ask("/gaps?map=9", port)
        try ask("/walks", port, #"{"action": "stop"}"#)
        try ask("/walks", port, #"{"action": "stop"}"#)
        _ = try stage.waitForMap()
        try ask("/map", port, #"{"action": "adopt"}"#)
        _ = try stage.waitForMap()
        // The edition can't be kept under this name.
        try FileManager.default.createDirectory(
            atPath: stage.packet + "/venue-edition-2.json", withIntermediateDirectories: false)
        try ask("", port)
        try ask("/map", port, #"{"action": "takeBack"}"#)
        try ask("", port)
        try ask("", try server())
        var limits = SurveyDesk.Limits()
        limits.marks = 1
        let full = try stagedDevice(limits: limits)
        let fullPort = try server(survey: full)
        try ask("/map", fullPort, #"{"action": "adopt"}"#)
        try ask("/walks", fullPort, #"{"action": "start"}"#)
        try ask("/marks", fullPort, mark)
        try ask("", fullPort)
        let unwritable = try stagedDevice(walks: "/none/walks")
        try ask("/walks", try server(survey: unwritable), #"{"action": "start"}"#)
    }

    private func streamed(_ port: UInt16) throws -> RawClient.Reply {
        let client = try RawClient.stream(port: port, after: 0)
        try client.receive { $0.contains("id: 11\n") && $0.hasSuffix("\n\n") }
        return try client.reply()
    }
}
