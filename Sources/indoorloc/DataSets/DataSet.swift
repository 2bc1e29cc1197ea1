import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// A folder with a venue packet, survey recordings and tracks to score.
struct DataSet: Sendable {
    /// The folder's name.
    let name: String
    /// The packet.
    let packet: VenuePacket
    /// The venue of the packet.
    var venue: Venue { packet.venue }
    /// The paths of the survey's recordings, sorted by name; may be empty.
    let surveys: [String]
    /// The paths of the tracks, sorted by name; never empty.
    let tracks: [String]
    /// The paths of the recordings to learn from without ground truth, sorted by name; may be empty.
    let walks: [String]

    /// Reads the packet and lists the recordings.
    ///
    /// - Parameter radioMap: the path of a radio map that replaces the packet's own.
    /// - Throws: `VenuePacketError`, or `CommandError` if there is no track.
    init(path: String, radioMap: String?) throws {
        packet = try VenuePacketReader().read(path, radioMap: radioMap).reportingWarnings(path)
        name = URL(filePath: path).standardizedFileURL.lastPathComponent
        surveys = Self.surveys(in: path)
        walks = Self.recordings(in: path + "/walks")
        tracks = Self.recordings(in: path + "/tracks")
        guard !tracks.isEmpty else {
            throw CommandError(description: "\(path)/tracks has no recording (.jsonl or .jsonl.gz) to score")
        }
    }

    /// Returns the venue with the radio map learned from the survey.
    ///
    /// - Parameters:
    ///   - radioMap: the path of a radio map that replaces the packet's own; nothing is learned then.
    ///   - warns: whether the ground truth that wasn't used is reported; false if it has been.
    func surveyed(
        model: SignalModel, under conditions: EvaluationConditions, radioMap: String?, seed: UInt64,
        strictness: RecordingReader.Strictness, warns: Bool = true, _ progress: ProgressLine
    ) throws -> Venue {
        var venue = conditions.adapted(venue)
        let surveys = conditions.kept(surveys, seed: seed)
        guard radioMap == nil, !surveys.isEmpty else { return venue }
        var learning = SurveyLearning(venue: venue, model: model)
        if conditions.surveyDeafness > 0 {
            progress.show("survey: levels of \(surveys.count) recordings")
            let levels = try EvaluationConditions.levels(in: surveys, of: venue, strictness: strictness)
            learning.weakestKept = EvaluationConditions.weakestKept(of: levels, deafness: conditions.surveyDeafness)
        }
        try learning.add(surveys, strictness: strictness, progress: progress)
        if warns { learning.reportUnused() }
        venue.radioMap = learning.learner.finish() ?? venue.radioMap
        return venue
    }

    /// Returns the survey as the simple methods use it: from the recordings, or without any from the venue's radio map.
    ///
    /// - Parameters:
    ///   - surveyed: the venue with its radio map, under these conditions.
    ///   - radioMap: the path of a radio map that replaces the recordings.
    ///   - warns: whether skipped lines, and ground truth at places that the venue doesn't have, are reported; false if
    ///     they have been.
    func simpleSurvey(
        of surveyed: Venue, settings: SimpleMethodSettings, under conditions: EvaluationConditions, radioMap: String?,
        seed: UInt64, strictness: RecordingReader.Strictness, warns: Bool = false
    ) throws -> SimpleSurvey {
        let paths = radioMap == nil ? conditions.kept(surveys, seed: seed) : []
        let recordings = try paths.map { path in
            warns
                ? try SurveyRecording.reportingWarnings(path, in: surveyed, strictness: strictness)
                : try SurveyRecording(path: path, in: surveyed, strictness: strictness)
        }
        if warns {
            var misplaced = MisplacedTruths(venue: venue)
            for (path, recording) in zip(paths, recordings) { misplaced.add(recording.waypoints, of: path) }
            misplaced.report()
        }
        let levels =
            conditions.surveyDeafness > 0
            ? recordings.flatMap { $0.sightings.lazy.filter(\.hasMeasurement).map(\.rssi) } : []
        return SimpleSurvey(
            recordings, venue: surveyed, settings: settings,
            weakestKept: EvaluationConditions.weakestKept(of: levels, deafness: conditions.surveyDeafness))
    }

    /// The path of a recording, or the recordings in a folder, sorted by name.
    static func recordings(at path: String) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        return recordings(in: path)
    }

    /// The survey's recordings in a data set, sorted by name; empty if there is none.
    static func surveys(in folder: String) -> [String] { recordings(in: folder + "/survey") }

    /// All recordings in a data set; empty if the folder isn't one.
    static func allRecordings(in folder: String) -> [String] {
        ["survey", "tracks", "walks"].flatMap { recordings(in: folder + "/" + $0) }
    }

    private static func recordings(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".jsonl") || $0.hasSuffix(".jsonl.gz") }.sorted().map { folder + "/" + $0 }
    }
}

