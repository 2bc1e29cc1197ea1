import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// A process that adopts radio maps and takes them back is killed before each operation on files.
final class SurveyedPacketFaultTests: XCTestCase {
    func testAKillBeforeAnyOperationLeavesAValidPacket() throws {
        let map = VenueMap(id: 1, name: "Ground", level: 0, width: 20, height: 10)
        let venue = Venue(id: 9, name: "House", version: 1, maps: [map])
        let program = URL(filePath: try Tool.path()).deletingLastPathComponent().appending(path: "KilledProcess")
        var found: Set<Int> = []
        for operation in ["open", "write", "sync", "rename"] {
            // Two rounds of an adoption, which writes three files, and a return, which writes two.
            for number in 1...10 {
                let folder = try temporaryFolder() + "/packet"
                try VenuePacketWriter().write(venue, toFolder: folder)
                let faults = try FaultyFiles(in: try temporaryFolder(), "\(operation) KILL \(number) /packet")
                let variables = faults.environment.map { "\($0.key)=\($0.value)" }
                _ = try Tool.run(variables + [program.path, "editions", folder, "20"], program: "/usr/bin/env")
                let context = "\(operation) \(number): \(faults.failures)"
                XCTAssertEqual(faults.failures.count, 1, context)
                let packet = SurveyedPacket(folder: folder)
                let edition = try packet.current
                XCTAssertEqual(edition.previous == nil, edition.venue.radioMap == nil, context)
                XCTAssertEqual(try packet.unsurveyed, venue, context)
                found.insert(edition.venue.version)
                // It can be changed on.
                let radioMap = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
                let next = try packet.adopt(radioMap, after: edition.venue)
                XCTAssertGreaterThan(next.venue.version, edition.venue.version, context)
                XCTAssertEqual(try packet.takeBack(from: next.venue), edition, context)
            }
        }
        XCTAssertGreaterThan(found.count, 1, "kills before and after the replacement of the document")
    }

    func testAFolderOrADiskThatCannotBeWrittenStaysAsItIs() throws {
        let map = VenueMap(id: 1, name: "Ground", level: 0, width: 20, height: 10)
        let program = URL(filePath: try Tool.path()).deletingLastPathComponent().appending(path: "KilledProcess")
        for (plan, reason) in [
            ("open EROFS -1 /packet", "Read-only file system"), ("write ENOSPC -1 /packet", "No space left on device"),
            ("sync EIO -1 /packet/", "Input/output error"), ("rename EIO -1 venue.json", "Input/output error"),
        ] {
            let folder = try temporaryFolder() + "/packet"
            try VenuePacketWriter().write(Venue(id: 9, name: "House", version: 1, maps: [map]), toFolder: folder)
            let before = try Data(contentsOf: URL(filePath: folder + "/venue.json"))
            let faults = try FaultyFiles(in: try temporaryFolder(), plan)
            let variables = faults.environment.map { "\($0.key)=\($0.value)" }
            let result = try Tool.run(variables + [program.path, "editions", folder, "1"], program: "/usr/bin/env")
            XCTAssertTrue(result.errors.contains("The packet can't be written"), "\(plan): \(result.errors)")
            XCTAssertTrue(result.errors.contains(reason), "\(plan): \(result.errors)")
            XCTAssertEqual(try Data(contentsOf: URL(filePath: folder + "/venue.json")), before, plan)
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["venue.json"], plan)
        }
    }
}
