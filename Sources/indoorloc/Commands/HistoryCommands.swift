import Foundation
import IndoorLocalization
import TagTracking
import TagTrackingService
import TextFormats

/// The options of the commands `history`, and their values: the file, and the selection of visits and positions.
private struct HistorySelection {
    static let options = [
        CommandOption(name: "room", argument: "NAME", help: "only this room"),
        CommandOption(name: "tag", argument: "TAG", help: "only the tag with this key or name"),
        CommandOption(
            name: "from", argument: "TIME",
            help:
                "first time: such as 10:00 for today, or 2026-11-28T10:00, of this machine's zone or with Z or +02:00 "
                + "(default: 24 hours before --to)"),
        CommandOption(name: "to", argument: "TIME", help: "time of the end, in the same forms (default: now)"),
    ]

    let path: String
    let query: TagHistoryQuery

    init(_ arguments: ParsedArguments) throws {
        path = try arguments.input(operand: 0)
        let now = FleetClock.wallTime
        let end = try Self.time("to", arguments, now) ?? now
        let start = try Self.time("from", arguments, now) ?? end.advanced(by: .seconds(-86_400))
        guard start < end else {
            throw UsageError(message: "--from must be before --to", command: arguments.syntax.name)
        }
        query = TagHistoryQuery(room: arguments.value("room"), tag: arguments.value("tag"), from: start, to: end)
    }

    private static func time(
        _ option: String, _ arguments: ParsedArguments, _ now: Instant
    ) throws(UsageError) -> Instant? {
        guard let text = arguments.value(option) else { return nil }
        if let time = LocalTime.instant(text, today: now) { return time }
        throw UsageError(
            message: "--\(option) must be a time such as 10:00 or 2026-11-28T10:00, not '\(text)'",
            command: arguments.syntax.name)
    }

    /// Opens the file, which must exist.
    ///
    /// - Throws: `CommandError` or `TagHistoryError` if it can't be used.
    func open() throws -> TagHistoryReader {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandError(description: "\(path): there is no such file; 'track --history FILE' writes it")
        }
        return try TagHistoryReader(path: path)
    }

    /// Reads all results of the query in pages, so that neither their number nor their memory is limited.
    ///
    /// - Parameters:
    ///   - read: returns the results of a query after one of them, or the first ones.
    ///   - use: receives each page, also an empty first one, and whether it is the first one.
    func readPages<Element>(
        _ read: (TagHistoryQuery, _ after: Element?) async throws -> [Element],
        use: ([Element], _ isFirst: Bool) throws -> Void
    ) async throws {
        var last: Element?
        while true {
            let page = try await read(query, last)
            if last == nil || !page.isEmpty { try use(page, last == nil) }
            guard page.count == query.limit else { return }
            last = page.last
        }
    }

    /// Returns the name of a tag with its key, or the key.
    static func title(_ name: String?, _ tag: String) -> String { name.map { "\($0) (\(tag))" } ?? tag }
}

extension CommandOption {
    fileprivate static let csv = CommandOption(name: "csv", help: "print a table in CSV format, with times in UTC")
}

/// Times of this machine's zone.
enum LocalTime {
    /// Returns the instant of `HH:MM`, on the day of `today`, or of `YYYY-MM-DDTHH:MM`, each with or without seconds; the
    /// latter also with a zone. nil for another text.
    static func instant(_ text: String, today: Instant) -> Instant? {
        let parts = text.split(whereSeparator: { $0 == "T" || $0 == " " })
        guard let clock = parts.last, (1...2).contains(parts.count) else { return nil }
        let date = parts.count == 2 ? String(parts[0]) : day(of: today)
        let zone = clock.firstIndex { "Z+-".contains($0) } ?? clock.endIndex
        let seconds = clock[..<zone].count { $0 == ":" } == 1 ? ":00" : ""
        let time = "\(date)T\(clock[..<zone])\(seconds)"
        guard let utc = TimeText.time((time + (zone == clock.endIndex ? "Z" : clock[zone...])).utf8.span) else {
            return nil
        }
        guard zone == clock.endIndex else { return Instant(nanoseconds: utc.nanoseconds) }
        // The same date and time of day in this machine's zone.
        var (seconds1970, fields) = (time_t(utc.nanoseconds / 1_000_000_000), tm())
        gmtime_r(&seconds1970, &fields)
        fields.tm_isdst = -1
        return Instant(nanoseconds: Int64(mktime(&fields)) * 1_000_000_000)
    }

