import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import TagTracking

/// What a clock that is set, and a time in which no message can arrive, change about tags: nothing.
final class FleetTimeTests: XCTestCase {
    private let hall = FleetHall()
    private var model: FleetModel { FleetModel(venue: hall.venue, settings: FleetHall.settings) }

    /// An output without the time of the clock.
    private struct Output: Equatable {
        var tag: TagKey
        var sequence: UInt64
        var kind: String
        var instant: Instant
        var point: MapPoint?

        init(_ output: FleetOutput, after step: Duration) {
            (tag, sequence, kind) = (output.tag, output.sequence, output.kind)
            instant = output.instant.advanced(by: .zero - step)
            point = output.position?.point
        }
    }

    func testTagsAreAsOldAsBeforeAfterTheClockWasSet() throws {
        let readings = hall.readings(of: 5, seconds: 40)
        // Readings wait in the reorder window, and one tag has left.
        let end = 15.05
        var before = FleetMachine(model: model, epoch: 3, seed: 1)
        before.observe(FleetHall.reading(9, at: -40))
        for reading in readings where reading.instant < FleetHall.at(end) { before.observe(reading) }
        _ = before.advance(to: FleetHall.at(end))
        XCTAssertGreaterThan(before.statistics.pendingReadings, 0)
        XCTAssertEqual(before.statistics.knownTags, 6)
        let after = readings.filter { $0.instant >= FleetHall.at(end) }

        func outputs(after step: Duration) throws -> [Output] {
            var machine = before
            machine.move(by: step)
            XCTAssertEqual(machine.time, FleetHall.at(end).advanced(by: step))
            var outputs: [FleetOutput] = []
            for second in 16...640 {
                let now = FleetHall.at(Double(second))
                for var reading in after
                where reading.instant < now && reading.instant >= FleetHall.at(Double(second) - 1) {
                    reading.instant = reading.instant.advanced(by: step)
                    machine.observe(reading)
                }
                outputs += machine.advance(to: now.advanced(by: step))
            }
            XCTAssertEqual(machine.statistics.expiredReadings, 0)
            XCTAssertEqual(machine.statistics.knownTags, 5, "the tag that left first is forgotten after its time")
            return outputs.map { Output($0, after: step) }
        }
        let expected = try outputs(after: .zero)
        XCTAssertEqual(expected.count { $0.kind == "away" }, 5)
        XCTAssertGreaterThan(expected.count { $0.kind == "position" }, 100)
        for step in [Duration.seconds(7_200), .seconds(-86_400 * 365)] {
            XCTAssertEqual(try outputs(after: step), expected, "\(step)")
        }
    }

    func testATagIsNotAwayWhileNoMessageCanArrive() {
        var machine = FleetMachine(model: model)
        var outputs = machine.run([FleetHall.reading(1, at: 0), FleetHall.reading(2, at: 0)], to: 5)
        machine.listen(false, at: FleetHall.at(6))
        outputs += machine.run([], from: 5, to: 300)
        XCTAssertEqual(Set(outputs.map(\.kind)), ["present", "position"])
        XCTAssertEqual(machine.statistics.presentTags, 2)
        machine.listen(true, at: FleetHall.at(300))
        // The first tag is heard again, the other one isn't within its timeout.
        outputs = machine.run([FleetHall.reading(1, at: 320)], from: 300, to: 340)
        XCTAssertEqual(outputs.filter { $0.kind != "position" }.map(\.kind), ["away"])
        XCTAssertEqual(outputs.first { $0.kind == "away" }?.tag, FleetHall.key(2))
        XCTAssertEqual(outputs.first { $0.kind == "away" }?.instant, FleetHall.at(330))
        outputs = machine.run([], from: 340, to: 360)
        XCTAssertEqual(outputs.last?.kind, "away")
        XCTAssertEqual(outputs.last?.instant, FleetHall.at(350))
    }

    func testATagIsNotAwayAfterTheClockWasSetWhileNoMessageCouldArrive() throws {
        var machine = FleetMachine(model: model)
        _ = machine.run([FleetHall.reading(1, at: 0)], to: 5)
        machine.listen(false, at: FleetHall.at(6))
        machine.move(by: .seconds(3_600))
        XCTAssertEqual(machine.run([], from: 3_605, to: 3_700).count { $0.kind == "away" }, 0)
        machine.listen(true, at: FleetHall.at(3_700))
        machine.move(by: .seconds(1_000))
        let outputs = machine.run([], from: 4_700, to: 4_800)
        XCTAssertEqual(outputs.map(\.instant), [FleetHall.at(4_730)])
    }

