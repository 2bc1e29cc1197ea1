import CMath
import FoundationEssentials
import IndoorLocalization

/// The path of a simulated person: points across the maps of a venue, with pauses, stairs and outdoor legs.
///
/// Between two points the person walks in a straight line at constant speed. Stairs or an elevator join points on
/// different maps: the height changes evenly along the leg, and the map changes half way.
public struct WalkPath: Hashable, Sendable {
    /// The means of getting from one map to the next.
    public enum FloorChange: String, Hashable, Sendable, CaseIterable {
        /// On foot.
        case stairs
        /// Standing still.
        case elevator
    }

    /// A place on the path.
    public struct Point: Hashable, Sendable {
        /// The map whose frame `point` is in.
        public var mapID: MapID
        /// The position on that map; outdoors it may be outside the plan.
        public var point: MapPoint
        /// The time in seconds that the person stands there, 0 or above.
        public var pause: Double
        /// The heading during the pause, in degrees clockwise from the plan's top; nil for the direction of arrival.
        public var heading: Double?
        /// The duration in seconds of the leg to this point, above 0; nil if the speed determines it.
        public var seconds: Double?
        /// The speed on the leg to this point in m/s, above 0; nil for the path's speed.
        public var speed: Double?
        /// Whether the place is outdoors. A leg is outdoors if one of its ends is.
        public var isOutdoors: Bool
        /// The means of changing maps on the leg to this point; ignored if the map doesn't change.
        public var floorChange: FloorChange

        /// Creates a place on the path.
        public init(
            mapID: MapID, point: MapPoint, pause: Double = 0, heading: Double? = nil, seconds: Double? = nil,
            speed: Double? = nil, isOutdoors: Bool = false, floorChange: FloorChange = .stairs
        ) {
            self.mapID = mapID
            self.point = point
            self.pause = pause
            self.heading = heading
            self.seconds = seconds
            self.speed = speed
            self.isOutdoors = isOutdoors
            self.floorChange = floorChange
        }
    }

    /// A display name; nil if the path has none.
    public var name: String?
    /// The walking speed in m/s, above 0.
    public var speed: Double
    /// The places, in the order of the walk; at least one.
    public var points: [Point]

    /// A typical walking speed in buildings, in m/s.
    ///
    /// Source: R. W. Bohannon, *Comfortable and maximum walking speed of adults aged 20–79 years*, Age and Ageing
    /// 26, 1997: 1.3 to 1.45 m/s on a free course; slower near doors and corners.
    public static let usualSpeed = 1.2

    /// Creates a path. The simulator checks it.
    public init(name: String? = nil, speed: Double = WalkPath.usualSpeed, points: [Point]) {
        self.name = name
        self.speed = speed
        self.points = points
    }
}

/// A walk in a JSON document: the path, and the settings that differ from the defaults.
///
///     {
///       "format": "indoor-localization-walk", "version": 1, "name": "to the kitchen", "speed": 1.2,
///       "points": [
///         {"mapId": 1, "x": 3, "y": 4, "pause": 5, "heading": 90},
///         {"mapId": 1, "x": 9, "y": 4},
///         {"mapId": 2, "x": 9, "y": 7, "by": "stairs", "seconds": 14},
///         {"mapId": 2, "x": -5, "y": 7, "outdoors": true, "speed": 1.4}
///       ],
///       "settings": {"radio.wallLoss": 5, "sensors.reportsSteps": true}
///     }
///
/// Only `format`, `version`, `points` and their `mapId`, `x` and `y` are required. Unknown fields are ignored; unknown
/// settings are errors.
public struct WalkScript: Hashable, Sendable {
    /// The value of the `format` field.
    package static let format = "indoor-localization-walk"

    /// The path of the walk.
    public var path: WalkPath
    /// The settings of the simulation.
    public var settings: SimulationSettings

    /// Creates a walk from its parts.
    public init(path: WalkPath, settings: SimulationSettings = SimulationSettings()) {
        self.path = path
        self.settings = settings
    }

    /// Reads a walk document.
    ///
    /// - Throws: `SimulationError` with the invalid field.
    public init(json: some Sequence<UInt8>) throws(SimulationError) {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: Data(json))
        } catch let error as DecodingError {
            throw .malformedDocument(error)
        } catch {
            throw .malformedDocument(field: "$", reason: "\(error)")
        }
        guard document.format == Self.format, document.version == 1 else {
            throw .unsupportedFormat("\"\(document.format)\", version \(document.version),")
        }
        path = try document.path()
        settings = SimulationSettings()
        for (name, setting) in (document.settings ?? [:]).sorted(by: { $0.key < $1.key }) {
            try settings.set(name, to: setting.value)
        }
    }
}

