import CMath
import IndoorLocalization
import ScanRecording

/// A simulator of the sensor readings and the ground truth of a walk through a venue.
///
/// The simulator has no hidden inputs: the same venue, path, settings and seed give the same entries on every machine.
/// Walks with different seeds through one venue share its walls, powers and shadowing
/// (`RadioSettings.environmentSeed`), but have independent fading, noise and losses. Some of them can serve as surveys
/// and others for scoring.
public struct WalkSimulator: Sendable {
    /// The venue of the walk; its beacons advertise, and the device measures its distance to the anchors.
    package let venue: Venue
    /// The path of the walk.
    package let path: WalkPath
    /// The settings of the simulation.
    package let settings: SimulationSettings
    /// The seed that distinguishes this walk from others on the same path.
    package let seed: UInt64

    let timeline: WalkTimeline
    let transforms: [MapID: GeoTransform]

    /// Creates a simulator.
    ///
    /// A walk lasts at most a day and has at most three million readings. Beacons on unknown maps are silent.
    /// - Throws: `SimulationError` if the path or the settings are invalid.
    public init(
        venue: Venue, path: WalkPath, settings: SimulationSettings = SimulationSettings(), seed: UInt64
    ) throws(SimulationError) {
        self.venue = venue
        self.path = path
        self.settings = settings
        self.seed = seed
        try settings.check()
        try path.check()
        transforms = try Self.transforms(of: path, in: venue)
        timeline = WalkTimeline(path, venue: venue, sensors: settings.sensors)
        try checkLength()
    }

    /// Creates a simulator from a walk document.
    ///
    /// - Throws: `SimulationError` if the path or the settings are invalid.
    public init(venue: Venue, script: WalkScript, seed: UInt64) throws(SimulationError) {
        try self.init(venue: venue, path: script.path, settings: script.settings, seed: seed)
    }

    /// The duration of the walk.
    public var duration: Duration { Instant.zero.duration(to: Instant(seconds: timeline.duration)) }

    /// The header of the walk's recording.
    public var header: RecordingHeader {
        RecordingHeader(device: "simulator, seed \(seed)", venueID: venue.id, name: path.name)
    }

    /// Returns all readings and ground truths in chronological order, without the header.
    ///
    /// Outdoors, where no map applies, ground truths have the room `WalkSimulator.outdoors` instead of a point.
    public func entries() -> [RecordingEntry] { entries { () throws(Never) in } }

    /// Returns the entries of `entries()`, unless a check ends the simulation.
    ///
    /// - Parameter check: throws to end the simulation. It is called at least once for each advertisement, distance,
    ///   inertial sample and step that is simulated.
    package func entries<Stop: Error>(check: () throws(Stop) -> Void) throws(Stop) -> [RecordingEntry] {
        var readings = try sightings(check: check)
        readings += try motionSamples(check: check)
        readings += try steps(check: check)
        readings += pressureSamples()
        try check()
        readings += gnssFixes()
        try check()
        readings += try ranges(check: check)
        let entries = truths().map(RecordingEntry.truth) + readings.map(RecordingEntry.measurement)
        try check()
        // The sort uses the index as well, so that entries with equal instants keep their order.
        return entries.enumerated()
            .map { (instant: $1.instant ?? .zero, index: $0, entry: $1) }
            .sorted { ($0.instant, $0.index) < ($1.instant, $1.index) }
            .map(\.entry)
    }

    /// Returns the readings of `entries()`.
    package func sensorReadings() -> [SensorReading] {
        entries().compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
    }

    /// The room in ground truths outdoors.
    package static let outdoors = "outdoors"

    private static func transforms(of path: WalkPath, in venue: Venue) throws(SimulationError) -> [MapID: GeoTransform]
    {
        var transforms: [MapID: GeoTransform] = [:]
        for (index, point) in path.points.enumerated() {
            let field = "points[\(index)]"
            guard let map = venue.map(point.mapID) else { throw .unknownMap(point.mapID, field: field + ".mapId") }
            if transforms[map.id] == nil { transforms[map.id] = try? map.geoTransform() }
            if point.isOutdoors, transforms[map.id] == nil { throw .noGeoreference(map.id, field: field + ".outdoors") }
        }
        return transforms
    }
}

