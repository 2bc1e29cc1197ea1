import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import VenuePackets
import XCTest

/// Catalogues and packets that cannot be used, as a real nginx sends them.
final class CatalogueProblemTests: XCTestCase {
    private let digest = String(repeating: "0", count: 64)

    private func repository(serving root: String) throws -> VenueRepository {
        let server = try nginx(serving: root)
        return VenueRepository(cache: try temporaryFolder(), server: try VenueServer(server.url()))
    }

    private func catalogue(_ venues: String) -> String {
        "{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 1, \"venues\": [\(venues)]}"
    }

    private func entry(_ fields: String) -> String {
        // The decoder uses the first of two fields with one name.
        """
        {\(fields), "id": 1, "name": "Kiosk", "version": 3, "regions": [], "packet": "a.zip", "size": 5,
         "sha256": "\(digest)"}
        """
    }

    func testAnInvalidCatalogueIsASingleProblem() async throws {
        let venues = "\"venues\": []"
        for (text, path) in [
            ("", "$"), ("[]", "$"), ("{\"format\": ", "$"), ("{}", "$.format"),
            ("{\"format\": \"x\", \"formatVersion\": 1, \(venues)}", "$.format"),
            ("{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 2, \(venues)}", "$.formatVersion"),
            ("{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 1, \"venues\": 3}", "$.venues"),
            ("{\"format\": \"indoor-localization-catalogue\", \"formatVersion\": 1}", "$.venues"),
        ] {
            let root = try temporaryFolder()
            try write(["catalogue.json": text], to: root)
            let error = await repositoryError { try await self.repository(serving: root).venue(1) }
            guard case .brokenCatalogue(_, let problems) = error else {
                return XCTFail("\(text): \(String(describing: error))")
            }
            XCTAssertEqual(problems.first?.path, path, text)
        }
    }

