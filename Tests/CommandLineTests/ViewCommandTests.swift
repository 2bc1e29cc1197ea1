import Foundation
import IndoorLocalizationTesting
import LiveMap
import XCTest

/// The command `view`: a page from a server or in a file.
final class ViewCommandTests: XCTestCase {
    private static let stairs = "Fixtures/recordings/stairs/scan.jsonl.gz"
    private static let call = ["--venue", "Fixtures/office"]

    /// The answer of a server.
    private struct Answer {
        let status: Int
        let type: String
        let size: Int
        let body: String
    }

    /// Requests a URL with curl.
    private func get(_ url: String) throws -> Answer {
        let format = "\\n%{http_code}\\n%{size_download}\\n%{content_type}"
        let result = try Tool.run(["--silent", "--show-error", "--write-out", format, url], program: "/usr/bin/curl")
        XCTAssertEqual(result.status, 0, result.errors)
        var lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let (type, size, status) = (lines.removeLast(), lines.removeLast(), lines.removeLast())
        return Answer(
            status: try XCTUnwrap(Int(status)), type: type, size: try XCTUnwrap(Int(size)),
            body: lines.joined(separator: "\n"))
    }

    private func decoded<Value: Decodable>(_ url: String) throws -> Value {
        let answer = try get(url)
        XCTAssertEqual(answer.status, 200, url)
        return try JSONDecoder().decode(Value.self, from: Data(answer.body.utf8))
    }

    /// The document in a page.
    private func document(_ page: String) throws -> LiveMapDocument {
        let start = try XCTUnwrap(page.range(of: "<script type=\"application/json\" id=\"document\">")).upperBound
        let end = try XCTUnwrap(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
        return try JSONDecoder().decode(LiveMapDocument.self, from: Data(page[start..<end].utf8))
    }

    private struct Frames: Decodable {
        let frames: [LiveMapFrame]
    }

    func testARecordingIsServedUntilTheCommandIsInterrupted() throws {
        let view = try ServiceProcess(Self.call + ["--http", "127.0.0.1:0", Self.stairs], command: "view")
        let url = try view.wait(for: "http://127.0.0.1:")
        let page = try get(url)
        XCTAssertEqual(page.status, 200)
        XCTAssertTrue(page.type.hasPrefix("text/html"), page.type)
        XCTAssertTrue(page.body.contains("<html"))

        let overview: LiveMapOverview = try decoded(url + "api/v1/venue")
        XCTAssertEqual(overview.mode, .recording)
        XCTAssertEqual(overview.title, "stairs/scan.jsonl.gz")
        let venue = try XCTUnwrap(overview.venues.first)
        XCTAssertEqual(venue.maps.map(\.hasImage), [true, true])
        XCTAssertEqual(venue.maps[0].tiles, .init(width: 1080, height: 600, tileSize: 256, overlap: 0, format: "png"))

        let place = "venue=\(venue.id)&map=\(venue.maps[0].id)"
        let image = try get(url + "api/v1/plan?\(place)")
        let file = try bytes("Fixtures/office/plans/ground.png")
        XCTAssertEqual([image.type, "\(image.size)"], ["image/png", "\(file.count)"])
        let tile = try get(url + "api/v1/tile?\(place)&level=11&column=4&row=2")
        XCTAssertEqual([tile.status, tile.size > 0 ? 1 : 0], [200, 1])
        XCTAssertEqual(tile.type, "image/png")
        XCTAssertEqual(try get(url + "api/v1/tile?\(place)&level=11&column=5&row=2").status, 404)

        let (start, end) = (try XCTUnwrap(overview.start), try XCTUnwrap(overview.end))
        let frames: Frames = try decoded(url + "api/v1/frames?from=\(start)&to=\(end)")
        XCTAssertEqual(frames.frames.first?.t, start)
        XCTAssertTrue(frames.frames.contains { $0.error != nil })

        view.send(SIGINT)
        XCTAssertEqual(try view.end(), 0)
        XCTAssertEqual(view.errors, [])
    }

    func testThePageInAFileHasTheWholeRecordingAndIsPrivate() throws {
        let path = try temporaryFolder() + "/page.html"
        let result = try Tool.run(["view"] + Self.call + ["--goal", "Books", "--output", path, Self.stairs])
        XCTAssertEqual([result.errors, result.output], ["", ""])
        XCTAssertEqual(result.status, 0)
        let content = try document(String(decoding: try bytes(path), as: UTF8.self))
        XCTAssertEqual(content.overview.mode, .recording)
        XCTAssertGreaterThan(content.frames.count, 60)
        XCTAssertTrue(content.frames.contains { !$0.particles.isEmpty })
        XCTAssertTrue(content.events.contains { $0.kind == .floor })
        XCTAssertEqual(content.plans.map(\.mapId), [1, 2])
        XCTAssertTrue(content.plans.allSatisfy { $0.url.hasPrefix("data:image/png;base64,") })
        let route = try XCTUnwrap(content.frames.first { !$0.route.isEmpty })
        let books = try XCTUnwrap(content.overview.venues[0].pointsOfInterest.first { $0.name == "Books" })
        XCTAssertEqual(route.route.last, .init(mapId: books.mapId, x: books.x, y: books.y))
        XCTAssertEqual(route.route.first?.mapId, route.estimate?.mapId)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600, "the file has a person's positions")
    }

