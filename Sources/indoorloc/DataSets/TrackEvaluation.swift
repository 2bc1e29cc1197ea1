import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets

/// The evaluation of tracks by replay, several in parallel.
struct TrackEvaluation: Sendable {
    let venue: Venue
    let field: SignalField
    let settings: SettingsStack
    let seed: UInt64
    let strictness: RecordingReader.Strictness
    /// Whether readings are replaced with ones drawn from the model.
    let isIdeal: Bool
    /// The changes to the tracks.
    let conditions: EvaluationConditions
    /// Whether positions estimated from the whole recording are also scored.
    var isOffline: Bool
    /// The file for the replay of each track; empty to write none.
    var replays: [String: OutputFile]
    /// The messages of gateways in place of a session of a device; nil for a session.
    var gateways: GatewayReplay.Messages?
    /// The venue with the disturbances of the tracks; nil without any.
    var disturbed: DisturbedVenue?
    /// The simple method in place of a session; nil for a session.
    var locator: SimpleLocator?
    /// Whether the positions after the start of each track are scored.
    var scoresStart = false

    /// The result of a track.
    struct Outcome: Sendable {
        /// The path of the recording.
        let path: String
        /// The ground truth.
        let truths: [Truth]
        /// The positions of the session, with those at the instants of the ground truth.
        let positions: [Position]
        /// The scorers of real-time positions and of positions estimated from the whole recording.
        var causal: TrackScorer
        var offline: TrackScorer
        /// The scorer of reported beacon faults.
        var faults = FaultScorer()
        /// The scorer of the positions after the start.
        var start = StartScorer()
        /// The diagnosis of the whole track; nil if no session followed it.
        var conclusion: SessionDiagnosis?
    }

    /// Scores all tracks; the offline score is empty unless `isOffline`.
    ///
    /// - Throws: `RecordingError` of the first invalid track.
    func score(
        _ tracks: [String], jobs: Int, progress: ProgressLine
    ) async throws -> (causal: TrackScore, offline: TrackScore, faults: FaultScorer) {
        scores(of: try await outcomes(of: tracks, jobs: jobs, progress: progress))
    }

    /// Replays all tracks; returns the results in the order of the tracks.
    ///
    /// - Throws: `RecordingError` of the first invalid track.
    func outcomes(of tracks: [String], jobs: Int, progress: ProgressLine) async throws -> [Outcome] {
        try await tracks.concurrentMap(
            jobs: jobs, report: { progress.show("tracks: \($0) of \(tracks.count)") }
        ) { index, track in try await self.outcome(of: track, seed: seed &+ UInt64(index)) }
    }

    /// The scores of all tracks together.
    func scores(of outcomes: [Outcome]) -> (causal: TrackScore, offline: TrackScore, faults: FaultScorer) {
        var all = (causal: TrackScorer(venue: venue), offline: TrackScorer(venue: venue), faults: FaultScorer())
        for outcome in outcomes {
            all.causal.add(outcome.causal)
            all.offline.add(outcome.offline)
            all.faults.add(outcome.faults)
        }
        return (all.causal.score, all.offline.score, all.faults)
    }

