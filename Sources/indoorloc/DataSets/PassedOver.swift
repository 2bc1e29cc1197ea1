import ScanRecording

extension RecordedReadings.Tally {
    /// What a person should know of it; nil if there is nothing.
    func warning(for path: String) -> String? {
        switch self {
        case .recording(let tally): tally.warning(for: path)
        case .capture(let tally): tally.warning(for: path)
        }
    }
}

extension BTSnoopReader.Tally {
    /// What a person should know of what was passed over; nil if there is nothing.
    func warning(for path: String) -> String? {
        var parts: [String] = []
        if let first = errors.first?.finding {
            parts.append(
                skippedRecords == 1
                    ? "1 bad record skipped: \(first)" : "\(skippedRecords) bad records skipped, the first: \(first)")
        }
        func count(_ number: Int, _ what: String) {
            if number > 0 { parts.append("\(number) \(number == 1 ? "advertisement" : "advertisements") \(what)") }
        }
        count(droppedNotMeasurements, "dropped whose RSSI is no measurement (127, 0 or above)")
        count(droppedAnonymous, "dropped that were anonymous and held no beacon")
        count(unfinishedAdvertisements, "dropped whose last fragment is not there")
        count(truncatedAdvertisements, "cut off by the controller")
        if lostPackets > 0 { parts.append("\(lostPackets) packets lost while capturing") }
        return parts.isEmpty ? nil : "indoorloc: \(path): \(parts.joined(separator: "; "))\n"
    }
}
