import MQTTSharing
import XCTest

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
