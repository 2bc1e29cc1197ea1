import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import TextFormats
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
            name: "line", argument: "PATTERN",
            help:
                "form of the lines of a CSV file without a header, such as '{identity} = {rssi} {time}'; {_} is not read"
        ),
        CommandOption(
            name: "beacon-columns", argument: "HEADER,...",
            help: "columns of a CSV file that each have the RSSI of one beacon; without it, headers such as b1 and b2"),
        CommandOption(
            name: "not-heard", argument: "DBM,...",
            help: "numbers that mean 'not heard' in such columns (default -100; 0, 100 and -200 always)"),
        CommandOption(
            name: "beacon", argument: "ID",
            help: "the only beacon of a CSV file without a column for it: an identity, an address or a name"),
        CommandOption(
            name: "beacons", argument: "FILE",
            help: "CSV file of the beacons: a column name, and uuid, major and minor, identity or mac"),
        CommandOption(
            name: "time-format", argument: "FORM",
            help: "form of the times in a CSV file: fields of strptime such as '%d.%m.%y %H:%M:%S', or "
                + ForeignTimeFormat.names.joined(separator: ", ")),
        CommandOption(
            name: "time-zone", argument: "ZONE",
            help: "zone of times in text that state none, such as Europe/Berlin (default UTC)"),
        CommandOption(
            name: "truth", argument: "FILE", help: "CSV file of the ground truth, with times by the same clock"),
        CommandOption(
            name: "profile", argument: "FILE",
            help: "JSON object with these options by name, without dashes; the command line overrides it"),
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
            name: "spacing", argument: "SECONDS",
            help: "time between gateway messages, or lines of a CSV file, that state none"),
    ]
}

extension ParsedArguments {
    /// The format given by `--from`; nil without the option.
    func foreignFormat() throws(UsageError) -> ForeignFormat? {
        try word("from", of: ForeignFormat.self)
    }

    /// The settings of the reader.
    ///
    /// - Parameter input: the path of the file; a gateway message without a time from a pipe gets the time of its
    ///   arrival.
    /// - Throws: `UsageError`, or the error of the venue packet.
    func foreignSettings(input: String) throws -> ForeignRecordingSettings {
        var settings = ForeignRecordingSettings()
        settings.columns = try columns()
        settings.line = try linePattern()
        settings.beaconColumns = list("beacon-columns")
        settings.beacon = value("beacon")
        settings.notHeard = try notHeard() ?? settings.notHeard
        settings.beacons = try beacons()
        settings.timeFormat = try timeFormat()
        settings.zoneOffset = try zoneOffset()
        settings.receiver = value("receiver")
        settings.tag = value("tag")
        if has("receiver"), has("tag") {
            throw UsageError(message: "--receiver and --tag can't be combined", command: syntax.name)
        }
        if has("spacing") {
            settings.spacing = .seconds(try seconds("spacing", in: 0.001...86_400, else: 1))
        }
        if FileIdentity(path: input)?.isPipe == true {
            settings.isLive = true
            if !has("spacing") { settings.arrival = { .seconds(Date().timeIntervalSince1970) } }
        }
        try readMap(&settings)
        if let path = try self.input("venue") {
            let venue = try VenuePacketReader().read(path).venue
            try settings.placeTruth(in: venue)
            if settings.mapHeight == nil { settings.mapHeight = settings.map.flatMap { venue.map($0)?.height } }
        }
        if let path = try self.input("truth") { try settings.readTruth(path) }
        return settings
    }

    /// The options of `--profile`, where the command line doesn't have them.
    ///
    /// - Throws: `CommandError` if the file can't be read or has an unknown option.
    func withProfile() throws -> ParsedArguments {
        guard let path = try input("profile") else { return self }
        let allowed = CommandOption.foreign.map(\.name).filter { $0 != "profile" }
        let bytes = try Self.bytes(path)
        let tree: JSONTree
        do throws(JSONDocumentError) { tree = try JSONTree(bytes) } catch {
            throw CommandError(description: "\(path): the profile is not JSON: \(error.message)")
        }
        guard case .object(let fields) = tree else {
            throw CommandError(description: "\(path): the profile must be a JSON object of options")
        }
        var values: [String: [String]] = [:]
        for (name, value) in fields {
            guard allowed.contains(name) else {
                let names = allowed.joined(separator: ", ")
                throw CommandError(description: "\(path): \"\(name)\" is no option of a profile; it has \(names)")
            }
            guard let texts = value.optionTexts else {
                throw CommandError(
                    description: "\(path): \"\(name)\" must be a text, a number, an array or an object of texts")
            }
            values[name] = texts
        }
        return adding(values)
    }