extension WalkSimulator: ScanSource {
    public var pace: ScanPace { .recorded }

    /// Returns a stream of the walk's sensor readings; each call returns the same readings.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream { continuation in
            for reading in sensorReadings() { continuation.yield(reading) }
            continuation.finish()
        }
    }
}

extension WalkPath {
    /// Checks the numbers of the path.
    func check() throws(SimulationError) {
        guard !points.isEmpty else { throw .noPoints }
        try Self.check(speed, "speed", positive: true)
        for (index, point) in points.enumerated() {
            let field = "points[\(index)]."
            try Self.check(point.point.x, field + "x")
            try Self.check(point.point.y, field + "y")
            try Self.check(point.pause, field + "pause")
            if point.pause < 0 { throw .outOfRange(field: field + "pause", value: point.pause, allowed: "0 or above") }
            if let heading = point.heading { try Self.check(heading, field + "heading") }
            if let seconds = point.seconds { try Self.check(seconds, field + "seconds", positive: true) }
            if let speed = point.speed { try Self.check(speed, field + "speed", positive: true) }
        }
    }

    /// Checks that a number is at most a million metres or seconds, because a larger one is probably a typing error.
    private static func check(_ value: Double, _ field: String, positive: Bool = false) throws(SimulationError) {
        let range = positive ? 1e-3...1e6 : -1e6...1e6
        guard range.contains(value) else {
            throw .outOfRange(field: field, value: value, allowed: "\(range.lowerBound) to \(range.upperBound)")
        }
    }
}

extension WalkSimulator {
    /// The maximum duration of a walk in seconds.
    static let longestWalk = 86_400.0
    /// The maximum number of readings of a walk. All readings are in memory, a few hundred bytes each.
    static let mostReadings = 3e6

    /// The number of readings of the walk if the device receives all of them.
    package var mostExpectedReadings: Double {
        let (radio, sensors) = (settings.radio, settings.sensors)
        func rate(_ interval: Double) -> Double { interval > 0 ? 1 / interval : 0 }
        let perSecond =
            Double(venue.beacons.count) * rate(radio.advertisingInterval) + sensors.motionRate
            + Double(venue.anchors.count) * rate(settings.ranges.interval) + rate(sensors.pressureInterval)
            + rate(sensors.gnssInterval) + rate(sensors.truthInterval)
        let steps = timeline.legs.last.map { $0.stepsBefore + $0.cadence * $0.duration } ?? 0
        return timeline.duration * perSecond + steps
    }

    /// Throws for a walk that would exhaust the memory, before the simulation begins.
    func checkLength() throws(SimulationError) {
        let readings = mostExpectedReadings
        guard timeline.duration <= Self.longestWalk, readings <= Self.mostReadings else {
            throw .tooLong(hours: timeline.duration / 3600, readings: readings)
        }
    }

    /// A leg of the walk that crosses walls.
    package struct WallCrossing: Hashable, Sendable {
        /// The index of the point at the leg's end, from 1.
        package let point: Int
        /// The number of walls that the leg crosses.
        package let walls: Int
    }

    /// The legs that cross walls. Legs between maps and outdoor legs are not checked.
    package var wallCrossings: [WallCrossing] {
        var walls: [MapID: WallCrossings] = [:]
        return zip(path.points, path.points.dropFirst()).enumerated().compactMap { index, ends in
            let (from, to) = ends
            guard from.mapID == to.mapID, !from.isOutdoors, !to.isOutdoors, let map = venue.map(to.mapID) else {
                return nil
            }
            let known = walls[map.id] ?? WallCrossings(of: map)
            walls[map.id] = known
            let count = known.count(from: from.point, to: to.point)
            return count > 0 ? WallCrossing(point: index + 1, walls: count) : nil
        }
    }
}

extension WalkSimulator {
    /// Standard gravity in m/s². Source: 3rd General Conference on Weights and Measures, 1901.
    static let gravity = 9.80665
    /// The forward acceleration of a step relative to the vertical one; from 0.25 to 0.5 for a device in the hand.
    private static let forwardShare = 0.3

