import ScanRecording

extension RecordedReadings.Tally {
    /// A warning about skipped or dropped data; nil if there is none.
    func warning(for path: String) -> String? {
        switch self {
        case .recording(let tally): tally.warning(for: path)
        case .capture(let tally): tally.warning(for: path)
        }
    }
}

extension BTSnoopReader.Tally {
    /// A warning about skipped or dropped data; nil if there is none.
    func warning(for path: String) -> String? {
        var parts: [String] = []
        if let first = errors.first?.finding {
            parts.append(
                skippedRecords == 1
                    ? "1 invalid record skipped: \(first)"
                    : "\(skippedRecords) invalid records skipped, the first: \(first)")
        }
        func count(_ number: Int, _ what: String) {
            if number > 0 { parts.append("\(number) \(number == 1 ? "advertisement" : "advertisements") \(what)") }
        }
        count(droppedNotMeasurements, "dropped: the RSSI is not a measurement (127, 0 or above)")
        count(droppedAnonymous, "dropped: anonymous and not a beacon")
        count(unfinishedAdvertisements, "dropped: the last fragment is missing")
        count(truncatedAdvertisements, "truncated by the controller")
        if lostPackets > 0 { parts.append("\(lostPackets) packets lost during the capture") }
        return parts.isEmpty ? nil : "indoorloc: \(path): \(parts.joined(separator: "; "))\n"
    }
}

extension RecordingReader.Tally {
    /// A warning about skipped or dropped lines; nil if there is none.
    func warning(for path: String) -> String? {
        var parts: [String] = []
        if let first = errors.first?.finding {
            parts.append(
                skippedLines == 1
                    ? "1 invalid line skipped: \(first)" : "\(skippedLines) invalid lines skipped, the first: \(first)")
        }
        if droppedNotMeasurements > 0 {
            let sightings = droppedNotMeasurements == 1 ? "1 sighting" : "\(droppedNotMeasurements) sightings"
            parts.append("\(sightings) dropped: the RSSI is not a measurement (127, 0 or above)")
        }
        if unknownTypes > 0 {
            parts.append(
                unknownTypes == 1
                    ? "1 line of an unknown type ignored" : "\(unknownTypes) lines of unknown types ignored")
        }
        return parts.isEmpty ? nil : "indoorloc: \(path): \(parts.joined(separator: "; "))\n"
    }
}
