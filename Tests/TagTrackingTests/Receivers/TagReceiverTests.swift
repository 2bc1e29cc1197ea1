import CMath
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import TagTracking

final class ReceiverDirectoryTests: XCTestCase {
    private func receiver(_ id: String, _ aliases: String...) -> VenueReceiver {
        VenueReceiver(
            id: id, aliases: aliases, identity: BeaconIdentity(uuid: BeaconUUID(high: 9, low: 9), major: 0, minor: 0),
            mapID: 1, point: MapPoint(x: 0, y: 0))
    }

    func testNamesMatchInTheFormsThatFirmwareWrites() {
        let directory = ReceiverDirectory([
            receiver("Living room", "AA:BB:CC:DD:EE:0F"), receiver("gateway/2", "c0ffee000001"), receiver("Küche"),
        ])
        let names: [(String, Int?)] = [
            ("Living room", 0), ("living_room", 0), ("LIVING-ROOM", 0), ("aabbccddee0f", 0), ("AA-BB-CC-DD-EE-0F", 0),
            ("aa:bb:cc:dd:ee:0f", 0), ("gateway/2", 1), ("Gateway 2", 1), ("C0:FF:EE:00:00:01", 1), ("küche", 2),
            ("kitchen", nil), ("", nil), ("aabbccddee00", nil),
        ]
        for (name, index) in names { XCTAssertEqual(directory.index(of: name), index, name) }
    }

    func testAnExactNameHasPrecedenceAndASharedFormIsUnknown() {
        let directory = ReceiverDirectory([receiver("hall 1"), receiver("Hall-1")])
        XCTAssertEqual(directory.index(of: "hall 1"), 0)
        XCTAssertEqual(directory.index(of: "Hall-1"), 1)
        XCTAssertNil(directory.index(of: "HALL_1"))
    }

    func testATagWithTheNameOfARoomIsNoReceiver() {
        let directory = ReceiverDirectory([receiver("kitchen")])
        XCTAssertNil(directory.index(of: .name("kitchen")))
        XCTAssertEqual(directory.index(of: .name("node:kitchen")), 0)
    }
}

final class ReceiverHealthTests: XCTestCase {
    func testHealthyReceiversCauseNoEventInHalfAnHour() {
        var simulation = ReceiverSimulation()
        XCTAssertEqual(simulation.run(seconds: 1800), [])
        XCTAssertLessThan(simulation.monitor.offsets.map(abs).max() ?? 9, 2)
    }

    func testADeadReceiverIsSilentAndHealthyAgainWhenItSends() {
        var simulation = ReceiverSimulation()
        XCTAssertEqual(simulation.run(seconds: 300), [])
        simulation.fleet.change(receiver: 7, isDead: true)
        let silent = simulation.run(seconds: 120)
        XCTAssertEqual(silent.map(\.health), [.silent])
        XCTAssertEqual(silent.first?.receiver, "gateway-7")
        XCTAssertLessThan(silent.first.map { FleetHall.at(300).duration(to: $0.instant).seconds } ?? 999, 60)
        XCTAssertTrue(silent.first?.text.contains("no message for") ?? false, silent.first?.text ?? "")
        simulation.fleet.change(receiver: 7, isDead: false)
        XCTAssertEqual(simulation.run(seconds: 60).map(\.health), [.healthy])
        XCTAssertEqual(simulation.monitor.health(of: "AA0000000007"), .healthy)
    }

    func testASystemWithoutAnyMessageHasNoSilentReceiver() {
        var simulation = ReceiverSimulation(tags: 30)
        _ = simulation.run(seconds: 120)
        XCTAssertEqual(simulation.run(seconds: 600, silencing: Set(0..<20)), [])
    }

