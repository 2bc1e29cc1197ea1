import IndoorLocalization
import XCTest
@testable import MQTTSharing

/// The name of a process among several processes, without a broker.
final class ProcessPresenceTests: XCTestCase {
    /// A broker that delivers each message to all processes that have subscribed, in one order.
    private struct Stage {
        var processes: [ProcessPresence]
        /// The messages for each process.
        var waiting: [[MQTTMessage]]
        var published: [MQTTMessage] = []

        init(_ numbers: [UInt64]) {
            processes = numbers.map { ProcessPresence(topic: "a/fleets/b", status: "status", number: $0) }
            waiting = numbers.map { _ in [] }
        }

        mutating func connect(_ index: Int) { perform(processes[index].accepted()) }
        mutating func decide(_ index: Int) { perform(processes[index].decide()) }

        /// Delivers the oldest message for a process; returns false if none waits.
        mutating func deliver(to index: Int) -> Bool {
            guard !waiting[index].isEmpty else { return false }
            perform(processes[index].receive(waiting[index].removeFirst()))
            return true
        }

        mutating func deliverAll() {
            while processes.indices.reduce(false, { deliver(to: $1) || $0 }) {}
        }

        private mutating func perform(_ operations: [MQTTLink.Operation]) {
            for case .publish(let message) in operations {
                published.append(message)
                var received = message
                received.isRetained = false
                for index in processes.indices where processes[index].standing != .disconnected {
                    waiting[index].append(received)
                }
            }
        }

        var standings: [ProcessPresence.Standing] { processes.map(\.standing) }
    }

    func testOfTwoProcessesThatAskAtTheSameTimeTheFirstGetsTheName() {
        for numbers: [UInt64] in [[1, 2], [2, 1]] {
            var stage = Stage(numbers)
            stage.connect(0)
            stage.connect(1)
            stage.deliverAll()
            stage.decide(0)
            stage.decide(1)
            stage.deliverAll()
            XCTAssertEqual(stage.standings, [.present, .refused])
            XCTAssertEqual(
                stage.published.filter { $0.topic == "a/fleets/b/status" }.map(\.payload), [Array("online".utf8)])
        }
    }

    func testAProcessGetsTheNameOfOneThatDoesNotAnswer() {
        var stage = Stage([1, 2])
        stage.connect(0)
        stage.deliverAll()
        stage.decide(0)
        stage.connect(1)
        // Process 0 hangs.
        while stage.deliver(to: 1) {}
        stage.decide(1)
        XCTAssertEqual(stage.processes[1].standing, .present)
        // It continues, and one of both leaves.
        stage.deliverAll()
        XCTAssertEqual(stage.standings.filter { $0 == .present }.count, 1, "\(stage.standings)")
        XCTAssertEqual(stage.standings.filter { $0 == .refused }.count, 1, "\(stage.standings)")
    }

    func testAProcessRestatesItsStatusWhenAnotherOneAppears() {
        var process = ProcessPresence(topic: "a/fleets/b", status: "status", number: 1)
        XCTAssertEqual(process.receive(process.offline).count, 0, "without a connection")
        _ = process.accepted()
        _ = process.decide()
        var other = process.offline
        XCTAssertEqual(process.receive(other).count, 0, "a retained status is older than the connection")
        other.isRetained = false
        guard case .publish(let message)? = process.receive(other).first else { return XCTFail("no message") }
        XCTAssertEqual(message, process.restatement)
        var own = process.restatement
        own.isRetained = false
        XCTAssertEqual(process.receive(own).count, 0)
    }

    func testAllConnectionsOfAProcessHaveOneClientID() {
        var process = ProcessPresence(topic: "a/fleets/b", status: "status", number: .max)
        let id = process.clientID
        XCTAssertLessThanOrEqual(id.count, 23)
        _ = process.accepted()
        process.disconnected()
        _ = process.accepted()
        XCTAssertEqual(process.clientID, id)
        XCTAssertNotEqual(ProcessPresence(topic: "a", status: "b").clientID, id)
    }
}

/// The limit of the tracked devices, and the devices that are forgotten first.
final class PresenceTrackerTests: XCTestCase {
    /// Adds devices in a room, numbered from 0.
    private func flood(
        _ tracker: inout PresenceTracker, _ count: Int, _ name: String = "junk", rooms: Set<String> = ["junk"],
        near: Set<String> = ["hall"]
    ) throws {
        for number in 0..<count {
            _ = tracker.update(try DeviceID("\(name)-\(number)"), in: rooms, near: near)
        }
    }

    func testANewcomerHasAPlaceAfterAnyNumberOfDevices() throws {
        var tracker = PresenceTracker()
        try flood(&tracker, 20_000)
        XCTAssertLessThanOrEqual(tracker.deviceCount, PresenceTracker.mostDevices)
        XCTAssertEqual(tracker.count(in: "junk"), tracker.deviceCount)
        let change = tracker.update(try DeviceID("fork"), in: ["hall"], near: ["hall"])
        XCTAssertEqual(change.entered, ["hall"])
        XCTAssertEqual(tracker.count(in: "hall"), 1)
        XCTAssertEqual(tracker.deviceCount + tracker.forgottenCount, 20_001)
    }

    func testDevicesInTheOwnRoomsAndVerifiedDevicesAreKept() throws {
        var tracker = PresenceTracker()
        _ = tracker.update(try DeviceID("near"), in: ["hall"], near: ["hall"])
        _ = tracker.update(try DeviceID("signed"), in: ["yard"], isVerified: true, near: ["hall"])
        try flood(&tracker, 20_000)
        XCTAssertEqual(tracker.count(in: "hall"), 1)
        XCTAssertEqual(tracker.count(in: "yard"), 1)
        // Forged devices in the own room displace unverified devices, but no verified one.
        try flood(&tracker, 20_000, "near", rooms: ["hall"])
        XCTAssertEqual(tracker.count(in: "yard"), 1)
    }

    func testDevicesThatSentMessagesAreKeptLonger() throws {
        var tracker = PresenceTracker()
        let active = try DeviceID("active")
        _ = tracker.update(active, in: ["hall", "active"], near: ["hall"])
        for _ in 0..<15 {
            try flood(&tracker, 1000, "near-\(Int.random(in: .min ... .max))", rooms: ["hall"])
            tracker.touch(active)
        }
        XCTAssertEqual(tracker.count(in: "active"), 1)
    }

    func testTheRoomsOfAllDevicesTogetherAreLimited() throws {
        var tracker = PresenceTracker()
        let rooms = Set((0..<64).map { "room \($0)" })
        try flood(&tracker, 2000, rooms: rooms)
        XCTAssertLessThanOrEqual(tracker.count(in: "room 1") * 64, PresenceTracker.mostRooms)
        XCTAssertEqual(tracker.count(in: "room 1"), tracker.deviceCount)
        for number in 0..<2000 { _ = tracker.update(try DeviceID("junk-\(number)"), in: nil) }
        XCTAssertEqual([tracker.deviceCount, tracker.count(in: "room 1")], [0, 0])
    }
}