/// The fields of the document, unchecked.
private struct Document: Decodable {
    struct Point: Decodable {
        var mapId: Int
        var x: Double
        var y: Double
        var pause: Double?
        var heading: Double?
        var seconds: Double?
        var speed: Double?
        var outdoors: Bool?
        var by: String?
    }

    struct Setting: Decodable {
        let value: SimulationSettings.Value

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                value = .flag(flag)
            } else {
                value = .number(try container.decode(Double.self))
            }
        }
    }

    var format: String
    var version: Int
    var name: String?
    var speed: Double?
    var points: [Point]
    var settings: [String: Setting]?

    func path() throws(SimulationError) -> WalkPath {
        var path = WalkPath(name: name, speed: speed ?? WalkPath.usualSpeed, points: [])
        for (index, point) in points.enumerated() {
            var change = WalkPath.FloorChange.stairs
            if let by = point.by {
                guard let known = WalkPath.FloorChange(rawValue: by) else {
                    throw .malformedDocument(
                        field: "$.points[\(index)].by", reason: "is \"\(by)\"; expected \"stairs\" or \"elevator\"")
                }
                change = known
            }
            path.points.append(
                WalkPath.Point(
                    mapID: MapID(rawValue: point.mapId), point: MapPoint(x: point.x, y: point.y),
                    pause: point.pause ?? 0, heading: point.heading, seconds: point.seconds, speed: point.speed,
                    isOutdoors: point.outdoors ?? false, floorChange: change))
        }
        return path
    }
}

extension SimulationError {
    /// Returns the decoder's error with the path of the field.
    fileprivate static func malformedDocument(_ error: DecodingError) -> SimulationError {
        let (context, missing): (DecodingError.Context, (any CodingKey)?) =
            switch error {
            case .keyNotFound(let key, let context): (context, key)
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
            }
        var field = "$"
        for key in context.codingPath + (missing.map { [$0] } ?? []) {
            if let index = key.intValue { field += "[\(index)]" } else { field += "." + key.stringValue }
        }
        return .malformedDocument(field: field, reason: missing == nil ? context.debugDescription : "is missing")
    }
}

/// The position and motion of a simulated person at each moment.
struct WalkTimeline: Hashable, Sendable {
    /// A straight part of the walk, or a pause.
    struct Leg: Hashable, Sendable {
        /// Seconds since the start of the walk.
        var start: Double
        var end: Double
        var from: WalkPath.Point
        var to: WalkPath.Point
        var fromFloor: Floor
        var toFloor: Floor
        /// The heading in degrees clockwise from the plan's top, not normalized to [0, 360): turns are differences.
        var heading: Double
        /// The number of steps before this leg, and the steps per second on it.
        var stepsBefore: Double
        var cadence: Double
        var isPause: Bool

        var duration: Double { end - start }
        var isOutdoors: Bool { from.isOutdoors || to.isOutdoors }
        /// The length in metres on the plan.
        var length: Double { from.point.distance(to: to.point) }
    }

    /// The properties of a floor that a walk needs.
    struct Floor: Hashable, Sendable {
        var level: Double
        var height: Double
    }

    /// The state of the person at one moment.
    struct Pose: Hashable, Sendable {
        var mapID: MapID
        var point: MapPoint
        /// The level of the floor; a value between two levels on stairs.
        var level: Double
        /// The height of the feet in metres above the ground floor.
        var height: Double
        /// The heading in degrees clockwise from the plan's top, unbounded and continuous.
        var heading: Double
        /// The number of steps since the start, including the fraction of the current one.
        var steps: Double
        var isStepping: Bool
        var isOutdoors: Bool
    }

    /// The height in metres between floors if the maps have no elevation.
    static let usualFloorHeight = 3.5
    /// The height of one stair in metres. Source: ISO 21542:2021 allows 0.15 to 0.18 m.
    static let stairHeight = 0.17

    private(set) var legs: [Leg] = []
    let turnDuration: Double

    /// The duration of the walk in seconds.
    var duration: Double { legs.last?.end ?? 0 }

    /// Creates the timeline of a checked path.
    init(_ path: WalkPath, venue: Venue, sensors: SensorSettings) {
        turnDuration = sensors.turnDuration
        var previous: WalkPath.Point?
        for point in path.points {
            if let previous { appendWay(from: previous, to: point, path, venue, sensors) }
            appendPause(at: point, venue)
            previous = point
        }
        if legs.isEmpty, let point = path.points.first { append(from: point, to: point, seconds: 0, venue) }
        faceTheFirstWay()
    }

    private mutating func appendPause(at point: WalkPath.Point, _ venue: Venue) {
        guard point.pause > 0 else { return }
        append(from: point, to: point, seconds: point.pause, venue, heading: point.heading, isPause: true)
    }

