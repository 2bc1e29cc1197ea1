import IndoorVocabulary

/// The advertisement in a packet of the link layer of Bluetooth LE.
///
/// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 2.1 (packet), 2.3 (advertising PDU) and 2.3.4 (common
/// extended advertising payload).
struct LinkLayerPacket: Hashable, Sendable {
    /// The content of a packet.
    enum Content: Hashable, Sendable {
        case advertisement(LinkLayerPacket)
        /// Other content; the text is its description.
        case other(String)
    }

    /// The address of the advertiser; nil if it is anonymous.
    var address: DeviceAddress?
    /// The offsets of the AD structures.
    var data: Range<Int>

    /// The access address of advertising channels, its first byte on air first.
    private static let accessAddress: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]

    /// Reads a packet that begins with its access address. The checksum after the payload may be missing.
    static func content(_ bytes: [UInt8], _ packet: Range<Int>) throws(ForeignProblem) -> Content {
        guard packet.count >= 6 else { throw ForeignProblem(nil, .cutOff(expected: 6, found: packet.count)) }
        let start = packet.lowerBound
        guard bytes[start..<(start + 4)].elementsEqual(accessAddress) else { return .other("packets of connections") }
        let header = bytes[start + 4]
        let payload = (start + 6)..<(start + 6 + Int(bytes[start + 5]))
        guard payload.upperBound <= packet.upperBound else {
            throw ForeignProblem(nil, .cutOff(expected: 6 + payload.count, found: packet.count))
        }
        let isRandom = header & 0x40 != 0
        switch header & 0x0F {
        // ADV_IND, ADV_NONCONN_IND, SCAN_RSP, ADV_SCAN_IND
        case 0, 2, 4, 6:
            guard payload.count >= 6 else { throw ForeignProblem(nil, .cutOff(expected: 12, found: 6 + payload.count)) }
            let address = address(bytes, payload.lowerBound, isRandom: isRandom)
            return .advertisement(LinkLayerPacket(address: address, data: payload.dropFirst(6)))
        case 7: return try extended(bytes, payload, isRandom: isRandom)
        case 1: return .other("directed advertisements")
        case 3, 5: return .other("requests")
        default: return .other("packets of reserved types")
        }
    }

    /// Reads the payload of ADV_EXT_IND and of the PDUs with the same layout on other channels.
    private static func extended(
        _ bytes: [UInt8], _ payload: Range<Int>, isRandom: Bool
    ) throws(ForeignProblem) -> Content {
        guard let length = payload.first.map({ Int(bytes[$0] & 0x3F) }), length < payload.count else {
            throw ForeignProblem(nil, .malformed("an extended header is longer than its packet"))
        }
        let data = payload.dropFirst(1 + length)
        guard length > 0, !data.isEmpty else { return .other("extended advertisements without data") }
        let flags = bytes[payload.lowerBound + 1]
        guard flags & 1 != 0 else { return .advertisement(LinkLayerPacket(address: nil, data: data)) }
        guard length >= 7 else {
            throw ForeignProblem(nil, .malformed("an extended header has no room for its address"))
        }
        let address = address(bytes, payload.lowerBound + 2, isRandom: isRandom)
        return .advertisement(LinkLayerPacket(address: address, data: data))
    }

    /// Returns an address, whose last byte comes first.
    private static func address(_ bytes: [UInt8], _ start: Int, isRandom: Bool) -> DeviceAddress {
        let value = bytes[start..<(start + 6)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return DeviceAddress(rawValue: value, kind: isRandom ? .random : .public)
    }
}