    func testAReceiverThatSendsStatusButReceivesNothingIsDeaf() {
        var simulation = ReceiverSimulation()
        XCTAssertEqual(simulation.run(seconds: 300), [])
        simulation.fleet.change(receiver: 12, isDead: true)
        var events: [ReceiverEvent] = []
        for _ in 0..<60 {
            simulation.monitor.observeMessage(of: "gateway-12", at: FleetHall.at(Double(simulation.seconds)))
            events += simulation.run(seconds: 5)
        }
        XCTAssertEqual(events.map(\.health), [.deaf])
        XCTAssertEqual(events.first?.receiver, "gateway-12")
        XCTAssertTrue(events.first?.text.contains("expected receptions") ?? false, events.first?.text ?? "")
        simulation.fleet.change(receiver: 12, isDead: false)
        XCTAssertEqual(simulation.runUntilChange(within: 600).map(\.health), [.healthy])
    }

    func testAMovedReceiverIsDetectedAtItsNewPlace() {
        var simulation = ReceiverSimulation()
        XCTAssertEqual(simulation.run(seconds: 300), [])
        // From (30, 18) to (42, 30).
        simulation.fleet.change(receiver: 7, point: MapPoint(x: 42, y: 30))
        let events = simulation.runUntilChange(within: 1200)
        XCTAssertEqual(events.map(\.health), [.moved])
        XCTAssertEqual(events.first?.receiver, "gateway-7")
        let finding = simulation.monitor.states[7].finding
        XCTAssertLessThan(
            finding?.point.distance(to: MapPoint(x: 42, y: 30)) ?? 99, 4, "\(String(describing: finding))")
        XCTAssertTrue(events.first?.text.contains("m away") ?? false, events.first?.text ?? "")
        simulation.fleet.change(receiver: 7, point: MapPoint(x: 30, y: 18))
        XCTAssertEqual(simulation.runUntilChange(within: 1500).map(\.health), [.healthy])
    }

    /// A gateway with another antenna, amplifier or setting.
    func testAReceiverThatMeasures15DecibelsMoreIsNamedAndCalibratedWithinAMinute() throws {
        for (seed, offset) in [(1, 15.0), (2, 20)] {
            for before in [0, 900] {
                var simulation = ReceiverSimulation { $0.seed = UInt64(seed) }
                XCTAssertEqual(simulation.run(seconds: before), [])
                simulation.fleet.change(receiver: 7, offset: offset)
                let events = simulation.run(seconds: 60)
                let text = "seed \(seed), \(offset) dB after \(before) s: \(events), \(simulation.monitor.offsets)"
                XCTAssertEqual(events.map(\.health), [.miscalibrated], text)
                XCTAssertEqual(events.first?.receiver, "gateway-7", text)
                XCTAssertTrue(events.first?.text.contains("dB more than the other receivers") == true, text)
                // The prior, and the few comparisons so far, keep a part.
                XCTAssertGreaterThan(simulation.monitor.offsets[7], 0.6 * offset, text)
                simulation.fleet.change(receiver: 7, offset: 0)
                XCTAssertEqual(simulation.runUntilChange(within: 300).map(\.health), [.healthy], text)
            }
        }
    }

    /// Such a receiver hears only what is near.
    func testAReceiverThatMeasures15DecibelsLessIsNamed() {
        var simulation = ReceiverSimulation(hall: FleetHall(columns: 5, rows: 4, spacing: 5))
        XCTAssertEqual(simulation.run(seconds: 600), [])
        simulation.fleet.change(receiver: 7, offset: -15)
        let events = simulation.runUntilChange(within: 300)
        XCTAssertEqual(Set(events.map(\.receiver)), ["gateway-7"], "\(events), \(simulation.monitor.offsets)")
        XCTAssertTrue(events.allSatisfy { [.miscalibrated, .deaf].contains($0.health) }, "\(events)")
    }

