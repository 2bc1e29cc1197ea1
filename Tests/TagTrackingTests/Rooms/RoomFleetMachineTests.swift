import BeaconScanning
import IndoorVocabulary
import LocalizationSession
import TagTracking
import VenueModel
import VenuePackets
import XCTest

/// The trained rooms of tags, in a simulated home with virtual time.
final class RoomFleetMachineTests: XCTestCase {
    private static let seed: UInt64 = 5

    private func home() throws -> SimulatedHome {
        var home = SimulatedHome(seed: Self.seed)
        try home.train()
        return home
    }

    // MARK: Accuracy

    func testAChangeOfTheRoomIsReportedWithinSixSeconds() throws {
        var home = try home()
        var (delays, right, all) = ([Int](), 0, 0)
        var room = 0
        for step in 0..<120 {
            room = (room + 1 + step % 5) % 6
            let point = home.point(in: room)
            home.lay()
            var delay = Int.max
            for second in 1...40 {
                let label = home.step(at: point, isCarried: second <= 3).last { $0.trained != nil }?.trained?.label
                if label == SimulatedHome.rooms[room] { delay = min(delay, second) }
                guard second > 15 else { continue }
                all += 1
                right += label == SimulatedHome.rooms[room] ? 1 : 0
            }
            delays.append(delay)
        }
        delays.sort()
        print("change: median \(delays[60]) s; right \(100 * right / all) % after 15 s")
        XCTAssertLessThanOrEqual(delays[60], 6)
        XCTAssertGreaterThan(Double(right) / Double(all), 0.7)
    }

    func testATagOnABorderHasAtMostOneFalseChangeAnHour() throws {
        var home = try home()
        let borders = [(5.0, 2.5), (5, 1), (7.5, 5), (10, 6.5), (5, 5), (2.5, 5)]
        var changes = 0
        for (x, y) in borders {
            home.lay()
            // The first change is the arrival.
            for _ in 0..<30 { _ = home.step(at: MapPoint(x: x, y: y)) }
            for _ in 0..<7_200 {
                let outputs = home.step(at: MapPoint(x: x, y: y))
                changes += outputs.contains { if case .event = $0.content { true } else { false } } ? 1 : 0
            }
        }
        print("border: \(changes) changes in \(2 * borders.count) hours")
        XCTAssertLessThanOrEqual(changes, 2 * borders.count)
    }

    func testAPlaceThatWasNotTrainedIsNone() throws {
        var home = SimulatedHome(seed: Self.seed)
        try home.train([0, 1])
        home.lay()
        // The attic is diagonal to the trained rooms.
        var labels: [String?] = []
        for _ in 0..<900 {
            labels += home.step(at: SimulatedHome.middle(of: 5)).compactMap(\.trained).map(\.label)
        }
        XCTAssertEqual(labels.count, 900)
        XCTAssertGreaterThan(labels.suffix(600).count { $0 == nil }, 550)
        for _ in 0..<30 { labels += home.step(at: SimulatedHome.middle(of: 0)).compactMap(\.trained).map(\.label) }
        XCTAssertEqual(labels.last, "hall")
    }

    func testATagThatOnlyGatewaysWithoutATrainingHearIsInNoRoom() throws {
        var home = try home()
        var now = home.now
        var labels: [String?] = []
        for second in 0..<30 {
            now = now.advanced(by: .seconds(1))
            home.machine.observe(
                TagReading(
                    tag: .name("lost"), receiver: "garage", instant: now, rssi: -60 - Double(second % 3)))
            labels += home.machine.advance(to: now).filter { $0.tag == .name("lost") }.compactMap(\.trained).map(
                \.label)
        }
        XCTAssertEqual(labels.count, 20)
        XCTAssertTrue(labels.allSatisfy { $0 == nil })
    }

    // MARK: Outputs

