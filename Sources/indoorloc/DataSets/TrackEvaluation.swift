import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// Replays and scores tracks, as a session and perhaps after the fact, several at a time.
struct TrackEvaluation: Sendable {
    let venue: Venue
    let field: SignalField
    let settings: SettingsStack
    let seed: UInt64
    let strictness: RecordingReader.Strictness
    /// Whether readings are drawn anew, as the model expects them.
    let isIdeal: Bool
    /// How the tracks differ from what was recorded.
    let conditions: EvaluationConditions
    /// Whether they are also scored after the fact.
    let isOffline: Bool
    /// Where what the replay of a track prints is written; nothing to keep nothing.
    let replays: [String: OutputFile]

    /// What was told at the time, and what was found after the fact.
    private struct Scorers: Sendable {
        var causal: TrackScorer
        var offline: TrackScorer
    }

    /// Scores all tracks; the score after the fact is empty where it is not wanted.
    ///
    /// - Throws: `RecordingError` of the first that cannot be read.
    func score(
        _ tracks: [String], jobs: Int, progress: ProgressLine
    ) async throws -> (causal: TrackScore, offline: TrackScore) {
        let scorers = try await tracks.concurrentMap(
            jobs: jobs, report: { progress.show("tracks: \($0) of \(tracks.count)") }
        ) { index, track in try await self.scorers(of: track, seed: seed &+ UInt64(index)) }
        var all = Scorers(causal: TrackScorer(venue: venue), offline: TrackScorer(venue: venue))
        for scorer in scorers {
            all.causal.add(scorer.causal)
            all.offline.add(scorer.offline)
        }
        return (all.causal.score, all.offline.score)
    }

    /// - Parameter seed: of the readings that are drawn anew.
    private func scorers(of track: String, seed readingSeed: UInt64) async throws -> Scorers {
        var outputs: [SessionReplay.Output] = []
        let (truths, end, device) = try truths(of: track)
        var ideal =
            isIdeal
            ? IdealReadings(field: field, waypoints: truths.compactMap(\.waypoint), seed: readingSeed) : nil
        let session = RecordedSession(
            venues: [venue], settings: settings, seed: seed, strictness: strictness, fields: [venue.id: field],
            expectsDevice: conditions.namesDevice)
        let tally = try session.play(
            track,
            truth: { truth, session in
                // What is scored is where the device is at the truth's instant, not where it was when last told.
                guard let position = session.position(at: truth.instant) else { return }
                outputs.append(SessionReplay.Output(instant: truth.instant, content: .position(position)))
            }, passing: { conditions.adapted(ideal?.replacing($0) ?? $0) }
        ) { outputs.append($0) }
        if let warning = tally.warning(for: track) { StandardError.write(warning) }
        // What was due before a truth is told with the next reading. The sort keeps the order of equal instants.
        outputs.sort { $0.instant < $1.instant }
        try replays[track]?.write(Array(outputs.map { $0.json + "\n" }.joined().utf8))
        let positions = outputs.compactMap { output -> Position? in
            if case .position(let position) = output.content { position.asPrinted } else { nil }
        }
        var scorers = Scorers(causal: TrackScorer(venue: venue), offline: TrackScorer(venue: venue))
        scorers.causal.add(truths: truths, end: end, positions: positions)
        guard isOffline else { return scorers }
        let smoothed = try await smooth(track, device: device)
        let instants = Set(truths.map(\.instant) + [end]).sorted()
        scorers.offline.add(
            truths: truths, end: end, positions: instants.compactMap { position(at: $0, of: smoothed)?.asPrinted })
        return scorers
    }

    /// The truth of a recording, its last instant, and the model of its receiver.
    private func truths(of path: String) throws(RecordingError) -> (truths: [Truth], end: Instant, device: String?) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var truths: [Truth] = []
        var end = Instant.zero
        while let entry = try reader.next() {
            end = max(end, entry.instant ?? end)
            if case .truth(let truth) = entry { truths.append(truth) }
        }
        return (truths, end, reader.header?.device)
    }

    private func smooth(_ track: String, device: String?) async throws -> SmoothedTrack {
        let settings = settings.expecting(device: conditions.namesDevice ? device : nil)
        let localization = settings.resolved(in: venue).localization
        var smoother = TrackSmoother(
            venue: venue, field: field, settings: localization.positioning, device: localization.device, seed: seed)
        for try await reading in RecordingSource(path: track, strictness: strictness).readings() {
            if let reading = conditions.adapted(reading) { smoother.observe(reading) }
        }
        return smoother.finish()
    }

    /// Beyond the track's ends its first or last place counts, as long as the scorer takes it.
    private func position(at instant: Instant, of track: SmoothedTrack) -> Position? {
        guard let last = track.looks.last else { return nil }
        guard let look = track.look(at: instant) ?? (instant > last.instant ? last : nil) else { return nil }
        return Position(
            instant: look.instant, venueID: venue.id, mapID: look.mapID, point: look.estimate.point,
            radius: look.estimate.radius)
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
