import IndoorLocalization
import LiveMap
import ScanRecording

/// A recording that is played for a live map.
struct ViewedRecording {
    let path: String
    let session: RecordedSession
    /// The route to show; nil without a goal.
    var route: RemainingRoute?

    /// Plays the recording; reports progress, warnings and the reason for the absence of positions on standard error.
    ///
    /// - Throws: the error of the recording.
    func play() throws -> LiveMapRecorder {
        let progress = ProgressLine()
        defer { progress.clear() }
        var (recorder, route) = (LiveMapRecorder(), route)
        var (hasPosition, conclusion) = (false, SessionDiagnosis?.none)
        let interval = recorder.interval
        func note(_ output: SessionOutput) {
            switch output.content {
            case .position(let position):
                hasPosition = true
                route?.handle(position)
            case .outdoorPosition: hasPosition = true
            default: break
            }
            recorder.note([output])
        }
        func takeFrames(_ instant: Instant, _ replay: inout SessionReplay) {
            while let due = recorder.nextFrame(before: instant) {
                replay.advance(to: due).forEach(note)
                recorder.add(replay.snapshot(particles: recorder.particles), route: route?.places ?? [])
            }
        }
        let findings = try session.play(
            path,
            truth: { truth, _ in
                if let waypoint = truth.waypoint { recorder.add(waypoint) }
            },
            concluding: { conclusion = $0 },
            passing: { reading in
                progress.show("view: \(Int(reading.instant.seconds)) s of the recording")
                return [reading]
            }, before: takeFrames, note)
        progress.clear()
        findings.warning(for: path).map(StandardError.write)
        if !hasPosition, let conclusion { StandardError.line("\(path): \(conclusion.recordingSummary())") }
        if recorder.interval > interval {
            StandardError.line(
                "view: the recording is long, so the page has a frame every \(recorder.interval.seconds) s instead of "
                    + "every \(interval.seconds) s")
        }
        return recorder
    }
}
