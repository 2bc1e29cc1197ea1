import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// A scorer of the positions some seconds after the first reading of each track.
///
/// The true position between two way points is interpolated, as the device walked straight at constant speed. An instant
/// without a known true position isn't scored. The answer is the last position at or before the instant.
struct StartScorer: Sendable {
    /// The times after the first reading in seconds.
    static let delays = [1.0, 2, 5, 10, 20]

    /// The answers at one time after the first reading.
    private struct Answers: Sendable {
        var count = 0
        var answered = 0
        var errors: [Double] = []
        var radii: [Double] = []
    }

    /// The figures at one time after the first reading; nil without data.
    struct Figures: Hashable, Sendable {
        /// The time after the first reading in seconds.
        var delay: Double
        /// The number of tracks with a known true position.
        var count: Int
        /// The share of them with a position.
        var answered: Double?
        /// The median error in metres, of positions on the right floor.
        var median: Double?
        /// Their median radius in metres.
        var radius: Double?
    }

    private var answers = Array(repeating: Answers(), count: StartScorer.delays.count)

    /// The instants to score in a track.
    static func instants(after first: Instant) -> [Instant] { delays.map { first.advanced(by: .seconds($0)) } }

    /// Adds a track.
    ///
    /// - Parameters:
    ///   - truths: the ground truth, ordered by instant.
    ///   - first: the instant of the first reading.
    ///   - positions: the positions, ordered by instant.
    mutating func add(truths: [Truth], first: Instant, positions: [Position], in venue: Venue) {
        let places = [SurveyRecording.Waypoint](truths)
        for (index, instant) in Self.instants(after: first).enumerated() {
            guard let place = places.place(at: instant.seconds), let map = venue.map(place.mapID) else { continue }
            answers[index].count += 1
            guard let position = positions.last(where: { $0.instant.seconds <= instant.seconds + 1e-3 }) else {
                continue
            }
            answers[index].answered += 1
            guard venue.map(position.mapID)?.level == map.level else { continue }
            answers[index].errors.append(position.point.distance(to: place.point))
            if position.radius.isFinite { answers[index].radii.append(position.radius) }
        }
    }

    /// Adds all tracks of another scorer.
    mutating func add(_ other: StartScorer) {
        for index in answers.indices {
            answers[index].count += other.answers[index].count
            answers[index].answered += other.answers[index].answered
            answers[index].errors += other.answers[index].errors
            answers[index].radii += other.answers[index].radii
        }
    }

    /// The figures, in the order of the delays.
    var figures: [Figures] {
        zip(Self.delays, answers).map { delay, answers in
            Figures(
                delay: delay, count: answers.count,
                answered: answers.count > 0 ? Double(answers.answered) / Double(answers.count) : nil,
                median: TrackScorer.quantile(answers.errors, 0.5),
                radius: TrackScorer.quantile(answers.radii, 0.5))
        }
    }

    /// The figures in a line for each delay.
    func lines(of name: String) -> [String] {
        figures.map { figures in
            func metres(_ value: Double?) -> String { value.map { JSONText.number($0, decimals: 2) } ?? "-" }
            let answered = figures.answered.map { JSONText.number($0 * 100, decimals: 1) + "%" } ?? "-"
            return "\(name) after \(JSONText.number(figures.delay, decimals: 0)) s: n \(figures.count)  "
                + "answered \(answered)  median \(metres(figures.median))  radius \(metres(figures.radius))"
        }
    }

    /// The figures as JSON objects.
    var json: [JSONText] {
        figures.map { figures in
            var json = JSONText()
            json.add("after", figures.delay, decimals: 0)
            json.add("n", figures.count)
            json.add("answered", figures.answered ?? .nan, decimals: 4)
            json.add("median", figures.median ?? .nan, decimals: 4)
            json.add("radius", figures.radius ?? .nan, decimals: 4)
            return json
        }
    }
}
