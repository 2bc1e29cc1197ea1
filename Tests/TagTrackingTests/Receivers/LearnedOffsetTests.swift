import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import XCTest

/// Positions with the engine, with and without learned offsets.
final class LearnedOffsetTests: XCTestCase {
    private struct Result {
        /// The mean error in metres of the positions near the receiver in the last minutes, and of all.
        var near = 0.0
        var all = 0.0
        var offset = 0.0
        /// The largest offset of the other receivers in dB, without its sign.
        var others = 0.0
        /// The time in seconds until the offset was below -2.5 dB; nil if it never was.
        var corrected: Int?
        /// The changes of receivers' health.
        var events: [ReceiverEvent] = []
    }

    private static let tagCount = 12

    private func run(learning: Bool, offset: Double = -8, seconds: Int = 200) -> Result {
        let hall = FleetHall(columns: 4, rows: 3, spacing: 9)
        var settings = SimulatedFleetSettings()
        settings.tagCount = Self.tagCount
        settings.receiverOffsets = [5: offset]
        var fleet = SimulatedFleet(venue: hall.venue, settings: settings, start: FleetHall.start)
        var classes = FleetHall.settings
        classes.classes["standard"]?.positionInterval = .seconds(2)
        var machine = FleetMachine(venue: hall.venue, settings: classes, seed: 1)
        var monitor = ReceiverMonitor(venue: hall.venue)
        let place = hall.venue.receivers[5].point
        var (near, all, result) = ([Double](), [Double](), Result())
        for second in 1...seconds {
            let now = FleetHall.at(Double(second))
            let readings = fleet.readings(until: now)
            // Without learning, the time before the measured part only needs the last positions.
            guard learning || second > seconds / 2 - 10 else { continue }
            for reading in readings { machine.observe(TagReading(reading, in: hall.venue)) }
            for output in machine.advance(to: now) {
                guard let position = output.position, second > seconds / 2,
                    let tag = (0..<Self.tagCount).first(where: { FleetHall.key($0) == output.tag })
                else { continue }
                let truth = fleet.place(of: tag).point
                all.append(position.point.distance(to: truth))
                if truth.distance(to: place) < 8 { near.append(position.point.distance(to: truth)) }
            }
            monitor.observe(machine.takeReceiverEvidence())
            result.events += monitor.advance(to: now)
            if learning { machine.receiverOffsets = monitor.offsets }
            if result.corrected == nil, monitor.offsets[5] < -2.5 { result.corrected = second }
        }
        result.near = near.reduce(0, +) / Double(max(near.count, 1))
        result.all = all.reduce(0, +) / Double(max(all.count, 1))
        result.offset = monitor.offsets[5]
        result.others = monitor.offsets.enumerated().filter { $0.offset != 5 }.map { abs($0.element) }.max() ?? 0
        return result
    }

    func testLearningCorrectsAReceiverThatMeasures8DecibelsLess() {
        let plain = run(learning: false)
        let learned = run(learning: true)
        XCTAssertEqual(plain.events + learned.events, [])
        let figures = "without learning: \(plain); with learning: \(learned)"
        XCTAssertLessThan(learned.corrected ?? .max, 160, figures)
        XCTAssertLessThan(learned.others, 2, figures)
        XCTAssertLessThan(learned.near, 0.95 * plain.near, figures)
        XCTAssertLessThan(learned.all, plain.all, figures)
    }

    /// The loud receiver pulls the positions that its offset is learned from.
    func testAReceiverThatMeasures15DecibelsMoreIsNamedWithinSeventySeconds() throws {
        let result = run(learning: true, offset: 15, seconds: 90)
        print("15 dB more: \(result)")
        let event = try XCTUnwrap(result.events.first, "\(result)")
        XCTAssertEqual(event.receiver, FleetHall(columns: 4, rows: 3, spacing: 9).venue.receivers[5].id)
        XCTAssertEqual(event.health, .miscalibrated)
        XCTAssertLessThanOrEqual(event.instant, FleetHall.at(70), "\(result)")
        XCTAssertEqual(result.events.count, 1, "\(result)")
        XCTAssertGreaterThan(result.offset, 7, "\(result)")
    }
}