    /// Returns the inertial samples.
    ///
    /// The person holds the device in front of the body: its y axis points ahead and up by the tilt.
    ///
    /// At rest the device measures gravity upwards, as the reaction force. A step adds a cosine of the stride's phase,
    /// with the maximum when the foot touches the ground. Source of the form: R. Harle, *A Survey of Indoor Inertial
    /// Positioning Systems for Pedestrians*, IEEE Communications Surveys & Tutorials 15(3), 2013.
    func motionSamples<Stop: Error>(check: () throws(Stop) -> Void) throws(Stop) -> [SensorReading] {
        let sensors = settings.sensors
        guard sensors.motionRate > 0 else { return [] }
        var generator = SeededGenerator.stream(seed, Purpose.motion.rawValue)
        let compass = compassError()
        let bias = Self.noise(sensors.rotationBias, using: &generator)
        let count = Int(timeline.duration * sensors.motionRate)
        return try (0...count).map { index throws(Stop) in
            try check()
            let time = Double(index) / sensors.motionRate
            let pose = timeline.pose(at: time)
            let attitude = attitude(heading: pose.heading)
            let inverse = Quaternion(w: attitude.w, x: -attitude.x, y: -attitude.y, z: -attitude.z)
            let felt = inverse.rotate(acceleration(at: pose))
            let rate = inverse.rotate(Vector3(x: 0, y: 0, z: turnRate(at: time)))
            let shown = self.attitude(heading: pose.heading + compass.value(at: pose.point))
            return .motion(
                MotionSample(
                    instant: Self.instant(time),
                    acceleration: Self.sum(felt, Self.noise(sensors.accelerationNoise, using: &generator), .zero),
                    rotationRate: Self.sum(rate, Self.noise(sensors.rotationNoise, using: &generator), bias),
                    attitude: Quaternion(
                        w: Self.round(shown.w, decimals: 1e4), x: Self.round(shown.x, decimals: 1e4),
                        y: Self.round(shown.y, decimals: 1e4), z: Self.round(shown.z, decimals: 1e4))))
        }
    }

    /// Returns the steps that the device reports, each when the foot touches the ground.
    func steps<Stop: Error>(check: () throws(Stop) -> Void) throws(Stop) -> [SensorReading] {
        let sensors = settings.sensors
        guard sensors.reportsSteps else { return [] }
        var generator = SeededGenerator.stream(seed, Purpose.steps.rawValue)
        let compass = compassError()
        var readings: [SensorReading] = []
        for leg in timeline.legs where leg.cadence > 0 {
            let stepsAfter = leg.stepsBefore + leg.cadence * leg.duration
            var step = leg.stepsBefore.rounded(.down) + 1
            while step <= stepsAfter {
                try check()
                let time = leg.start + (step - leg.stepsBefore) / leg.cadence
                let pose = timeline.pose(at: time)
                let length = leg.length / (leg.cadence * leg.duration)
                let measured = length * (1 + sensors.stepLengthDeviation * generator.normal())
                let heading = cmath_fmod(pose.heading + compass.value(at: pose.point), 360)
                let rounded = Self.round(heading < 0 ? heading + 360 : heading, decimals: 10)
                readings.append(
                    .step(
                        Step(
                            instant: Self.instant(time), length: Self.round(max(measured, 0), decimals: 1e3),
                            heading: rounded < 360 ? rounded : 0)))
                step += 1
            }
        }
        return readings
    }

    /// Returns the acceleration in the world's frame (x: the map's x, y: the map's up, z: up), in m/s².
    private func acceleration(at pose: WalkTimeline.Pose) -> Vector3 {
        guard pose.isStepping else { return Vector3(x: 0, y: 0, z: Self.gravity) }
        let phase = 2 * Double.pi * pose.steps
        let heading = pose.heading * .pi / 180
        let forward = settings.sensors.bounce * Self.forwardShare * cmath_sin(phase)
        return Vector3(
            x: forward * cmath_sin(heading), y: forward * cmath_cos(heading),
            z: Self.gravity + settings.sensors.bounce * cmath_cos(phase))
    }

    /// Returns the mean rate around the world's up axis until the next sample, in rad/s. Its integral is the heading.
    private func turnRate(at time: Double) -> Double {
        let next = timeline.pose(at: time + 1 / settings.sensors.motionRate).heading
        return -(next - timeline.pose(at: time).heading) * .pi / 180 * settings.sensors.motionRate
    }

