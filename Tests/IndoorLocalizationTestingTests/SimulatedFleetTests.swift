import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class SimulatedFleetTests: XCTestCase {
    private func venue(receivers: Int = 6) -> Venue {
        let uuid = BeaconUUID(high: 1, low: 2)
        let list = (0..<receivers).map { index in
            let point = MapPoint(x: Double(5 + 10 * (index % 3)), y: Double(5 + 10 * (index / 3)))
            let identity = BeaconIdentity(uuid: uuid, major: 0, minor: UInt16(index))
            return VenueReceiver(id: "gateway-\(index)", identity: identity, mapID: 1, point: point)
        }
        let map = VenueMap(id: 1, name: "Hall", level: 0, width: 30, height: 20)
        return Venue(id: 7, name: "Hall", maps: [map], receivers: list)
    }

    func testTheReadingsDoNotDependOnTheCalls() {
        var once = SimulatedFleet(venue: venue())
        var twice = SimulatedFleet(venue: venue())
        let whole = once.readings(until: Instant(seconds: 20))
        let parts = twice.readings(until: Instant(seconds: 7.3)) + twice.readings(until: Instant(seconds: 20))
        XCTAssertEqual(whole, parts)
        XCTAssertGreaterThan(whole.count, 100 * 20)
        XCTAssertEqual(whole.map(\.instant), whole.map(\.instant).sorted())
    }

    func testAReceiverWithAnOffsetMeasuresTheOffsetOnAverage() {
        var settings = SimulatedFleetSettings()
        settings.sensitivity = -120
        var plain = SimulatedFleet(venue: venue(), settings: settings)
        settings.receiverOffsets = [2: -8]
        var shifted = SimulatedFleet(venue: venue(), settings: settings)
        func mean(_ fleet: inout SimulatedFleet) -> Double {
            let values = fleet.readings(until: Instant(seconds: 30)).filter { $0.receiver == 2 }.map(\.rssi)
            return values.reduce(0, +) / Double(values.count)
        }
        XCTAssertEqual(mean(&shifted) - mean(&plain), -8, accuracy: 0.01)
    }

    func testADeadReceiverReceivesNothingAndTheOthersReceiveTheSame() {
        var alive = SimulatedFleet(venue: venue())
        var dead = alive
        dead.change(receiver: 1, isDead: true)
        let all = alive.readings(until: Instant(seconds: 10))
        let rest = dead.readings(until: Instant(seconds: 10))
        XCTAssertEqual(rest, all.filter { $0.receiver != 1 })
        XCTAssertLessThan(rest.count, all.count)
    }

    func testTheRSSIFallsWithTheDistance() {
        var settings = SimulatedFleetSettings()
        settings.sensitivity = -120
        settings.pause = 1e6
        settings.shadowing = 0
        var fleet = SimulatedFleet(venue: venue(), settings: settings)
        let readings = fleet.readings(until: Instant(seconds: 10))
        let near = readings.filter { distance($0, in: fleet) < 4 }.map(\.rssi)
        let far = readings.filter { distance($0, in: fleet) > 16 }.map(\.rssi)
        // Four times the distance costs at least 24 dB · log₁₀(4) = 14 dB.
        XCTAssertGreaterThan(
            near.reduce(0, +) / Double(near.count), far.reduce(0, +) / Double(far.count) + 13)
    }

    private func distance(_ reading: SimulatedFleet.Reading, in fleet: SimulatedFleet) -> Double {
        fleet.place(of: reading.tag).point.distance(to: fleet.venue.receivers[reading.receiver].point)
    }
}
