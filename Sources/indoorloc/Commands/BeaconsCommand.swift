import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// The command `beacons`: reports how the levels of a venue's beacons have changed over weeks.
struct BeaconsCommand: Command {
    static let syntax = CommandSyntax(
        name: "beacons", operands: "HISTORY", operandCount: 1...1,
        summary: "report how the beacons' levels have changed over weeks",
        details: """
            HISTORY is the file that 'serve' and 'locate' write with --beacon-history; they may run at the same time.
            Prints a line for each beacon: the number of days and of independent readings, the share of the looks near the
            beacon that received it, its level relative to the expected one in the last week, in dB, the correction that a session
            with --follow-drift uses, and what has changed: a slow drift, a sudden change, or silence. Below is what to do: replace
            the battery, look at the beacon, or survey again. A change is reported if it is significant among all beacons and days.

            With --add, the levels of recordings are added to HISTORY first, by the days on which the recordings were made.
            They need no ground truth. Add a recording only once. With --forget, what is known of a beacon is removed, for
            example after its battery was replaced. --json prints one JSON object instead, with the level of each day.

            example: indoorloc beacons --venue Fixtures/office history.db
                     indoorloc beacons --venue Fixtures/office --add walks history.db
            """,
        options: [
            .venue, .radioMap, .seed, .lenient,
            CommandOption(
                name: "add", argument: "RECORDINGS",
                help: "add these recordings first: a file or a folder; may be repeated", proposals: .files),
            CommandOption(name: "forget", argument: "BEACON", help: "remove what is known of this beacon first"),
            CommandOption(
                name: "jobs", short: "j", argument: "N", help: "number of parallel recordings (default: all processors)"
            ),
            CommandOption(name: "json", help: "print one JSON object"),
        ])

    private let path: String
    private let venue: String
    private let radioMap: String?
    private let seed: UInt64
    private let added: [String]
    private let forgotten: String?
    private let jobs: Int
    private let isJSON: Bool
    private let strictness: RecordingReader.Strictness

    init(_ arguments: ParsedArguments) throws {
        path = ParsedArguments.path(arguments.operands[0])
        venue = try arguments.requiredInput("venue")
        radioMap = try arguments.input("radio-map")
        seed = try arguments.seed()
        added = (arguments.values["add"] ?? []).map(ParsedArguments.path)
        forgotten = arguments.value("forget")
        jobs = try arguments.number("jobs", in: 1...1024, else: ProcessInfo.processInfo.activeProcessorCount)
        isJSON = arguments.has("json")
        strictness = arguments.strictness
    }

    func run() async throws {
        let venue = try VenuePacketReader().read(venue, radioMap: radioMap).reportingWarnings(self.venue).venue
        guard !added.isEmpty || FileManager.default.fileExists(atPath: path) else {
            throw CommandError(
                description: "\(path): there is no such file; 'serve --beacon-history FILE' writes it, or use --add")
        }
        let beacon = try forgotten.map { try BeaconNames(venue).beacon($0, command: Self.syntax.name) }
        let file = try BeaconHistoryFile(path: path)
        if let beacon { try await file.forget(beacon, of: venue.id) }
        if !added.isEmpty { try await add(to: file, venue) }
        let history = try await file.history(of: venue.id, version: venue.version, until: BeaconHistory.today)
        if history.isEmpty {
            let others = try await file.versions(of: venue.id)
            guard others.isEmpty else {
                let all = others.map(String.init).joined(separator: ", ")
                throw CommandError(
                    description:
                        "\(path) has levels of version \(all) of '\(PrintableText.line(venue.name))', and none of "
                        + "version \(venue.version), as another packet expects other levels: sessions collect them; "
                        + "give the earlier packet with --venue to see those of version \(others[others.count - 1])")
            }
        }
        let following = try await file.following(of: venue.id, version: venue.version)
        let report = BeaconReport(history, venue: venue, following: following)
        try StandardOutput.write(lines: isJSON ? [report.json.text] : report.lines)
    }

    /// Adds the levels of the recordings, either all or none.
    private func add(to file: BeaconHistoryFile, _ venue: Venue) async throws {
        let paths = added.flatMap(DataSet.recordings(at:))
        guard !paths.isEmpty else {
            throw CommandError(description: "\(added.joined(separator: ", ")): no recording (.jsonl or .jsonl.gz)")
        }
        let progress = ProgressLine()
        defer { progress.clear() }
        let settings = SettingsStack().resolved(in: venue).localization.positioning
        let field = SignalField(venue: venue, model: settings.signal)
        let parts = try await paths.concurrentMap(
            jobs: jobs, report: { progress.show("levels: \($0) of \(paths.count) recordings") }
        ) { _, path in
            let recording = try RecordedReadings(path: path, strictness: strictness)
            let addresses = KnownAddresses(of: venue)
            var readings: [SensorReading] = []
            while let reading = try recording.next(truth: { _ in }) { readings.append(addresses.named(reading)) }
            guard let clock = recording.wallClock, let first = readings.first?.instant else {
                throw CommandError(
                    description: "\(path): \(readings.isEmpty ? "no reading" : "the day of the recording is unknown"); "
                        + "record with 'locate --record', or give its header \"startedAt\"")
            }
            let levels = BeaconLevels(
                of: readings, in: venue, field: field, settings: settings, device: recording.device, seed: seed)
            return (day: BeaconHistory.day(of: clock.unixTime(at: first)), levels: levels)
        }
        var days: [Int: BeaconLevels] = [:]
        for part in parts { days[part.day, default: BeaconLevels()].add(part.levels) }
        try await file.add(
            days.sorted { $0.key < $1.key }.map { day, levels in
                (levels: VenueLevels(venueID: venue.id, version: venue.version, levels: levels), day: day)
            })
    }
}
