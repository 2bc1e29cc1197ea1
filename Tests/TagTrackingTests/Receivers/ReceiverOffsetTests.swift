import CMath
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import TagTracking

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
