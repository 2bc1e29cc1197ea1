import IndoorVocabulary
import SQLiteFiles
import TextFormats

/// The detection of a format by the first lines of a file.
struct ForeignFormatDetector {
    /// The number of bytes that suffice for any format.
    static let maximumLength = 4096

    /// The result of the detection.
    enum Result: Hashable, Sendable {
        case foreign(ForeignFormat)
        /// A recording of this package, a capture of btsnoop, or an empty file.
        case recorded
        /// Anything else; the text has the headers of a table whose columns are unknown.
        case unknown(String?)
    }

    let settings: ForeignRecordingSettings

    /// Returns whether the bytes are enough for the detection.
    func isEnough(_ start: [UInt8]) -> Bool {
        if start.count >= Self.maximumLength { return true }
        if case .unknown = result(start, isWhole: false) { return false }
        return true
    }

    /// Returns the format.
    ///
    /// - Parameter isWhole: whether the last line is complete although no line feed follows.
    func result(_ start: [UInt8], isWhole: Bool) -> Result {
        for magic: [UInt8] in [
            [0x0A, 0x0D, 0x0D, 0x0A], [0xA1, 0xB2, 0xC3, 0xD4], [0xA1, 0xB2, 0x3C, 0x4D], [0xD4, 0xC3, 0xB2, 0xA1],
            [0x4D, 0x3C, 0xB2, 0xA1],
        ] where start.starts(with: magic) { return .foreign(.pcap) }
        if start.starts(with: Array("btsnoop\0".utf8)) { return .recorded }
        if start.starts(with: SQLiteHeader.identification) { return .foreign(.kismetDatabase) }
        var converter = UTF16Text()
        var text = converter.text(of: start)[...]
        if start.isEmpty { return isWhole ? .recorded : .unknown(nil) }
        text = text.dropFirst(ByteOrderMark.length(in: text))
        if !isWhole { text = text.prefix(through: text.lastIndex(of: UInt8(ascii: "\n")) ?? text.startIndex - 1) }
        let content = text.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        guard let first = content.first else { return isWhole ? .recorded : .unknown(nil) }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            return json(content) ?? (isWhole ? .recorded : .unknown(nil))
        }
        let lines = content.split(separator: UInt8(ascii: "\n")).prefix(Self.maximumLines).map { line in
            Array(line.last == 0x0D ? line.dropLast() : line)
        }
        return format(lines).map(Result.foreign) ?? .unknown(headers(lines))
    }

    private static let maximumLines = 40

    /// Returns the format of lines of text; nil for any other text.
    private func format(_ lines: [[UInt8]]) -> ForeignFormat? {
        guard let first = lines.first else { return nil }
        if isTable(lines) { return .csv }
        if lines.contains(where: { Self.isGetSensorData(String(decoding: $0, as: UTF8.self)) }) {
            return .getSensorData
        }
        if lines.contains(where: BTSnoozContent.isReport) { return .btsnooz }
        let text = String(decoding: first, as: UTF8.self)
        if text.hasPrefix("#"), text.contains("startTime") || text.contains("SiteID") { return .indoorLocation }
        for line in lines {
            let fields = String(decoding: line, as: UTF8.self).split(separator: "\t", maxSplits: 2)
            if fields.count > 1, fields[1].hasPrefix("TYPE_") { return .indoorLocation }
            // The first lines may be retained messages of other kinds.
            if let line = GatewayLogLine(line), line.isPlausible || BroadcasterValue(line) != nil { return .mqtt }
        }
        return nil
    }

    /// Returns whether the first lines are the header and a row of a table with the required columns.
    private func isTable(_ lines: [[UInt8]]) -> Bool {
        if let pattern = settings.line { return (try? pattern.fields(lines[0])) != nil }
        if CSVContent.isWigle(lines[0]) { return true }
        guard var header = try? CSVHeader(lines[0], settings) else { return false }
        if lines.count > 1, let row = try? CSVLine.fields(lines[1], separator: header.separator) {
            header.complete(with: row, settings)
        }
        return header.missing(settings) == nil
    }

    /// Returns the headers of a table: two lines with the same number of fields, at least two.
    private func headers(_ lines: [[UInt8]]) -> String? {
        guard lines.count > 1, let header = try? CSVHeader(lines[0], ForeignRecordingSettings()),
            header.fields.count > 1, let row = try? CSVLine.fields(lines[1], separator: header.separator),
            row.count == header.fields.count
        else { return nil }
        return header.list
    }

    /// Returns whether a line is a comment, or a word of four letters and the time of a sensor.
    private static func isGetSensorData(_ line: String) -> Bool {
        if line.hasPrefix("%") { return true }
        let fields = line.split(separator: ";", maxSplits: 2, omittingEmptySubsequences: false)
        return fields.count > 1 && fields[0].count == 4
            && fields[0].allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
            && FieldText.number(fields[1]) != nil
    }

    /// The types of the lines of a recording that another program could also write.
    private static let recordedTypes: Set<Substring> = ["advertisement", "beacon", "truth", "motion"]

    /// Returns the format of JSON by its keys. The first object of a recording is a header, or it has a time `t` and a
    /// type.
    private func json(_ content: ArraySlice<UInt8>) -> Result? {
        let text = String(decoding: content.prefix(Self.maximumLength), as: UTF8.self)
        if text.contains("\"kismet.") || text.contains("\"bluetooth.device") { return .foreign(.kismet) }
        if text.contains("\"sensor\""), text.contains("\"seconds_elapsed\"") { return .foreign(.sensorLogger) }
        let line = text.prefix { $0 != "\n" }
        if line.contains("\"indoor-localization-recording\"") { return .recorded }
        if let type = Self.value(of: "type", in: line) {
            if type == "header" || Self.recordedTypes.contains(type) && line.contains("\"t\"") { return .recorded }
        }
        return text.contains("\"rssi\"") || text.contains("\"manufacturer_data\"") ? .foreign(.bleak) : nil
    }

    /// Returns the text behind a key.
    private static func value(of key: String, in line: Substring) -> Substring? {
        guard let range = line.firstRange(of: "\"\(key)\"") else { return nil }
        let rest = line[range.upperBound...].drop { $0 == " " || $0 == ":" || $0 == "\t" }
        return rest.first == "\"" ? rest.dropFirst().prefix { $0 != "\"" } : nil
    }
}