    func testTheOutputsOfATagBeginWithItsPresenceAndEndWithItsAbsence() throws {
        var home = try home()
        var outputs = home.wait(120)
        XCTAssertEqual(outputs.map(\.kind), ["event", "away"])
        outputs = home.carry(through: 1, seconds: 5)
        XCTAssertEqual(outputs.first?.kind, "present")
        XCTAssertEqual(outputs.first { $0.kind == "event" }?.json.contains(#""type":"enterRoom","venueId":0"#), true)
        let room = try XCTUnwrap(outputs.last?.trained)
        XCTAssertEqual(room.label, "kitchen")
        XCTAssertEqual(room.rooms.count, 6)
        XCTAssertEqual(room.rooms.reduce(room.none) { $0 + $1.probability }, 1, accuracy: 1e-6)
        let sequences = outputs.map(\.sequence)
        XCTAssertEqual(sequences, sequences.sorted())
        XCTAssertEqual(Set(sequences).count, sequences.count)
    }

    func testTheJSONOfATrainedRoomIsReadAgain() throws {
        var home = try home()
        let output = try XCTUnwrap(home.carry(through: 2, seconds: 15).last)
        let read = try FleetOutput(json: output.json)
        let label = try XCTUnwrap(output.trained?.label)
        XCTAssertEqual(read.trained?.label, label)
        XCTAssertEqual(read.trained?.rooms.map(\.name), output.trained?.rooms.map(\.name))
        XCTAssertEqual(read.json, output.json)
        var latest = LatestOutputs()
        latest.add(output)
        XCTAssertEqual(latest.tags[SimulatedHome.tag]?.room, label)
        var again = LatestOutputs()
        for output in latest.tags.values.flatMap(\.outputs) { again.add(output) }
        XCTAssertEqual(again.tags[SimulatedHome.tag]?.trained, output.trained)
    }

    func testATagStaysInItsRoomAfterARestart() throws {
        var home = try home()
        var latest = LatestOutputs()
        for output in home.carry(through: 3, seconds: 20) { latest.add(output) }
        let training = home.machine.training
        home.machine = RoomFleetMachine(training: training, epoch: 2)
        XCTAssertEqual(home.machine.begin(with: latest.tags.values), [SimulatedHome.tag])
        XCTAssertEqual(Set(home.carry(through: 3, seconds: 20).map(\.kind)), ["room"])
    }

    func testATagThatLeftBetweenTwoStartsExitsAndIsAway() throws {
        var home = try home()
        var latest = LatestOutputs()
        for output in home.carry(through: 3, seconds: 20) { latest.add(output) }
        for training in [home.machine.training, RoomTrainingSet()] {
            var machine = RoomFleetMachine(training: training, epoch: 2)
            XCTAssertEqual(machine.begin(with: latest.tags.values), [SimulatedHome.tag])
            let outputs = machine.advance(to: home.now.advanced(by: .seconds(3_600)))
            XCTAssertEqual(outputs.map(\.kind), ["event", "away"])
            let json = outputs.first?.json ?? ""
            XCTAssertTrue(json.contains(#""type":"exitRoom""#) && json.contains("study"), json)
        }
    }

    func testTheRoomOfATagThatIsNotTrainedAnyMoreIsExited() throws {
        var home = try home()
        var latest = LatestOutputs()
        for output in home.carry(through: 3, seconds: 20) { latest.add(output) }
        var training = home.machine.training
        training.rooms["study"] = nil
        home.machine = RoomFleetMachine(training: training, epoch: 2)
        _ = home.machine.begin(with: latest.tags.values)
        let event = home.carry(through: 3, seconds: 20).first { $0.kind == "event" }?.json ?? ""
        XCTAssertTrue(event.contains(#""type":"exitRoom""#) && event.contains("study"), event)
    }

    // MARK: Training

    func testACorrectionMovesTheTagAndIsLearned() throws {
        var home = try home()
        home.lay()
        // A shelf between the hall and the kitchen, which belongs to the kitchen.
        let shelf = MapPoint(x: 4.2, y: 1)
        for _ in 0..<60 { _ = home.step(at: shelf) }
        let before = try XCTUnwrap(home.step(at: shelf).last { $0.trained != nil }?.trained)
        XCTAssertEqual(before.label, "hall")
        XCTAssertEqual(try home.machine.correct(SimulatedHome.tag, to: "kitchen", at: home.now), 30)
        let outputs = home.step(at: shelf)
        XCTAssertEqual(outputs.filter { $0.kind == "event" }.count, 2)
        XCTAssertEqual(outputs.last?.trained?.label, "kitchen")
        var labels: [String?] = []
        for _ in 0..<600 { labels += home.step(at: shelf).compactMap(\.trained).map(\.label) }
        XCTAssertGreaterThan(labels.count { $0 == "kitchen" }, 500)
        XCTAssertEqual(home.machine.training.rooms["kitchen"]?.samples.count, 90)
    }

    func testAForgottenTrainingKeepsItsFirstSamples() throws {
        var home = SimulatedHome(seed: Self.seed)
        home.carry(through: 0, seconds: 2)
        try home.machine.startTraining(of: "hall", with: SimulatedHome.tag, at: home.now)
        let start = home.now.seconds
        home.carry(through: 0, seconds: 299)
        XCTAssertEqual(home.machine.progress.map(\.samples), [299])
        home.carry(through: 5, seconds: 60)
        XCTAssertEqual(home.machine.progress.map(\.samples), [300])
        XCTAssertEqual(home.machine.progress.map(\.gateways), [6])
        try home.machine.finishTraining(with: SimulatedHome.tag)
        let samples = try XCTUnwrap(home.machine.training.rooms["hall"]?.samples)
        XCTAssertEqual(samples.count, 300)
        XCTAssertLessThanOrEqual(try XCTUnwrap(samples.last?.timestamp), start + 300.5)
        // Two more trainings discard the oldest one.
        for _ in 0..<2 {
            try home.machine.startTraining(of: "hall", with: SimulatedHome.tag, at: home.now)
            home.carry(through: 0, seconds: 300)
            try home.machine.finishTraining(with: SimulatedHome.tag)
        }
        XCTAssertEqual(home.machine.training.rooms["hall"]?.samples.count, 600)
        XCTAssertGreaterThan(try XCTUnwrap(home.machine.training.rooms["hall"]?.samples.first?.timestamp), start + 301)
    }

    func testTheFileOfATrainingHasABoundedSize() throws {
        var training = RoomTrainingSet()
        for room in 0..<20 {
            let samples = (0..<(20 + 10 * room)).map { second in
                let rssi = (0..<10).map { (VenueReceiver.identity(for: "gateway-\($0)"), -100.0 - Double($0)) }
                return RoomFingerprint.Sample(
                    timestamp: 1_795_338_000.123456 + Double(second), rssi: Dictionary(uniqueKeysWithValues: rssi),
                    placement: .pocket)
            }
            training.rooms["Room \(room)"] = RoomFingerprint(samples: samples)
        }
        let size = RoomTrainingFile.document(of: training).utf8.count
        training.shorten(to: size)
        training.shorten(to: 500_000)
        let document = RoomTrainingFile.document(of: training)
        XCTAssertLessThanOrEqual(document.utf8.count, 501_000)
        XCTAssertGreaterThan(document.utf8.count, 350_000)
        // The small rooms keep their samples, and the large ones the latest samples.
        XCTAssertEqual(training.rooms["Room 0"]?.samples.count, 20)
        XCTAssertLessThan(training.rooms["Room 19"]?.samples.count ?? 0, 80)
        XCTAssertEqual(training.rooms["Room 19"]?.samples.last?.timestamp, 1_795_338_209.123456)
        XCTAssertLessThan(RoomTrainingSet.mostBytes, InputLimits.standard.training)
    }

    func testTrainingsAreRefusedWithTheReason() throws {
        var home = SimulatedHome(seed: Self.seed)
        let now = home.now
        func refusal(_ change: (inout RoomFleetMachine) throws -> Void) -> String {
            do { try change(&home.machine) } catch { return "\(error)" }
            return ""
        }
        let tag = SimulatedHome.tag
        XCTAssertTrue(
            refusal { try $0.startTraining(of: "hall", with: tag, at: now) }.hasPrefix("No gateway has heard"))
        _ = home.carry(through: 0, seconds: 2)
        XCTAssertTrue(refusal { try $0.startTraining(of: " ", with: tag, at: now) }.hasPrefix("The name of a room"))
        XCTAssertTrue(refusal { try $0.finishTraining(with: tag) }.hasPrefix("No training"))
        XCTAssertTrue(refusal { try $0.remove(room: "hall") }.hasPrefix("The room 'hall' is unknown"))
        XCTAssertEqual(refusal { try $0.startTraining(of: " hall ", with: tag, at: now) }, "")
        XCTAssertTrue(refusal { try $0.finishTraining(with: tag) }.hasPrefix("No gateway has heard"))
        _ = home.carry(through: 0, seconds: 5)
        XCTAssertEqual(home.machine.progress.map(\.room), ["hall"])
        XCTAssertEqual(home.machine.progress.map(\.samples), [5])
        XCTAssertEqual(refusal { try $0.finishTraining(with: tag) }, "")
        XCTAssertEqual(home.machine.training.rooms["hall"]?.samples.count, 5)
        XCTAssertEqual(refusal { try $0.remove(room: "hall") }, "")
        XCTAssertTrue(home.machine.training.rooms.isEmpty)
    }

    // MARK: Gateways

    func testAGatewayThatReportsEveryFiveSecondsIsInEachScan() {
        var scanner = GatewayScanner()
        let gateway = VenueReceiver.identity(for: "hall")
        var counts: [Int] = []
        for second in 0..<60 {
            let now = Instant.zero.advanced(by: .seconds(second))
            if second % 5 == 0 { scanner.add(gateway, rssi: -60, at: now) }
            if second % 5 == 2 { scanner.add(VenueReceiver.identity(for: "bath"), rssi: -70, at: now) }
            if let scan = scanner.scan(at: now) { counts.append(scan.rssi.count) }
        }
        XCTAssertTrue(counts.suffix(10).allSatisfy { $0 == 2 }, "\(counts)")
    }
}
