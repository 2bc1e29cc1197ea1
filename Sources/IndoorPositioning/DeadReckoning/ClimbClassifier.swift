import IndoorVocabulary

/// A classifier of vertical motion from the barometer's height: its direction, its rate, and whether it is by stairs,
/// escalator or elevator.
///
/// The pressure gives the rate, the steps distinguish stairs from escalators and elevators, and the rate distinguishes
/// escalators from elevators. Source of the idea: K. Muralidharan, A. J. Khan, A. Misra, R. K. Balan, S. Agarwal,
/// *Barometric Phone Sensors: More Hype Than Hope!*, HotMobile 2014.
struct ClimbClassifier: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var seconds: Double
        var height: Double
    }

    /// The length of the window in seconds. A slow walk on stairs changes the height by a metre in this time; the noise
    /// of a barometer is smaller.
    private static let window = 4.0
    /// The minimum difference of height within the window, in metres; a smaller one is noise.
    private static let span = 0.7
    /// The shortest time in seconds between two stored heights; heights in between are averaged.
    private static let spacing = 0.4

    private var entries: [Entry] = []
    /// The number of heights in the mean of the last entry.
    private var latestCount = 0
    private var start: Instant?
    private var isClimbing = false
    private var fastest = 0.0
    private var walked = 0.0
    private var stood = 0.0

    /// The climb rate in metres per second, positive upwards.
    private(set) var rate = 0.0
    /// The current vertical motion.
    private(set) var motion = VerticalMotion.level
    /// The mean height of the last second in metres; nil before the first one.
    private(set) var height: Double?

    /// Handles a height in metres.
    mutating func observe(_ height: Double, at now: Instant, isWalking: Bool, _ settings: DeadReckoningSettings) {
        let begin = start ?? now
        start = begin
        let seconds = begin.duration(to: now).seconds
        let last = entries.last?.seconds ?? -.infinity
        guard seconds >= last else { return }
        let elapsed = entries.isEmpty ? 0 : min(seconds - last, Self.window)
        add(Entry(seconds: seconds, height: height))
        entries.removeAll { $0.seconds < seconds - Self.window }
        let recent = entries.suffix(2)
        self.height = recent.reduce(0) { $0 + $1.height } / Double(recent.count)
        rate = slope
        decide(settings)
        if isClimbing {
            if isWalking { walked += elapsed } else { stood += elapsed }
            fastest = max(fastest, abs(rate))
        } else {
            (fastest, walked, stood) = (0, 0, 0)
        }
        motion = isClimbing ? means(settings) : .level
    }

    private mutating func add(_ entry: Entry) {
        if let last = entries.last, entry.seconds - last.seconds < Self.spacing {
            latestCount += 1
            let share = 1 / Double(latestCount)
            entries[entries.count - 1].height += (entry.height - last.height) * share
        } else {
            entries.append(entry)
            latestCount = 1
        }
    }

    /// The slope of the heights, by least squares over the window.
    private var slope: Double {
        guard entries.count >= 3 else { return 0 }
        let count = Double(entries.count)
        let middle = entries.reduce(0) { $0 + $1.seconds } / count
        let mean = entries.reduce(0) { $0 + $1.height } / count
        let (above, below) = entries.reduce((0.0, 0.0)) { sums, entry in
            let time = entry.seconds - middle
            return (sums.0 + time * (entry.height - mean), sums.1 + time * time)
        }
        return below > 0 ? above / below : 0
    }

    /// Updates the motion. A climb begins at a minimum difference of height and a minimum rate, and ends below half of
    /// that rate.
    private mutating func decide(_ settings: DeadReckoningSettings) {
        let heights = entries.map(\.height)
        let span = (heights.max() ?? 0) - (heights.min() ?? 0)
        if isClimbing {
            isClimbing = abs(rate) > settings.climbSpeed / 2
        } else {
            isClimbing = abs(rate) > settings.climbSpeed && span > Self.span
        }
    }

    private func means(_ settings: DeadReckoningSettings) -> VerticalMotion {
        let direction = rate > 0 ? VerticalMotion.Direction.up : .down
        if walked >= stood { return .stairs(direction) }
        return fastest >= settings.elevatorSpeed ? .elevator(direction) : .escalator(direction)
    }
}
