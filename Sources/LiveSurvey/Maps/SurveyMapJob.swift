import IndoorPositioning
import IndoorVocabulary
import ScanRecording
import VenueModel

/// The learning of a radio map from the walks of a survey, and the comparison of positions with and without it.
///
/// Each walk is left out in turn, or a part of many walks: the system locates its carrier with the radio map of the other
/// walks, and with the venue as it is without the survey. The positions are compared with the places between the marks, on the straight
/// line that the carrier walked.
package struct SurveyMapJob: Sendable {
    /// The bounds of memory and time.
    package struct Limits: Hashable, Sendable {
        /// The largest number of walks; the latest are used.
        package var walks = 200
        /// The largest number of readings and marks of all walks, about 64 bytes each; the latest walks are used.
        package var entries = 2_000_000
        /// The number of walks up to which each one is left out in turn, and of parts of more walks.
        package var parts = 6
        /// The number of walks from which the map can be judged.
        package var fewestWalks = 3
        /// The time after which no further part is judged; nil for none.
        package var judging: Duration? = .seconds(600)

        /// Creates the limits.
        package init() {}
    }

    /// The errors of positions.
    package struct Errors: Hashable, Sendable {
        /// The mean and the median error in metres of the positions on the right floor.
        package var mean: Double
        package var median: Double
        /// The share of the places with a position on the right floor, from 0 to 1.
        package var rightFloor: Double

        /// Creates the errors; nil without a position on the right floor.
        ///
        /// - Parameter distances: the error in metres at each place; nil without a position on the right floor.
        init?(_ distances: [Double?]) {
            let known = distances.compactMap(\.self).sorted()
            guard !known.isEmpty else { return nil }
            mean = known.reduce(0, +) / Double(known.count)
            median = (known[(known.count - 1) / 2] + known[known.count / 2]) / 2
            rightFloor = Double(known.count) / Double(distances.count)
        }
    }

    /// What a radio map was learned from, and how good it is.
    package struct Figures: Hashable, Sendable {
        /// The number of walks with places and readings.
        package var walks: Int
        /// The time between their first and last marks in seconds, without pauses that interrupt a walk.
        package var seconds: Double
        /// The number of walks that were left out and compared.
        package var judged = 0
        /// The number of places with a comparison.
        package var points = 0
        /// The errors without the survey and with the radio map; nil if it can't be judged.
        package var before: Errors?
        package var after: Errors?

        /// Creates the figures of a map that isn't judged.
        package init(walks: Int, seconds: Double) { (self.walks, self.seconds) = (walks, seconds) }
    }

    /// A learned radio map.
    package struct Result: Sendable {
        package var map: RadioMap
        package var figures: Figures
    }

    /// The reason why there is no radio map.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// No place between two marks has a reading; whether the walks were with tags.
        case nothingLearned(hasTags: Bool)
        case stopped

        package var description: String {
            switch self {
            case .nothingLearned(let hasTags):
                "The walks have no place between two marks at which \(hasTags ? "a receiver" : "a beacon") of the venue "
                    + "\(hasTags ? "heard the tag" : "was heard"). Walk again, and mark at least two places."
            case .stopped: "The process ends."
            }
        }
    }

    /// A recording of the folder.
    struct Walk: Sendable {
        var file: String
        var recording: SurveyRecording
    }

    /// The recordings of a folder.
    struct Walks: Sendable {
        /// The readable ones, in the order of their names.
        var list: [Walk] = []
        /// Why others can't be used, the latest first. An error has the name of its file without the folder.
        var unreadable: [RecordingError] = []

        private static let mostNamed = 3

        /// What a page says of the recordings that can't be used; nil if there are none.
        var problem: String? {
            guard !unreadable.isEmpty else { return nil }
            let rest = unreadable.count - Self.mostNamed
            return
                (["Recordings are left out. Correct them, or remove them from the folder."]
                + unreadable.prefix(Self.mostNamed).map { "\($0.finding)." }
                + (rest > 0 ? ["There are \(rest) more."] : []))
                .joined(separator: " ")
        }
    }

    let base: Venue
    /// Whether people carried tags.
    let hasTags: Bool
    let limits: Limits
    /// Returns what locates a carrier in a venue.
    let locating: @Sendable (Venue) -> SurveyedSystem.Locating

    /// The time after the first reading from which positions are compared, and the age up to which a position counts.
    private static let (warmUp, longestAge) = (5.0, 10.0)

    /// Reads the recordings of a folder, the latest ones within the limits.
    func walks(in folder: String, _ names: [String]) -> Walks {
        var walks = Walks()
        var count = 0
        for name in names.sorted(by: >).prefix(limits.walks) {
            do throws(RecordingError) {
                // A walk that runs, or ended with a kill, can end in a part of a line.
                let recording = try SurveyRecording(path: folder + "/" + name, in: base, strictness: .lenient)
                count += recording.sightings.count + recording.waypoints.count
                guard count <= limits.entries else { break }
                walks.list.append(Walk(file: name, recording: recording))
            } catch {
                var error = error
                error.file = name
                walks.unreadable.append(error)
            }
        }
        walks.list.reverse()
        return walks
    }

    /// Learns the radio map, and judges it.
    ///
    /// - Parameters:
    ///   - progress: called after each step, with the number of finished steps and of all.
    ///   - isStopped: whether the result isn't needed any more.
    ///   - now: the time for the limit.
    func run(
        _ walks: [Walk], now: () -> ContinuousClock.Instant = { .now }, progress: (Int, Int) -> Void,
        isStopped: () -> Bool
    ) throws(Failure) -> Result {
        let recordings = walks.map(\.recording).filter(isUsable)
        let folds =
            recordings.count < limits.fewestWalks
            ? [] : HeldOutSurvey.folds(of: recordings, parts: min(recordings.count, limits.parts))
        // The map itself, each part, and the venue without the survey at each walk of a part.
        let steps = 1 + folds.count
        let end = limits.judging.map { now().advanced(by: $0) }
        progress(0, steps)
        guard !isStopped() else { throw .stopped }
        guard let map = learned(from: recordings) else { throw .nothingLearned(hasTags: hasTags) }
        var figures = Figures(walks: recordings.count, seconds: recordings.reduce(0) { $0 + $1.markedSeconds })
        progress(1, steps)
        guard !folds.isEmpty else { return Result(map: map, figures: figures) }
        let before = locating(base)
        var (plain, surveyed): ([Double?], [Double?]) = ([], [])
        for (number, fold) in folds.enumerated() {
            guard let map = learned(from: fold.learned.map { recordings[$0] }) else { continue }
            var venue = base
            venue.radioMap = map
            let after = locating(venue)
            for index in fold.heldOut {
                guard !isStopped() else { throw .stopped }
                plain += errors(of: recordings[index], by: before)
                surveyed += errors(of: recordings[index], by: after)
            }
            figures.judged += fold.heldOut.count
            progress(number + 2, steps)
            if let end, now() >= end { break }
        }
        figures.points = plain.count
        (figures.before, figures.after) = (Errors(plain), Errors(surveyed))
        return Result(map: map, figures: figures)
    }

    /// Whether a recording has two marks on maps of the venue, and readings.
    private func isUsable(_ recording: SurveyRecording) -> Bool {
        !recording.sightings.isEmpty && recording.waypoints.count { base.map($0.mapID) != nil } > 1
    }

    private func learned(from recordings: [SurveyRecording]) -> RadioMap? {
        var learner = RadioMapLearner(venue: base)
        for recording in recordings { learner.add(recording) }
        return learner.finish()
    }

    /// Returns the error at each second of a walk; nil without a position on the right floor.
    private func errors(of walk: SurveyRecording, by locating: SurveyedSystem.Locating) -> [Double?] {
        let positions = locating(walk)
        guard let first = walk.sightings.first?.instant.seconds, let last = walk.waypoints.last?.instant.seconds else {
            return []
        }
        return stride(from: (first + Self.warmUp).rounded(.up), through: last, by: 1).compactMap { second -> Double?? in
            guard let truth = walk.waypoints.walkedPlace(at: second) else { return nil }
            let next = positions.indices.bisection { positions[$0].instant.seconds > second }
            guard next > 0, second - positions[next - 1].instant.seconds <= Self.longestAge,
                positions[next - 1].mapID == truth.mapID
            else { return .some(nil) }
            return positions[next - 1].point.distance(to: truth.point)
        }
    }
}

extension SurveyRecording {
    /// The time between the first and the last mark in seconds, without pauses that interrupt the walk.
    fileprivate var markedSeconds: Double {
        zip(waypoints, waypoints.dropFirst()).filter { !$0.isInterrupted(before: $1) }
            .reduce(0) { $0 + $1.0.instant.seconds(to: $1.1.instant) }
    }
}

extension [SurveyRecording.Waypoint] {
    /// Returns the place at a time in seconds as `place(at:)` does; nil in a pause that interrupts the walk, as nobody knows
    /// where the carrier was.
    fileprivate func walkedPlace(at seconds: Double) -> (mapID: MapID, point: MapPoint)? {
        let instant = Instant(seconds: seconds)
        let next = indices.bisection { self[$0].instant > instant }
        if next > 0, next < count, !self[next - 1].isHold, self[next - 1].instant < instant,
            self[next - 1].isInterrupted(before: self[next])
        {
            return nil
        }
        return place(at: seconds)
    }
}
