import IndoorLocalization
import XCTest

/// A series of numbered beacons, each with an RSSI that depends on its number, so that a test detects lost, repeated,
/// reordered and changed reports.
struct BeaconSeries: Sendable {
    /// The UUID of the series, not used elsewhere.
    static let uuid = BeaconUUID(high: 0x5E71_E500_0000_4000, low: 0x8000_0000_0000_0001)

    /// Returns the RSSI for a number in dBm.
    static func rssi(of number: Int) -> Int8 { Int8(-30 - number % 60) }

    /// Returns the transmission of the beacon with a number.
    static func transmission(_ number: Int) -> Transmission {
        .iBeacon(
            uuid, major: UInt16(number >> 16), minor: UInt16(number & 0xFFFF), rssi: rssi(of: number))
    }

    /// Returns the number of a sighting; nil if it isn't of the series, or differs from what was sent.
    static func number(of sighting: Sighting) -> Int? {
        guard sighting.beacon.uuid == uuid else { return nil }
        let number = Int(sighting.beacon.major) << 16 | Int(sighting.beacon.minor)
        return sighting.rssi == Double(rssi(of: number)) && sighting.measuredPower == -59 ? number : nil
    }

    /// Fails unless the sightings have exactly these numbers, in order, with their RSSI.
    static func assertHeard(
        _ numbers: Range<Int>, in sightings: [Sighting], _ message: String = "", line: UInt = #line
    ) {
        let heard = sightings.map(number)
        if heard == numbers.map({ $0 }) { return }
        let first = zip(heard, numbers).enumerated().first { $0.element.0 != $0.element.1 }
        XCTFail(
            "\(message) \(sightings.count) of \(numbers.count) were received; the first difference is at "
                + (first.map { "\($0.offset): \($0.element.0.map(String.init) ?? "no such beacon")" } ?? "the end"),
            line: line)
    }
}
