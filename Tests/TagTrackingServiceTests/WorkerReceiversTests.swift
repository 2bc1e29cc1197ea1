import IndoorLocalization
import TagTracking
import TagTrackingService
import XCTest

/// The receivers of a fleet as two workers observe them, each with the evidence of its own tags.
final class WorkerReceiversTests: XCTestCase {
    private static let venue = Venue(
        id: 1, name: "Hall", maps: [VenueMap(id: 1, name: "Floor", level: 0, width: 40, height: 20)],
        receivers: (0..<4).map { index in
            VenueReceiver(
                id: "gateway-\(index)",
                identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 0, minor: UInt16(index)), mapID: 1,
                point: MapPoint(x: 5 + 10 * Double(index), y: 10))
        })

    private static func instant(_ seconds: Int) -> Instant { Instant(seconds: 1_800_000_000 + Double(seconds)) }

    private let workers = [WorkerReceivers(venue: venue), WorkerReceivers(venue: venue)]

    private func exchange() {
        let snapshots = workers.map(\.snapshot)
        workers[0].setOthers([snapshots[1]])
        workers[1].setOthers([snapshots[0]])
    }

    /// Runs from one second to another, and returns the events of each worker as `RECEIVER HEALTH`.
    private func run(_ seconds: Range<Int>, receivers: [Set<Int>]) -> [[String]] {
        var events: [[String]] = [[], []]
        for second in seconds where second.isMultiple(of: 5) {
            for (index, worker) in workers.enumerated() {
                var evidence = ReceiverEvidence()
                for receiver in receivers[index] { evidence.addMessage(of: receiver, at: Self.instant(second)) }
                worker.observe(evidence)
            }
            exchange()
            for (index, worker) in workers.enumerated() {
                events[index] += worker.advance(to: Self.instant(second)).map { "\($0.receiver) \($0.health)" }
            }
        }
        return events
    }

    func testBothWorkersReportTheSilenceOfAReceiverThatOneOfThemObserves() {
        XCTAssertEqual(run(0..<300, receivers: [[0, 1], [2, 3]]), [[], []])
        let silent = run(300..<900, receivers: [[0, 1], [2]])
        XCTAssertEqual(silent, [["gateway-3 silent"], ["gateway-3 silent"]])
        // The other worker observes the receiver when it sends again.
        let healthy = run(900..<960, receivers: [[0, 1, 3], [2]])
        XCTAssertEqual(healthy, [["gateway-3 healthy"], ["gateway-3 healthy"]])
        XCTAssertEqual(workers.map { $0.health(of: "gateway-2") }, [.healthy, .healthy])
    }

    func testAWorkerWithoutTagsUsesTheOffsetsThatTheOtherOneLearns() {
        var evidence = ReceiverEvidence()
        for tag in 1...20 as ClosedRange<UInt64> {
            for second in 0..<20 {
                evidence.add(
                    ReceiverEvidence.Sample(
                        tag: tag, instant: Self.instant(second), mapID: 1, point: MapPoint(x: 20, y: 10),
                        isStanding: false,
                        links: (0..<4).map { receiver in
                            ReceiverEvidence.Sample.Link(
                                receiver: receiver, rssi: receiver == 2 ? -76 : -66, count: 4, isHeard: true,
                                expected: -66, common: -66)
                        }))
            }
        }
        workers[0].observe(evidence)
        exchange()
        for worker in workers { _ = worker.advance(to: Self.instant(25)) }
        XCTAssertLessThan(workers[0].offsets[2], -5)
        for (first, second) in zip(workers[0].offsets, workers[1].offsets) {
            XCTAssertEqual(first, second, accuracy: 0.1)
        }
    }

    func testADamagedStateOfAnotherWorkerIsLeftOut() {
        workers[0].setOthers([[1, 2, 3]])
        XCTAssertEqual(workers[0].advance(to: Self.instant(0)), [])
    }
}
