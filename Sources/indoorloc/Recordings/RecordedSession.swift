import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// A session on a recording or a Bluetooth capture; the file's content determines the format.
struct RecordedSession: Sendable {
    var venues: [Venue]
    var settings = SettingsStack()
    var seed: UInt64 = 0
    var strictness = RecordingReader.Strictness.strict
    /// Tables of expected RSSI, shared between sessions.
    var fields: [VenueID: SignalField] = [:]
    /// The position at the first reading; nil if unknown.
    var start: Fix?
    /// The geofences to monitor, in addition to the venues' fences.
    var geofences: [Geofence] = []
    /// Layouts of beacons beyond the built-in ones.
    var layouts: [BeaconLayout] = []
    /// Whether the receiver model uses the device in the recording's header.
    var expectsDevice = true
    /// Whether the session outputs motion.
    var tellsMotion = false

    /// Plays the recording and passes the session's outputs to `body`.
    ///
    /// The file is opened once and read in order, so that it may be a pipe.
    /// - Parameters:
    ///   - truth: receives each ground truth, and the session before it handles the next reading.
    ///   - concluding: receives the diagnosis of the whole recording at its end.
    ///   - passing: receives each reading before the session; returns the readings that replace it in the session.
    ///   - before: receives the instant of each reading and the session before it. It may advance the session up to
    ///     that instant; `body` doesn't receive the outputs of this advance.
    /// - Returns: the findings that the user should know about the recording.
    /// - Throws: the error of the recording, or the error of `body`.
    func play(
        _ path: String, truth: (Truth, SessionReplay) -> Void = { _, _ in },
        concluding: (SessionDiagnosis) -> Void = { _ in }, passing: (SensorReading) -> [SensorReading] = { [$0] },
        before: (Instant, inout SessionReplay) throws -> Void = { _, _ in },
        _ body: (SessionReplay.Output) throws -> Void
    ) throws -> Findings {
        let readings = try RecordedReadings(path: path, strictness: strictness)
        // The header, with the device's name, comes before the first reading.
        var early: [Truth] = []
        var next = try readings.next(truth: { early.append($0) })
        var replay = SessionReplay(
            venues: venues, settings: expectsDevice ? settings.expecting(device: readings.device) : settings,
            seed: seed, fields: fields, tellsMotion: tellsMotion)
        replay.wallClock = readings.wallClock
        for place in early { truth(place, replay) }
        try replay.startMonitoring(geofences)
        var cut = dutyCycleCut
        var hasStarted = false
        // If a recording ends during a pause of the duty cycle, the session still plays to the recording's end.
        var end: Instant?
        while let recorded = next {
            if cut != nil { end = recorded.instant }
            if !hasStarted {
                try replay.start().forEach(body)
                if var start {
                    start.instant = recorded.instant
                    try replay.handle(.fix(start)).forEach(body)
                }
            }
            hasStarted = true
            try before(recorded.instant, &replay)
            for reading in passing(recorded) {
                // If the recording was made with a duty cycle, no further readings are removed.
                if case .radio(let event) = reading, event.status == .resting { cut = nil }
                for heard in cut?.handle(reading) ?? [reading] {
                    try replay.handle(heard).forEach(body)
                    if let sighting = layouts.sighting(in: heard) {
                        try replay.handle(.sighting(sighting)).forEach(body)
                    }
                }
            }
            next = try readings.next(truth: { truth($0, replay) })
        }
        if !hasStarted { try replay.start().forEach(body) }
        try replay.finish(at: end).forEach(body)
        replay.conclusion.map(concluding)
        return Findings(tally: readings.tally, uncalibratedBeacons: replay.uncalibratedBeacons.map(name(of:)))
    }

    /// The findings that the user should know about a recording.
    struct Findings {
        /// The counts of skipped and dropped data.
        var tally: RecordedReadings.Tally
        /// The names of the first beacons that send no valid measured power.
        var uncalibratedBeacons: [String]

        /// Warnings, each in a line; nil if there is nothing to know.
        func warning(for path: String) -> String? {
            let text = (tally.warning(for: path) ?? "") + (uncalibratedWarning(for: path) ?? "")
            return text.isEmpty ? nil : text
        }

        private func uncalibratedWarning(for path: String) -> String? {
            guard !uncalibratedBeacons.isEmpty else { return nil }
            let beacons =
                (uncalibratedBeacons.count == 1 ? "beacon " : "beacons ")
                + uncalibratedBeacons.joined(separator: ", ")
            let line =
                "\(path): no valid measured power from \(beacons); the power in the venue, the survey or the settings is "
                + "used: calibrate the beacons"
            return "indoorloc: \(PrintableText.line(line))\n"
        }
    }

    /// Returns the name of a beacon in the first venue that contains it.
    private func name(of beacon: BeaconIdentity) -> String {
        let venue = venues.first { $0.beacons.contains { $0.identity == beacon } }
        return venue.map { BeaconNames($0).name(of: beacon) } ?? beacon.description
    }

    /// The filter that removes the readings that the settings' duty cycle would have missed; nil without a duty cycle.
    private var dutyCycleCut: DutyCycleCut? {
        let cycle = ScanSchedule(settings).cycle
        return cycle.isContinuous || !cycle.problems.isEmpty ? nil : DutyCycleCut(cycle)
    }
}