    /// - Parameter seed: the seed of the readings drawn from the model.
    private func outcome(of track: String, seed readingSeed: UInt64) async throws -> Outcome {
        if let gateways { return try outcome(of: track, through: gateways) }
        if let locator { return try outcome(of: track, by: locator, seed: readingSeed) }
        var outputs: [SessionReplay.Output] = []
        let (truths, first, end, device) = try truths(of: track)
        var ideal = idealReadings(truths, seed: readingSeed)
        var faults: [(instant: Instant, fault: BeaconFault)] = []
        let disturbedTrack = try disturbedReadings(of: track)
        var tape = ReadingTape(disturbedTrack?.readings)
        var received: [SensorReading] = []
        var conclusion: SessionDiagnosis?
        var starts = StartScorer.instants(after: first)[...]
        var startPositions: [Position] = []
        let session = RecordedSession(
            venues: [venue], settings: settings, seed: seed, strictness: strictness, fields: [venue.id: field],
            expectsDevice: conditions.namesDevice)
        let findings = try session.play(
            track,
            truth: { truth, session in
                // The scored position is the one at the ground truth's instant, not the last reported one.
                guard let position = session.position(at: truth.instant) else { return }
                outputs.append(SessionReplay.Output(instant: truth.instant, content: .position(position)))
            },
            concluding: { conclusion = $0 },
            passing: { reading in
                let readings = tape.readings(at: ideal?.replacing(reading) ?? reading).compactMap(conditions.adapted)
                received += readings
                return readings
            },
            before: { instant, session in
                while let next = starts.first, next < instant {
                    starts.removeFirst()
                    if let position = session.position(at: next) { startPositions.append(position.asPrinted) }
                }
            }
        ) { output in
            outputs.append(output)
            if case .error(let error) = output.content, case .beaconFault(let fault)? = error.reason {
                faults.append((output.instant, fault))
            }
        }
        if let warning = findings.warning(for: track) { StandardError.write(warning) }
        // The session emits outputs due before a ground truth only with the next reading. The sort keeps the order of
        // equal instants.
        outputs.sort { $0.instant < $1.instant }
        try replays[track]?.write(Array(outputs.map { $0.json + "\n" }.joined().utf8))
        let positions = outputs.compactMap { output -> Position? in
            if case .position(let position) = output.content { position.asPrinted } else { nil }
        }
        var outcome = Outcome(
            path: track, truths: truths, positions: positions, causal: TrackScorer(venue: venue),
            offline: TrackScorer(venue: venue))
        outcome.conclusion = conclusion
        if scoresStart { outcome.start.add(truths: truths, first: first, positions: startPositions, in: venue) }
        outcome.causal.add(truths: truths, end: end, positions: positions)
        outcome.faults.add(
            received, faults: faults, disturbedBeacons: disturbedTrack?.disturbedBeacons ?? [],
            silentBeacons: disturbed?.dead ?? [])
        guard isOffline else { return outcome }
        let smoothed = try await smooth(track, device: device)
        let instants = Set(truths.map(\.instant) + [end]).sorted()
        outcome.offline.add(
            truths: truths, end: end, positions: instants.compactMap { position(at: $0, of: smoothed)?.asPrinted })
        return outcome
    }

    /// The result of a track whose device is a tag that gateways receive.
    private func outcome(of track: String, through messages: GatewayReplay.Messages) throws -> Outcome {
        let (truths, first, end, _) = try truths(of: track, warns: true)
        let particles = settings.resolved(in: venue).localization.positioning.particleCount
        let replay = GatewayReplay(venue: venue, messages: messages, particleCount: particles, seed: seed)
        var tape = ReadingTape(try disturbedReadings(of: track)?.readings)
        let received = try replay.messages(of: track, strictness: strictness) {
            tape.readings(at: $0).compactMap(conditions.adapted)
        }
        let positions = replay.positions(from: received, until: end).map(\.asPrinted)
        let outputs = positions.map { SessionReplay.Output(instant: $0.instant, content: .position($0)) }
        try replays[track]?.write(Array(outputs.map { $0.json + "\n" }.joined().utf8))
        var outcome = Outcome(
            path: track, truths: truths, positions: positions, causal: TrackScorer(venue: venue),
            offline: TrackScorer(venue: venue))
        if scoresStart { outcome.start.add(truths: truths, first: first, positions: positions, in: venue) }
        outcome.causal.add(truths: truths, end: end, positions: positions)
        return outcome
    }