    /// Returns the rotation from the device's frame to the world's: up by the tilt, then clockwise by the heading.
    private func attitude(heading: Double) -> Quaternion {
        let yaw = -heading * .pi / 360
        let tilt = settings.sensors.tilt * .pi / 360
        return Quaternion(
            w: cmath_cos(yaw) * cmath_cos(tilt), x: cmath_cos(yaw) * cmath_sin(tilt),
            y: cmath_sin(yaw) * cmath_sin(tilt), z: cmath_sin(yaw) * cmath_cos(tilt))
    }

    /// Returns the compass error due to iron in the building. It is the same at the same place for every walk.
    private func compassError() -> CorrelatedField {
        let sensors = settings.sensors
        return CorrelatedField(
            deviation: sensors.headingDeviation, distance: sensors.headingDistance,
            seed: SeededGenerator.seed([settings.radio.environmentSeed, Purpose.compass.rawValue]))
    }

    private static func noise(_ deviation: Double, using generator: inout SeededGenerator) -> Vector3 {
        let (x, y) = generator.normalPair()
        return Vector3(x: deviation * x, y: deviation * y, z: deviation * generator.normal())
    }

    private static func sum(_ a: Vector3, _ b: Vector3, _ c: Vector3) -> Vector3 {
        Vector3(
            x: round(a.x + b.x + c.x, decimals: 1e3), y: round(a.y + b.y + c.y, decimals: 1e3),
            z: round(a.z + b.z + c.z, decimals: 1e3))
    }
}

extension Vector3 {
    fileprivate static let zero = Vector3(x: 0, y: 0, z: 0)
}

extension WalkSimulator {
    /// Returns all advertisements that the device receives, beacon by beacon.
    func sightings<Stop: Error>(check: () throws(Stop) -> Void) throws(Stop) -> [SensorReading] {
        let dead = deadBeacons()
        var readings: [SensorReading] = []
        for beacon in venue.beacons {
            guard let map = venue.map(beacon.mapID) else { continue }
            try check()
            let channel = RadioChannel(to: beacon, on: map, of: venue, settings.radio)
            readings += try sightings(over: channel, isMortal: dead.contains(beacon.identity), check: check)
        }
        return readings
    }

    private func sightings<Stop: Error>(
        over channel: RadioChannel, isMortal: Bool, check: () throws(Stop) -> Void
    ) throws(Stop) -> [SensorReading] {
        let radio = settings.radio
        let beacon = channel.beacon
        var generator = SeededGenerator.stream(seed, Purpose.advertising.rawValue, beacon.identity.seed)
        var readings: [SensorReading] = []
        var time = radio.advertisingInterval * generator.uniform()
        let end = isMortal ? min(timeline.duration, radio.deadFrom) : timeline.duration
        while time < end {
            try check()
            let rssi = channel.rssi(at: timeline.pose(at: time), using: &generator)
            let isReceived = generator.uniform() < RadioChannel.chance(ofReceiving: rssi, radio)
            let rounded = min(rssi.rounded(), -1)
            if isReceived, Sighting.isMeasurement(rssi: rounded) {
                readings.append(reading(of: beacon, rssi: rounded, at: Self.instant(time)))
            }
            time += radio.advertisingInterval + radio.advertisingDelay * generator.uniform()
        }
        return readings
    }

    /// Returns the sighting of a beacon, or an advertisement without beacon data for a beacon that is known only by its
    /// address.
    private func reading(of beacon: VenueBeacon, rssi: Double, at instant: Instant) -> SensorReading {
        if beacon.validNaming == .address, let address = beacon.address {
            // The flags of a generally discoverable device without BR/EDR.
            return .advertisement(Advertisement(instant: instant, address: address, rssi: rssi, data: [2, 1, 6]))
        }
        return .sighting(
            Sighting(
                instant: instant, beacon: beacon.identity, rssi: rssi,
                measuredPower: settings.radio.advertisesPower ? beacon.measuredPower : nil, address: beacon.address))
    }

