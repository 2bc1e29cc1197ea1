import Foundation
import IndoorLocalization
import Synchronization
import XCTest

@testable import VenuePackets

final class SessionMemoryStoreTests: XCTestCase {
    private let memory = SessionMemory(
        stay: SessionMemory.Stay(
            venueID: 1, venueVersion: 2,
            places: [
                SessionMemory.Place(
                    mapID: 3, probability: 0.1 + 0.2, point: MapPoint(x: 1.0 / 3, y: -0.1), varianceX: 1e-7,
                    varianceY: 4)
            ], rooms: [.init(id: 4)], geofences: [.init(id: "café \"\n")]),
        calibration: Calibration(), age: .milliseconds(1250))

    private func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/memory-\(UUID().uuidString)"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// A clock that returns the moments in order, and then the last one forever.
    private func clock(_ times: MachineTime...) -> MachineClock {
        let left = ClockHands(times)
        return MachineClock { left.next() }
    }

    private final class ClockHands: Sendable {
        private let times: Mutex<[MachineTime]>
        init(_ times: [MachineTime]) { self.times = Mutex(times) }
        func next() -> MachineTime { times.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    func testAMemoryIsIdenticalAfterWritingAndReading() throws {
        let store = try SessionMemoryStore(folder: try folder())
        XCTAssertEqual(store.read(), .none)
        let start = ContinuousClock.now
        try store.write(memory)
        guard case .memory(let read, let age) = store.read() else { return XCTFail("\(store.read())") }
        XCTAssertEqual(read, memory)
        // The uptime is a number of seconds, which rounds the clock's nanoseconds.
        XCTAssertTrue(age >= .zero && age < start.duration(to: .now) + .seconds(1), "\(age)")
        let names = try FileManager.default.contentsOfDirectory(atPath: store.folder)
        XCTAssertEqual(names, ["memory.json"])
    }

    func testALinkAtThePathOfTheNewMemoryIsNotFollowed() throws {
        let store = try SessionMemoryStore(folder: try folder())
        let victim = try folder()
        try Data("precious".utf8).write(to: URL(filePath: victim))
        for (index, destination) in [victim, "/nowhere/at/all"].enumerated() {
            try FileManager.default.createSymbolicLink(atPath: store.path + ".new", withDestinationPath: destination)
            try store.write(memory)
            guard case .memory(let read, _) = store.read() else { return XCTFail("\(index): \(store.read())") }
            XCTAssertEqual(read, memory)
        }
        XCTAssertEqual(try String(contentsOf: URL(filePath: victim), encoding: .utf8), "precious")
        let attributes = try FileManager.default.attributesOfItem(atPath: store.path)
        XCTAssertEqual(attributes[.type] as? FileAttributeType, .typeRegular)
        XCTAssertEqual(attributes[.posixPermissions] as? Int, 0o600)
    }

    func testTheLeftoverOfAKilledProcessIsReplaced() throws {
        let store = try SessionMemoryStore(folder: try folder())
        try Data(repeating: 65, count: 1 << 20).write(to: URL(filePath: store.path + ".new"))
        try store.write(memory)
        guard case .memory(let read, _) = store.read() else { return XCTFail("\(store.read())") }
        XCTAssertEqual(read, memory)
    }

    func testTheAgeIsTheUptimeDifferenceUnlessTheMachineWasRestarted() throws {
        let written = MachineTime(seconds: 1000, boot: "a", uptime: 50)
        let cases: [(MachineTime, Duration)] = [
            (MachineTime(seconds: 999_999, boot: "a", uptime: 80), .seconds(30)),  // the clock was set
            (MachineTime(seconds: 10, boot: "a", uptime: 80), .seconds(30)),
            (MachineTime(seconds: 1300, boot: "b", uptime: 20), .seconds(300)),  // started anew
            (MachineTime(seconds: 900, boot: "b", uptime: 20), SessionMemoryStore.unknownAge),  // not set yet
            (MachineTime(seconds: 1300, boot: "", uptime: 80), .seconds(300)),
        ]
        for (now, expected) in cases {
            let path = try folder()
            let store = try SessionMemoryStore(folder: path, clock: clock(written, now))
            try store.write(memory)
            XCTAssertEqual(store.read(), .memory(memory, age: expected), "\(now)")
        }
    }

    func testAnUnusableFileIsSetAside() throws {
        let good = #""format":"indoor-localization-memory","savedAt":5,"#
        for (text, words) in [
            ("", "is empty"), ("[]", "not a session memory"), ("{", "not JSON"), ("\u{0}\u{1}", "not JSON"),
            (#"{"format":"indoor-localization-venue","version":1}"#, "not a session memory"),
            ("{\(good)\"version\":2}", "version 2, written by a newer program; this one reads version 1"),
            ("{\(good)\"version\":\"1\"}", "\"version\""),
            (#"{"format":"indoor-localization-memory","version":1}"#, "savedAt"),
            ("{\(good)\"version\":1}", "memory must be an object"),
            ("{\(good)\"version\":1,\"memory\":{\"age\":1e999}}", "not a session memory"),
        ] {
            let store = try SessionMemoryStore(folder: try folder())
            try Data(text.utf8).write(to: URL(filePath: store.path))
            guard case .unusable(let reason, let path?) = store.read() else {
                XCTFail("\(text): \(store.read())")
                continue
            }
            XCTAssertTrue(reason.contains(words), "\(text): \(reason)")
            XCTAssertFalse(reason.contains("correct it"), "it is set aside, so there is nothing to do: \(reason)")
            XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), Data(text.utf8))
            XCTAssertEqual(store.read(), .none)
            try store.write(memory)
            guard case .memory = store.read() else { return XCTFail(text) }
        }
    }

    func testTheErrorOfAnUnreadableFileHasTheSystemsReason() throws {
        let store = try SessionMemoryStore(folder: try folder())
        try FileManager.default.createDirectory(atPath: store.path, withIntermediateDirectories: false)
        guard case .unusable(let reason, _) = store.read() else { return XCTFail("a folder is no memory") }
        XCTAssertEqual(reason, "\(store.path): cannot be read: Is a directory")
    }

    func testAFileThatIsTooLongIsSetAside() throws {
        let store = try SessionMemoryStore(folder: try folder())
        try Data(count: 16_777_217).write(to: URL(filePath: store.path))
        guard case .unusable(let reason, _?) = store.read() else { return XCTFail("it was taken") }
        XCTAssertTrue(reason.contains("larger than the limit of"), reason)
    }

    func testATruncatedFileIsSetAside() throws {
        let store = try SessionMemoryStore(folder: try folder())
        try store.write(memory)
        let bytes = try Data(contentsOf: URL(filePath: store.path))
        for count in stride(from: 0, to: bytes.count - 2, by: 7) {
            try bytes.prefix(count).write(to: URL(filePath: store.path))
            guard case .unusable = store.read() else { return XCTFail("\(count) of \(bytes.count) bytes") }
        }
    }

    func testOneStoreAtATimeUsesAFolder() throws {
        let path = try folder()
        var store: SessionMemoryStore? = try SessionMemoryStore(folder: path)
        XCTAssertThrowsError(try SessionMemoryStore(folder: path)) { error in
            XCTAssertEqual(error as? SessionMemoryStoreError, .inUse(folder: path))
        }
        XCTAssertNotNil(store)
        store = nil
        XCTAssertNoThrow(try SessionMemoryStore(folder: path))
    }

    func testAFailedWriteKeepsTheEarlierMemory() throws {
        let store = try SessionMemoryStore(folder: try folder())
        try store.write(memory)
        // A folder is at the path of the new file.
        try FileManager.default.createDirectory(
            atPath: store.path + ".new/inside", withIntermediateDirectories: true)
        XCTAssertThrowsError(try store.write(SessionMemory())) { error in
            guard case .storage(let path, _)? = error as? SessionMemoryStoreError else { return XCTFail("\(error)") }
            XCTAssertEqual(path, store.path + ".new")
        }
        guard case .memory(memory, _) = store.read() else { return XCTFail("\(store.read())") }
    }

    func testAFolderThatCannotBeCreatedIsReported() throws {
        XCTAssertThrowsError(try SessionMemoryStore(folder: "/dev/null/indoorloc")) { error in
            XCTAssertTrue("\(error)".contains("/dev/null/indoorloc cannot be used"), "\(error)")
        }
    }
}