    func testNoReceiverIsNamedInHoursOfNormalOperation() {
        // More seeds take more time, and are of use after a change of the limits.
        let seeds = ProcessInfo.processInfo.environment["RECEIVER_SEEDS"].flatMap(UInt64.init) ?? 1
        for seed in 1...max(seeds, 1) {
            var simulation = ReceiverSimulation { settings in
                settings.seed = seed
                // Receivers of one model differ by some decibels.
                settings.receiverOffsets = [2: 4, 5: -4, 9: 5, 13: -5]
            }
            XCTAssertEqual(simulation.run(seconds: 3600), [], "seed \(seed)")
        }
    }

    func testAWrongClockIsReportedUntilItIsRight() {
        let venue = FleetHall().venue
        var monitor = ReceiverMonitor(venue: venue)
        XCTAssertEqual(monitor.advance(to: FleetHall.at(0)), [])
        monitor.setClockError("Its clock is 3600 s ahead.", of: "gateway_3")
        let wrong = monitor.advance(to: FleetHall.at(10))
        XCTAssertEqual(
            wrong,
            [
                ReceiverEvent(
                    receiver: "gateway-3", instant: FleetHall.at(10), health: .clockWrong,
                    text: "Its clock is 3600 s ahead.")
            ])
        XCTAssertEqual(monitor.advance(to: FleetHall.at(20)), [])
        monitor.setClockError(nil, of: "gateway-3")
        XCTAssertEqual(monitor.advance(to: FleetHall.at(30)).map(\.health), [.healthy])
    }

    func testAReceiverThatNeverSentIsSilentOnceTagsAreNearIt() {
        var simulation = ReceiverSimulation()
        let events = simulation.run(seconds: 400, silencing: [6])
        XCTAssertEqual(events.map(\.health), [.silent])
        XCTAssertEqual(events.first?.receiver, "gateway-6")
    }

    func testTheMetricsCountReceiversByHealth() {
        var monitor = ReceiverMonitor(venue: FleetHall().venue)
        monitor.setClockError("wrong", of: "gateway-0")
        _ = monitor.advance(to: FleetHall.at(0))
        let samples = monitor.families.first { $0.name == "indoorloc_fleet_receivers" }?.samples ?? []
        let counts = samples.map { sample in
            if case .number(let number) = sample.value { return number }
            return -1
        }
        XCTAssertEqual(counts, [5, 0, 0, 0, 1, 0])
    }
}

final class ReceiverOffsetTests: XCTestCase {
    private let offset = -8.0

    private func shifted(_ tags: Int) -> ReceiverSimulation {
        ReceiverSimulation(tags: tags) { $0.receiverOffsets = [7: -8] }
    }

    func testAnOffsetIsLearnedWithinMinutes() {
        var simulation = shifted(40)
        XCTAssertEqual(simulation.run(seconds: 300), [])
        // Readings below the sensitivity are missing, so that the estimate is smaller than the offset.
        XCTAssertEqual(simulation.monitor.offsets[7], offset, accuracy: 3)
        _ = simulation.run(seconds: 200)
        XCTAssertEqual(simulation.monitor.offsets[7], offset, accuracy: 3)
        XCTAssertEqual(simulation.monitor.offsets.reduce(0, +), 0, accuracy: 1e-9)
    }

    func testOneTagOrTwoNeverChangeAnOffset() {
        for tags in UInt64(1)...2 {
            XCTAssertEqual(
                monitor(tags: 0..<tags, difference: -8).offsets, Array(repeating: 0, count: 6), "\(tags) tags")
        }
        XCTAssertLessThan(monitor(tags: 0..<3, difference: -8).offsets[2], -1)
    }

