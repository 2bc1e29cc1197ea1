import FoundationEssentials
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// Reads every packet of Fixtures/packets; the folder's name tells what is special about it.
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

    func testEveryProblemSaysWhatToDo() throws {
        for packet in try packets(in: "packets/rejected") {
            for problem in VenuePacketReader().check(packet) where problem.path != "$" {
                XCTAssertTrue(problem.message.contains(";"), "\(packet): \(problem)")
            }
        }
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