    /// Returns the beacons that stop advertising, selected by the walk's seed.
    func deadBeacons() -> Set<BeaconIdentity> {
        let count = Int((Double(venue.beacons.count) * settings.radio.deadShare).rounded())
        var generator = SeededGenerator.stream(seed, Purpose.death.rawValue)
        return Set(venue.beacons.map(\.identity).sorted().shuffled(using: &generator).prefix(count))
    }

    /// Returns the instant in whole milliseconds, which is the resolution of recordings from phones.
    static func instant(_ seconds: Double) -> Instant { Instant(seconds: (seconds * 1000).rounded() / 1000) }

    /// Rounds a number to the decimals that a recording stores.
    static func round(_ value: Double, decimals factor: Double) -> Double { (value * factor).rounded() / factor }
}

extension WalkSimulator {
    /// Returns all distances that the device measures, anchor by anchor: by ultra-wideband, on the map of the anchor.
    func ranges<Stop: Error>(check: () throws(Stop) -> Void) throws(Stop) -> [SensorReading] {
        guard settings.ranges.interval > 0 else { return [] }
        var readings: [SensorReading] = []
        for anchor in venue.anchors {
            guard let map = venue.map(anchor.mapID) else { continue }
            readings += try ranges(to: anchor, on: map, check: check)
        }
        return readings
    }

    private func ranges<Stop: Error>(
        to anchor: VenueAnchor, on map: VenueMap, check: () throws(Stop) -> Void
    ) throws(Stop) -> [SensorReading] {
        let ranges = settings.ranges
        let walls = WallCrossings(of: map)
        let floor = map.elevation ?? Double(map.level) * WalkTimeline.usualFloorHeight
        var generator = SeededGenerator.stream(seed, Purpose.ranging.rawValue, anchor.identity.seed)
        var readings: [SensorReading] = []
        var time = ranges.interval * generator.uniform()
        while time < timeline.duration {
            try check()
            let pose = timeline.pose(at: time)
            let device = pose.height + settings.radio.deviceHeight
            let heightDifference = anchor.z.map { floor + $0 - device } ?? 0
            let length = cmath_hypot(pose.point.distance(to: anchor.point), heightDifference)
            let noise = ranges.deviation * generator.normal()
            let isLost = generator.uniform() < ranges.lossShare
            if !isLost, pose.mapID == map.id, !pose.isOutdoors, length <= ranges.reach {
                let isHidden = walls.count(from: pose.point, to: anchor.point) > 0
                let distance = length + ranges.offset + excess(at: pose.point, of: anchor, isHidden: isHidden) + noise
                readings.append(
                    .range(
                        RangeReading(
                            instant: Self.instant(time), anchor: anchor.id,
                            distance: Self.round(distance, decimals: 1000),
                            deviation: ranges.statesDeviation ? max(ranges.deviation, 0.001) : nil, technology: .uwb)))
            }
            time += ranges.interval
        }
        return readings
    }

    /// Returns the excess length of the path at a place. All places in one area, and all walks of an environment, have
    /// the same excess.
    private func excess(at point: MapPoint, of anchor: VenueAnchor, isHidden: Bool) -> Double {
        let ranges = settings.ranges
        let edge = ranges.excessDistance
        let (column, row) = (Int64((point.x / edge).rounded(.down)), Int64((point.y / edge).rounded(.down)))
        var generator = SeededGenerator.stream(
            settings.radio.environmentSeed, Purpose.excess.rawValue, anchor.identity.seed,
            UInt64(bitPattern: column), UInt64(bitPattern: row))
        let isReflected = generator.uniform() < (isHidden ? ranges.hiddenExcessShare : ranges.excessShare)
        let length = -ranges.excess * cmath_log(1 - generator.uniform())
        return isReflected ? length : 0
    }
}

extension WalkSimulator {
    /// Returns the ground truth at the ends of legs and pauses, and at regular times in between.
    func truths() -> [Truth] {
        var truths: [Truth] = []
        for (index, leg) in timeline.legs.enumerated() {
            let isLast = index + 1 == timeline.legs.count
            if leg.isPause {
                truths.append(truth(at: leg.start, of: leg.from, isOutdoors: leg.isOutdoors, isHold: true))
            } else {
                truths += waypoints(of: leg)
            }
            if isLast { truths.append(truth(at: leg.end, of: leg.to, isOutdoors: leg.isOutdoors)) }
        }
        return truths
    }