    func testTheClockOfAGatewayIsUsedAfterThatOfTheArrivalsWasSetForward() {
        // After a longer step, the offset of the clock is determined again in any case.
        let step = Duration.seconds(600)
        var intake = TagIntake()
        func send(_ second: Int, _ address: UInt64? = nil, after step: Duration) -> TagReading? {
            let truth = FleetHall.at(Double(second))
            // The time of the gateway itself is right all the time.
            var reading = GatewayReading(
                receiver: "hall", name: address == nil ? "cart" : nil, rssi: -60 - Double(second % 5),
                time: GatewayTime(nanoseconds: truth.nanoseconds, resolution: .milliseconds(1)))
            reading.address = address.map { DeviceAddress(rawValue: $0) }
            return intake.readings(of: [reading], arrival: truth.advanced(by: step + .milliseconds(20))).first
        }
        for second in 0..<20 { _ = send(second, after: .zero) }
        intake.move(by: step)
        for second in 20..<40 {
            let instant = send(second, after: step)?.instant
            XCTAssertEqual(instant, FleetHall.at(Double(second) + 0.02).advanced(by: step), "\(second)")
        }
        XCTAssertEqual(intake.statistics.dropped[.late] ?? 0, 0)
        XCTAssertEqual(intake.senders.map(\.latest), [FleetHall.at(39.02).advanced(by: step)])
    }

    func testATagOutsideOfTheRegisterIsNoStrangerAfterTheClockWasSetForward() {
        var settings = FleetSettings()
        settings.unknownTagMoments = 3
        var intake = TagIntake(settings: settings)
        func send(_ second: Double) -> Int {
            let reading = GatewayReading(
                receiver: "hall", name: "cart", rssi: -60 - second.truncatingRemainder(dividingBy: 5))
            return intake.readings(of: [reading], arrival: FleetHall.at(second)).count
        }
        XCTAssertEqual([0.0, 1, 2, 3].map(send), [0, 0, 1, 1])
        intake.move(by: .seconds(7_200))
        XCTAssertEqual(send(7_204), 1)
    }

    func testGatewaysAreNotSilentAfterTheClockWasSetForward() throws {
        var monitor = ReceiverMonitor(venue: hall.venue)
        func send(_ receivers: Range<Int>, at second: Int) {
            for receiver in receivers {
                monitor.observeMessage(of: "gateway-\(receiver)", at: FleetHall.at(Double(second)))
            }
        }
        for second in 0..<100 {
            send(0..<6, at: second)
            XCTAssertEqual(monitor.advance(to: FleetHall.at(Double(second))), [])
        }
        monitor.move(by: .seconds(7_200))
        for second in 7_300..<7_320 {
            // One of them sends a moment later.
            send(second < 7_310 ? 0..<5 : 0..<6, at: second)
            XCTAssertEqual(monitor.advance(to: FleetHall.at(Double(second))), [], "\(second)")
        }
    }

    func testAGatewayThatReportsSeldomStaysInTheScansAfterTheClockWasSetForward() throws {
        let (near, far) = (VenueReceiver.identity(for: "near"), VenueReceiver.identity(for: "far"))
        var scanner = GatewayScanner()
        var scan: RoomScan?
        for second in stride(from: 0, to: 40, by: 5) {
            scanner.add(near, rssi: -60, at: FleetHall.at(Double(second)))
            scanner.add(far, rssi: -80, at: FleetHall.at(Double(second)))
            scan = scanner.scan(at: FleetHall.at(Double(second)))
        }
        XCTAssertEqual(scan?.rssi.count, 2)
        scanner.move(by: .seconds(7_200))
        scanner.add(near, rssi: -60, at: FleetHall.at(7_237))
        XCTAssertEqual(scanner.scan(at: FleetHall.at(7_237))?.rssi, [near: -60, far: -80])
    }

    func testATrainedRoomLastsWhileNoMessageCanArriveAndWhenTheClockIsSet() throws {
        var home = SimulatedHome(seed: 5)
        try home.train()
        var machine = home.machine
        let present = machine.statistics.presentTags
        XCTAssertGreaterThan(present, 0)
        let now = home.now
        machine.listen(false, at: now)
        XCTAssertEqual(machine.advance(to: now.advanced(by: .seconds(3_600))), [])
        machine.listen(true, at: now.advanced(by: .seconds(3_600)))
        machine.move(by: .seconds(7_200))
        let later = now.advanced(by: .seconds(3_600 + 7_200))
        XCTAssertEqual(machine.advance(to: later.advanced(by: .seconds(30))), [])
        let outputs = machine.advance(to: later.advanced(by: .seconds(61)))
        XCTAssertEqual(outputs.count { $0.kind == "away" }, present)
    }
}