/// Changes to a data set before it is evaluated: another receiver, fewer sensors, a smaller survey, faults of beacons.
struct EvaluationConditions: Sendable {
    /// The data that `--without` removes.
    enum Part: String, CaseIterable, Sendable {
        /// Inertial samples, steps and air pressure.
        case motion
        /// The survey's recordings and the packet's radio map.
        case survey
    }

    /// The offset in dB added to the RSSI of each sighting, as of another receiver.
    var shift = 0.0
    /// The parts that are removed.
    var without: Set<Part> = []
    /// The share of the survey's recordings to keep, in (0, 1].
    var surveyShare = 1.0
    /// The share of the survey's readings to remove, the weakest ones, in [0, 1): the receiver of the survey is deaf to
    /// them.
    var surveyDeafness = 0.0
    /// The share of the tracks' readings to remove, the weakest ones, in [0, 1).
    var deafness = 0.0
    /// The lowest RSSI in dBm of the tracks' readings to keep, before the shift: that of ``deafness``.
    var weakestKept = -Double.infinity
    /// The faults of beacons and attacks on the radio.
    var disturbances: [Disturbance] = []
    /// The seed that selects the disturbed beacons.
    var seed: UInt64 = 0

    /// Whether the device in a track's header applies; an RSSI offset stands for another device.
    var namesDevice: Bool { shift == 0 }

    /// Whether the seed selects parts of the survey or disturbed beacons.
    var dependsOnSeed: Bool { surveyShare < 1 || !disturbances.isEmpty }

    /// The changes in words; empty without changes.
    var words: [String] {
        var words: [String] = []
        if shift != 0 { words.append("RSSI \(shift > 0 ? "+" : "")\(JSONText.number(shift, decimals: 1)) dB") }
        words += without.map(\.rawValue).sorted().map { "without \($0)" }
        if surveyShare < 1 { words.append("\(JSONText.number(surveyShare * 100, decimals: 0)) % of the survey") }
        if surveyDeafness > 0 { words.append("survey deaf to \(JSONText.number(surveyDeafness * 100, decimals: 0)) %") }
        if deafness > 0 { words.append("deaf to \(JSONText.number(deafness * 100, decimals: 0)) %") }
        return words
    }

    /// Returns the reading under these conditions; nil if it is removed.
    func adapted(_ reading: SensorReading) -> SensorReading? {
        switch reading {
        case .sighting(var sighting):
            guard Sighting.isMeasurement(rssi: sighting.rssi) else { return reading }
            if sighting.rssi < weakestKept { return nil }
            guard shift != 0 else { return reading }
            sighting.rssi += shift
            return .sighting(sighting)
        case .advertisement(var advertisement):
            guard Sighting.isMeasurement(rssi: advertisement.rssi) else { return reading }
            if advertisement.rssi < weakestKept { return nil }
            guard shift != 0 else { return reading }
            advertisement.rssi += shift
            return .advertisement(advertisement)
        case .motion, .step, .pressure:
            return without.contains(.motion) ? nil : reading
        case .gnss, .fix, .range, .radio:
            return reading
        }
    }

    /// Returns a random selection of the survey's recordings, in their order.
    func kept(_ surveys: [String], seed: UInt64) -> [String] {
        guard !without.contains(.survey) else { return [] }
        guard surveyShare < 1, !surveys.isEmpty else { return surveys }
        var generator = SeededGenerator(seed: seed)
        let count = max(1, Int((Double(surveys.count) * surveyShare).rounded()))
        return surveys.indices.shuffled(using: &generator).prefix(count).sorted().map { surveys[$0] }
    }

    /// Returns the lowest RSSI in dBm that a receiver still receives if it misses a share of the readings, the weakest
    /// ones.
    static func weakestKept(of levels: [Double], deafness share: Double) -> Double {
        let sorted = levels.sorted()
        let place = Int(share * Double(sorted.count))
        return share > 0 && sorted.indices.contains(place) ? sorted[place] : -.infinity
    }

    /// Returns the RSSI in dBm of each sighting in some recordings.
    static func levels(
        in recordings: [String], of venue: Venue, strictness: RecordingReader.Strictness
    ) throws(RecordingError) -> [Double] {
        var levels: [Double] = []
        for path in recordings {
            let recording = try SurveyRecording(path: path, in: venue, strictness: strictness)
            levels += recording.sightings.lazy.filter(\.hasMeasurement).map(\.rssi)
        }
        return levels
    }

