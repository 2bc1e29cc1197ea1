import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import Synchronization
import VenuePackets

/// Surveys, replays and scores a data set.
struct EvaluateCommand: Command {
    static let syntax = CommandSyntax(
        name: "evaluate", operands: "DATASET", operandCount: 1...1,
        summary: "learn from a data set's survey, replay its tracks and score them",
        details: """
            DATASET is a folder with venue.json, survey/*.jsonl and tracks/*.jsonl. Scored causally are way points from
            5 s on, at most one a second, and the end of each stay; the last position counts if it is not older than
            10 s. Errors in metres, on the right floor; IPIN is the third quartile of error plus 15 m a level.
            With --json one object: dataset, method, n, answered, floor, mean, median, p75, p90, p95, ipin,
            insideRadius; shares from 0 to 1, null where nothing tells.

            example: indoorloc evaluate Fixtures/office
            """,
        options: [
            .method, CommandOption(name: "json", help: "print one JSON object instead of a line"), .radioMap, .seed,
            CommandOption(name: "replays", argument: "FOLDER", help: "also write what 'replay' prints, a file a track"),
            CommandOption(name: "jobs", short: "j", argument: "N", help: "tracks at a time (default: all processors)"),
            .lenient,
        ])

    private let path: String
    private let radioMap: String?
    private let replays: String?
    private let isJSON: Bool
    private let jobs: Int
    private let strictness: RecordingReader.Strictness
    private let seed: UInt64
    private let settings: LocalizationSettings

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
        radioMap = arguments.value("radio-map")
        replays = arguments.value("replays")
        isJSON = arguments.has("json")
        let processors = ProcessInfo.processInfo.activeProcessorCount
        jobs = try arguments.number("jobs", in: 1...1024, else: processors)
        strictness = arguments.strictness
        seed = try arguments.seed()
        settings = try arguments.settings()
    }

    func run() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let dataSet = try DataSet(path: path, radioMap: radioMap)
        if let replays {
            try Self.explained(replays) {
                try FileManager.default.createDirectory(atPath: replays, withIntermediateDirectories: true)
            }
        }
        var venue = dataSet.venue
        if radioMap == nil, !dataSet.surveys.isEmpty {
            var learning = SurveyLearning(venue: venue, model: settings.positioning.signal)
            try learning.add(dataSet.surveys, strictness: strictness, progress: progress)
            venue.radioMap = learning.learner.finish() ?? venue.radioMap
        }
        progress.show("tables of \(dataSet.name)")
        let session = RecordedSession(
            venues: [venue], settings: settings, seed: seed, strictness: strictness,
            fields: [venue.id: SignalField(venue: venue, model: settings.positioning.signal)])
        let evaluation = TrackEvaluation(session: session, venue: venue, replays: replays)
        let score = try await evaluation.score(dataSet.tracks, jobs: jobs, progress: progress)
        progress.clear()
        let method = settings.positioning.method
        try StandardOutput.write(
            (isJSON ? score.json(of: dataSet.name, method) : score.line(of: dataSet.name)) + "\n")
    }
}

extension EvaluateCommand {
    /// Does something with a file or folder; a failure tells its path, the system's reason and what to do.
    fileprivate static func explained(_ path: String, _ body: () throws -> Void) throws(DataSetError) {
        do { try body() } catch {
            let reason = "cannot be written: \(error.systemReason)"
            throw DataSetError(description: "\(path): \(reason). Check the path, its permissions and the free space.")
        }
    }
}

/// Replays and scores tracks, several at a time.
private struct TrackEvaluation: Sendable {
    let session: RecordedSession
    let venue: Venue
    /// Folder for what the replays print; nil to keep nothing.
    let replays: String?

    func score(_ tracks: [String], jobs: Int, progress: ProgressLine) async throws -> TrackScore {
        var scorers = [TrackScorer?](repeating: nil, count: tracks.count)
        try await withThrowingTaskGroup(of: (Int, TrackScorer).self) { group in
            var next = 0
            func addTask() {
                guard next < tracks.count else { return }
                let index = next
                group.addTask { (index, try await scorer(of: tracks[index])) }
                next += 1
            }
            for _ in 0..<jobs { addTask() }
            var done = 0
            while let (index, scorer) = try await group.next() {
                scorers[index] = scorer
                done += 1
                progress.show("tracks: \(done) of \(tracks.count)")
                addTask()
            }
        }
        var all = TrackScorer(venue: venue)
        for scorer in scorers { if let scorer { all.add(scorer) } }
        return all.score
    }

    private func scorer(of track: String) async throws -> TrackScorer {
        var positions: [Position] = []
        var lines: [String] = []
        let tally = try await session.play(track) { output in
            if case .position(let position) = output.content { positions.append(position.asPrinted) }
            if replays != nil { lines.append(output.json) }
        }
        if let warning = tally.warning(for: track) { StandardError.write(warning) }
        if let replays { try write(lines, of: track, to: replays) }
        var scorer = TrackScorer(venue: venue)
        let (truths, end) = try Self.truths(of: track, strictness: session.strictness)
        scorer.add(truths: truths, end: end, positions: positions)
        return scorer
    }

    private func write(_ lines: [String], of track: String, to folder: String) throws {
        var name = URL(filePath: track).lastPathComponent
        if name.hasSuffix(".gz") { name.removeLast(3) }
        let text = lines.map { $0 + "\n" }.joined()
        try EvaluateCommand.explained(folder + "/" + name) {
            try Data(text.utf8).write(to: URL(filePath: folder).appending(path: name))
        }
    }

    /// The truth of a recording, and its last instant.
    private static func truths(
        of path: String, strictness: RecordingReader.Strictness
    ) throws(RecordingError) -> (truths: [Truth], end: Instant) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var truths: [Truth] = []
        var end = Instant.zero
        while let entry = try reader.next() {
            end = max(end, entry.instant ?? end)
            if case .truth(let truth) = entry { truths.append(truth) }
        }
        return (truths, end)
    }
}

extension Position {
    /// The position with the decimals that `replay` prints, so that its lines score the same.
    fileprivate var asPrinted: Position {
        var printed = self
        printed.instant = Instant(seconds: (instant.seconds * 1000).rounded() / 1000)
        printed.point = MapPoint(x: (x * 1000).rounded() / 1000, y: (y * 1000).rounded() / 1000)
        printed.radius = (radius * 1000).rounded() / 1000
        return printed
    }
}

extension TrackScore {
    fileprivate func json(of name: String, _ method: PositioningMethod) -> String {
        var json = JSONText()
        json.add("dataset", name)
        json.add("method", method.rawValue)
        json.add("n", count)
        for (name, value) in [
            ("answered", answered), ("floor", floor), ("mean", mean), ("median", median), ("p75", p75), ("p90", p90),
            ("p95", p95), ("ipin", ipin), ("insideRadius", insideRadius),
        ] {
            json.add(name, value ?? .nan, decimals: 4)
        }
        return json.text
    }

    fileprivate func line(of name: String) -> String {
        guard count > 0 else { return "\(name): no truth with a place to score on" }
        func percent(_ share: Double?) -> String { share.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-" }
        func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) } ?? "-" }
        return """
            \(name): n \(count)  answered \(percent(answered))  floor \(percent(floor))  mean \(metres(mean))  \
            median \(metres(median))  P75 \(metres(p75))  P90 \(metres(p90))  P95 \(metres(p95))  \
            IPIN \(metres(ipin))  inside radius \(percent(insideRadius))
            """
    }
}