    private static func day(of instant: Instant) -> String { format(instant, "%Y-%m-%d") }

    /// Returns the date and the time of an instant, to the second.
    static func text(_ instant: Instant) -> String { format(instant, "%Y-%m-%d %H:%M:%S") }

    private static func format(_ instant: Instant, _ format: String) -> String {
        var seconds = time_t(instant.nanoseconds / 1_000_000_000)
        var fields = tm()
        localtime_r(&seconds, &fields)
        var text = [CChar](repeating: 0, count: 40)
        let count = strftime(&text, text.count, format, &fields)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns a duration such as `1:02:03` in hours, minutes and seconds.
    static func text(_ duration: Duration) -> String {
        let seconds = Int(duration.seconds.rounded())
        let minutes = FixedDecimals.padded(seconds / 60 % 60, 2)
        return "\(seconds / 3600):\(minutes):\(FixedDecimals.padded(seconds % 60, 2))"
    }

    /// Returns a time as in RFC 3339, in UTC.
    static func utc(_ instant: Instant) -> String { CivilTime(instant).text }
}

/// The command `history visits`: lists who was in a room, or where a tag was.
struct HistoryVisitsCommand: Command {
    static let syntax = CommandSyntax(
        name: "history visits", operands: "FILE", operandCount: 1...1,
        summary: "list who was in a room, or where a tag was",
        details: """
            FILE is the history that 'track --history FILE' writes; it may run at the same time. Prints a line for each
            visit that lies within the time at least in part: the entry, the exit, the duration, the room and the tag. A
            visit that has not ended has "now" as its exit.

            example: indoorloc history visits --room Kitchen --from 10:00 --to 11:00 history.db
            """,
        options: HistorySelection.options + [.csv])

    private let selection: HistorySelection
    private let isCSV: Bool

    init(_ arguments: ParsedArguments) throws {
        selection = try HistorySelection(arguments)
        isCSV = arguments.has("csv")
    }

    func run() async throws {
        let (history, now) = (try selection.open(), FleetClock.wallTime)
        try await selection.readPages { query, last in
            try await history.visits(query, after: last?.place, at: now)
        } use: { visits, isFirst in
            guard !isCSV else {
                return try StandardOutput.write(
                    lines: ((isFirst ? [["start", "end", "room", "map", "tag", "name"]] : []) + visits.map(Self.fields))
                        .map { $0.joined(separator: ",") })
            }
            guard !isFirst || !visits.isEmpty else { return try StandardOutput.write("no visits\n") }
            try StandardOutput.write(
                lines: TextTable.lines(
                    (isFirst ? [["entry", "exit", "duration", "room", "tag"]] : []) + visits.map(Self.cells)))
        }
    }

    private static func fields(_ visit: TagVisit) -> [String] {
        [
            LocalTime.utc(visit.start), visit.isOpen ? "" : LocalTime.utc(visit.end), CSVText.safeField(visit.room),
            "\(visit.mapID)", CSVText.safeField(visit.tag), CSVText.safeField(visit.name ?? ""),
        ]
    }