    func testOneTagInAVenueWithARadioMapLeavesAllOffsetsAt0() {
        var hall = FleetHall()
        hall.venue.radioMap = radioMap(of: hall.venue)
        var machine = FleetMachine(venue: hall.venue, settings: FleetHall.settings, seed: 1)
        var monitor = ReceiverMonitor(venue: hall.venue)
        var samples = 0
        let readings = hall.readings(of: 1, seconds: 90) { $0.receiverOffsets = [2: -8] }
        for second in 1...90 {
            let now = FleetHall.at(Double(second))
            for reading in readings where reading.instant < now && reading.instant >= FleetHall.at(Double(second - 1)) {
                machine.observe(reading)
            }
            _ = machine.advance(to: now)
            let evidence = machine.takeReceiverEvidence()
            samples += evidence.samples.count
            monitor.observe(evidence)
            XCTAssertEqual(monitor.advance(to: now), [], "at \(second) s")
            XCTAssertEqual(monitor.offsets, Array(repeating: 0, count: 6), "at \(second) s")
            machine.receiverOffsets = monitor.offsets
        }
        XCTAssertGreaterThan(samples, 3)
    }

    /// A survey of the hall every 5 m.
    private func radioMap(of venue: Venue) -> RadioMap {
        let beacons = venue.receivers.map {
            RadioMap.Beacon(identity: $0.identity, mapID: $0.mapID, point: $0.point, power: -62)
        }
        let points = (0..<24).map { MapPoint(x: 2.5 + 5 * Double($0 % 6), y: 2.5 + 5 * Double($0 / 6)) }
        let fingerprints = points.map { point in
            let readings = beacons.indices.map { index in
                let distance = max(1, beacons[index].point.distance(to: point))
                return RadioMap.Reading(beacon: index, rssi: -62 - 24 * cmath_log10(distance), count: 10)
            }
            return RadioMap.Fingerprint(mapID: 1, point: point, duration: 10, readings: readings)
        }
        return RadioMap(beacons: beacons, fingerprints: fingerprints, pathLossExponent: 2.4)
    }

    /// Returns the monitor of six receivers that compared the tags 60 times; receiver 2 measures a difference.
    private func monitor(tags: Range<UInt64>, difference: Double) -> ReceiverMonitor {
        var monitor = ReceiverMonitor(venue: FleetHall().venue)
        var evidence = ReceiverEvidence()
        for round in 0..<60 {
            for tag in tags {
                let links = (0..<6).map { receiver in
                    ReceiverEvidence.Sample.Link(
                        receiver: receiver, rssi: -70 + (receiver == 2 ? difference : 0), count: 1, isHeard: true,
                        expected: -70, common: -70)
                }
                evidence.add(
                    ReceiverEvidence.Sample(
                        tag: tag, instant: FleetHall.at(Double(10 * round)), mapID: 1, point: MapPoint(x: 1, y: 1),
                        isStanding: true, links: links))
            }
        }
        monitor.observe(evidence)
        _ = monitor.advance(to: FleetHall.at(600))
        return monitor
    }

    func testTwoReceiversThatTransmitMeasureTheOffset() {
        let venue = FleetHall().venue
        var monitor = ReceiverMonitor(venue: venue)
        var evidence = ReceiverEvidence()
        var generator = SeededGenerator(seed: 3)
        // The transmitters have powers of their own; receiver 4 measures 6 dB less.
        let powers = [0: 3.0, 1: -4, 2: 1]
        for second in 0..<100 {
            for (transmitter, power) in powers.sorted(by: { $0.key < $1.key }) {
                for receiver in 0..<6 where receiver != transmitter {
                    let rssi = -70 + power + (receiver == 4 ? -6 : 0) + 2 * generator.normal()
                    evidence.add(
                        ReceiverEvidence.Node(
                            transmitter: transmitter, receiver: receiver, rssi: rssi, common: -70,
                            instant: FleetHall.at(Double(second))))
                }
            }
            monitor.observe(evidence)
            evidence = ReceiverEvidence()
            _ = monitor.advance(to: FleetHall.at(Double(second)))
        }
        // Three links with static errors of 5 dB against a prior of 4 dB: the estimate keeps a part of the offset.
        XCTAssertLessThan(monitor.offsets[4], -1.5)
        XCTAssertLessThan(
            monitor.offsets.enumerated().filter { $0.offset != 4 }.map { abs($0.element) }.max() ?? 9, 1.5)
    }

