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
    let isOffline: Bool
    /// The file for the replay of each track; empty to write none.
    let replays: [String: OutputFile]
    /// The messages of gateways in place of a session of a device; nil for a session.
    var gateways: GatewayReplay.Messages?
    /// The venue with the disturbances of the tracks; nil without any.
    var disturbed: DisturbedVenue?

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
        var outputs: [SessionReplay.Output] = []
        let (truths, end, device) = try truths(of: track)
        var ideal =
            isIdeal
            ? IdealReadings(
                field: field, waypoints: truths.compactMap(\.waypoint), addresses: KnownAddresses(of: venue),
                seed: readingSeed) : nil
        var faults: [(instant: Instant, fault: BeaconFault)] = []
        let disturbedTrack = try disturbedReadings(of: track)
        var tape = ReadingTape(disturbedTrack?.readings)
        var received: [SensorReading] = []
        var conclusion: SessionDiagnosis?
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
        let (truths, end, _) = try truths(of: track, warns: true)
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
        outcome.causal.add(truths: truths, end: end, positions: positions)
        return outcome
    }

    /// The ground truth of a recording, its last instant, and the model of its device.
    ///
    /// - Parameter warns: whether skipped and dropped lines are reported.
    private func truths(
        of path: String, warns: Bool = false
    ) throws(RecordingError) -> (truths: [Truth], end: Instant, device: String?) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var truths: [Truth] = []
        var end = Instant.zero
        while let entry = try reader.next() {
            end = max(end, entry.instant ?? end)
            if case .truth(let truth) = entry { truths.append(truth) }
        }
        if warns, let warning = reader.tally.warning(for: path) { StandardError.write(warning) }
        return (truths, end, reader.header?.device)
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
    fileprivate var asPrinted: Position {
        var printed = self
        printed.instant = Instant(seconds: (instant.seconds * 1000).rounded() / 1000)
        printed.point = MapPoint(x: (x * 1000).rounded() / 1000, y: (y * 1000).rounded() / 1000)
        printed.radius = (radius * 1000).rounded() / 1000
        return printed
    }
}

extension TrackScore {
    /// Adds all figures as members; a figure without data is null.
    func addFigures(to json: inout JSONText) {
        json.add("n", count)
        for (name, value) in [
            ("answered", answered), ("floor", floor), ("mean", mean), ("median", median), ("p75", p75), ("p90", p90),
            ("p95", p95), ("ipin", ipin), ("insideRadius", insideRadius), ("radius", radius),
        ] {
            json.add(name, value ?? .nan, decimals: 4)
        }
    }

    /// All figures in one line; a figure without data is a dash.
    func figureLine(of name: String) -> String {
        func percent(_ share: Double?) -> String { share.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-" }
        func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) } ?? "-" }
        return """
            \(name): n \(count)  answered \(percent(answered))  floor \(percent(floor))  mean \(metres(mean))  \
            median \(metres(median))  P75 \(metres(p75))  P90 \(metres(p90))  P95 \(metres(p95))  \
            IPIN \(metres(ipin))  inside radius \(percent(insideRadius)) of \(metres(radius))
            """
    }
}

extension [TrackEvaluation.Outcome] {
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
