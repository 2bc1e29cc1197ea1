import IndoorVocabulary

/// A batch of a Minew gateway in the format BINARY-LONG.
///
/// Bytes: 0xBB01, the length of the message (4), the gateway's address (6), the number of tags (2), the tags, 0xDD. A tag
/// has its address (6) and the number of its packets (2). A packet has the length of its data (1), its data, a byte whose
/// bits 0x06 mark a random address, and the RSSI (1). Numbers are big-endian.
///
/// Source: barnowl-minew, github.com/reelyactive/barnowl-minew, `lib/binarypacketdecoder.js`.
enum MinewBinaryMessage {
    /// Returns the readings.
    static func readings(payload: [UInt8]) throws(GatewayError) -> [GatewayReading] {
        var bytes = Bytes(payload: payload)
        guard try bytes.number(2, "header") == 0xBB01 else { throw bytes.error(0, "header", "0xBB01") }
        guard try bytes.number(4, "length") == UInt64(payload.count) else {
            throw bytes.error(2, "length", "\(payload.count), the length of the message in bytes")
        }
        let gateway = DeviceAddress(rawValue: try bytes.number(6, "gateway")).description
        let tags = try bytes.number(2, "number of tags")
        var readings: [GatewayReading] = []
        for _ in 0..<tags {
            let address = DeviceAddress(rawValue: try bytes.number(6, "tag"))
            for _ in 0..<(try bytes.number(2, "number of packets")) {
                let offset = bytes.offset
                var report = TagReport()
                report.address = address
                report.data = try bytes.data(count: Int(try bytes.number(1, "length of data")), "data")
                if try bytes.number(1, "response") & 0x06 != 0 { report.addressKind = .random }
                let rssi = Int8(truncatingIfNeeded: try bytes.number(1, "rssi"))
                report.rssi = Sighting.isMeasurement(rssi: Double(rssi)) ? Double(rssi) : nil
                report.readAdvertisement()
                if let reading = try report.reading(by: gateway, .minewBinary, at: offset) { readings.append(reading) }
            }
        }
        guard try bytes.number(1, "tail") == 0xDD, bytes.offset == payload.count else {
            throw bytes.error(bytes.offset - 1, "tail", "0xDD as the last byte")
        }
        return readings
    }

    private struct Bytes {
        let payload: [UInt8]
        var offset = 0

        /// Reads a big-endian number of up to eight bytes.
        mutating func number(_ size: Int, _ field: StaticString) throws(GatewayError) -> UInt64 {
            try check(size, field)
            var number: UInt64 = 0
            for byte in payload[offset..<offset + size] { number = number << 8 | UInt64(byte) }
            offset += size
            return number
        }

        mutating func data(count: Int, _ field: StaticString) throws(GatewayError) -> [UInt8] {
            try check(count, field)
            offset += count
            return Array(payload[offset - count..<offset])
        }

        private func check(_ size: Int, _ field: StaticString) throws(GatewayError) {
            guard payload.count - offset >= size else {
                throw error(offset, field, "\(size) more bytes, found \(payload.count - offset)")
            }
        }

        func error(_ offset: Int, _ field: StaticString, _ expected: String) -> GatewayError {
            GatewayError(format: .minewBinary, offset: offset, message: "\(field): expected \(expected)")
        }
    }
}
