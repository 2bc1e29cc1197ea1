import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import VenuePackets
import XCTest

@testable import indoorloc

/// The document that a page edits.
final class EditedVenueFileTests: XCTestCase {
    /// Counts the times that the document is read.
    private final class Reads: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func read(_ file: String, below folder: String) throws(BoundedFileError) -> [UInt8] {
            number.withLock { $0 += 1 }
            return try BoundedFile.read(file, below: folder, limit: EditedVenueFile.limit)
        }
    }

    func testPlansNeedNoReadingOfAnUnchangedDocument() async throws {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        let reads = Reads()
        let file = try EditedVenueFile(packet: folder) { file, folder throws(BoundedFileError) in
            try reads.read(file, below: folder)
        }
        let first = try await file.shownVenue()
        XCTAssertEqual(first?.name, "Office")
        let count = reads.count
        for _ in 0..<100 {
            let venue = try await file.shownVenue()
            XCTAssertEqual(venue, first)
        }
        XCTAssertEqual(reads.count, count)
        // A change by another program, in place and with the same size.
        let path = folder + "/venue.json"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try Data(text.replacing("\"Office\"", with: "\"Bureau\"").utf8).write(to: URL(filePath: path))
        let changed = try await file.shownVenue()
        XCTAssertEqual(changed?.name, "Bureau")
        XCTAssertEqual(reads.count, count + 1)
        // As saving replaces it.
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        let saved = try await file.shownVenue()
        XCTAssertEqual(saved?.name, "Office")
        try FileManager.default.removeItem(atPath: path)
        do {
            _ = try await file.shownVenue()
            XCTFail("there is no document")
        } catch { XCTAssertTrue("\(error)".contains("No such file or directory"), "\(error)") }
    }

    /// The page shows the problems of `check`, so that a person who begins with an image learns what is missing.
    func testAPlanWithoutAnInsideIsAProblem() async throws {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        let file = try EditedVenueFile(packet: folder)
        func problems() async throws -> [String] {
            let edition = try await file.edition()
            return await file.check(edition).problems.map(\.message).filter { $0.contains("inside of the building") }
        }
        let whole = try await problems()
        XCTAssertEqual(whole, [])
        let path = folder + "/venue.json"
        let data = try Data(contentsOf: URL(filePath: path))
        var document = try XCTUnwrap(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        document["rooms"] = nil
        document["maps"] = (document["maps"] as? [[String: Any]])?.map { map in
            map.filter { !["walls", "walkable"].contains($0.key) }
        }
        try JSONSerialization.data(withJSONObject: document).write(to: URL(filePath: path))
        let empty = try await problems()
        XCTAssertEqual(empty.count, document["maps"].flatMap { $0 as? [Any] }?.count)
        XCTAssertTrue(empty.first?.contains("add rooms, walls or walkable areas") ?? false)
    }
}
