import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import VenuePackets
import XCTest
@testable import LiveMap
@testable import indoorloc

/// The simulations that the server of `venue edit` computes for its page.
final class VenueSimulationTests: XCTestCase {
    private static let token = "0123456789abcdef"

    /// A packet in the process of the test.
    private struct Served {
        let folder: String
        let url: String
        var text: String { get throws { try String(contentsOfFile: folder + "/venue.json", encoding: .utf8) } }
    }

    private struct Answer {
        let status: Int
        let body: String

        var object: [String: Any] {
            get throws {
                try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any], body)
            }
        }
        var error: String { get throws { try XCTUnwrap(try object["error"] as? String, body) } }
    }

    private func copy() throws -> String {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        return folder
    }

    private func serve(_ folder: String, limit: Duration = PageCalculation.ample) throws -> Served {
        let routes = VenueEditRoutes(
            file: try EditedVenueFile(packet: folder), title: "packet", coverage: PageCalculation(limit: limit),
            walk: PageCalculation(limit: limit))
        let listener = try LiveMapListener(try LiveMapAddress("127.0.0.1:0"), token: Self.token)
        let server = try LiveMapServer(routes: routes, listener: listener)
        addTeardownBlock { server.stop() }
        return Served(folder: folder, url: server.url)
    }

    private func post(
        _ served: Served, _ path: String, _ body: String, token: String = token, headers: [String] = [],
        type: String = "application/json"
    ) throws -> Answer {
        let file = try temporaryFolder() + "/body.json"
        try Data(body.utf8).write(to: URL(filePath: file))
        let all = ["Authorization: Bearer \(token)", "Content-Type: \(type)"] + headers
        let result = try Tool.run(
            [
                "--silent", "--show-error", "--max-time", "\(Int(Tool.bound) - 10)", "--write-out", "\\n%{http_code}",
                "-X", "POST",
                "--data-binary", "@" + file,
            ] + all.flatMap { ["-H", $0] } + [served.url + path], program: "/usr/bin/curl")
        XCTAssertEqual(result.status, 0, result.errors)
        var lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.removeLast()
        return Answer(status: try XCTUnwrap(Int(status)), body: lines.joined(separator: "\n"))
    }

    private func walkRequest(_ document: String, _ walk: String, seed: UInt64 = 1) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: ["document": document, "walk": walk, "seed": seed])
        return String(decoding: data, as: UTF8.self)
    }

    private func walk(_ points: String, rest: String = "") -> String {
        #"{"format": "indoor-localization-walk", "version": 1, "points": [\#(points)]\#(rest)}"#
    }

    /// The office with a beacon at another place, which isn't saved.
    private func draft(of served: Served) throws -> String {
        let text = try served.text
        let draft = text.replacingOccurrences(
            of: "\"mapId\": 1, \"x\": 16.0, \"y\": 7.5", with: "\"mapId\": 1, \"x\": 3.0, \"y\": 2.5")
        XCTAssertNotEqual(draft, text)
        return draft
    }

    func testTheCoverageOfADraftHasTheFiguresOfPlotCoverage() throws {
        let served = try serve(try copy())
        let before = try served.text
        let draft = try draft(of: served)
        let answer = try post(served, "api/v1/coverage?target=2.5&beacons=3", draft)
        XCTAssertEqual(answer.status, 200, answer.body)
        XCTAssertEqual(try served.text, before, "nothing is written")
        let other = try copy()
        try Data(draft.utf8).write(to: URL(filePath: other + "/venue.json"))
        let plotted = try Tool.run([
            "plot", "coverage", "--venue", other, "--target", "2.5", "--beacons", "3", "--json",
        ])
        XCTAssertEqual(plotted.status, 0, plotted.errors)
        let figures = plotted.output.dropLast(2)
        XCTAssertTrue(answer.body.hasPrefix(figures), "the members of the command, before the others")
        let object = try answer.object
        let maps = try XCTUnwrap(object["maps"] as? [[String: Any]])
        let summaries = try XCTUnwrap(object["summaries"] as? [[String: Any]])
        XCTAssertEqual(summaries.map { $0["mapId"] as? Int }, [1, 2])
        for (map, summary) in zip(maps, summaries) {
            let errors = try XCTUnwrap(map["errors"] as? [Any]).compactMap { $0 as? Double }.sorted()
            XCTAssertEqual(try XCTUnwrap(summary["medianError"] as? Double), errors[errors.count / 2], accuracy: 0.02)
            XCTAssertEqual(summary["isInsideKnown"] as? Bool, true)
            let shares = try XCTUnwrap(summary["shares"] as? [[String: Double]])
            XCTAssertEqual(shares.map { $0["error"] }, [2, 2.5, 5])
            XCTAssertEqual(shares[1]["share"], map["shareWithinTarget"] as? Double)
            XCTAssertLessThan(try XCTUnwrap(shares[0]["share"]), try XCTUnwrap(shares[2]["share"]))
        }
    }

    func testProposedBeaconsAreInsideOfTheBuildingAndBesideItsWalls() throws {
        let folder = try copy()
        let venue = try VenuePacketReader().read(folder).venue
        let answer = try post(try serve(folder), "api/v1/coverage?beacons=12", try serve(folder).text)
        let proposals = try XCTUnwrap(try answer.object["proposedBeacons"] as? [[String: Double]])
        XCTAssertEqual(proposals.count, 12)
        for proposal in proposals {
            let map = try XCTUnwrap(venue.map(MapID(rawValue: Int(proposal["mapId"] ?? 0))))
            let point = MapPoint(x: proposal["x"] ?? -1, y: proposal["y"] ?? -1)
            XCTAssertTrue(MapInterior(of: map, in: venue).contains(point), "\(proposal)")
            XCTAssertGreaterThan(WallCrossings(of: map).distance(to: point), 0.19, "\(proposal)")
        }
    }

    func testASimulatedWalkHasTheFiguresOfSimulateAndEvaluate() throws {
        let served = try serve(try copy())
        let draft = try draft(of: served)
        let path = try FixtureFolder("office").path + "/paths/stairs.json"
        let answer = try post(
            served, "api/v1/walk", try walkRequest(draft, try String(contentsOfFile: path, encoding: .utf8), seed: 7))
        XCTAssertEqual(answer.status, 200, answer.body)
        let other = try copy()
        try Data(draft.utf8).write(to: URL(filePath: other + "/venue.json"))
        for name in ["survey", "tracks"] { try FileManager.default.removeItem(atPath: other + "/" + name) }
        try FileManager.default.createDirectory(atPath: other + "/tracks", withIntermediateDirectories: true)
        let simulated = try Tool.run([
            "simulate", "--venue", other, "--path", path, "--seed", "7", "-o", other + "/tracks/walk.jsonl",
        ])
        XCTAssertEqual(simulated.status, 0, simulated.errors)
        let evaluated = try Tool.run(["evaluate", other, "--json"])
        XCTAssertEqual(evaluated.status, 0, evaluated.errors)
        let line = try JSONSerialization.jsonObject(with: Data(evaluated.output.utf8))
        let expected = try XCTUnwrap(line as? [String: Any])
        let object = try answer.object
        let figures = try XCTUnwrap(object["figures"] as? [String: Double])
        XCTAssertLessThan(try XCTUnwrap(figures["mean"]), 3)
        for (name, figure) in figures {
            XCTAssertEqual(figure, try XCTUnwrap(expected[name] as? Double, name), accuracy: 1e-9, name)
        }
        let truth = try XCTUnwrap(object["truth"] as? [[String: Double]])
        XCTAssertEqual(truth.first, ["t": 0, "mapId": 1, "x": 21, "y": 5])
        XCTAssertEqual(truth.last?["mapId"], 2)
        XCTAssertGreaterThan(try XCTUnwrap(object["positions"] as? [Any]).count, 40)
        XCTAssertEqual(try XCTUnwrap(object["wallCrossings"] as? [Any]).count, 0)
    }

    func testAWalkThroughAWallAndOneWithoutBeaconsSaySo() throws {
        let served = try serve(try copy())
        let points = #"{"mapId": 1, "x": 5, "y": 3, "pause": 4}, {"mapId": 1, "x": 13, "y": 3}"#
        let walled = try post(served, "api/v1/walk", try walkRequest(served.text, walk(points)))
        let crossings = try XCTUnwrap(try walled.object["wallCrossings"] as? [[String: Int]])
        XCTAssertEqual(crossings, [["point": 1, "walls": 1]])
        let document = try JSONSerialization.jsonObject(with: Data(served.text.utf8))
        var empty = try XCTUnwrap(document as? [String: Any])
        empty["beacons"] = []
        empty["interactions"] = nil
        let draft = String(decoding: try JSONSerialization.data(withJSONObject: empty), as: UTF8.self)
        let silent = try post(served, "api/v1/walk", try walkRequest(draft, walk(points)))
        XCTAssertEqual(silent.status, 200, silent.body)
        let reason = try XCTUnwrap(try silent.object["reason"] as? String)
        XCTAssertTrue(reason.hasPrefix("no position, as "), reason)
        let coverage = try post(served, "api/v1/coverage?beacons=2", draft)
        XCTAssertEqual(coverage.status, 200, coverage.body)
        XCTAssertEqual(try XCTUnwrap(try coverage.object["proposedBeacons"] as? [Any]).count, 2)
    }

    func testRequestsOfAnotherKindAreRefused() throws {
        let served = try serve(try copy())
        let document = try served.text
        let asked = try walkRequest(document, walk(#"{"mapId": 1, "x": 5, "y": 3}"#))
        for (path, body) in [("api/v1/coverage", document), ("api/v1/walk", asked)] {
            XCTAssertEqual(try post(served, path, body, token: "wrong-wrong-wrong").status, 401, path)
            XCTAssertEqual(try post(served, path, body, headers: ["Origin: http://evil.example"]).status, 403, path)
            XCTAssertEqual(try post(served, path, body, type: "text/plain").status, 415, path)
            XCTAssertEqual(try post(served, path + "?x=1", body).status, 400, path)
            let read = try Tool.run(
                [
                    "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "-H",
                    "Authorization: Bearer \(Self.token)", served.url + path,
                ], program: "/usr/bin/curl")
            XCTAssertEqual(read.output, "405", path)
        }
        for query in ["target=0", "target=x", "beacons=51", "beacons=-1"] {
            XCTAssertEqual(try post(served, "api/v1/coverage?" + query, document).status, 400, query)
        }
        let long = "{\"x\": \"" + String(repeating: "x", count: 16 << 20) + "\"}"
        XCTAssertEqual(try post(served, "api/v1/coverage", long).status, 413)
    }

    func testADraftWithErrorsAndAWalkThatCannotBeSimulatedSayWhatIsWrong() throws {
        let served = try serve(try copy())
        let document = try served.text
        let wrong = document.replacingOccurrences(of: "\"x\": 16.0", with: "\"x\": \"east\"")
        let point = #"{"mapId": 1, "x": 5, "y": 3}"#
        let coverage = try post(served, "api/v1/coverage", wrong)
        XCTAssertEqual(coverage.status, 422)
        XCTAssertEqual(
            try coverage.error, "The document has an error. Correct it before you simulate the coverage.")
        XCTAssertTrue(coverage.body.contains("$.beacons[5].x"), coverage.body)
        for (document, walk, status, message) in [
            (wrong, walk(point), 422, "Correct it before you simulate a walk."),
            (document, walk(""), 422, "points: the path has no points. Add at least one."),
            (document, walk(#"{"mapId": 9, "x": 5, "y": 3}"#), 422, "the venue has no map 9"),
            (document, walk(point, rest: #", "settings": {"radio.wallLos": 1}"#), 422, "did you mean radio.wallLoss"),
            (document, "{}", 422, "$.format: is missing"),
            (
                document, walk(#"{"mapId": 1, "x": 5, "y": 3, "pause": 3000}"#), 422,
                "The walk lasts 50 minutes; the page simulates at most 30."
            ),
            (
                document,
                walk(
                    #"{"mapId": 1, "x": 5, "y": 3, "pause": 1500}"#,
                    rest: #", "settings": {"radio.advertisingInterval": 0.05}"#), 422,
                "readings; the page simulates at most 500000. Shorten it, increase its speed, or export it"
            ),
        ] {
            let answer = try post(served, "api/v1/walk", try walkRequest(document, walk))
            XCTAssertEqual(answer.status, status, answer.body)
            XCTAssertTrue(try answer.error.contains(message), answer.body)
        }
        let bare = try post(served, "api/v1/walk", document)
        XCTAssertEqual(bare.status, 400)
        XCTAssertTrue(try bare.error.contains("The body must be an object such as"), bare.body)
    }

    func testASimulationThatTakesTooLongIsEndedAndSaysWhatToDo() throws {
        let served = try serve(try copy(), limit: .zero)
        let coverage = try post(served, "api/v1/coverage", try served.text)
        XCTAssertEqual(coverage.status, 503)
        XCTAssertEqual(
            try coverage.error,
            "The simulation takes more than 0 s of a processor, and was ended. Propose fewer beacons, or divide the venue."
        )
        let points = #"{"mapId": 1, "x": 5, "y": 3, "pause": 60}"#
        let walk = try post(served, "api/v1/walk", try walkRequest(served.text, walk(points)))
        XCTAssertEqual(walk.status, 503)
        XCTAssertTrue(try walk.error.contains("Shorten the walk"), walk.body)
    }
}

/// What the paths of the editor's page do when a client leaves.
final class VenueEditRoutesTests: XCTestCase {
    func testOnlySimulationsEndWithTheirClient() throws {
        let routes = VenueEditRoutes(file: try EditedVenueFile(packet: try temporaryFolder()), title: "packet")
        for name in ["coverage", "walk"] {
            XCTAssertTrue(routes.endsWithClient(try HTTPTarget("/api/v1/" + name)), name)
        }
        // What a client has sent to be stored is stored, even if the client has left.
        for path in [
            "overview", "document", "check", "plan", "image", "plan-image", "radio-map", "tile", "other",
        ] {
            XCTAssertFalse(routes.endsWithClient(try HTTPTarget("/api/v1/" + path)), path)
        }
        XCTAssertFalse(routes.endsWithClient(try HTTPTarget("/")))
    }
}

/// The calculations of a page: when they end, and what they leave free.
final class PageCalculationTests: XCTestCase {
    /// A calculation that waits for a permission.
    fileprivate final class Gate: Sendable {
        private let entered = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        func pass() {
            entered.signal()
            _ = opened.wait(timeout: .now() + Tool.bound)
        }

        func open() { opened.signal() }
        /// Returns whether a calculation waits.
        func isEntered() -> Bool { entered.wait(timeout: .now() + Tool.bound) == .success }
    }

    func testANewRequestEndsTheEarlierOneAtItsNextCheckAndLeavesOutThoseThatWait() async {
        let calculation = PageCalculation(limit: PageCalculation.ample)
        let gate = Gate()
        let first = Task { await calculation.ended(behind: gate) }
        XCTAssertTrue(gate.isEntered())
        let second = Task { await calculation.ended { _ in 2 } }
        while calculation.requests < 2 { await Task.yield() }
        let third = Task { await calculation.ended { _ in 3 } }
        while calculation.requests < 3 { await Task.yield() }
        gate.open()
        let results = [await first.value, await second.value, await third.value]
        XCTAssertEqual(results, [.failure(.replaced), .failure(.replaced), .success(3)])
    }

    func testACancelledTaskEndsItsCalculation() async {
        let calculation = PageCalculation(limit: PageCalculation.ample)
        let gate = Gate()
        let task = Task { await calculation.ended(behind: gate) }
        XCTAssertTrue(gate.isEntered())
        task.cancel()
        gate.open()
        let ended = await task.value
        XCTAssertEqual(ended, .failure(.cancelled))
    }

    func testACalculationEndsAfterItsTime() async {
        let ended = await PageCalculation(limit: .zero).ended { check throws(PageCalculation.End) in
            while true { try check() }
        }
        XCTAssertEqual(ended, .failure(.late(limit: .zero)))
    }

    func testTheTimeThatACalculationWaitsForAProcessorDoesNotCount() async {
        let limit = Duration.milliseconds(200)
        let gate = Gate()
        let calculation = Task { await PageCalculation(limit: limit).ended(behind: gate) }
        XCTAssertTrue(gate.isEntered())
        let end = ContinuousClock.now + limit
        while ContinuousClock.now <= end { await Task.yield() }
        gate.open()
        let ended = await calculation.value
        XCTAssertEqual(ended, .success(1))
    }

    /// More calculations than there are threads for tasks wait; requests are still answered.
    func testCalculationsDoNotHoldUpOtherTasks() async {
        let gates = (0..<2 * ProcessInfo.processInfo.activeProcessorCount).map { _ in Gate() }
        let tasks = gates.map { gate in
            Task {
                await PageCalculation(limit: PageCalculation.ample).ended { _ in
                    gate.pass()
                    return 1
                }
            }
        }
        for gate in gates { XCTAssertTrue(gate.isEntered()) }
        let answered = await Task.detached { 5 }.value
        XCTAssertEqual(answered, 5)
        for gate in gates { gate.open() }
        for task in tasks {
            let value = await task.value
            XCTAssertEqual(value, .success(1))
        }
    }
}

extension PageCalculation {
    /// A time that no calculation of a test takes, even of a debug build on a busy machine.
    fileprivate static let ample = Duration.seconds(3600)

    /// Returns how a calculation ends that waits for a gate, and then looks whether it must end.
    fileprivate func ended(behind gate: PageCalculationTests.Gate) async -> Result<Int, End> {
        await ended { check throws(End) in
            gate.pass()
            try check()
            return 1
        }
    }

    /// Returns how a calculation ends.
    fileprivate func ended(
        _ work: @escaping @Sendable (_ check: () throws(End) -> Void) throws(End) -> Int
    ) async -> Result<Int, End> {
        do throws(End) { return .success(try await run(work)) } catch { return .failure(error) }
    }
}