    func testAnEntryWithAnErrorIsIgnoredAndReported() async throws {
        for (fields, path) in [
            ("\"id\": \"one\"", "id"), ("\"packet\": \"../a.zip\"", "packet"), ("\"packet\": \"/a.zip\"", "packet"),
            ("\"size\": 0", "size"), ("\"size\": 1e300", "size"), ("\"sha256\": \"abc\"", "sha256"),
            ("\"regions\": [{\"uuid\": \"x\"}]", "regions[0].uuid"),
            ("\"regions\": [{\"uuid\": \"\(BeaconUUID(high: 1, low: 2))\", \"minors\": [1]}]", "regions[0].minors"),
            (
                "\"regions\": [{\"uuid\": \"\(BeaconUUID(high: 1, low: 2))\", \"major\": 1, \"minors\": [70000]}]",
                "regions[0].minors[0]"
            ),
            (
                "\"files\": [{\"name\": \"../x\", \"path\": \"x\", \"size\": 1, \"sha256\": \"\(digest)\"}]",
                "files[0].name"
            ),
            ("\"radius\": -1", "radius"),
            ("\"coordinate\": {\"latitude\": 91, \"longitude\": 0}", "coordinate.latitude"),
        ] {
            let root = try temporaryFolder()
            let good = entry("\"id\": 2")
            try write(["catalogue.json": catalogue(entry(fields) + ", " + good)], to: root)
            let server = try nginx(serving: root)
            let (cache, address) = (try temporaryFolder(), try VenueServer(server.url()))
            let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
                let catalogue = try await repository.catalogue()
                XCTAssertEqual(catalogue.map(\.id), [2], fields)
            }
            XCTAssertEqual(errors.map(\.code), [.generic], fields)
            XCTAssertTrue(errors.first?.cause?.contains("$.venues[0].\(path)") ?? false, "\(fields): \(errors)")
        }
    }

    func testABrokenEntryIsReportedWheneverTheCatalogueIsUsed() async throws {
        let root = try temporaryFolder()
        try write(["catalogue.json": catalogue(entry("\"sha256\": \"abc\""))], to: root)
        let server = try nginx(serving: root)
        var patience = RetryPolicy()
        patience.attempts = 1
        let (cache, address) = (try temporaryFolder(), try VenueServer(server.url(), patience: patience))
        // New, unchanged, and from the cache.
        for (run, codes) in [("new", [.generic]), ("304", [.generic]), ("offline", [.generic, .network])]
            as [(String, [LocalizationError.Code])]
        {
            if run == "offline" { XCTAssertEqual(try server.stopAndTellRequests().last?.status, 304) }
            let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
                _ = try await repository.catalogue()
                let error = await repositoryError { try await repository.venue(1) }
                if run == "offline" {
                    XCTAssertEqual(error.map { LocalizationError($0).code }, .network)
                } else {
                    guard case .brokenEntry(1, _, let problems) = error else {
                        return XCTFail("\(run): \(String(describing: error))")
                    }
                    XCTAssertEqual(problems.map(\.path), ["$.venues[0].sha256"], run)
                }
            }
            XCTAssertEqual(errors.map(\.code), codes, run)
            XCTAssertTrue(errors.first?.cause?.contains("$.venues[0].sha256") ?? false, "\(run): \(errors)")
        }
    }

    func testRegionsOfAWholeUUIDOrGroupAreAccepted() async throws {
        let (one, two) = (BeaconUUID(high: 1, low: 2), BeaconUUID(high: 3, low: 4))
        let regions = "\"regions\": [{\"uuid\": \"\(one)\"}, {\"uuid\": \"\(two)\", \"major\": 9}]"
        let root = try temporaryFolder()
        try write(["catalogue.json": catalogue(entry(regions))], to: root)
        let known = try await repository(serving: root).catalogue()
        XCTAssertEqual(known.first?.regions, [BeaconRegion(uuid: one), BeaconRegion(uuid: two, major: 9)])
    }

    /// Publishes a packet, then puts another file in the place of its zip and mends the catalogue's size and digest.
    private func rootWithPacket(_ make: (_ zip: String) throws -> Void) throws -> String {
        let root = try publishedFolder()
        let zip = try XCTUnwrap(try FileManager.default.contentsOfDirectory(atPath: root + "/venues/1").first)
        let path = root + "/venues/1/" + zip
        let old = try (sha256(of: path), Data(contentsOf: URL(filePath: path)).count)
        try FileManager.default.removeItem(atPath: path)
        try make(path)
        let new = try (sha256(of: path), Data(contentsOf: URL(filePath: path)).count)
        let catalogue = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        let mended = catalogue.replacing(
            "\"sha256\":\"\(old.0)\",\"size\":\(old.1)", with: "\"sha256\":\"\(new.0)\",\"size\":\(new.1)")
        XCTAssertNotEqual(mended, catalogue)
        try write(["catalogue.json": mended], to: root)
        return root
    }

    func testABrokenPacketIsAnErrorWithItsProblemsAndIsNotStored() async throws {
        let rejected = try FixtureFolder("packets/rejected/unknown-map").file("venue.json")
        for (make, path): ((String) throws -> Void, String) in [
            ({ try Data("no zip".utf8).write(to: URL(filePath: $0)) }, "$"),
            ({ try Self.zip(Data(contentsOf: URL(filePath: rejected)), to: $0) }, "$.paths.nodes[0].mapId"),
            ({ try Self.zip(Self.document(id: 2, version: 3), to: $0) }, "$.id"),
            ({ try Self.zip(Self.document(id: 1, version: 4), to: $0) }, "$.version"),
            ({ try Self.zip(Self.document(id: 1, version: 2), to: $0) }, "$.version"),
        ] {
            let root = try rootWithPacket(make)
            let server = try nginx(serving: root)
            let cache = try temporaryFolder()
            let repository = VenueRepository(cache: cache, server: try VenueServer(server.url()))
            let error = await repositoryError { try await repository.venue(1) }
            guard case .brokenPacket(_, let problems) = error else {
                return XCTFail("\(path): \(String(describing: error))")
            }
            XCTAssertTrue(problems.contains { $0.path == path }, "\(path): \(problems)")
            XCTAssertEqual(error.map { LocalizationError($0).code }, .generic)
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: cache + "/venues"), [])
        }
    }

    /// A packet's document, with the files of a sample venue.
    private static func document(id: Int, version: Int) throws -> Data {
        let map = VenueMap(
            id: 1, name: "Ground", level: 0, width: 10, height: 10, imagePath: "plans/ground.png",
            tilesPath: "tiles.zip")
        let venue = Venue(id: VenueID(rawValue: id), name: "Kiosk", version: version, maps: [map])
        return Data(try VenuePacketWriter().document(of: venue))
    }

    /// A zip with that document alone.
    private static func zip(_ document: Data, to path: String) throws {
        let script =
            "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr('venue.json', sys.stdin.buffer.read())"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path]
        let input = Pipe()
        process.standardInput = input
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: document)
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func testAnUnchangedPacketWithAHigherVersionIsReported() async throws {
        let root = try publishedFolder()
        let server = try nginx(serving: root)
        let (cache, address) = (try temporaryFolder(), try VenueServer(server.url()))
        _ = try await VenueRepository(cache: cache, server: address).venue(1)
        let catalogue = try String(contentsOf: URL(filePath: root + "/catalogue.json"), encoding: .utf8)
        try write(["catalogue.json": catalogue.replacing("\"version\":3", with: "\"version\":10")], to: root)
        let errors = try await reportedErrors(of: VenueRepository(cache: cache, server: address)) { repository in
            _ = try await repository.catalogue()
            try assertWhole(try await repository.venue(1), version: 3)
        }
        XCTAssertTrue(errors.first?.cause?.contains("is still version 3") ?? false, "\(errors)")
        XCTAssertEqual(try server.stopAndTellRequests().last?.status, 304)
    }
}
