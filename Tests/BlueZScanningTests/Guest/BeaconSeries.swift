import IndoorLocalization
import XCTest

/// Beacons that are numbered, with a strength that follows from the number: what is lost, doubled, mixed up or changed on
/// the way shows.
struct BeaconSeries: Sendable {
    /// Not in use elsewhere.
    static let uuid = BeaconUUID(high: 0x5E71_E500_0000_4000, low: 0x8000_0000_0000_0001)

    /// The strength of a number, in dBm.
    static func rssi(of number: Int) -> Int8 { Int8(-30 - number % 60) }

    /// What the beacon of a number sends.
    static func transmission(_ number: Int) -> Transmission {
        .iBeacon(
            uuid, major: UInt16(number >> 16), minor: UInt16(number & 0xFFFF), rssi: rssi(of: number))
    }

    /// The number of what was heard; nil if it is none of the series, or not what was sent.
    static func number(of sighting: Sighting) -> Int? {
        guard sighting.beacon.uuid == uuid else { return nil }
        let number = Int(sighting.beacon.major) << 16 | Int(sighting.beacon.minor)
        return sighting.rssi == Double(rssi(of: number)) && sighting.measuredPower == -59 ? number : nil
    }

    /// Fails unless these and only these numbers were heard, in order, with their strength.
    static func assertHeard(
        _ numbers: Range<Int>, in sightings: [Sighting], _ message: String = "", line: UInt = #line
    ) {
        let heard = sightings.map(number)
        if heard == numbers.map({ $0 }) { return }
        let first = zip(heard, numbers).enumerated().first { $0.element.0 != $0.element.1 }
        XCTFail(
            "\(message) \(sightings.count) of \(numbers.count) were heard; the first difference is at "
                + (first.map { "\($0.offset): \($0.element.0.map(String.init) ?? "no such beacon")" } ?? "the end"),
            line: line)
    }
}
