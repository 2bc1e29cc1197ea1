import IndoorLocalization

/// An encoder of reports into events, as controllers send them. It is independent of the package's own code, which it
/// tests.
///
/// Source: Bluetooth Core Specification 5.4, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
struct AdvertisingPackets {
    private let isExtended: Bool
    private let reportsPerEvent: Int
    private var events: [[UInt8]] = []
    private var reports: [[UInt8]] = []

    /// The bytes for reports: an event has 255 bytes of parameters, of which the subevent code and the report count use
    /// two.
    private static let room = 253
    /// The longest data of a fragment: the rest of an extended report has 24 bytes.
    static let longestFragment = room - 24

    init(isExtended: Bool, reportsPerEvent: Int) {
        self.isExtended = isExtended
        self.reportsPerEvent = reportsPerEvent
    }

    /// Adds the report of an advertisement.
    mutating func add(_ transmission: Transmission) {
        let isScannable = transmission.scanResponse != nil
        if !isExtended {
            // ADV_SCAN_IND or ADV_NONCONN_IND.
            append(legacyReport(type: isScannable ? 2 : 3, transmission, transmission.data))
        } else if !transmission.isExtended {
            append(extendedReport(type: isScannable ? 0x12 : 0x10, transmission, transmission.data[...]))
        } else {
            addFragments(of: transmission)
        }
    }

    /// Adds the report of the scan response, if the advertiser has one.
    mutating func addResponse(of transmission: Transmission) {
        guard let response = transmission.scanResponse else { return }
        append(
            isExtended
                ? extendedReport(type: 0x1A, transmission, response[...])
                : legacyReport(type: 4, transmission, response))
    }

    /// Returns all events, including the last.
    mutating func finish() -> [[UInt8]] {
        flush()
        return events
    }

    private mutating func addFragments(of transmission: Transmission) {
        let data = transmission.data
        for start in stride(from: 0, to: max(1, data.count), by: Self.longestFragment) {
            let end = min(start + Self.longestFragment, data.count)
            // Neither connectable nor scannable; bit 5 means that more data follows.
            append(extendedReport(type: end < data.count ? 0x20 : 0, transmission, data[start..<end]))
        }
    }

    private mutating func append(_ report: [UInt8]) {
        if reports.count == reportsPerEvent || reports.reduce(report.count, { $0 + $1.count }) > Self.room { flush() }
        reports.append(report)
    }

    private mutating func flush() {
        guard !reports.isEmpty else { return }
        let content = [isExtended ? 0x0D : 0x02, UInt8(reports.count)] + reports.joined()
        events.append([0x3E, UInt8(content.count)] + content)
        reports = []
    }

    private func legacyReport(type: UInt8, _ transmission: Transmission, _ data: [UInt8]) -> [UInt8] {
        [type] + sender(transmission) + [UInt8(data.count)] + data + [UInt8(bitPattern: transmission.rssi)]
    }

    private func extendedReport(type: UInt8, _ transmission: Transmission, _ data: ArraySlice<UInt8>) -> [UInt8] {
        // Primary PHY LE 1M. A legacy advertisement has no secondary PHY and no set.
        let physical: [UInt8] = transmission.isExtended ? [1, 1, 0] : [1, 0, 0xFF]
        // No transmit power; not periodic; no target.
        let middle = [127, UInt8(bitPattern: transmission.rssi), 0, 0] + [UInt8](repeating: 0, count: 7)
        return [type, 0] + sender(transmission) + physical + middle + [UInt8(data.count)] + data
    }

    /// Returns the address with its kind, in little-endian order.
    private func sender(_ transmission: Transmission) -> [UInt8] {
        let address = transmission.address
        return [address.kind == .random ? 1 : 0]
            + (0..<6).map { UInt8(truncatingIfNeeded: address.rawValue >> UInt64(8 * $0)) }
    }
}