    private static func cells(_ visit: TagVisit) -> [String] {
        [
            LocalTime.text(visit.start), visit.isOpen ? "now" : LocalTime.text(visit.end),
            LocalTime.text(visit.start.duration(to: visit.end)), visit.room,
            HistorySelection.title(visit.name, visit.tag),
        ]
    }
}

/// The command `history dwell`: sums the time in each room.
struct HistoryDwellCommand: Command {
    static let syntax = CommandSyntax(
        name: "history dwell", operands: "FILE", operandCount: 1...1,
        summary: "sum the time of each tag in each room",
        details: """
            FILE is the history that 'track --history FILE' writes. Prints a line for each room and tag with the number of
            visits and the time within --from and --to, and with several tags also a line for each room.

            example: indoorloc history dwell --from 2026-11-28T00:00 history.db
            """,
        options: HistorySelection.options + [.csv])

    private let selection: HistorySelection
    private let isCSV: Bool

    init(_ arguments: ParsedArguments) throws {
        selection = try HistorySelection(arguments)
        isCSV = arguments.has("csv")
    }

    func run() async throws {
        let history = try selection.open()
        var dwells: [TagDwell] = []
        try await selection.readPages { query, last in
            try await history.dwells(query, after: last?.place)
        } use: { page, _ in
            dwells += page
        }
        guard !isCSV else {
            let rows = dwells.map { dwell in
                [
                    CSVText.safeField(dwell.room), CSVText.safeField(dwell.tag), CSVText.safeField(dwell.name ?? ""),
                    "\(dwell.visits)", JSONText.number(dwell.time.seconds, decimals: 3),
                ]
            }
            return try StandardOutput.write(
                lines: ([["room", "tag", "name", "visits", "seconds"]] + rows).map { $0.joined(separator: ",") })
        }
        guard !dwells.isEmpty else { return try StandardOutput.write("no visits\n") }
        var rows = [["room", "tag", "visits", "time"]]
        for dwell in dwells {
            rows.append([
                dwell.room, HistorySelection.title(dwell.name, dwell.tag), "\(dwell.visits)",
                LocalTime.text(dwell.time),
            ])
        }
        if selection.query.tag == nil {
            for (room, dwells) in Dictionary(grouping: dwells, by: \.room).sorted(by: { $0.key < $1.key }) {
                rows.append([
                    room, "all", "\(dwells.reduce(0) { $0 + $1.visits })",
                    LocalTime.text(dwells.reduce(.zero) { $0 + $1.time }),
                ])
            }
        }
        try StandardOutput.write(lines: TextTable.lines(rows))
    }
}

/// The command `history export`: writes positions as CSV or GeoJSON.
struct HistoryExportCommand: Command {
    static let syntax = CommandSyntax(
        name: "history export", operands: "FILE", operandCount: 1...1,
        summary: "write the positions of tags as CSV or GeoJSON",
        details: """
            FILE is the history that 'track --history FILE' writes. The output is GeoJSON (RFC 7946) if its name ends in
            .geojson or .json, with a Point for each position that has a coordinate; otherwise it is a table in CSV format.
            A tag has a position every 5 s while it moves, and one a minute while it stands.

            example: indoorloc history export --tag Cart --from 10:00 -o cart.geojson history.db
            """,
        options: HistorySelection.options + [.output, .overwrite])

    private let selection: HistorySelection
    private let output: OutputFile
    private let isGeoJSON: Bool

    init(_ arguments: ParsedArguments) throws {
        selection = try HistorySelection(arguments)
        output = try arguments.requiredOutputFile("output", isPrivate: true)
        let name = output.path.lowercased()
        isGeoJSON = name.hasSuffix(".geojson") || name.hasSuffix(".json")
    }

    func run() async throws {
        try output.check()
        let history = try selection.open()
        let draft = try output.draft()
        var export = HistoryExport(isGeoJSON ? .geoJSON : .csv)
        var omitted = 0
        try draft.append(export.start)
        try await selection.readPages { query, last in
            try await history.positions(query, after: last.map { ($0.instant, $0.tag) })
        } use: { positions, _ in
            if isGeoJSON { omitted += positions.count { $0.coordinate == nil } }
            try draft.append(export.part(positions))
        }
        try draft.append(export.end)
        try draft.commit()
        if omitted > 0 {
            StandardError.line("\(omitted.counting("position")) without a coordinate left out", .warning)
        }
    }
}
