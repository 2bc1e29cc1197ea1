import ForeignRecordings
import IndoorLocalization
import ScanRecording
import TextFormats
import VenuePackets

/// A summary of what was understood of a recording of another program.
struct ForeignPreview {
    /// The number of entries that are shown.
    private static let shownEntries = 5
    /// The number of beacons that are shown.
    private static let shownBeacons = 50

    private var first: [RecordingEntry] = []
    private var readings = 0
    private var truths = 0
    private var counts: [String: Int] = [:]
    private var end = Instant.zero
    private var start: Instant?

    /// Adds the next entry.
    mutating func add(_ entry: RecordingEntry) {
        if first.count < Self.shownEntries { first.append(entry) }
        if let instant = entry.instant {
            start = start ?? instant
            end = instant
        }
        guard case .measurement(let reading) = entry else {
            truths += 1
            return
        }
        readings += 1
        switch reading {
        case .sighting(let sighting): counts["\(sighting.beacon)", default: 0] += 1
        case .advertisement(let heard):
            if case .beacon(let frame)? = try? BeaconFrame.decode(heard.data.span) {
                counts["\(frame.beacon)", default: 0] += 1
            } else {
                counts["\(heard.address)", default: 0] += 1
            }
        default: break
        }
    }

    /// The summary in lines.
    func text(_ reader: borrowing ForeignRecordingReader) -> String {
        var lines = ["format: \(reader.format.rawValue)"]
        lines += reader.understood
        if let start = reader.startMicroseconds { lines.append("start: \(RecordingStart.text(start))") }
        let seconds = (start?.duration(to: end) ?? .zero).seconds
        lines.append("length: \(ShortestNumber.text(seconds)) s")
        lines.append("readings: \(readings), ground truth: \(truths)")
        lines.append("beacons: \(counts.count)")
        let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        lines += most.prefix(Self.shownBeacons).map { "  \($0.key): \($0.value.counting("reading"))" }
        if most.count > Self.shownBeacons { lines.append("  and \(most.count - Self.shownBeacons) more") }
        if !first.isEmpty { lines.append("first entries:") }
        for entry in first {
            // A line ends with a line feed.
            if let line = try? RecordEncoder.line(for: entry).dropLast() {
                lines.append("  " + PrintableText.line(String(decoding: line, as: UTF8.self)))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