    func testASnapshotKeepsOffsetsAndHealth() throws {
        var simulation = shifted(30)
        _ = simulation.run(seconds: 300)
        simulation.fleet.change(receiver: 3, isDead: true)
        _ = simulation.run(seconds: 100)
        let monitor = simulation.monitor
        var restored = try ReceiverMonitor(venue: simulation.venue, restoring: monitor.snapshot())
        XCTAssertEqual(restored.health(of: "gateway-3"), monitor.health(of: "gateway-3"))
        for (left, right) in zip(restored.offsets, monitor.offsets) { XCTAssertEqual(left, right, accuracy: 0.1) }
        XCTAssertEqual(restored.latestMessages, monitor.latestMessages)
        XCTAssertEqual(
            restored.advance(to: FleetHall.at(401)).filter { $0.health != .silent || $0.receiver != "gateway-3" }, [])
        var damaged = monitor.snapshot()
        damaged[40] ^= 1
        XCTAssertThrowsError(try ReceiverMonitor(venue: simulation.venue, restoring: damaged)) {
            XCTAssertEqual($0 as? FleetSnapshotError, .wrongChecksum)
        }
        var venue = simulation.venue
        venue.receivers.removeFirst()
        let fewer = try ReceiverMonitor(venue: venue, restoring: monitor.snapshot())
        XCTAssertEqual(fewer.health(of: "gateway-3"), monitor.health(of: "gateway-3"))
    }

    /// A learned power contains the offset that the monitor has found.
    func testAnOffsetIsNotCorrectedAgainIfThePowerContainsIt() throws {
        let monitor = monitor(tags: 0..<8, difference: -8)
        XCTAssertLessThan(monitor.offsets[2], -4)
        var venue = FleetHall().venue
        let usual = venue.receivers[2].measuredPower ?? SignalModel().defaultPower
        venue.receivers[2].measuredPower = usual - 8
        let learned = try ReceiverMonitor(venue: venue, restoring: monitor.snapshot())
        for offset in learned.offsets { XCTAssertEqual(offset, 0, accuracy: 1) }
        let back = try ReceiverMonitor(venue: FleetHall().venue, restoring: learned.snapshot())
        for (left, right) in zip(back.offsets, monitor.offsets) { XCTAssertEqual(left, right, accuracy: 0.1) }
        // The offset can contain what a loss explains now.
        var walled = FleetHall().venue
        walled.settings["positioning.signal.wallLoss"] = .number(4)
        XCTAssertEqual(
            try ReceiverMonitor(venue: walled, restoring: monitor.snapshot()).offsets, Array(repeating: 0, count: 6))
        // A survey contains the powers, so that the change to it is unknown.
        venue.radioMap = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
        XCTAssertEqual(
            try ReceiverMonitor(venue: venue, restoring: monitor.snapshot()).offsets, Array(repeating: 0, count: 6))
    }

    func testMergedMonitorsKnowTheTagsOfBoth() {
        // Each worker has two tags, too few for an offset of its own.
        let first = monitor(tags: 0..<2, difference: -6)
        let second = monitor(tags: 2..<4, difference: -10)
        XCTAssertEqual(first.offsets, Array(repeating: 0, count: 6))
        let merged = first.merged(with: second)
        XCTAssertLessThan(merged.offsets[2], -3)
        for (left, right) in zip(merged.offsets, second.merged(with: first).offsets) {
            XCTAssertEqual(left, right, accuracy: 1e-9)
        }
    }
}

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

/// Simulated tags whose evidence about receivers comes from their true places with an error, instead of from the engine,
/// which takes more time.
struct ReceiverSimulation {
    private struct Tag {
        var heard: [Int: Instant] = [:]
        var sums: [Int: (sum: Double, count: Int)] = [:]
        /// The estimated power of the tag in dB.
        var power = 0.0
        var sampled: (seconds: Int, point: MapPoint)?
    }