    /// The result of a track by a simple method.
    private func outcome(of track: String, by locator: SimpleLocator, seed readingSeed: UInt64) throws -> Outcome {
        let (truths, first, end, _) = try truths(of: track, warns: true)
        var ideal = idealReadings(truths, seed: readingSeed)
        var tape = ReadingTape(try disturbedReadings(of: track)?.readings)
        let addresses = KnownAddresses(of: venue)
        let recorded = try RecordedReadings(path: track, strictness: strictness)
        var sightings: [Sighting] = []
        while let reading = try recorded.next(truth: { _ in }) {
            for adapted in tape.readings(at: ideal?.replacing(reading) ?? reading).compactMap(conditions.adapted) {
                if case .sighting(let sighting) = addresses.named(adapted) { sightings.append(sighting) }
            }
        }
        let positions = locator.positions(
            from: sightings, truths: truths, end: end,
            at: scoresStart ? StartScorer.instants(after: first).filter { $0 <= end } : [], in: venue.id
        ).map(\.asPrinted)
        let outputs = positions.map { SessionReplay.Output(instant: $0.instant, content: .position($0)) }
        try replays[track]?.write(Array(outputs.map { $0.json + "\n" }.joined().utf8))
        var outcome = Outcome(
            path: track, truths: truths, positions: positions, causal: TrackScorer(venue: venue),
            offline: TrackScorer(venue: venue))
        if scoresStart { outcome.start.add(truths: truths, first: first, positions: positions, in: venue) }
        outcome.causal.add(truths: truths, end: end, positions: positions)
        return outcome
    }

    /// The readings drawn from the model in place of the recorded ones; nil for the recorded ones.
    private func idealReadings(_ truths: [Truth], seed: UInt64) -> IdealReadings? {
        guard isIdeal else { return nil }
        return IdealReadings(
            field: field, waypoints: [SurveyRecording.Waypoint](truths), addresses: KnownAddresses(of: venue),
            seed: seed)
    }

    /// The ground truth of a recording, the instant of its first reading, its last instant, and the model of its device.
    ///
    /// - Parameter warns: whether skipped and dropped lines are reported.
    private func truths(
        of path: String, warns: Bool = false
    ) throws(RecordingError) -> (truths: [Truth], first: Instant, end: Instant, device: String?) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var truths: [Truth] = []
        var end = Instant.zero
        var first: Instant?
        while let entry = try reader.next() {
            end = max(end, entry.instant ?? end)
            switch entry {
            case .truth(let truth): truths.append(truth)
            case .measurement(let reading): first = first ?? reading.instant
            case .header: break
            }
        }
        if warns, let warning = reader.tally.warning(for: path) { StandardError.write(warning) }
        return (truths, first ?? .zero, end, reader.header?.device)
    }

    /// The disturbed readings of a recording; nil without disturbances.
    private func disturbedReadings(of path: String) throws -> DisturbedReadings? {
        guard let disturbed else { return nil }
        let recorded = try RecordedReadings(path: path, strictness: strictness)
        var readings: [SensorReading] = []
        while let reading = try recorded.next(truth: { _ in }) { readings.append(reading) }
        return DisturbedReadings(readings, in: disturbed)
    }

    private func smooth(_ track: String, device: String?) async throws -> SmoothedTrack {
        let settings = settings.expecting(device: conditions.namesDevice ? device : nil)
        let localization = settings.resolved(in: venue).localization
        var smoother = TrackSmoother(
            venue: venue, field: field, settings: localization.positioning, device: localization.device, seed: seed)
        var tape = ReadingTape(try disturbedReadings(of: track)?.readings)
        let addresses = KnownAddresses(of: venue)
        for try await recorded in RecordingSource(path: track, strictness: strictness).readings() {
            tape.readings(at: recorded).compactMap(conditions.adapted).forEach { smoother.observe(addresses.named($0)) }
        }
        return smoother.finish()
    }

    /// The position at an instant. Beyond the track's end it is the last one, up to the scorer's age limit.
    private func position(at instant: Instant, of track: SmoothedTrack) -> Position? {
        guard let last = track.looks.last else { return nil }
        guard let look = track.look(at: instant) ?? (instant > last.instant ? last : nil) else { return nil }
        return Position(
            instant: look.instant, venueID: venue.id, mapID: look.mapID, point: look.estimate.point,
            radius: look.estimate.radius)
    }
}

