import IndoorLocalization
import ScanRecording

/// Options that several commands share, and what they mean.
extension CommandOption {
    static let venue = CommandOption(
        name: "venue", argument: "V", help: "venue packet: a folder, its zip, or a venue.json")
    static let output = CommandOption(name: "output", short: "o", argument: "FILE", help: "the file to write")
    static let radioMap = CommandOption(
        name: "radio-map", argument: "MAP", help: "radio map made by 'indoorloc survey', instead of the packet's")
    static let seed = CommandOption(
        name: "seed", argument: "N", help: "seed of all that is random (default 0); equal seeds, equal bytes")
    static let lenient = CommandOption(name: "lenient", help: "skip and count bad lines of recordings")
    static let method = CommandOption(
        name: "method", argument: "METHOD",
        help: PositioningMethod.allCases.map(\.rawValue).joined(separator: ", ") + " (default particle)")
}

extension ParsedArguments {
    var strictness: RecordingReader.Strictness { has("lenient") ? .lenient : .strict }

    func seed() throws(UsageError) -> UInt64 { try number("seed", in: 0...UInt64.max, else: 0) }

}

extension RecordingReader.Tally {
    /// What a person should know of the lines that were passed over; nil if there is nothing.
    func warning(for path: String) -> String? {
        var parts: [String] = []
        if let first = errors.first?.finding {
            parts.append(
                skippedLines == 1
                    ? "1 bad line skipped: \(first)" : "\(skippedLines) bad lines skipped, the first: \(first)")
        }
        if droppedNotMeasurements > 0 {
            let sightings = droppedNotMeasurements == 1 ? "1 sighting" : "\(droppedNotMeasurements) sightings"
            parts.append("\(sightings) dropped whose RSSI is no measurement (127, 0 or above)")
        }
        if unknownTypes > 0 {
            parts.append(
                unknownTypes == 1
                    ? "1 line of an unknown type passed over" : "\(unknownTypes) lines of unknown types passed over")
        }
        return parts.isEmpty ? nil : "indoorloc: \(path): \(parts.joined(separator: "; "))\n"
    }
}
