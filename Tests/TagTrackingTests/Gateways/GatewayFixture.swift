import FoundationEssentials
import IndoorVocabulary
import TagTracking

/// A message of a gateway with the readings or the error that a decoder returns for it.
///
/// The message is `NAME.json` or `NAME.bin`. `NAME.txt` contains its topic, and a line for each reading or the error.
struct GatewayFixture {
    let path: String
    let format: GatewayFormat
    let topic: String
    let payload: [UInt8]
    /// The lines of the readings, each as ``line(of:)`` writes it.
    let readings: [String]
    /// The description of the error; nil if the message is accepted.
    let error: String?

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the fixture of a message.
    init(message path: String, format: GatewayFormat) throws {
        self.path = path
        self.format = format
        payload = Array(try Data(contentsOf: URL(filePath: path)))
        let expectation = Self.expectation(of: path)
        guard let text = try? String(contentsOf: URL(filePath: expectation), encoding: .utf8) else {
            throw Failure(description: "\(path) has no expectation: write \(expectation)")
        }
        var topic: String?
        var readings: [String] = []
        var error: String?
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch (parts[0], parts.count) {
            case ("topic", 2): topic = parts[1]
            case ("reading", 2): readings.append(parts[1])
            case ("error", 2): error = parts[1]
            default: throw Failure(description: "\(expectation) has an unknown line: \(line)")
            }
        }
        guard let topic else { throw Failure(description: "\(expectation) has no topic") }
        let isAccepted = path.split(separator: "/").last?.hasPrefix("accepted-") == true
        guard isAccepted == (error == nil) else {
            throw Failure(description: "\(expectation) contradicts the name of the message")
        }
        (self.topic, self.readings, self.error) = (topic, readings, error)
    }

    /// Returns the path of the expectation of a message.
    static func expectation(of path: String) -> String {
        String(path.dropLast(path.hasSuffix(".json") ? 5 : 4)) + ".txt"
    }

    /// Returns a reading in the format of the expectations.
    static func line(of reading: GatewayReading) -> String {
        var parts = ["receiver=\(reading.receiver)"]
        if let address = reading.address {
            parts.append("address=\(address)" + (address.kind.map { " \($0.rawValue)" } ?? ""))
        }
        if let beacon = reading.beacon { parts.append("beacon=\(beacon)") }
        if let identifier = reading.identifier { parts.append("identifier=\(identifier)") }
        if let name = reading.name { parts.append("name=\(name)") }
        parts.append("rssi=\(reading.rssi)")
        parts.append("window=\(number(reading.window.seconds))")
        if let time = reading.time { parts.append("time=\(time.nanoseconds)/\(number(time.resolution.seconds))") }
        if let channel = reading.channel { parts.append("channel=\(channel)") }
        if let power = reading.measuredPower { parts.append("power=\(number(power))") }
        return parts.joined(separator: " | ")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(value)
    }
}