    func testAFileIsReplacedOnRequestOnly() throws {
        let path = try temporaryFolder() + "/page.html"
        try Data("kept".utf8).write(to: URL(filePath: path))
        let recording = try ShortRecording(lines: 100).write(to: temporaryFolder())
        let call = ["view"] + Self.call + ["--output", path, recording]
        let refused = try Tool.run(call)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("already exists: use --overwrite to replace it"), refused.errors)
        XCTAssertEqual(try bytes(path), Data("kept".utf8))
        XCTAssertEqual(try Tool.run(call + ["--overwrite"]).status, 0)
        XCTAssertNoThrow(try document(String(decoding: try bytes(path), as: UTF8.self)))
    }

    func testARadioMapIsRecognizedByItsContent() throws {
        let folder = try temporaryFolder()
        let (map, path) = (folder + "/anything", folder + "/page.html")
        let surveys = ["ground-east", "upper-west"].map { "Fixtures/office/survey/\($0).jsonl" }
        XCTAssertEqual(try Tool.run(["survey"] + Self.call + ["-o", map] + surveys).status, 0)
        let result = try Tool.run(["view"] + Self.call + ["--output", path, map])
        XCTAssertEqual(result.errors, "")
        let content = try document(String(decoding: try bytes(path), as: UTF8.self))
        XCTAssertEqual(content.overview.mode, .radioMap)
        XCTAssertEqual(content.frames, [])
        let radioMap = try XCTUnwrap(content.radioMap)
        XCTAssertGreaterThan(radioMap.survey.count, 10)
        XCTAssertTrue(radioMap.beacons.contains { !$0.grids.isEmpty })
    }

    func testAFileThatIsNeitherARecordingNorARadioMapIsAnError() throws {
        let path = try temporaryFolder() + "/note.txt"
        try Data("hello\n".utf8).write(to: URL(filePath: path))
        let result = try Tool.run(["view"] + Self.call + [path])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains(path + ":1: is not a JSON object"), result.errors)
        let missing = try Tool.run(["view"] + Self.call + [path + "x"])
        XCTAssertEqual(missing.status, 1)
        XCTAssertTrue(missing.errors.contains(path + "x"), missing.errors)
    }

    func testAVenueIsRequired() throws {
        let result = try Tool.run(["view", Self.stairs])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--venue is missing"), result.errors)
        let missing = try Tool.run(["view", "--venue", "Fixtures/nowhere", Self.stairs])
        XCTAssertEqual(missing.status, 1)
        XCTAssertTrue(missing.errors.contains("Fixtures/nowhere"), missing.errors)
    }

    func testAnAddressInUseIsAnError() throws {
        let recording = try ShortRecording(lines: 100).write(to: temporaryFolder())
        let first = try ServiceProcess(Self.call + [recording], command: "view")
        let url = try first.wait(for: "http://127.0.0.1:")
        let address = try XCTUnwrap(URL(string: url).flatMap { url in url.port.map { "127.0.0.1:\($0)" } })
        let second = try Tool.run(["view"] + Self.call + ["--http", address, recording])
        XCTAssertEqual(second.status, 1)
        XCTAssertTrue(second.errors.contains("The address \(address) is in use"), second.errors)
        first.send(SIGTERM)
        XCTAssertEqual(try first.end(), 0)
    }

    func testAnAddressThatOtherMachinesReachIsRefused() throws {
        for address in ["0.0.0.0:0", "nonsense", "127.0.0.1:99999"] {
            let result = try Tool.run(["view"] + Self.call + ["--http", address, Self.stairs])
            XCTAssertEqual(result.status, 2, address)
            XCTAssertTrue(result.errors.contains("--http: "), result.errors)
        }
        let both = try Tool.run(["view"] + Self.call + ["--http", "0", "--output", "x.html", Self.stairs])
        XCTAssertEqual(both.status, 2)
        XCTAssertTrue(both.errors.contains("--output and --http can't be combined"), both.errors)
    }

    func testAnUnknownGoalIsAnError() throws {
        let result = try Tool.run(["view"] + Self.call + ["--goal", "Nowhere", Self.stairs])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("has no point of interest 'Nowhere'; it has "), result.errors)
        XCTAssertTrue(result.errors.contains("'Books'"), result.errors)
    }
}
