import CLibArchive
import Foundation
import LoopbackServers
import XCTest

/// Small inputs that would cost much memory or time are refused with a reason.
final class BombTests: XCTestCase {
    /// The limit of writable memory in KiB: 40 MB for an ordinary run, 200 MB, and the stack of a thread for each processor.
    ///
    /// It isn't the limit of address space, of which each thread also reserves 64 MB for its allocations.
    private static let memory = 240_000 + 8_192 * ProcessInfo.processInfo.activeProcessorCount
    /// The limit of processor time in seconds: 5 for an optimized build, which is about ten times as fast as a debug build.
    private static let seconds = 50

    private static let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
    private static let header = #"{"type":"header","format":"indoor-localization-recording","version":1}"# + "\n"

    /// Runs the tool with little memory and time.
    ///
    /// - Parameter reason: a part of the expected error; nil if success is expected.
    private func run(_ arguments: [String], _ reason: String?, line: UInt = #line) throws {
        let limits = "ulimit -c 0; ulimit -d \(Self.memory); ulimit -t \(Self.seconds)"
        let result = try Tool.run(arguments, under: limits)
        let told = result.output + result.errors
        let short = "\(arguments): \(told.prefix(600))"
        XCTAssertEqual(result.status, reason == nil ? 0 : 1, short, line: line)
        if let reason { XCTAssertTrue(told.contains(reason), "'\(reason)': \(short)", line: line) }
        XCTAssertLessThan(told.utf8.count, 1_000_000, "\(arguments)", line: line)
    }

    private func bomb() throws -> Bomb { Bomb(folder: try temporaryFolder()) }

    /// All commands that read a packet.
    private func runVenueCommands(_ venue: String, _ reason: String, line: UInt = #line) throws {
        let folder = try temporaryFolder()
        for arguments in [
            ["venue", "check", venue], ["venue", "info", venue],
            ["venue", "route", venue, "--from", "1,1,1", "--to", "1,2,2"],
            ["venue", "export", venue, "--output", folder + "/out.geojson"], ["venue", "publish", folder, venue],
            ["replay", "--venue", venue, Self.recording],
            ["survey", "--venue", venue, "--output", folder + "/map.json", Self.recording],
            ["simulate", "--venue", venue, "--path", "Fixtures/none.json", "--output", folder + "/walk.jsonl"],
            ["config", "show", "--venue", venue],
        ] { try run(arguments, reason, line: line) }
    }

    // MARK: - Packets

    func testEveryCommandRefusesADeepPacket() throws {
        try runVenueCommands(try bomb().plain("venue.json", Bomb.nested(8_000)), "nested deeper than 64 levels")
    }