extension Position {
    /// The position with the decimals of `replay`'s output, so that the output scores the same.
    var asPrinted: Position {
        var printed = self
        printed.instant = Instant(seconds: (instant.seconds * 1000).rounded() / 1000)
        printed.point = MapPoint(x: (x * 1000).rounded() / 1000, y: (y * 1000).rounded() / 1000)
        printed.radius = (radius * 1000).rounded() / 1000
        return printed
    }
}

extension TrackScore {
    /// Adds all figures as members; a figure without data is null.
    func addFigures(to json: inout JSONText, withCount: Bool = true) {
        if withCount { json.add("n", count) }
        for (name, value) in [
            ("answered", answered), ("floor", floor), ("mean", mean), ("median", median), ("p75", p75), ("p90", p90),
            ("p95", p95), ("ipin", ipin), ("insideRadius", insideRadius), ("radius", radius),
        ] {
            json.add(name, value ?? .nan, decimals: 4)
        }
    }

    /// All figures in one line; a figure without data is a dash.
    ///
    /// - Parameter deviations: the standard deviations of the figures over several seeds; nil for one seed.
    func figureLine(of name: String, deviations: TrackScore? = nil) -> String {
        func number(_ figure: KeyPath<TrackScore, Double?>, scale: Double, _ decimals: Int, _ unit: String) -> String {
            guard let value = self[keyPath: figure] else { return "-" }
            let text = JSONText.number(value * scale, decimals: decimals) + unit
            guard let deviation = deviations?[keyPath: figure] else { return text }
            return text + " ± " + JSONText.number(deviation * scale, decimals: decimals) + unit
        }
        func percent(_ figure: KeyPath<TrackScore, Double?>) -> String { number(figure, scale: 100, 1, "%") }
        func metres(_ figure: KeyPath<TrackScore, Double?>) -> String { number(figure, scale: 1, 2, "") }
        return """
            \(name): n \(count)  answered \(percent(\.answered))  floor \(percent(\.floor))  mean \(metres(\.mean))  \
            median \(metres(\.median))  P75 \(metres(\.p75))  P90 \(metres(\.p90))  P95 \(metres(\.p95))  \
            IPIN \(metres(\.ipin))  inside radius \(percent(\.insideRadius)) of \(metres(\.radius))
            """
    }

    /// All figures but the number of instants.
    private static var figures: [WritableKeyPath<TrackScore, Double?>] {
        [
            \.answered, \.floor, \.mean, \.median, \.p75, \.p90, \.p95, \.ipin, \.insideRadius, \.radius,
        ]
    }

    /// Returns the means of the figures of some scores of the same tracks, and their standard deviations; the deviations are
    /// nil for a single score.
    static func summary(of scores: [TrackScore]) -> (means: TrackScore, deviations: TrackScore?)? {
        guard var means = scores.first else { return nil }
        guard scores.count > 1 else { return (means, nil) }
        var deviations = means
        for figure in figures {
            let values = scores.compactMap { $0[keyPath: figure] }
            let mean = values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
            means[keyPath: figure] = mean
            deviations[keyPath: figure] = mean.flatMap { mean in
                guard values.count > 1 else { return nil }
                let sum = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
                return (sum / Double(values.count - 1)).squareRoot()
            }
        }
        return (means, deviations)
    }
}

extension [TrackEvaluation.Outcome] {
    /// The ground truth at places that a venue doesn't have.
    func misplacedTruths(in venue: Venue) -> MisplacedTruths {
        reduce(into: MisplacedTruths(venue: venue)) { $0.add($1.truths.compactMap(\.waypoint), of: $1.path) }
    }