    let venue: Venue
    var fleet: SimulatedFleet
    var monitor: ReceiverMonitor
    private(set) var seconds = 0
    private var tags: [Tag]
    private var generator = SeededGenerator(seed: 77)
    /// The standard deviation of the error of a place along each axis, in metres.
    private let error: Double

    init(
        hall: FleetHall = FleetHall(columns: 5, rows: 4, spacing: 12), tags: Int = 60, error: Double = 1.5,
        change: (inout SimulatedFleetSettings) -> Void = { _ in }
    ) {
        venue = hall.venue
        var settings = SimulatedFleetSettings()
        settings.tagCount = tags
        settings.advertisingInterval = 2
        settings.range = 30
        change(&settings)
        fleet = SimulatedFleet(venue: hall.venue, settings: settings, start: FleetHall.start)
        monitor = ReceiverMonitor(venue: hall.venue)
        self.tags = Array(repeating: Tag(), count: tags)
        self.error = error
    }

    /// Simulates some seconds, and returns the changes of health.
    mutating func run(seconds count: Int, silencing silent: Set<Int> = []) -> [ReceiverEvent] {
        var events: [ReceiverEvent] = []
        for _ in 0..<count {
            seconds += 1
            let now = FleetHall.at(Double(seconds))
            var evidence = ReceiverEvidence()
            for reading in fleet.readings(until: now) where !silent.contains(reading.receiver) {
                evidence.addMessage(of: reading.receiver, at: reading.instant)
                tags[reading.tag].heard[reading.receiver] = reading.instant
                let old = tags[reading.tag].sums[reading.receiver] ?? (0, 0)
                tags[reading.tag].sums[reading.receiver] = (old.sum + reading.rssi, old.count + 1)
            }
            for index in tags.indices {
                if index % 10 == seconds % 10, let sample = sample(of: index, at: now) { evidence.add(sample) }
                // Readings count for the place of their time.
                if seconds % 2 == 0 { tags[index].sums = [:] }
            }
            monitor.observe(evidence)
            events += monitor.advance(to: now)
        }
        return events
    }

    /// Simulates until the health of a receiver changes, at most for some seconds, and returns the changes.
    mutating func runUntilChange(within limit: Int) -> [ReceiverEvent] {
        let end = seconds + limit
        while seconds < end {
            let events = run(seconds: 5)
            if !events.isEmpty { return events }
        }
        return []
    }

    private mutating func sample(of index: Int, at now: Instant) -> ReceiverEvidence.Sample? {
        let place = fleet.place(of: index)
        let (x, y) = generator.normalPair()
        let point = place.point + MapPoint(x: x, y: y) * error
        let latest = tags[index].sampled
        tags[index].sampled = (seconds, point)
        guard !tags[index].heard.isEmpty else { return nil }
        var links: [ReceiverEvidence.Sample.Link] = []
        var (sum, count) = (0.0, 0.0)
        for (receiver, entry) in venue.receivers.enumerated() {
            let planar = entry.point.distance(to: point)
            guard planar <= 30 else { continue }
            let common = -62 - 12 * cmath_log10(planar * planar + 1)
            let heard = tags[index].heard[receiver].map { $0.duration(to: now) <= .seconds(10) } ?? false
            let mean = tags[index].sums[receiver].map { $0.sum / Double($0.count) }
            if let mean {
                sum += mean - monitor.offsets[receiver] - common
                count += 1
            }
            links.append(
                ReceiverEvidence.Sample.Link(
                    receiver: receiver, rssi: mean.map { $0 - tags[index].power },
                    count: tags[index].sums[receiver]?.count ?? 0, isHeard: heard, expected: common + tags[index].power,
                    common: common))
        }
        if count > 0 { tags[index].power += 0.2 * (sum / count - tags[index].power) }
        return ReceiverEvidence.Sample(
            tag: UInt64(index) &+ 1, instant: now, mapID: 1, point: point,
            isStanding: latest.map { $0.point.distance(to: point) <= 3 && seconds - $0.seconds <= 20 } ?? false,
            links: links)
    }
}
