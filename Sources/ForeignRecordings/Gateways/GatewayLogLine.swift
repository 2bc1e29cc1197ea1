/// A line of `mosquitto_sub -v`: the topic and the payload, with or without a time before them.
struct GatewayLogLine: Hashable, Sendable {
    /// The time before the topic, as the format `%U` or `%I` of `mosquitto_sub -F` prints it; nil without one.
    var time: ForeignTime?
    /// The topic.
    var topic: String
    /// The payload.
    var payload: [UInt8]

    /// Reads a line; returns nil if it doesn't have a topic and a payload.
    init?(_ line: [UInt8]) {
        var rest = line[...]
        if rest.last == 0x0D { rest.removeLast() }
        if let space = rest.firstIndex(of: 0x20),
            let time = ForeignTime.text(String(decoding: rest[..<space], as: UTF8.self)), time.isUnix
        {
            self.time = time
            rest = rest[(space + 1)...]
        }
        // A topic may contain spaces, and a payload of JSON begins with a bracket.
        let json = rest.indices.dropLast().first { index in
            rest[index] == 0x20 && (rest[index + 1] == UInt8(ascii: "{") || rest[index + 1] == UInt8(ascii: "["))
        }
        guard let end = json ?? rest.firstIndex(of: 0x20), end > rest.startIndex, end + 1 < rest.endIndex else {
            return nil
        }
        topic = String(decoding: rest[..<end], as: UTF8.self)
        payload = Array(rest[(end + 1)...])
    }

    /// Whether the line can be one of a gateway's log: the topic has levels, and the payload is JSON.
    var isPlausible: Bool {
        topic.utf8.contains(UInt8(ascii: "/"))
            && (payload.first == UInt8(ascii: "{") || payload.first == UInt8(ascii: "["))
    }
}
