/// Records that are sent together, again and again until they are confirmed.
public struct UploadBatch: Hashable, Sendable {
    /// The same each time that the batch is sent, and of no other batch: by it, a server tells repetitions.
    public var id: String
    /// How many records it has.
    public var count: Int
    /// The number of the last record.
    var last: Int64
    /// The JSON document that is sent.
    public var body: [UInt8]

    /// Makes the document.
    ///
    /// - Parameters:
    ///   - range: numbers of the first and the last record that it had when it was made.
    ///   - records: those of them that are there, their numbers and their JSON, in order.
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

    /// A text as JSON has it.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
