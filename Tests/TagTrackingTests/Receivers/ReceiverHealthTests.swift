import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

@testable import TagTracking

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