    private static func bytes(_ path: String) throws(CommandError) -> [UInt8] {
        do throws(BoundedFileError) { return try BoundedFile.read(path, limit: InputLimits.standard.venueFile) } catch {
            throw CommandError(description: "\(path): \(error)")
        }
    }

    private func list(_ option: String) -> [String]? {
        values[option]?.flatMap { $0.split(separator: ",").map { String(CSVText.trimmed($0)) } }
    }

    private func notHeard() throws(UsageError) -> Set<Double>? {
        guard let texts = list("not-heard") else { return nil }
        var numbers: Set<Double> = []
        for text in texts {
            guard let number = Double(text), number.isFinite else {
                throw UsageError(
                    message: "--not-heard must be numbers of dBm, such as -100,-105, not '\(text)'",
                    command: syntax.name)
            }
            numbers.insert(number)
        }
        return numbers
    }

    private func linePattern() throws(UsageError) -> LinePattern? {
        guard let text = value("line") else { return nil }
        guard let pattern = LinePattern(text) else {
            let names = CSVColumn.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(
                message: "--line must have names in braces with text between them, such as '{identity}: {rssi}', not "
                    + "'\(text)'; the names are \(names), and _", command: syntax.name)
        }
        return pattern
    }

    private func timeFormat() throws(UsageError) -> ForeignTimeFormat? {
        guard let text = value("time-format") else { return nil }
        guard let format = ForeignTimeFormat(text) else {
            let names = ForeignTimeFormat.names.joined(separator: ", ")
            throw UsageError(
                message: "--time-format must be one of \(names), or have fields of strptime with the day, such as "
                    + "'%d.%m.%Y %H:%M:%S', not '\(text)'", command: syntax.name)
        }
        return format
    }

    private func zoneOffset() throws(UsageError) -> (@Sendable (Int64) -> Int64)? {
        guard let text = value("time-zone") else { return nil }
        guard let zone = TimeZone(identifier: text) else {
            throw UsageError(
                message: "--time-zone must be a zone such as Europe/Berlin, not '\(text)'", command: syntax.name)
        }
        return { local in
            let guess = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(local)))
            return Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(local - Int64(guess)))))
        }
    }

    /// Reads the table of beacons.
    private func beacons() throws -> [String: ForeignBeacon] {
        guard let path = try input("beacons") else { return [:] }
        return try ForeignBeacon.table(path, bytes: try Self.bytes(path))
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

extension ForeignRecordingSettings {
    /// Reads the ground truth of another file.
    ///
    /// - Throws: the error of the file, or `CommandError` if it has no ground truth.
    fileprivate mutating func readTruth(_ path: String) throws {
        let places: Set<CSVColumn> = [.x, .y, .map, .room]
        truthFile = path
        var settings = self
        settings.columns = columns.filter { places.contains($0.key) || $0.key == .time }
        (settings.beaconColumns, settings.beacon, settings.isLive, settings.line) = ([], nil, false, nil)
        columns = columns.filter { !places.contains($0.key) }
        switch try ConvertibleFile(path: path, settings: settings, strictness: .strict) {
        case .recorded: break
        case .foreign(var reader):
            while let entry = try reader.next() {
                if case .truth(let place) = entry { truth.append((reader.time(of: place.instant), place)) }
            }
        }
        guard truth.isEmpty else { return }
        throw CommandError(description: "\(path): the file has no ground truth; it needs the columns x and y, or room")
    }
}

extension JSONTree {
    /// The values of an option of a profile: a text, a number, several of them, or pairs of them; nil for any other
    /// value.
    fileprivate var optionTexts: [String]? {
        switch self {
        case .string(let text): return [text]
        case .number(let number): return [ShortestNumber.digits(number)]
        case .array(let values):
            let texts = values.map(\.optionTexts)
            return texts.contains { $0?.count != 1 } ? nil : texts.compactMap { $0?.first }
        case .object(let fields):
            let pairs = fields.sorted { $0.key < $1.key }.map { key, value in
                value.optionTexts.flatMap { $0.count == 1 ? "\(key)=\($0[0])" : nil }
            }
            return pairs.contains(nil) ? nil : pairs.compactMap(\.self)
        default: return nil
        }
    }
}