    func testEveryCommandRefusesAPacketOfManyMaps() throws {
        let map = #"{"id":1,"name":"","level":0,"widthMeters":9,"heightMeters":9}"#
        let venue = Bomb.venue().replacing(/\[\{"id.*\}\]/, with: Bomb.list(map, 5_000))
        try runVenueCommands(try bomb().plain("venue.json", venue), "has 5000 entries, more than the limit of 1000")
    }

    func testEveryCommandRefusesASparsePacket() throws {
        try runVenueCommands(try bomb().sparse("venue.json"), "has 4294967296 bytes, more than the limit of 16777216")
    }

    func testZipsThatUnpackToMillionsOfValuesAreRefused() throws {
        let bomb = try bomb()
        let beacons = try bomb.zip("beacons.zip", Bomb.venue("\"beacons\": \(Bomb.list("{}", 2_000_000))"))
        let size = try FileManager.default.attributesOfItem(atPath: beacons)[.size] as? Int ?? .max
        XCTAssertLessThan(size, 20_000)
        try run(["venue", "check", beacons], "has more than 2000000 values")
        let walls = Bomb.venue(map: "\"walls\": \(Bomb.list("[[1,1],[1,2]]", 800_000))")
        try run(["venue", "check", try bomb.zip("walls.zip", walls)], "has more than 2000000 values")
        try run(["venue", "check", try bomb.sparse("sparse.zip")], "cannot be read as a zip")
    }

    /// A document of the maximum size, with the values that need the most memory.
    func testADocumentAtTheLimitIsReadInLittleMemory() throws {
        let objects = Bomb.venue("\"beacons\": [], \"unknown\": \(Bomb.list("{\"a\":0}", 600_000))")
        try run(["venue", "check", try bomb().zip("objects.zip", objects)], nil)
    }

    func testPacketsOfALargeModelAreRefused() throws {
        let bomb = try bomb()
        let diagonals = Bomb.venue(map: "\"walls\": \(Bomb.list("[[0,0],[800,400]]", 40_000))")
        try run(["venue", "check", try bomb.plain("venue.json", diagonals)], "simplify the walls")
        let map = #"{"id":0,"name":"","level":0,"widthMeters":100000,"heightMeters":100000},"#
        let maps = (1...200).map { map.replacing("\"id\":0", with: "\"id\":\($0)") }.joined()
        let large = Bomb.venue().replacing("[{\"id\": 1,", with: "[\(maps){\"id\": 999,")
        try run(
            ["replay", "--venue", try bomb.plain("venue.json", large), Self.recording],
            "map cells; give the map its true size")
    }

    // MARK: - From a server

    func testACatalogueThatIsDeepOrLargeIsRefused() throws {
        let bomb = try bomb()
        let server = try NginxServer(root: bomb.folder, folder: try temporaryFolder())
        addTeardownBlock { server.stop() }
        let fetch = ["venue", "fetch", "--server", server.url(), "--cache", try temporaryFolder()]
        _ = try bomb.plain("catalogue.json", Bomb.nested(100_000))
        try run(fetch, "nested deeper than 64 levels")
        _ = try bomb.sparse("catalogue.json")
        try run(fetch, "has more than 16777216 bytes")
    }

    func testAPacketThatUnpacksToMillionsOfValuesIsNotStored() throws {
        let bomb = try bomb()
        let zip = try bomb.zip("1.zip", Bomb.venue("\"beacons\": \(Bomb.list("{}", 2_000_000))"))
        let size = try FileManager.default.attributesOfItem(atPath: zip)[.size] as? Int ?? 0
        let digest = try Tool.run([zip], program: "/usr/bin/sha256sum").output.prefix(64)
        _ = try bomb.plain(
            "catalogue.json",
            """
            {"format": "indoor-localization-catalogue", "formatVersion": 1, "venues": [{"id": 1, "name": "Bomb",
            "version": 1, "regions": [], "packet": "1.zip", "size": \(size), "sha256": "\(digest)"}]}
            """)
        let server = try NginxServer(root: bomb.folder, folder: try temporaryFolder())
        addTeardownBlock { server.stop() }
        let cache = try temporaryFolder()
        try run(["venue", "fetch", "--server", server.url(), "--cache", cache, "1"], "has more than 2000000 values")
    }

    // MARK: - Other files

    func testEveryCommandRefusesDeepFiles() throws {
        let bomb = try bomb()
        let deep = try bomb.plain("deep.json", Bomb.nested(8_000))
        let deepTraining = try bomb.plain("training.json", "{\"rooms\":" + Bomb.nested(8_000) + "}")
        let reason = "nested deeper than 64 levels"
        let replay = ["replay", "--venue", "Fixtures/office", Self.recording]
        try run(replay + ["--settings", deep], reason)
        try run(replay + ["--geofences", deep], reason)
        try run(replay + ["--radio-map", deep], reason)
        try run(["config", "show", "--settings", deep], reason)
        try run(["rooms", "train", "--output", bomb.folder + "/out.json", deep], reason)
        try run(["rooms", "classify", "--training", deepTraining, Self.recording], reason)
        let walk = try bomb.plain("walk.json", "{\"settings\":" + Bomb.nested(100_000) + "}")
        let out = bomb.folder + "/walk.jsonl"
        try run(["simulate", "--venue", "Fixtures/office", "--path", walk, "--output", out], "walk.json")
    }

    func testSettingsAndGeofencesOfManyEntriesAreRefused() throws {
        let bomb = try bomb()
        let replay = ["replay", "--venue", "Fixtures/office", Self.recording]
        let keys = (0..<50_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        let settings = String(repeating: "{\"a\":", count: 60) + "{\(keys)}" + String(repeating: "}", count: 60)
        try run(replay + ["--settings", try bomb.plain("many.json", settings)], "more than 1000 settings")
        let long = "{\"" + String(repeating: "k", count: 900_000) + "\":1}"
        try run(replay + ["--settings", try bomb.plain("long.json", long)], "there is no setting kkk")
        let fences = "{\"type\":\"FeatureCollection\",\"features\":\(Bomb.list("{}", 250_000))}"
        try run(replay + ["--geofences", try bomb.plain("fences.json", fences)], "has 250000 entries")
    }

    func testRadioMapsThatGrowAreRefused() throws {
        let bomb = try bomb()
        let start = #"{"format":"indoor-localization-radio-map","version":1,"pathLossExponent":2,"beacons":[],"x":[0"#
        let replay = ["replay", "--venue", "Fixtures/office", Self.recording, "--radio-map"]
        let zeros = String(repeating: ",0", count: 500_000)
        try run(
            replay + [try bomb.gzip("zeros.json.gz", start, zeros, times: 131)],
            "unpacks to more than the limit of 16777216")
        try run(replay + [try bomb.sparse("sparse.json")], "has 4294967296 bytes")
        try run(replay + [try bomb.sparse("sparse.json.gz")], "has 4294967296 bytes")
        let deep = try bomb.plain("map.json", start + ",\(Bomb.nested(8_000))")
        try run(replay + [deep], "nested deeper than 64 levels")
    }

    func testSparseFilesAreRefused() throws {
        let sparse = try bomb().sparse("file.json")
        let out = try temporaryFolder() + "/out"
        let replay = ["replay", "--venue", "Fixtures/office", Self.recording]
        try run(replay + ["--settings", sparse], "is longer than 1 MiB")
        try run(replay + ["--geofences", sparse], "has 4294967296 bytes")
        try run(["rooms", "train", "--output", out, sparse], "has 4294967296 bytes")
        try run(["rooms", "classify", "--training", sparse, Self.recording], "has 4294967296 bytes")
        try run(["simulate", "--venue", "Fixtures/office", "--path", sparse, "--output", out], "has 4294967296 bytes")
        try run(["replay", "--venue", "Fixtures/office", sparse], "longer than")
    }

    // MARK: - Recordings

    func testRecordingsThatGrowAreRefused() throws {
        let bomb = try bomb()
        let sighting =
            #"{"t":0,"type":"beacon","uuid":"00000000-0000-4000-8000-000000000001","major":1,"minor":1,"rssi":-70}"#
        let many = String(repeating: sighting + "\n", count: 10_000)
        let path = try bomb.gzip("many.jsonl.gz", Self.header, many, times: 50)
        // Fewer sightings of as many bytes, as a session takes longer than a survey for each of them.
        let noted = sighting.replacing("}", with: ",\"note\":\"\(String(repeating: "x", count: 900))\"}") + "\n"
        let notes = try bomb.gzip(
            "notes.jsonl.gz", Self.header, String(repeating: noted, count: 1_000), times: 50)
        try run(["replay", "--venue", "Fixtures/office", notes], "which no recording does")
        let survey = ["survey", "--venue", "Fixtures/office", "--output", bomb.folder + "/map.json"]
        try run(survey + [path], "which no recording does")
        let long = try bomb.gzip("long.jsonl.gz", Self.header, String(repeating: "x", count: 1_000_000), times: 100)
        for command in [["replay", "--venue", "Fixtures/office"], survey] { try run(command + [long], "longer than") }
    }

    func testASurveyOfTooManyBeaconsIsRefused() throws {
        var lines = Self.header + #"{"t":0,"type":"truth","mapId":1,"x":1,"y":1,"hold":true}"# + "\n"
        for index in 0...30_000 {
            lines += "{\"t\":1,\"type\":\"beacon\",\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"major\":"
            lines += "\(index / 1_000),\"minor\":\(index % 1_000),\"rssi\":-70}\n"
        }
        let bomb = try bomb()
        let path = try bomb.plain("beacons.jsonl", lines)
        try run(
            ["survey", "--venue", "Fixtures/office", "--output", bomb.folder + "/map.json", path],
            "the recordings up to this one have 30001 beacons, more than the limit of 30000")
    }
}

/// Small files that cost much memory or time if they are read without limits.
struct Bomb {
    /// A folder that is removed after the test.
    let folder: String

    /// A venue's document: `fields` follow one map, and `map` stands within it.
    static func venue(map: String = "", _ fields: String = "\"beacons\": []") -> String {
        let map = map.isEmpty ? "" : ", " + map
        return """
            {"format": "indoor-localization-venue", "formatVersion": 1, "id": 1, "name": "Bomb", "version": 1,
            "maps": [{"id": 1, "name": "Ground", "level": 0, "widthMeters": 50, "heightMeters": 30\(map)}], \(fields)}
            """
    }

    static func list(_ element: String, _ count: Int) -> String {
        "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
    }

    /// A document with the given nesting depth.
    static func nested(_ depth: Int) -> String {
        String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
    }

    /// Writes a file with this content.
    func plain(_ name: String, _ text: String) throws -> String {
        let file = URL(filePath: folder + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    /// Writes a sparse file of 4 GB, which needs no disk space.
    func sparse(_ name: String) throws -> String {
        let path = try plain(name, "")
        XCTAssertEqual(truncate(path, 4 << 30), 0)
        return path
    }

    /// Writes a zip with `venue.json`.
    func zip(_ name: String, _ text: String) throws -> String {
        try pack(name, entry: "venue.json", [text], archive_write_set_format_zip)
    }

    /// Writes a gzip file with all pieces, the second one repeated.
    func gzip(_ name: String, _ first: String, _ piece: String = "", times: Int = 0) throws -> String {
        try pack(name, entry: name, [first] + Array(repeating: piece, count: times)) { archive in
            archive_write_add_filter_gzip(archive)
            archive_write_set_options(archive, "gzip:compression-level=9")
            return archive_write_set_format_raw(archive)
        }
    }

    private func pack(
        _ name: String, entry: String, _ pieces: [String], _ format: (OpaquePointer) -> Int32
    ) throws -> String {
        let path = folder + "/" + name
        let archive = try XCTUnwrap(archive_write_new())
        defer { archive_write_free(archive) }
        XCTAssertEqual(format(archive), ARCHIVE_OK)
        archive_write_set_bytes_in_last_block(archive, 1)
        XCTAssertEqual(archive_write_open_filename(archive, path), ARCHIVE_OK)
        let header = try XCTUnwrap(archive_entry_new())
        defer { archive_entry_free(header) }
        archive_entry_set_pathname(header, entry)
        archive_entry_set_filetype(header, 0o100000)
        XCTAssertEqual(archive_write_header(archive, header), ARCHIVE_OK)
        for piece in pieces {
            let bytes = Array(piece.utf8)
            XCTAssertEqual(archive_write_data(archive, bytes, bytes.count), bytes.count)
        }
        XCTAssertEqual(archive_write_close(archive), ARCHIVE_OK)
        return path
    }
}