    /// Returns the start of a leg and the points on it, without its end, which is the start of the next leg.
    private func waypoints(of leg: WalkTimeline.Leg) -> [Truth] {
        var truths = [truth(at: leg.start, of: leg.from, isOutdoors: leg.isOutdoors)]
        let interval = settings.sensors.truthInterval
        var tick = (leg.start / interval).rounded(.down) + 1
        while tick * interval < leg.end {
            let pose = timeline.pose(at: tick * interval)
            let place = WalkPath.Point(mapID: pose.mapID, point: pose.point)
            truths.append(truth(at: tick * interval, of: place, isOutdoors: leg.isOutdoors))
            tick += 1
        }
        return truths
    }

    private func truth(at time: Double, of place: WalkPath.Point, isOutdoors: Bool, isHold: Bool = false) -> Truth {
        let instant = Self.instant(time)
        guard !isOutdoors else { return Truth(instant: instant, room: Self.outdoors, isHold: isHold) }
        let point = MapPoint(
            x: Self.round(place.point.x, decimals: 1e3), y: Self.round(place.point.y, decimals: 1e3))
        return Truth(instant: instant, mapID: place.mapID, point: point, isHold: isHold)
    }

    /// Returns the air pressure at the device: the troposphere of the standard atmosphere, with noise and weather.
    ///
    ///     p = p₀ (1 − 0.0065 h / 288.15)^5.25588
    ///
    /// Source: ISO 2533:1975, *Standard Atmosphere*.
    func pressureSamples() -> [SensorReading] {
        let sensors = settings.sensors
        var generator = SeededGenerator.stream(seed, Purpose.pressure.rawValue)
        return ticks(every: sensors.pressureInterval).map { time in
            let height = timeline.pose(at: time).height + settings.radio.deviceHeight
            let pressure = sensors.groundPressure * cmath_pow(1 - 0.0065 * height / 288.15, 5.25588)
            let weather = sensors.pressureDrift * time / 3600
            let noise = sensors.pressureNoise * generator.normal()
            return .pressure(
                PressureSample(
                    instant: Self.instant(time),
                    hectopascals: Self.round(pressure + weather + noise, decimals: 1e3)))
        }
    }

    /// Returns GNSS positions with an error that changes slowly, as from satellite geometry and reflections.
    ///
    /// The error is a first-order Gauss–Markov process on each axis with 30 s, a typical time constant in streets.
    func gnssFixes() -> [SensorReading] {
        let sensors = settings.sensors
        var generator = SeededGenerator.stream(seed, Purpose.gnss.rawValue)
        let memory = cmath_exp(-sensors.gnssInterval / 30)
        var error = generator.normalPair()
        return ticks(every: sensors.gnssInterval).compactMap { time in
            let innovation = generator.normalPair()
            let share = (1 - memory * memory).squareRoot()
            error = (memory * error.0 + share * innovation.0, memory * error.1 + share * innovation.1)
            let pose = timeline.pose(at: time)
            let accuracy = pose.isOutdoors ? sensors.gnssAccuracy : sensors.gnssIndoorAccuracy
            guard accuracy > 0, let transform = transforms[pose.mapID] else { return nil }
            // 68 % of a bivariate normal distribution is within σ √(−2 ln 0.32) = 1.51 σ.
            let deviation = accuracy / (-2 * cmath_log(1 - 0.68)).squareRoot()
            let point = pose.point + MapPoint(x: error.0, y: error.1) * deviation
            let coordinate = transform.coordinate(at: point)
            return .gnss(
                GNSSFix(
                    instant: Self.instant(time),
                    coordinate: Coordinate(
                        latitude: Self.round(coordinate.latitude, decimals: 1e7),
                        longitude: Self.round(coordinate.longitude, decimals: 1e7)),
                    accuracy: accuracy))
        }
    }

    /// Returns the times of a periodic sensor in seconds; none if its interval is 0.
    private func ticks(every interval: Double) -> [Double] {
        guard interval > 0 else { return [] }
        return (0...Int(timeline.duration / interval)).map { Double($0) * interval }
    }
}
