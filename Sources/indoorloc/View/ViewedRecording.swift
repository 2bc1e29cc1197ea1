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
        var truths: [SurveyRecording.Waypoint] = []
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
            truth: { truth, _ in truths.append(truth) },
            concluding: { conclusion = $0 },
            passing: { reading in
                progress.show("view: \(Int(reading.instant.seconds)) s of the recording")
                return [reading]
            }, before: takeFrames, note)
        progress.clear()
        truths.forEach { recorder.add($0) }
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

/// The goal of `--goal`: a place, or a point of interest by its name.
enum RouteGoal: Sendable {
    case place(RoutePoint)
    case pointOfInterest(String)

    /// Reads `MAP,X,Y`; any other text is a name.
    init(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        if parts.count == 3, let map = Int(parts[0]), let x = Double(parts[1]), let y = Double(parts[2]), x.isFinite,
            y.isFinite
        {
            self = .place(RoutePoint(mapID: MapID(rawValue: map), point: MapPoint(x: x, y: y)))
        } else {
            self = .pointOfInterest(text)
        }
    }

    /// Returns the place in a venue; of several points of interest with this name, the first one.
    func place(in venue: Venue) throws(CommandError) -> RoutePoint {
        switch self {
        case .place(let place): return place
        case .pointOfInterest(let name):
            if let point = venue.pointsOfInterest.first(where: { $0.name == name }) { return RoutePoint(point) }
            let known = Set(venue.pointsOfInterest.map(\.name)).sorted().map { "'\($0)'" }.joined(separator: ", ")
            throw CommandError(
                description: "--goal: '\(venue.name)' has no point of interest '\(name)'; it has "
                    + (known.isEmpty ? "none" : known) + "; for a place, use MAP,X,Y such as 1,5,10.5")
        }
    }
}

/// The remaining route of a session to a goal.
struct RemainingRoute: Sendable {
    private var monitor: RouteMonitor
    private var route: Route?
    /// The points from the position to the goal; empty before the first position and at the goal.
    private(set) var places: [LiveMapFrame.Place] = []

    /// - Throws: `RouteError` if the goal can't be reached from anywhere.
    init(to goal: RoutePoint, in venue: Venue) throws(RouteError) {
        monitor = try RouteMonitor(planner: RoutePlanner(venue: venue), goal: goal)
    }

    /// Follows a position.
    mutating func handle(_ position: Position) {
        for update in monitor.handle(position) {
            switch update {
            case .planned(let route), .renewed(let route):
                self.route = route
                places = route.vertices.map(LiveMapFrame.Place.init)
            case .progressed(let progress):
                guard let route else { continue }
                let ahead = zip(route.vertices, route.distances).filter { $1 > progress.distanceDone }.map(\.0)
                places = ([progress.place] + ahead).map(LiveMapFrame.Place.init)
            case .arrived, .lost:
                route = nil
                places = []
            }
        }
    }
}

extension LiveMapFrame.Place {
    fileprivate init(_ place: RoutePoint) { self.init(mapID: place.mapID, point: place.point) }
}
