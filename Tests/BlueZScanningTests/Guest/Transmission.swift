import IndoorLocalization

/// One transmission of an advertiser, with the RSSI at the controller.
struct Transmission: Hashable, Sendable {
    /// The address of the advertiser.
    var address: DeviceAddress
    /// The RSSI in dBm.
    var rssi: Int8
    /// The AD structures: at most 31 bytes with Bluetooth 4, and at most 1650 with Bluetooth 5.
    var data: [UInt8]
    /// The scan response; nil if the advertiser isn't scannable.
    var scanResponse: [UInt8]?
    /// Whether it is an extended advertisement of Bluetooth 5, which a scan of Bluetooth 4 doesn't receive.
    var isExtended: Bool

    init(
        address: DeviceAddress, rssi: Int8, data: [UInt8], scanResponse: [UInt8]? = nil, isExtended: Bool = false
    ) {
        self.address = address
        self.rssi = rssi
        self.data = data
        self.scanResponse = scanResponse
        self.isExtended = isExtended || data.count > 31
    }
}

extension Transmission {
    /// Returns the transmission of an iBeacon with an address derived from its numbers.
    static func iBeacon(
        _ uuid: BeaconUUID, major: UInt16, minor: UInt16, rssi: Int8, measuredPower: Int8 = -59
    ) -> Transmission {
        let head: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
        let numbers = [UInt8(major >> 8), UInt8(major & 0xFF), UInt8(minor >> 8), UInt8(minor & 0xFF)]
        let address = DeviceAddress(rawValue: 0xC000_0000_0000 | UInt64(major) << 16 | UInt64(minor), kind: .random)
        return Transmission(
            address: address, rssi: rssi,
            data: head + bytes(of: uuid.high) + bytes(of: uuid.low) + numbers + [UInt8(bitPattern: measuredPower)])
    }

    private static func bytes(of value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
    }
}
