import IndoorVocabulary
import ScanRecording
import TextFormats

/// The packets of HCI that Android compresses into a bug report (btsnooz).
///
/// A bug report is a text of all system services. The section of Bluetooth has Base64 of a header, which has the version
/// and the time of the last packet, and of compressed records. A record has the length of the packet with a byte for
/// its type, in version 2 also the length before it was cut off, the time since the record before, and the type.
///
/// Source: Android Open Source Project, packages/modules/Bluetooth, `system/tools/scripts/btsnooz.py` and
/// `system/btif/src/btif_debug_btsnoop.cc`.
struct BTSnoozContent: RecordContent {
    /// The maximum number of bytes of a section in Base64. Android keeps at most some hundred kilobytes of packets.
    private static let maximumLength = 16 << 20
    private static let begin = Array("--- BEGIN:BTSNOOP_LOG_SUMMARY".utf8)
    private static let end = Array("--- END:BTSNOOP_LOG_SUMMARY".utf8)
    /// The type of an event of HCI.
    private static let event: UInt8 = 0x10

    private var packets = PacketContent()
    /// The Base64 of the current section; nil outside of a section.
    private var section: [UInt8]?
    private var sections = 0

    /// Returns whether a line is one of the first lines of a bug report or of the Bluetooth service's part, or the
    /// beginning of the section.
    static func isReport(_ line: [UInt8]) -> Bool {
        ["== dumpstate: ", "Bluetooth Status", "--- BEGIN:BTSNOOP_LOG_SUMMARY"].contains { line.starts(with: $0.utf8) }
    }

    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        let line = record.drop { $0 == 0x20 || $0 == 0x09 }
        if line.starts(with: Self.begin) {
            section = []
        } else if line.starts(with: Self.end), let text = section.take() {
            sections += 1
            try read(text, into: &output)
        } else if let text = section {
            guard text.count + line.count <= Self.maximumLength else {
                section = nil
                throw ForeignProblem("BTSNOOP_LOG_SUMMARY", .tooLong(limit: Self.maximumLength))
            }
            section?.append(contentsOf: line.filter { $0 != 0x20 })
        }
    }

    mutating func finish(into output: inout ForeignOutput) throws(ForeignProblem) {
        guard section == nil else {
            throw ForeignProblem("BTSNOOP_LOG_SUMMARY", .malformed("the file ends within the section"))
        }
        guard sections > 0 else {
            throw ForeignProblem(
                nil,
                .unsupported(
                    "has no packets of Bluetooth: it has no section BTSNOOP_LOG_SUMMARY",
                    remedy: "Take the bug report while Bluetooth is on, or convert btsnoop_hci.log of its archive"),
                endsFile: true)
        }
    }

    /// Reads the text of a section.
    private mutating func read(_ text: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem) {
        func failure(_ reason: String) -> ForeignProblem { ForeignProblem("BTSNOOP_LOG_SUMMARY", .malformed(reason)) }
        var bytes: [UInt8] = []
        guard Base64Text.append(text.span, to: &bytes) else { throw failure("expected Base64") }
        guard bytes.count > 9 else { throw failure("the section has \(bytes.count) bytes, fewer than its header") }
        let version = bytes[0]
        guard version == 1 || version == 2 else {
            throw ForeignProblem(
                "BTSNOOP_LOG_SUMMARY",
                .unsupported("has version \(version)", remedy: "Convert btsnoop_hci.log of the bug report's archive"))
        }
        let order = ByteOrder(isBigEndian: false)
        let last = order.number(bytes, at: 1, 8)
        let data: [UInt8]
        do throws(ArchiveFailure) { data = try ZlibData.decompressed(Array(bytes[9...])) } catch {
            throw failure(error.reason)
        }
        let records = try Self.records(data, version: version)
        // Each time counts from the record before, and the header has that of the last record.
        let total = records.reduce(UInt64(0)) { $0 + $1.elapsed }
        guard last >= total else { throw failure("the times begin before 1970") }
        var time = last - total
        for record in records {
            time += record.elapsed
            try add(record, at: time, of: data, into: &output)
        }
    }

    private mutating func add(
        _ record: Record, at microseconds: UInt64, of data: [UInt8], into output: inout ForeignOutput
    ) throws(ForeignProblem) {
        guard record.type == Self.event else { return output.ignore("packets of other kinds") }
        guard record.isWhole else { return output.ignore("packets whose end is missing") }
        let packet = PacketRecord(
            number: 0, linkType: 0, nanoseconds: PacketTime.microseconds.nanoseconds(microseconds), isWhole: true,
            data: record.data)
        try packets.event(data, record.data, 0, packet, &output)
    }

    private struct Record {
        /// Microseconds since the record before.
        var elapsed: UInt64
        var type: UInt8
        var isWhole: Bool
        var data: Range<Int>
    }

    private static func records(_ data: [UInt8], version: UInt8) throws(ForeignProblem) -> [Record] {
        let order = ByteOrder(isBigEndian: false)
        let header = version == 1 ? 7 : 9
        var records: [Record] = []
        var start = 0
        while start < data.count {
            guard start + header <= data.count else {
                throw ForeignProblem(nil, .cutOff(expected: header, found: data.count - start))
            }
            let length = Int(order.number(data, at: start, 2))
            let original = version == 1 ? length : Int(order.number(data, at: start + 2, 2))
            let content = (start + header)..<(start + header + max(0, length - 1))
            guard length > 0, content.upperBound <= data.count else {
                throw ForeignProblem(nil, .cutOff(expected: length - 1, found: data.count - start - header))
            }
            records.append(
                Record(
                    elapsed: order.number(data, at: start + header - 5, 4), type: data[start + header - 1],
                    isWhole: length >= original, data: content))
            start = content.upperBound
        }
        return records
    }
}
