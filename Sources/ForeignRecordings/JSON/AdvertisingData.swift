import BeaconScanning
import IndoorVocabulary

/// AD structures built from the values that a library decoded from them.
///
/// Source: Bluetooth Core Specification 5.4, Vol 3 Part C, 11; Bluetooth SIG, Assigned Numbers, 2.3.
struct AdvertisingData {
    /// The structures so far.
    private(set) var bytes: [UInt8] = []

    /// Appends a structure; throws if it is longer than its length byte can state.
    mutating func append(_ type: UInt8, _ payload: [UInt8], _ field: String) throws(ForeignProblem) {
        guard payload.count <= 254 else { throw ForeignProblem(field, .tooLong(limit: 254)) }
        guard bytes.count + payload.count + 2 <= AdvertisingReassembler.maximumLength else {
            throw ForeignProblem(field, .tooLong(limit: AdvertisingReassembler.maximumLength))
        }
        bytes += [UInt8(payload.count + 1), type] + payload
    }

    /// Returns the bytes of a UUID in reverse order: two for a UUID of the Bluetooth SIG, otherwise sixteen.
    static func bytes(of uuid: BeaconUUID) -> [UInt8] {
        if uuid.high & 0xFFFF_0000_FFFF_FFFF == 0x0000_0000_0000_1000, uuid.low == 0x8000_0080_5F9B_34FB {
            return [UInt8(truncatingIfNeeded: uuid.high >> 32), UInt8(truncatingIfNeeded: uuid.high >> 40)]
        }
        return [uuid.low, uuid.high].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) } }
    }
}
