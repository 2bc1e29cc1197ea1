import Foundation
import Glibc
import IndoorLocalization
import IndoorLocalizationTesting
import TemporaryFiles
import TextFormats
import VenuePackets
import XCTest

/// Editions of a packet with radio maps, which are adopted and taken back.
final class SurveyedPacketTests: XCTestCase {
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    /// A radio map with one fingerprint.
    private func map(_ power: Double = -60) -> RadioMap {
        RadioMap(
            beacons: [.init(identity: Self.beacon, mapID: 1, point: MapPoint(x: 2, y: 3), power: power)],
            fingerprints: [
                .init(
                    mapID: 1, point: MapPoint(x: 4, y: 5), duration: 2,
                    readings: [.init(beacon: 0, rssi: -70, count: 4)])
            ], pathLossExponent: 2)
    }

    /// A packet of version 3 without a radio map.
    private func packet() throws -> String {
        let folder = try temporaryFolder() + "/packet"
        var venue = Venue(
            id: 9, name: "House", version: 3, maps: [VenueMap(id: 1, name: "Ground", level: 0, width: 20, height: 10)])
        venue.beacons = [VenueBeacon(identity: Self.beacon, mapID: 1, point: MapPoint(x: 2, y: 3))]
        try VenuePacketWriter().write(venue, toFolder: folder)
        return folder
    }

    private func venue(_ folder: String) throws -> Venue { try VenuePacketReader().read(folder).venue }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func text(_ folder: String) throws -> String {
        try String(contentsOf: URL(filePath: folder + "/venue.json"), encoding: .utf8)
    }

    private func problem(_ operation: () throws -> some Any) -> SurveyedPacket.Problem? {
        do { _ = try operation() } catch { return error as? SurveyedPacket.Problem }
        return nil
    }

    func testAnAdoptedMapIsTheNextEditionAndTheEarlierOneStaysBesideIt() throws {
        let folder = try packet()
        let (packet, text) = (SurveyedPacket(folder: folder), try text(folder))
        let edition = try packet.adopt(map(), after: try venue(folder))
        XCTAssertEqual(edition.venue, try venue(folder))
        XCTAssertEqual(edition.venue.version, 4)
        XCTAssertEqual(edition.venue.radioMap?.beacons.first?.power, -60)
        XCTAssertEqual(edition.previous, 3)
        XCTAssertEqual(try packet.current, edition, "also after the next start")
        XCTAssertEqual(try packet.unsurveyed.version, 3)
        XCTAssertEqual(
            try String(contentsOf: URL(filePath: folder + "/venue-edition-3.json"), encoding: .utf8), text)
        XCTAssertEqual(try names(folder).count, 3)
    }

    func testTakingBackRestoresTheSameBytesAndNoVersionIsUsedTwice() throws {
        let folder = try packet()
        let (packet, text) = (SurveyedPacket(folder: folder), try text(folder))
        let first = try packet.adopt(map(), after: try venue(folder))
        let second = try packet.adopt(map(-50), after: first.venue)
        XCTAssertEqual(second.venue.version, 5)
        XCTAssertEqual(try packet.unsurveyed.version, 3)
        XCTAssertEqual(try packet.takeBack(), first)
        let original = try packet.takeBack()
        XCTAssertEqual(original.venue.version, 3)
        XCTAssertNil(original.previous)
        XCTAssertEqual(try self.text(folder), text)
        XCTAssertEqual(problem { try packet.takeBack() }, .hasNoEarlierEdition)
        XCTAssertEqual(try packet.adopt(map(), after: original.venue).venue.version, 6)
    }

    func testThePacketsOwnRadioMapIsRestored() throws {
        let folder = try packet()
        var venue = try venue(folder)
        venue.radioMap = map(-44)
        try VenuePacketWriter().write(venue, toFolder: folder)
        let packet = SurveyedPacket(folder: folder)
        _ = try packet.adopt(map(), after: venue)
        XCTAssertEqual(try packet.unsurveyed.radioMap?.beacons.first?.power, -44)
        XCTAssertEqual(try packet.takeBack().venue, venue)
    }

    func testADocumentThatAnotherProgramChangedIsNotReplaced() throws {
        let folder = try packet()
        let (packet, venue) = (SurveyedPacket(folder: folder), try venue(folder))
        let adopted = try packet.adopt(map(), after: venue)
        let changed = try text(folder).replacing("\"House\"", with: "\"Home\"")
        try Data(changed.utf8).write(to: URL(filePath: folder + "/venue.json"))
        XCTAssertEqual(problem { try packet.adopt(self.map(), after: adopted.venue) }, .isChanged)
        XCTAssertEqual(problem { try packet.takeBack() }, .hasNoEarlierEdition)
        XCTAssertEqual(try text(folder), changed)
        XCTAssertNil(try packet.current.previous)
        XCTAssertNil(try packet.unsurveyed.radioMap, "the map of the survey isn't part of the packet before it")
    }