    /// Returns the reason why the tracks have no score: nothing to score, or no position at any scored instant; nil if
    /// they have one.
    func reasonForNoScore(in venue: Venue) -> String? {
        let answers = flatMap(\.causal.answers)
        guard !answers.isEmpty else { return reasonForNothingToScore(in: venue) }
        guard answers.allSatisfy({ $0.position == nil }) else { return nil }
        let instants =
            "no position at \(answers.count == 1 ? "the" : "any of the") "
            + "\(answers.count.counting("instant")) with ground truth"
        if contains(where: { !$0.positions.isEmpty }) {
            return "\(instants), as each position comes later than them, or more than 10 s before"
        }
        guard let first = first(where: { $0.conclusion != nil }), let conclusion = first.conclusion else {
            return PrintableText.line("\(instants), as the recordings have too few beacons of '\(venue.name)'")
        }
        let track = count > 1 ? "in \(first.path) " : ""
        return PrintableText.line("\(instants), as \(track)\(conclusion.clauseWithHelp)")
    }

    private func reasonForNothingToScore(in venue: Venue) -> String {
        let truths = flatMap(\.truths)
        guard !truths.isEmpty else {
            return "the recordings have no ground truth: positions are compared with lines of type truth"
        }
        let maps = Set(truths.compactMap(\.waypoint?.mapID))
        guard !maps.isEmpty else {
            return "the recordings have no ground truth with a position: lines of type truth require mapId, x and y"
        }
        let known = Set(venue.maps.map(\.id))
        guard maps.isDisjoint(with: known) else {
            return "the recordings have no ground truth after the first 5 s, which are not scored"
        }
        func list(_ maps: Set<MapID>) -> String { maps.sorted().map(\.description).joined(separator: ", ") }
        return PrintableText.line(
            "the recordings are of another venue: their ground truth is on maps \(list(maps)), but '\(venue.name)' has maps "
                + list(known))
    }
}

extension FaultScorer {
    /// Adds all figures as members; a figure without data is null.
    func addFigures(to json: inout JSONText) {
        json.add("disturbedBeacons", disturbed)
        json.add("namedInMinute", shareInMinute ?? .nan, decimals: 4)
        json.add("receivedDisturbedBeacons", heard)
        json.add("named", shareNamed ?? .nan, decimals: 4)
        json.add("falseAlarms", falseAlarms)
        json.add("hours", hours, decimals: 4)
    }

    /// All figures in one line.
    func line(of name: String) -> String {
        func percent(_ share: Double?) -> String { share.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-" }
        return "\(name) faults: named \(named) of \(heard) disturbed beacons, and \(percent(shareInMinute)) of "
            + "\(disturbed) within the first minute of hearing; \(falseAlarms) false alarms in "
            + "\(JSONText.number(hours, decimals: 2)) h"
    }
}

extension Array where Element: Sendable {
    /// Returns the transformed elements in order; transforms several elements in parallel.
    ///
    /// - Parameters:
    ///   - jobs: the maximum number of parallel transforms, at least 1.
    ///   - report: receives the number of transformed elements after each one.
    ///   - transform: transforms an element, given with its index.
    /// - Throws: the error of the first transform that fails; the others are cancelled.
    func concurrentMap<Result: Sendable>(
        jobs: Int, report: (_ done: Int) -> Void,
        _ transform: @escaping @Sendable (_ index: Int, _ element: Element) async throws -> Result
    ) async throws -> [Result] {
        var results = [Result?](repeating: nil, count: count)
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var waiting = enumerated().makeIterator()
            func addTask() {
                guard let (index, element) = waiting.next() else { return }
                group.addTask { (index, try await transform(index, element)) }
            }
            for _ in 0..<jobs { addTask() }
            var done = 0
            while let (index, result) = try await group.next() {
                results[index] = result
                done += 1
                report(done)
                addTask()
            }
        }
        return results.compactMap(\.self)
    }
}
