import IndoorLocalization
import ScanRecording

/// How well motion alone tells what the truth of recordings tells.
struct MotionScore: Sendable {
    /// Metres of the truth, of the steps, and number of steps.
    var walked = 0.0
    var stepped = 0.0
    var steps = 0
    /// Seconds for which walking was told.
    var walkingTime = 0.0
    /// Degrees between the heading and the course of the truth, where that walks.
    var headingErrors: [Double] = []
    /// Estimates while the truth walks, and those of them that say so.
    var walking = (all: 0, told: 0)
    /// Estimates, and those of them that tell a climb.
    var climbs = (all: 0, told: 0)
    /// Errors at truths in metres, with the way until then, and how many lie within the radius: reckoned, and in a session.
    var reckoned = Errors()
    var located = Errors()
    /// Truths that a session told a position for, and those of them on the right map.
    var floors = (all: 0, right: 0)

    /// Errors that grow with the way.
    struct Errors: Sendable {
        private(set) var shares: [Double] = []
        private(set) var meters: [Double] = []
        private(set) var inside = 0

        /// A shorter way than this in metres tells no share.
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
        walking = (walking.all + other.walking.all, walking.told + other.walking.told)
        climbs = (climbs.all + other.climbs.all, climbs.told + other.climbs.told)
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
                + "median \(percent(Self.quantile(errors.shares, 0.5))) of the way  "
                + "P90 \(percent(Self.quantile(errors.shares, 0.9)))  "
                + "inside radius \(share(errors.inside, errors.meters.count))"
        }
        return """
            \(name): walked \(number(walked, 0)) m  by steps \(number(stepped, 0)) m in \(steps), \(number(walkingTime > 0 ? Double(steps) / walkingTime : nil, 2)) a second  \
            walking told \(share(walking.told, walking.all))  climbing told \(share(climbs.told, climbs.all)) of the time  \
            heading median \(degrees(Self.quantile(headingErrors, 0.5)))  P90 \(degrees(Self.quantile(headingErrors, 0.9)))
            \(line("  reckoned alone", reckoned))
            \(line("  session without beacons", located))  floor \(share(floors.right, floors.all))

            """
    }

    private static func quantile(_ values: [Double], _ share: Double) -> Double? {
        guard !values.isEmpty else { return nil }
        return values.sorted()[Int(Double(values.count - 1) * share)]
    }
}
