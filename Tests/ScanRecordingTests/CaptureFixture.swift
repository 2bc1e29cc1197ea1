import FoundationEssentials
import IndoorLocalization
import ScanRecording
import XCTest

/// A file of `Fixtures/captures/files`: the bytes of a capture, and what a reader is expected to find in them.
struct CaptureFixture {
    let name: String
    let bytes: [UInt8]
    /// The lengths in bytes to which the file can be truncated without an error: the ends of its records.
    let boundaries: [Int]
    let readings: [String]
    let tally: String
    let startMicroseconds: Int64

    init(path: String) throws {
        name = String(path.split(separator: "/").last ?? "")
        let lines = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
        var bytes: [UInt8] = []
        var boundaries: [Int] = []
        var readings: [String] = []
        var others: [Substring: String] = [:]
        for line in lines where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1)
            let value = parts.last.map { String($0.drop { $0 == " " }) } ?? ""
            switch parts[0] {
            case "header", "record", "packet":
                if parts[0] == "record" { boundaries.append(bytes.count) }
                bytes += try value.split(separator: " ").map { try XCTUnwrap(UInt8($0, radix: 16), path) }
            case "reading": readings.append(value)
            default: others[parts[0]] = value
            }
        }
        self.bytes = bytes
        self.boundaries = boundaries + [bytes.count]
        self.readings = readings
        tally = try XCTUnwrap(others.removeValue(forKey: "tally"), path)
        startMicroseconds = try XCTUnwrap(others.removeValue(forKey: "start").flatMap { Int64($0) }, path)
        XCTAssertEqual(others, [:], "\(name) has lines of unknown kinds")
    }

    /// Returns an advertisement in the notation of the fixtures.
    static func text(of reading: SensorReading) -> String {
        guard case .advertisement(let heard) = reading else { return "\(reading)" }
        let hex = heard.data.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }
        let sender = "\(heard.address.kind?.rawValue ?? "unknown") \(heard.address)"
        return "\(heard.instant.nanoseconds / 1000) \(sender) \(Int(heard.rssi)) \(hex.joined())"
    }

    /// Returns a tally in the notation of the fixtures.
    static func text(of tally: BTSnoopReader.Tally) -> String {
        let adapters = tally.adapters.sorted().map { "\($0)" }.joined(separator: ",")
        return "records \(tally.records) notMeasurements \(tally.droppedNotMeasurements)"
            + " scanResponses \(tally.scanResponses) lost \(tally.lostPackets) adapters \(adapters)"
    }
}

/// A capture that is decoded from memory.
enum CaptureStream {
    /// Returns all readings of a capture, and the problem that ended it early.
    ///
    /// - Parameter chunk: the number of bytes that arrive at once.
    static func decode(
        _ bytes: [UInt8], chunk: Int = 1 << 16
    ) -> (readings: [SensorReading], problem: BTSnoopError.Problem?) {
        var buffer = BTSnoopBuffer()
        var decoder = BTSnoopDecoder()
        var readings: [SensorReading] = []
        var rest = bytes[...]
        while true {
            do throws(BTSnoopError.Problem) {
                switch try buffer.next() {
                case .header(let datalink): decoder.begin(datalink)
                case .record(let record):
                    let bytes = buffer.bytes
                    decoder.decode(record, of: bytes.span)
                    while let reading = decoder.next() { readings.append(reading) }
                    if let problem = decoder.consumeProblem() { throw problem }
                case .needsMore:
                    buffer.fill { bytes in
                        bytes += rest.prefix(chunk)
                        rest = rest.dropFirst(chunk)
                    }
                case .end: return (readings, nil)
                }
            } catch {
                return (readings, error)
            }
        }
    }
}

extension TemporaryFolder {
    /// Writes a file and returns its path.
    func write(_ name: String, bytes: some Sequence<UInt8>) throws -> String {
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
        return path + "/" + name
    }
}

/// A temporary folder for one test, which is removed when the value is released.
final class TemporaryFolder {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ScanRecordingTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    func write(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path + "/" + name))) }
}