    private mutating func appendWay(
        from: WalkPath.Point, to: WalkPath.Point, _ path: WalkPath, _ venue: Venue, _ sensors: SensorSettings
    ) {
        let isFloorChange = from.mapID != to.mapID
        let length = from.point.distance(to: to.point)
        let climb = abs(Self.floor(from.mapID, venue).height - Self.floor(to.mapID, venue).height)
        let seconds = to.seconds ?? max(length / (to.speed ?? path.speed), climb / sensors.climbingSpeed)
        guard seconds > 0 else { return }
        let isStanding = length == 0 && climb == 0 || isFloorChange && to.floorChange == .elevator
        let steps = isStanding ? 0 : max(length / sensors.stepLength, climb / Self.stairHeight)
        append(
            from: from, to: to, seconds: seconds, venue, heading: (to.point - from.point).course,
            cadence: steps / seconds)
    }

    private mutating func append(
        from: WalkPath.Point, to: WalkPath.Point, seconds: Double, _ venue: Venue, heading: Double? = nil,
        cadence: Double = 0, isPause: Bool = false
    ) {
        let last = legs.last
        let before = last?.heading ?? 0
        let turn = heading.map { Self.turn(from: before, to: $0) } ?? 0
        let start = last?.end ?? 0
        legs.append(
            Leg(
                start: start, end: start + seconds, from: from, to: to, fromFloor: Self.floor(from.mapID, venue),
                toFloor: Self.floor(to.mapID, venue), heading: before + turn,
                stepsBefore: last.map { $0.stepsBefore + $0.cadence * $0.duration } ?? 0, cadence: cadence,
                isPause: isPause))
    }

    /// If the first pause has no heading, sets it to the direction of the first leg.
    private mutating func faceTheFirstWay() {
        guard let first = legs.first, first.isPause, first.from.heading == nil, legs.count > 1 else { return }
        legs[0].heading = legs[1].heading
    }

    /// Returns the shorter turn between two headings, in degrees clockwise from -180 to 180.
    static func turn(from: Double, to: Double) -> Double {
        let difference = cmath_fmod(to - from, 360)
        return difference > 180 ? difference - 360 : difference < -180 ? difference + 360 : difference
    }

    private static func floor(_ id: MapID, _ venue: Venue) -> Floor {
        let map = venue.map(id)
        let level = Double(map?.level ?? 0)
        return Floor(level: level, height: map?.elevation ?? level * usualFloorHeight)
    }

    // MARK: - Moments

    /// Returns the pose at a moment in seconds since the start. Before the walk, it is the first pose; after the walk,
    /// the last.
    func pose(at seconds: Double) -> Pose {
        let index = self.index(at: seconds)
        let leg = legs[index]
        let time = min(max(seconds, leg.start), leg.end)
        let share = leg.duration > 0 ? (time - leg.start) / leg.duration : 0
        let floors = (leg.fromFloor, leg.toFloor)
        return Pose(
            mapID: share < 0.5 ? leg.from.mapID : leg.to.mapID,
            point: leg.from.point + (leg.to.point - leg.from.point) * share,
            level: floors.0.level + (floors.1.level - floors.0.level) * share,
            height: floors.0.height + (floors.1.height - floors.0.height) * share,
            heading: heading(at: time, leg: index), steps: leg.stepsBefore + leg.cadence * (time - leg.start),
            isStepping: leg.cadence > 0, isOutdoors: leg.isOutdoors)
    }

    /// Returns the index of the last leg that has begun, by bisection.
    private func index(at seconds: Double) -> Int {
        legs.isEmpty ? 0 : (1..<legs.count).bisection { !(legs[$0].start <= seconds) } - 1
    }

    /// Returns the heading. A turn is centred on the joint of two legs and lasts at most half of either.
    private func heading(at time: Double, leg index: Int) -> Double {
        let leg = legs[index]
        if index > 0 {
            let half = halfTurn(at: index)
            if time < leg.start + half { return turned(at: index, by: (time - leg.start + half) / (2 * half)) }
        }
        if index + 1 < legs.count {
            let half = halfTurn(at: index + 1)
            if time > leg.end - half { return turned(at: index + 1, by: (time - leg.end + half) / (2 * half)) }
        }
        return leg.heading
    }

    private func halfTurn(at joint: Int) -> Double {
        min(turnDuration, legs[joint - 1].duration, legs[joint].duration) / 2
    }

    private func turned(at joint: Int, by share: Double) -> Double {
        let smooth = share * share * (3 - 2 * share)
        return legs[joint - 1].heading + (legs[joint].heading - legs[joint - 1].heading) * smooth
    }
}