    /// Sets ``weakestKept`` for the readings of some tracks.
    mutating func measure(
        _ tracks: [String], of venue: Venue, strictness: RecordingReader.Strictness
    ) throws(RecordingError) {
        guard deafness > 0 else { return }
        let levels = try Self.levels(in: tracks, of: venue, strictness: strictness)
        weakestKept = Self.weakestKept(of: levels, deafness: deafness)
    }

    /// Returns the venue without removed data.
    func adapted(_ venue: Venue) -> Venue {
        var venue = venue
        if without.contains(.survey) { venue.radioMap = nil }
        return disturbed(venue)?.venue ?? venue
    }
}

extension EvaluationConditions {
    /// Returns a data set's venue with the disturbances; nil without any.
    func disturbed(_ venue: Venue) -> DisturbedVenue? {
        disturbances.isEmpty ? nil : DisturbedVenue(venue, disturbances, seed: seed)
    }
}

extension ParsedArguments {
    /// The options that set the conditions.
    static let conditionOptions = [
        CommandOption(
            name: "shift", argument: "DB", help: "add DB to each RSSI; several values with commas print one line each"),
        CommandOption(name: "without", argument: "WHAT", help: "remove 'motion', 'survey', or both with a comma"),
        CommandOption(
            name: "survey-share", argument: "S", help: "learn from this share of the survey, above 0, at most 1"),
        CommandOption(
            name: "survey-deaf", argument: "S",
            help: "remove this share of the survey's readings, the weakest; several values print one line each"),
        CommandOption(
            name: "deaf", argument: "S",
            help: "remove this share of the tracks' readings, the weakest; several values print one line each"),
        CommandOption(
            name: "disturb", argument: "WHAT",
            help: "add faults of beacons or attacks, such as 'clone=1,-50dBm'; several with ';'"),
    ]

    /// The given conditions, one for each combination of shift and deafness.
    func conditions() throws(UsageError) -> [EvaluationConditions] {
        var conditions = EvaluationConditions()
        for word in value("without")?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let part = EvaluationConditions.Part(rawValue: String(word)) else {
                let known = EvaluationConditions.Part.allCases.map(\.rawValue).joined(separator: " or ")
                throw UsageError(message: "--without must be \(known), not '\(word)'", command: syntax.name)
            }
            conditions.without.insert(part)
        }
        if let text = value("survey-share") {
            guard let share = Double(text), share > 0, share <= 1 else {
                throw UsageError(
                    message: "--survey-share must be a number above 0 and at most 1, not '\(text)'",
                    command: syntax.name)
            }
            conditions.surveyShare = share
        }
        conditions.seed = has("seeds") ? 0 : try seed()
        for text in value("disturb")?.split(separator: ";", omittingEmptySubsequences: false) ?? [] {
            do throws(DisturbanceError) {
                conditions.disturbances.append(try Disturbance(String(text)))
            } catch {
                throw UsageError(message: "--disturb: \(error)", command: syntax.name)
            }
        }
        var list = [conditions]
        for (option, unit, member) in [
            ("survey-deaf", "at least 0 and below 1", \EvaluationConditions.surveyDeafness),
            ("deaf", "at least 0 and below 1", \.deafness), ("shift", "of decibels from -60 to 60", \.shift),
        ] {
            guard let text = value(option) else { continue }
            var values: [Double] = []
            for word in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let number = Double(word), option == "shift" ? abs(number) <= 60 : number >= 0 && number < 1
                else {
                    throw UsageError(
                        message: "--\(option) must be a number \(unit), not '\(word)'", command: syntax.name)
                }
                values.append(number)
            }
            list = list.flatMap { conditions in
                values.map { value in
                    var conditions = conditions
                    conditions[keyPath: member] = value
                    return conditions
                }
            }
        }
        return list
    }
}

/// A sequence of prepared readings that replaces the readings of a recording at the same instants.
struct ReadingTape {
    /// The readings in the order of their instants; nil to keep the recorded ones.
    private let readings: [SensorReading]?
    private var next = 0

    init(_ readings: [SensorReading]?) { self.readings = readings }

    /// Returns the prepared readings up to the instant of a recorded one; without prepared readings, the recorded one.
    mutating func readings(at recorded: SensorReading) -> [SensorReading] {
        guard let readings else { return [recorded] }
        let first = next
        while next < readings.count, readings[next].instant <= recorded.instant { next += 1 }
        return Array(readings[first..<next])
    }
}
