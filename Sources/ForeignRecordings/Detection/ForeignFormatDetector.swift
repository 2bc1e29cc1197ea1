import IndoorVocabulary
import TextFormats

/// The detection of a format by the first bytes of a file.
enum ForeignFormatDetector {
    /// The number of bytes that suffice for any format.
    static let maximumLength = 4096

    /// Returns whether the bytes are enough for the detection: a line with more than white space and brackets.
    static func isEnough(_ start: [UInt8]) -> Bool {
        if start.count >= maximumLength { return true }
        var hasContent = false
        for byte in start {
            switch byte {
            case UInt8(ascii: "\n") where hasContent: return true
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "["), UInt8(ascii: "{"): break
            default: hasContent = true
            }
        }
        return false
    }

    /// Returns the format; nil for a recording, a capture of btsnoop, and anything unknown.
    static func format(_ start: [UInt8], settings: ForeignRecordingSettings) -> ForeignFormat? {
        let start = start.dropFirst(ByteOrderMark.length(in: start))
        for magic: [UInt8] in [
            [0x0A, 0x0D, 0x0D, 0x0A], [0xA1, 0xB2, 0xC3, 0xD4], [0xA1, 0xB2, 0x3C, 0x4D], [0xD4, 0xC3, 0xB2, 0xA1],
            [0x4D, 0x3C, 0xB2, 0xA1],
        ] where start.starts(with: magic) { return .pcap }
        let content = start.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        guard let first = content.first else { return nil }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return json(content) }
        var line = Array(content.prefix { $0 != UInt8(ascii: "\n") })
        if line.last == 0x0D { line.removeLast() }
        let text = String(decoding: line, as: UTF8.self)
        if isGetSensorData(text) { return .getSensorData }
        if text.hasPrefix("#"), text.contains("startTime") || text.contains("SiteID") { return .indoorLocation }
        if text.split(separator: "\t").dropFirst().first?.hasPrefix("TYPE_") == true { return .indoorLocation }
        if GatewayLogLine(line)?.isPlausible == true { return .mqtt }
        if let header = try? CSVHeader(line, given: settings.columns), header.isComplete { return .csv }
        return nil
    }

    private static func isGetSensorData(_ line: String) -> Bool {
        if line.hasPrefix("%") { return true }
        let word = line.prefix { $0 != ";" }
        return word.count == 4 && word.count < line.count
            && word.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
    }

    /// Returns the format of JSON by its keys. The first object of a recording has a type.
    private static func json(_ content: ArraySlice<UInt8>) -> ForeignFormat? {
        let text = String(decoding: content.prefix(maximumLength), as: UTF8.self)
        if text.contains("\"kismet.") || text.contains("\"bluetooth.device") { return .kismet }
        guard !text.contains("\"type\""), text.contains("\"rssi\"") || text.contains("\"manufacturer_data\"") else {
            return nil
        }
        return .bleak
    }
}
