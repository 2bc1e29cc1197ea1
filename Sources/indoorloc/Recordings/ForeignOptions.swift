import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// The options about recordings of other programs.
extension CommandOption {
    static let foreign = [
        CommandOption(
            name: "from", argument: "FORMAT",
            help: "read INPUT as " + ForeignFormat.allCases.map(\.rawValue).joined(separator: ", ")
                + "; without it, the content determines the format"),
        CommandOption(
            name: "columns", argument: "NAME=HEADER,...",
            help: "headers of the columns of a CSV file; NAME is "
                + CSVColumn.allCases.map(\.rawValue).joined(separator: ", ")),
        CommandOption(
            name: "map", argument: "ID[,HEIGHT]",
            help: "map of a ground truth that states none; y counts up from the lower edge of a plan of HEIGHT metres"),
        CommandOption(
            name: "venue", argument: "V", help: "venue whose georeference places a ground truth in degrees"),
        CommandOption(
            name: "receiver", argument: "NAME", help: "read the messages of this gateway: what it received"),
        CommandOption(
            name: "tag", argument: "NAME",
            help: "read the messages about this tag, by address, beacon or name: each gateway becomes a beacon"),
        CommandOption(
            name: "spacing", argument: "SECONDS", help: "time between gateway messages that state none"),
    ]
}

extension ParsedArguments {
    /// The format given by `--from`; nil without the option.
    func foreignFormat() throws(UsageError) -> ForeignFormat? {
        guard let text = value("from") else { return nil }
        guard let format = ForeignFormat(rawValue: text) else {
            let names = ForeignFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "--from must be one of \(names), not '\(text)'", command: syntax.name)
        }
        return format
    }

    /// The settings of the reader.
    ///
    /// - Parameter input: the path of the file; a gateway message without a time from a pipe gets the time of its
    ///   arrival.
    /// - Throws: `UsageError`, or the error of the venue packet.
    func foreignSettings(input: String) throws -> ForeignRecordingSettings {
        var settings = ForeignRecordingSettings()
        settings.columns = try columns()
        settings.receiver = value("receiver")
        settings.tag = value("tag")
        if has("receiver"), has("tag") {
            throw UsageError(message: "--receiver and --tag can't be combined", command: syntax.name)
        }
        if has("spacing") {
            settings.spacing = .seconds(try seconds("spacing", in: 0.001...86_400, else: 1))
        } else if FileIdentity(path: input)?.isPipe == true {
            settings.arrival = { .seconds(Date().timeIntervalSince1970) }
        }
        try readMap(&settings)
        if let path = try self.input("venue") {
            let venue = try VenuePacketReader().read(path).venue
            try settings.placeTruth(in: venue)
            if settings.mapHeight == nil { settings.mapHeight = settings.map.flatMap { venue.map($0)?.height } }
        }
        return settings
    }

    private func columns() throws(UsageError) -> [CSVColumn: String] {
        var columns: [CSVColumn: String] = [:]
        for text in values["columns"] ?? [] {
            for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, !parts[1].isEmpty, let column = CSVColumn(rawValue: String(parts[0])) else {
                    let names = CSVColumn.allCases.map(\.rawValue).joined(separator: ", ")
                    throw UsageError(
                        message: "--columns must be NAME=HEADER, such as rssi=Level, not '\(pair)'; NAME is \(names)",
                        command: syntax.name)
                }
                columns[column] = String(parts[1])
            }
        }
        return columns
    }

    private func readMap(_ settings: inout ForeignRecordingSettings) throws(UsageError) {
        guard let text = value("map") else { return }
        let parts = text.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard let map = Int(parts[0]) else {
            throw UsageError(message: "--map must be ID or ID,HEIGHT, not '\(text)'", command: syntax.name)
        }
        settings.map = MapID(rawValue: map)
        guard parts.count == 2 else { return }
        guard let height = Double(parts[1]), (0.1...100_000).contains(height) else {
            throw UsageError(
                message: "--map: the height must be 0.1 to 100000 metres, not '\(parts[1])'", command: syntax.name)
        }
        settings.mapHeight = height
    }
}

extension ForeignRecordingSettings {
    /// Places coordinates on the maps of a venue: on the map of the level that the plan contains, or else the first
    /// one.
    fileprivate mutating func placeTruth(in venue: Venue) throws {
        let maps = try venue.maps.compactMap { map in try map.geoTransform().map { (map, $0) } }
        place = { coordinate, floor in
            let places = maps.filter { $0.0.level == floor }.map { ($0.0, $0.1.point(at: coordinate)) }
            let place = places.first { map, point in
                (0...map.width).contains(point.x) && (0...map.height).contains(point.y)
            }
            return (place ?? places.first).map { ($0.0.id, $0.1) }
        }
    }
}

extension ForeignRecordingReader.Tally {
    /// A warning about skipped, dropped and ignored data; nil if there is none.
    func warning(for path: String) -> String? {
        var parts: [String] = []
        if let first = errors.first?.finding {
            parts.append(
                skippedRecords == 1 ? "1 skipped: \(first)" : "\(skippedRecords) skipped, the first: \(first)")
        }
        if droppedNotMeasurements > 0 {
            parts.append("\(droppedNotMeasurements) dropped: the RSSI is not a measurement (127, 0 or above)")
        }
        if lateEntries > 0 { parts.append("\(lateEntries) late by up to 1 s, set to the time before them") }
        if !ignored.isEmpty {
            let kinds = ignored.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            parts.append("left out: \(kinds.joined(separator: ", "))")
        }
        if entries == 0 { parts.append("no reading found") }
        return parts.isEmpty ? nil : "indoorloc: \(PrintableText.line("\(path): \(parts.joined(separator: "; "))"))\n"
    }
}
