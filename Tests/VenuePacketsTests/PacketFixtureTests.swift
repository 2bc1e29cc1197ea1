import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// Reads every packet of Fixtures/packets; the folder's name describes its special feature.
final class PacketFixtureTests: XCTestCase {
    func testEveryAcceptedPacketIsReadWithTheExpectedWarnings() throws {
        for packet in try packets(in: "packets/accepted") {
            let read = try VenuePacketReader().read(packet)
            XCTAssertEqual(read.warnings.map(Self.line), try expected(of: packet, orElse: []), packet)
        }
    }

    func testEveryRejectedPacketHasExactlyTheExpectedProblems() throws {
        for packet in try packets(in: "packets/rejected") {
            let expected = try expected(of: packet)
            XCTAssertThrowsError(try VenuePacketReader().read(packet), packet) { error in
                let problems = (error as? VenuePacketError)?.problems ?? []
                XCTAssertEqual(problems.map(Self.line).sorted(), expected.sorted(), packet)
            }
            XCTAssertEqual(VenuePacketReader().check(packet).map(Self.line).sorted(), expected.sorted(), packet)
        }
    }

    func testEveryProblemNamesItsRemedy() throws {
        for packet in try packets(in: "packets/rejected") {
            for problem in VenuePacketReader().check(packet) where problem.path != "$" {
                XCTAssertTrue(problem.message.contains(";"), "\(packet): \(problem)")
            }
        }
    }

    func testAChangedDocumentIsReadOrRefusedButNeverTraps() throws {
        let seed: UInt64 = 77
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let file = try FixtureFolder("packets/accepted/every-field").file("venue.json")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        let replacements = Array("{}[]\",:-.e0919NaN\\tn ".utf8)
        for round in 0..<1_500 {
            var changed = bytes
            for _ in 0...round % 4 {
                let index = Int.random(in: changed.indices, using: &random)
                changed[index] = replacements[Int.random(in: replacements.indices, using: &random)]
            }
            let (venue, problems) = VenuePacketReader.parse(changed)
            XCTAssertTrue(venue != nil || !problems.isEmpty, "round \(round) of seed \(seed)")
        }
    }

    func testADocumentThatIsTooLargeIsRefused() throws {
        let folder = try temporaryFolder()
        try write(["venue.json": String(repeating: " ", count: (16 << 20) + 1)], to: folder)
        let problems = VenuePacketReader().check(folder)
        XCTAssertEqual(problems.map(\.path), ["$"])
        XCTAssertTrue(problems.first?.message.contains("more than the limit of 16777216") ?? false, "\(problems)")
    }

    func testAMissingPacketIsRefused() {
        XCTAssertEqual(VenuePacketReader().check("/nowhere/at all").map(\.path), ["$"])
    }

    /// Public data sets are kept beside the repository, not in it.
    func testEveryDataSetBesideTheRepositoryIsReadWithoutErrors() throws {
        let fixtures = URL(filePath: try FixtureFolder("packets").path)
        let data = fixtures.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "shared/data").path
        guard FileManager.default.fileExists(atPath: data) else {
            print("testEveryDataSetBesideTheRepositoryIsReadWithoutErrors: no \(data), no data set was read")
            return
        }
        let packets = try FileManager.default.contentsOfDirectory(atPath: data).map { data + "/" + $0 }
            .filter { FileManager.default.fileExists(atPath: $0 + "/venue.json") }
        XCTAssertFalse(packets.isEmpty, "\(data) holds no venue.json")
        for packet in packets.sorted() {
            XCTAssertEqual(VenuePacketReader().check(packet).filter { $0.severity == .error }, [], packet)
        }
        print("testEveryDataSetBesideTheRepositoryIsReadWithoutErrors: read \(packets.count) data sets")
    }

    private static func line(_ problem: VenueProblem) -> String { "\(problem.severity.rawValue) \(problem.path)" }

    private func packets(in name: String) throws -> [String] {
        let folder = try FixtureFolder(name).path
        let packets = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
        XCTAssertFalse(packets.isEmpty, folder)
        return packets
    }

    private func expected(of packet: String, orElse standard: [String]? = nil) throws -> [String] {
        let file = packet + "/expected.txt"
        if let standard, !FileManager.default.fileExists(atPath: file) { return standard }
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }
}