extension SessionDiagnosis {
    /// Returns the reason why a recording gives no position, in words.
    ///
    /// - Parameter canFollowMotion: whether the command has `--fix`, and the recording has steps or inertial samples.
    func recordingSummary(canFollowMotion: Bool = false) -> String {
        let words =
            reason == .noBeacons && canFollowMotion
            ? "\(clause); use --fix MAP,X,Y,RADIUS to follow it by motion alone" : clauseWithHelp
        return PrintableText.line("no position, as \(words)")
    }
}

extension SettingsStack {
    /// Returns the settings for the device of a recording, unless they give a device.
    func expecting(device: String?) -> SettingsStack {
        guard let device, !isGiven("device") else { return self }
        var stack = self
        try? stack.override("device", .string(device), place: "the recording's header")
        stack.apply()
        return stack
    }

    /// Returns the settings with a forced venue.
    func forcing(_ venue: VenueID) throws -> SettingsStack {
        var settings = self
        try settings.override("forcedVenue", JSONValue.number(Double(venue.rawValue)))
        settings.apply()
        return settings
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
        if !unreadColumns.isEmpty {
            let names = unreadColumns.map { "\"\($0)\"" }.joined(separator: ", ")
            parts.append("left out \(unreadColumns.count == 1 ? "the column" : "the columns") \(names)")
        }
        if !standIns.isEmpty {
            let names = standIns.sorted().prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
            parts.append(
                "\(standIns.count.counting("beacon")) without an identity got one made from the name: \(names)"
                    + "\(standIns.count > 5 ? ", …" : ""); give the identities with --beacons")
        }
        if entries == 0 { parts.append("no reading found") }
        return parts.isEmpty ? nil : "indoorloc: \(PrintableText.line("\(path): \(parts.joined(separator: "; "))"))\n"
    }
}

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
        if adapters.isEmpty, records > 0 {
            parts.append("none of its \(records.counting("record")) is an advertisement; scan while it is captured")
        }
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

extension RoomRecording {
    /// Reads a recording with rooms, and reports skipped and dropped lines, and those of unknown types.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    static func reportingWarnings(
        _ path: String, strictness: RecordingReader.Strictness,
        scans: ([Sighting]) -> [RoomScan] = { RoomScan.scans(of: $0) }
    ) throws(RecordingError) -> RoomRecording {
        let recording = try RoomRecording(path: path, strictness: strictness, scans: scans)
        if let warning = recording.tally.warning(for: path) { StandardError.write(warning) }
        return recording
    }
}

extension SurveyRecording {
    /// Reads a survey, and reports skipped and dropped lines, and those of unknown types.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    static func reportingWarnings(
        _ path: String, in venue: Venue, strictness: RecordingReader.Strictness
    ) throws(RecordingError) -> SurveyRecording {
        let (recording, tally) = try SurveyRecording.read(path, in: venue, strictness: strictness)
        if let warning = tally.warning(for: path) { StandardError.write(warning) }
        return recording
    }
}

/// The names of beacons in figures, and beacons by their names.
struct BeaconNames: Sendable {
    private let beacons: [BeaconIdentity]
    /// The names of the beacons that the packet doesn't name by UUID, major and minor.
    private let packetNames: [BeaconIdentity: String]
    private let areShort: Bool

    /// Creates the names of the beacons of a venue and its radio map.
    init(_ venue: Venue) {
        beacons = venue.beacons.map(\.identity) + (venue.radioMap?.beacons.map(\.identity) ?? [])
        let named = venue.beacons.filter { $0.naming != .uuid }.map { ($0.identity, $0.name) }
        let packetNames = Dictionary(named) { first, _ in first }
        self.packetNames = packetNames
        let others = beacons.filter { packetNames[$0] == nil }
        areShort = Set(others.map(Self.short)).count == Set(others).count
    }

    /// The name in the packet; without one, major and minor, or all three parts if major and minor are ambiguous.
    func name(of beacon: BeaconIdentity) -> String {
        packetNames[beacon] ?? (areShort ? Self.short(beacon) : beacon.description)
    }

    private static func short(_ beacon: BeaconIdentity) -> String { "\(beacon.major)/\(beacon.minor)" }

    /// Returns the beacon of an option's value.
    ///
    /// - Throws: `UsageError` if the venue has no such beacon.
    func beacon(_ text: String, command: String) throws(UsageError) -> BeaconIdentity {
        let found = Set(beacons.filter { isName(text, of: $0) })
        if let beacon = found.first, found.count == 1 { return beacon }
        let examples = beacons.prefix(3).map { name(of: $0) }.joined(separator: ", ")
        let reason =
            found.count > 1
            ? "names several beacons; use UUID/major/minor" : "is not a beacon of the venue, such as \(examples)"
        throw UsageError(message: "--beacon: '\(text)' \(reason)", command: command)
    }

    private func isName(_ text: String, of beacon: BeaconIdentity) -> Bool {
        let lowercased = text.lowercased()
        if beacon.description.lowercased() == lowercased { return true }
        if let name = packetNames[beacon] { return name.lowercased() == lowercased }
        return Self.short(beacon) == text
    }
}
