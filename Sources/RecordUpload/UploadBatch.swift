import TextFormats

/// Records that are sent together, repeatedly until the server confirms them.
package struct UploadBatch: Hashable, Sendable {
    /// The identifier, unique to this batch and the same on each attempt. A server uses it to detect duplicates.
    package var id: String
    /// The number of records.
    package var count: Int
    /// The number of the last record.
    var last: Int64
    /// The JSON document.
    package var body: [UInt8]

    /// Creates a batch and its document.
    ///
    /// - Parameters:
    ///   - range: the numbers of the first and the last record of the batch when it was created.
    ///   - records: the numbers and the JSON of those records that still exist, in order.
    init(
        queue: String, range: ClosedRange<Int64>, device: String, dropped: Int,
        records: [(number: Int64, json: String)]
    ) {
        last = range.upperBound
        id = "\(queue)-\(range.lowerBound)-\(range.upperBound)"
        count = records.count
        let lines: [String] = records.map { #"{"number":\#($0.number),"# + $0.json.dropFirst() }
        let head =
            #"{"format":"indoor-localization-records","version":1,"batch":"\#(id)","device":\#(Self.quoted(device)),"#
            + #""dropped":\#(dropped),"records":["#
        body = Array((head + lines.joined(separator: ",\n") + "]}\n").utf8)
    }

    /// Returns a text as a JSON string.
    private static func quoted(_ text: String) -> String {
        var quoted: [UInt8] = []
        JSONEscapes.append(text, to: &quoted, style: .lowerDigits)
        return String(decoding: quoted, as: UTF8.self)
    }
}
