import IndoorLocalization
import ScanRecording

/// The accuracy of motion alone, compared with the ground truth of recordings.
struct MotionScore: Sendable {
    /// The distance of the ground truth and of the steps in metres, and the number of steps.
    var walked = 0.0
    var stepped = 0.0
    var steps = 0
    /// The time in seconds classified as walking.
    var walkingTime = 0.0
    /// The angles in degrees between the heading and the ground truth's course while walking.
    var headingErrors: [Double] = []
    /// The number of estimates while the ground truth walks, and of those classified as walking.
    var walking = (all: 0, detected: 0)
    /// The number of estimates, and of those classified as climbing.
    var climbs = (all: 0, detected: 0)
    /// The errors at ground truths, of dead reckoning alone and of a session.
    var reckoned = Errors()
    var located = Errors()
    /// The number of ground truths, and of those for which a session's position is on the right map.
    var floors = (all: 0, right: 0)

    /// Errors in metres, as shares of the distance walked, and the number of errors within the radius.
    struct Errors: Sendable {
        private(set) var shares: [Double] = []
        private(set) var meters: [Double] = []
        private(set) var inside = 0

        /// The minimum distance walked, in metres, that gives a share.
        private static let leastWay = 5.0

        mutating func add(_ error: Double, radius: Double, after way: Double) {
            meters.append(error)
            if error <= radius { inside += 1 }
            if way >= Self.leastWay { shares.append(error / way) }
        }

        mutating func add(_ other: Errors) {
            shares += other.shares
            meters += other.meters
            inside += other.inside
        }
    }

    mutating func add(_ other: MotionScore) {
        walked += other.walked
        stepped += other.stepped
        steps += other.steps
        walkingTime += other.walkingTime
        headingErrors += other.headingErrors
        walking = (walking.all + other.walking.all, walking.detected + other.walking.detected)
        climbs = (climbs.all + other.climbs.all, climbs.detected + other.climbs.detected)
        reckoned.add(other.reckoned)
        located.add(other.located)
        floors = (floors.all + other.floors.all, floors.right + other.floors.right)
    }

    /// All figures in lines.
    func text(of name: String) -> String {
        func number(_ value: Double?, _ decimals: Int = 1) -> String {
            value.map { JSONText.number($0, decimals: decimals) } ?? "-"
        }
        func degrees(_ value: Double?) -> String { value.map { number($0) + "°" } ?? "-" }
        func percent(_ share: Double?) -> String { share.map { number($0 * 100) + "%" } ?? "-" }
        func share(_ part: Int, _ all: Int) -> String { percent(all == 0 ? nil : Double(part) / Double(all)) }
        func line(_ label: String, _ errors: Errors) -> String {
            let mean = errors.meters.isEmpty ? nil : errors.meters.reduce(0, +) / Double(errors.meters.count)
            return "\(label): n \(errors.meters.count)  mean \(number(mean, 2)) m  "
                + "median \(percent(Self.quantile(errors.shares, 0.5))) of the distance  "
                + "P90 \(percent(Self.quantile(errors.shares, 0.9)))  "
                + "inside radius \(share(errors.inside, errors.meters.count))"
        }
        return """
            \(name): walked \(number(walked, 0)) m  by steps \(number(stepped, 0)) m in \(steps), \(number(walkingTime > 0 ? Double(steps) / walkingTime : nil, 2)) a second  \
            walking detected \(share(walking.detected, walking.all))  climbing detected \(share(climbs.detected, climbs.all)) of the time  \
            heading median \(degrees(Self.quantile(headingErrors, 0.5)))  P90 \(degrees(Self.quantile(headingErrors, 0.9)))
            \(line("  dead reckoning alone", reckoned))
            \(line("  session without beacons", located))  floor \(share(floors.right, floors.all))

            """
    }

    private static func quantile(_ values: [Double], _ share: Double) -> Double? {
        guard !values.isEmpty else { return nil }
        return values.sorted()[Int(Double(values.count - 1) * share)]
    }
}