    func testAPacketThatAnotherProgramSavesIsBusy() throws {
        let folder = try packet()
        let lock = try OpenFile(folder, O_RDONLY | O_DIRECTORY)
        XCTAssertTrue(lock.lock())
        let venue = try venue(folder)
        XCTAssertEqual(problem { try SurveyedPacket(folder: folder).adopt(self.map(), after: venue) }, .isBusy)
        withExtendedLifetime(lock) {}
    }

    func testAMapOfAnotherVenueIsRefused() throws {
        let folder = try packet()
        let venue = try venue(folder)
        var map = map()
        map.beacons[0].mapID = 5
        map.fingerprints[0].mapID = 5
        guard case .isInvalid = problem({ try SurveyedPacket(folder: folder).adopt(map, after: venue) }) else {
            return XCTFail("adopted")
        }
        XCTAssertEqual(try names(folder), ["venue.json"], "no file remains")
    }

    func testAFullDiskLeavesThePacketUnchanged() throws {
        let folder = try packet()
        let (packet, venue, text) = (SurveyedPacket(folder: folder), try venue(folder), try text(folder))
        // A limit of the size of files has the same effect as a full disk: a write ends in the middle.
        let earlier = signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        var reasons: [SurveyedPacket.Problem?] = []
        for size in [10, text.utf8.count + 20] {
            var small = limit
            small.rlim_cur = rlim_t(size)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
            reasons.append(problem { try packet.adopt(map(), after: venue) })
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        }
        signal(SIGXFSZ, earlier)
        for reason in reasons {
            XCTAssertTrue(
                reason?.description.contains("can't be written") == true
                    && reason?.description.contains("free") == true,
                "\(String(describing: reason))")
        }
        XCTAssertEqual(try names(folder), ["venue.json"])
        XCTAssertEqual(try self.text(folder), text)
    }
}

/// A process that adopts maps and takes them back is killed, and what it leaves is read.
final class SurveyedPacketKillTests: XCTestCase {
    /// Waits for bytes, also if a signal interrupts it.
    private static func read(_ pipe: Pipe) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var count = -1
        repeat {
            count = Glibc.read(pipe.fileHandleForReading.fileDescriptor, &bytes, bytes.count)
        } while count < 0 && errno == EINTR
        return Array(bytes.prefix(max(0, count)))
    }

    func testAKillAtAnyInstantLeavesAValidPacket() throws {
        let memory = "/dev/shm"
        let folder =
            FileManager.default.isWritableFile(atPath: memory)
            ? memory + "/surveyed-packet-\(UUID().uuidString)" : try temporaryFolder() + "/packet"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        let map = VenueMap(id: 1, name: "Ground", level: 0, width: 20, height: 10)
        try VenuePacketWriter().write(Venue(id: 9, name: "House", version: 1, maps: [map]), toFolder: folder)
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let program = tests.resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "KilledProcess")
        var random = SeededGenerator(seed: 4_711)
        var (versions, originals): (Set<Int>, Int) = ([], 0)
        for round in 0..<60 {
            let process = Process()
            process.executableURL = program
            process.arguments = ["editions", folder]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            // It has adopted a map and taken it back once it has printed two versions. The kill comes during the next two
            // changes.
            var told = Self.read(output)
            let start = ContinuousClock.now
            while told.count(where: { $0 == 10 }) < 3 {
                let more = Self.read(output)
                guard !more.isEmpty else { return XCTFail("it ended: \(String(decoding: told, as: UTF8.self))") }
                told += more
            }
            let change = start.duration(to: .now).seconds
            let microseconds = UInt32((change * 1e6 * Double.random(in: 0..<1, using: &random)).rounded())
            usleep(min(microseconds, 200_000))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let context = "round \(round), killed after \(microseconds) µs: \(String(decoding: told, as: UTF8.self))"
            XCTAssertEqual(process.terminationReason, .uncaughtSignal, context)
            let packet = SurveyedPacket(folder: folder)
            let edition = try packet.current
            XCTAssertEqual(try VenuePacketReader().read(folder).venue, edition.venue, context)
            XCTAssertEqual(edition.previous == nil, edition.venue.radioMap == nil, context)
            // The process states the earlier version as the duration of the only fingerprint.
            if let map = edition.venue.radioMap {
                XCTAssertEqual(map.fingerprints.first?.duration, Double(edition.previous ?? 0), context)
            }
            XCTAssertEqual(try packet.unsurveyed.version, 1, context)
            versions.insert(edition.venue.version)
            if edition.previous == nil { originals += 1 }
        }
        // Else the kills would prove nothing.
        XCTAssertGreaterThan(versions.count, 10)
        XCTAssertTrue((2...58).contains(originals), "\(originals) of 60 without a map")
    }
}
