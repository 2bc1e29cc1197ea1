import IndoorVocabulary

extension BeaconFrame {
    /// Why a frame cannot be put into advertising data.
    public enum EncodingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The measured power in dBm is outside what the format's beacons can have.
        case power(Int, allowed: ClosedRange<Int>)
        /// Eddystone-UID has no major and minor: both must be 0.
        case majorAndMinor(BeaconIdentity)

        public var description: String {
            switch self {
            case .power(let power, let allowed): "Measured power \(power) dBm is not within \(allowed) dBm."
            case .majorAndMinor(let beacon): "\(beacon) has a major or minor, for which Eddystone-UID has no place."
            }
        }
    }

    /// The advertising data of a beacon that sends this frame: its flags, and the frame.
    ///
    /// - Throws: what has no place in the format.
    public func advertisingData() throws(EncodingError) -> [UInt8] {
        guard format.plausiblePowers.contains(measuredPower) else {
            throw .power(measuredPower, allowed: format.plausiblePowers)
        }
        // General discoverable, no BR/EDR: what beacons send.
        var data = Self.structure(AdvertisingStructure.KnownType.flags, [0x06])
        switch format {
        case .iBeacon:
            let payload =
                Self.littleEndian(Layout.appleCompany) + [Layout.iBeaconType, Layout.iBeaconLength] + identityBytes
                + [UInt8(bitPattern: Int8(measuredPower))]
            data += Self.structure(AdvertisingStructure.KnownType.manufacturerData, payload)
        case .altBeacon:
            // The company that reserved the number for tests and for its own use: 0xFFFF.
            let payload =
                [0xFF, 0xFF] + Self.littleEndian(Layout.altBeaconCode).reversed() + identityBytes
                + [UInt8(bitPattern: Int8(measuredPower)), 0]
            data += Self.structure(AdvertisingStructure.KnownType.manufacturerData, payload)
        case .eddystoneUID:
            guard beacon.major == 0, beacon.minor == 0 else { throw .majorAndMinor(beacon) }
            let power = UInt8(bitPattern: Int8(measuredPower + Self.eddystoneLossToOneMeter))
            let service = Self.littleEndian(Layout.eddystoneService)
            let payload = service + [Layout.eddystoneUIDType, power] + identityBytes.prefix(16) + [0, 0]
            data += Self.structure(AdvertisingStructure.KnownType.serviceUUIDs, service)
            data += Self.structure(AdvertisingStructure.KnownType.serviceData, payload)
        }
        return data
    }

    private var identityBytes: [UInt8] {
        Self.bigEndian(beacon.uuid.high) + Self.bigEndian(beacon.uuid.low) + Self.littleEndian(beacon.major).reversed()
            + Self.littleEndian(beacon.minor).reversed()
    }

    private static func structure(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [UInt8(payload.count + 1), type] + payload
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - $0 * 8)) }
    }
}
