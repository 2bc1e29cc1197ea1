import IndoorLocalization

/// The settings of a simulated walk, except for its path and its seed.
///
/// Documents and command lines set them by name, such as `radio.wallLoss` or `sensors.motionRate`.
public struct SimulationSettings: Hashable, Sendable {
    /// The value of a setting in a document.
    public enum Value: Hashable, Sendable {
        /// A number in the setting's unit.
        case number(Double)
        /// True or false.
        case flag(Bool)
    }

    /// The settings of the radio.
    package var radio = RadioSettings()
    /// The settings of the other sensors.
    package var sensors = SensorSettings()
    /// The settings of the distances to anchors.
    package var ranges = RangeSettings()

    /// Creates settings with the documented defaults.
    public init() {}

    /// The names of all settings, in alphabetical order.
    public static var names: [String] { (Array(numbers.keys) + Array(flags.keys) + [environmentSeedName]).sorted() }

    /// Sets one setting.
    ///
    /// - Throws: `.unknownSetting`, `.wrongKindOfSetting` or `.outOfRange`.
    public mutating func set(_ name: String, to value: Value) throws(SimulationError) {
        switch value {
        case .flag(let flag):
            guard let path = Self.flags[name] else { throw Self.mismatch(name) }
            self[keyPath: path] = flag
        case .number(let number) where name == Self.environmentSeedName:
            guard let seed = UInt64(exactly: number) else {
                throw .outOfRange(field: "settings." + name, value: number, allowed: "a whole number, 0 or above")
            }
            radio.environmentSeed = seed
        case .number(let number):
            guard let field = Self.numbers[name] else { throw Self.mismatch(name) }
            self[keyPath: field.path] = number
            try field.check(self, name)
        }
    }

    /// Checks that all numbers are in their documented ranges.
    ///
    /// - Throws: `.outOfRange` for the first number, in the order of names, that is outside its range.
    package func check() throws(SimulationError) {
        for name in Self.numbers.keys.sorted() { try Self.numbers[name]?.check(self, name) }
    }

    // MARK: - Names and ranges

    private typealias Path<Content> = WritableKeyPath<SimulationSettings, Content> & Sendable

    private struct Number {
        let path: Path<Double>
        let range: ClosedRange<Double>

        func check(_ settings: SimulationSettings, _ name: String) throws(SimulationError) {
            let value = settings[keyPath: path]
            guard range.contains(value) else {
                let allowed = "\(range.lowerBound) to \(range.upperBound)"
                throw .outOfRange(field: "settings." + name, value: value, allowed: allowed)
            }
        }
    }

    private static let environmentSeedName = "radio.environmentSeed"

    private static func mismatch(_ name: String) -> SimulationError {
        guard names.contains(name) else { return .unknownSetting(name) }
        return .wrongKindOfSetting(name, expected: flags[name] == nil ? "a number" : "true or false")
    }

    private static var flags: [String: Path<Bool>] {
        [
            "radio.isFading": \.radio.isFading,
            "radio.advertisesPower": \.radio.advertisesPower,
            "sensors.reportsSteps": \.sensors.reportsSteps,
            "ranges.statesDeviation": \.ranges.statesDeviation,
        ]
    }

    private static var numbers: [String: Number] {
        radioNumbers.merging(sensorNumbers) { first, _ in first }.merging(rangeNumbers) { first, _ in first }
    }

    private static var rangeNumbers: [String: Number] {
        [
            "ranges.interval": Number(path: \.ranges.interval, range: 0...3600),
            "ranges.deviation": Number(path: \.ranges.deviation, range: 0...100),
            "ranges.offset": Number(path: \.ranges.offset, range: -100...100),
            "ranges.excessShare": Number(path: \.ranges.excessShare, range: 0...1),
            "ranges.hiddenExcessShare": Number(path: \.ranges.hiddenExcessShare, range: 0...1),
            "ranges.excess": Number(path: \.ranges.excess, range: 0...100),
            "ranges.excessDistance": Number(path: \.ranges.excessDistance, range: 0.1...1000),
            "ranges.reach": Number(path: \.ranges.reach, range: 0.1...10_000),
            "ranges.lossShare": Number(path: \.ranges.lossShare, range: 0...1),
        ]
    }

    private static var radioNumbers: [String: Number] {
        [
            "radio.power": Number(path: \.radio.power, range: -100...(-20)),
            "radio.exponent": Number(path: \.radio.exponent, range: 1...6),
            "radio.powerDeviation": Number(path: \.radio.powerDeviation, range: 0...20),
            "radio.exponentDeviation": Number(path: \.radio.exponentDeviation, range: 0...2),
            "radio.shadowing": Number(path: \.radio.shadowing, range: 0...20),
            "radio.shadowingDistance": Number(path: \.radio.shadowingDistance, range: 0.1...1000),
            "radio.ricianFactor": Number(path: \.radio.ricianFactor, range: -20...20),
            "radio.bodyLoss": Number(path: \.radio.bodyLoss, range: 0...40),
            "radio.wallLoss": Number(path: \.radio.wallLoss, range: 0...40),
            "radio.floorLoss": Number(path: \.radio.floorLoss, range: 0...60),
            "radio.receiverOffset": Number(path: \.radio.receiverOffset, range: -30...30),
            "radio.sensitivity": Number(path: \.radio.sensitivity, range: -120...(-40)),
            "radio.sensitivityWidth": Number(path: \.radio.sensitivityWidth, range: 0.01...10),
            "radio.lossShare": Number(path: \.radio.lossShare, range: 0...1),
            "radio.advertisingInterval": Number(path: \.radio.advertisingInterval, range: 0.02...10.24),
            "radio.advertisingDelay": Number(path: \.radio.advertisingDelay, range: 0...1),
            "radio.beaconHeight": Number(path: \.radio.beaconHeight, range: 0...20),
            "radio.deviceHeight": Number(path: \.radio.deviceHeight, range: 0...3),
            "radio.deadShare": Number(path: \.radio.deadShare, range: 0...1),
            "radio.deadFrom": Number(path: \.radio.deadFrom, range: 0...1e6),
        ]
    }

    private static var sensorNumbers: [String: Number] {
        [
            "sensors.motionRate": Number(path: \.sensors.motionRate, range: 0...1000),
            "sensors.tilt": Number(path: \.sensors.tilt, range: 0...90),
            "sensors.stepLength": Number(path: \.sensors.stepLength, range: 0.2...1.5),
            "sensors.bounce": Number(path: \.sensors.bounce, range: 0...10),
            "sensors.turnDuration": Number(path: \.sensors.turnDuration, range: 0.02...10),
            "sensors.accelerationNoise": Number(path: \.sensors.accelerationNoise, range: 0...10),
            "sensors.rotationNoise": Number(path: \.sensors.rotationNoise, range: 0...1),
            "sensors.rotationBias": Number(path: \.sensors.rotationBias, range: 0...1),
            "sensors.headingDeviation": Number(path: \.sensors.headingDeviation, range: 0...180),
            "sensors.headingDistance": Number(path: \.sensors.headingDistance, range: 0.1...1000),
            "sensors.stepLengthDeviation": Number(path: \.sensors.stepLengthDeviation, range: 0...1),
            "sensors.pressureInterval": Number(path: \.sensors.pressureInterval, range: 0...3600),
            "sensors.pressureNoise": Number(path: \.sensors.pressureNoise, range: 0...10),
            "sensors.groundPressure": Number(path: \.sensors.groundPressure, range: 800...1100),
            "sensors.pressureDrift": Number(path: \.sensors.pressureDrift, range: -10...10),
            "sensors.climbingSpeed": Number(path: \.sensors.climbingSpeed, range: 0.05...10),
            "sensors.gnssInterval": Number(path: \.sensors.gnssInterval, range: 0...3600),
            "sensors.gnssAccuracy": Number(path: \.sensors.gnssAccuracy, range: 0.1...1000),
            "sensors.gnssIndoorAccuracy": Number(path: \.sensors.gnssIndoorAccuracy, range: 0...1000),
            "sensors.truthInterval": Number(path: \.sensors.truthInterval, range: 0.1...3600),
        ]
    }
}

/// Settings of the simulated beacons, receiver and radio channel.
///
/// The RSSI of one advertisement, in dBm, is
///
///     rssi = P₁ − 10 n log₁₀(d / 1 m) + S(x, y) − w·L_w − f·L_f − B (1 − cos θ)/2 · d_h/d + F + O
///
/// with the distance d and its horizontal part d_h, shadowing S, w walls and f floors in between, the angle θ between
/// the heading and the direction of the beacon, fading F and the receiver's offset O.
package struct RadioSettings: Hashable, Sendable {
    /// Seed of the building's radio environment. Walks with the same seed have the same shadowing, powers and
    /// exponents.
    package var environmentSeed: UInt64 = 1

    /// P₁ of beacons without one in the venue packet, in dBm at 1 m; from -100 to -20.
    package var power = -59.0
    /// n of beacons without one in the venue packet; from 1 to 6.
    package var exponent = 2.2
    /// Standard deviation of a beacon's true P₁ from the known one, in dB; from 0 to 20.
    package var powerDeviation = 2.0
    /// Standard deviation of a beacon's true n from the known one; from 0 to 2.
    package var exponentDeviation = 0.1

    /// Standard deviation of S in dB; from 0 to 20. Models furniture and people; walls have separate losses.
    package var shadowing = 3.0
    /// Distance in metres at which the correlation of S falls to 1/e; from 0.1 to 1000.
    ///
    /// Gudmundson 1991 measured tens of metres outdoors; indoors it is 1 to 2 m (N. Jaldén et al., *Correlation
    /// properties of large scale fading based on indoor measurements*, WCNC 2007).
    package var shadowingDistance = 2.0
    /// Ratio of the steady to the scattered power in dB if no wall is in between; from -20 to 20. Behind a wall, all
    /// power is scattered (Rayleigh).
    package var ricianFactor = 6.0
    /// Whether the signal fades from one advertisement to the next.
    package var isFading = true

    /// B: loss through the person who holds the device, with the beacon directly behind, in dB; from 0 to 40.
    package var bodyLoss = 6.0
    /// L_w: loss of one wall, in dB; from 0 to 40.
    ///
    /// Source: COST 231 final report, *Digital mobile radio towards future generation systems*, 1999, section 4.7:
    /// 3.4 dB for light walls, 6.9 dB for heavy ones.
    package var wallLoss = 3.4
    /// L_f: loss of one floor slab, in dB; from 0 to 60. Source: as for walls, 18.3 dB.
    package var floorLoss = 18.3

    /// O: difference in dB between this receiver and the one that measured the powers; from -30 to 30.
    package var receiverOffset = 0.0
    /// RSSI at which half of the advertisements are received, in dBm; from -120 to -40.
    package var sensitivity = -95.0
    /// Width of that threshold: the logistic function's scale in dB; from 0.01 to 10.
    package var sensitivityWidth = 1.5
    /// Share of the advertisements lost at any RSSI, through collisions or a receiver on another channel; from 0 to 1.
    package var lossShare = 0.15

    /// Interval between two advertisements of a beacon in seconds; from 0.02 to 10.24, as Bluetooth allows.
    package var advertisingInterval = 0.3
    /// Maximum random delay added to each interval, in seconds; from 0 to 1.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 4.4.2.2.1: advDelay, 0 to 10 ms.
    package var advertisingDelay = 0.01
    /// Whether sightings contain the measured power from the venue packet.
    package var advertisesPower = false

    /// Height in metres of beacons without one in the venue packet; from 0 to 20.
    package var beaconHeight = 2.5
    /// Height of the device above the floor in metres; from 0 to 3.
    package var deviceHeight = 1.2

    /// Share of the beacons that stop advertising, rounded to whole beacons; from 0 to 1.
    package var deadShare = 0.0
    /// Time of the walk in seconds at which they stop; 0 or above.
    package var deadFrom = 0.0

    /// Creates settings with the documented defaults.
    package init() {}
}

/// Settings of the simulated distances to the anchors of a venue.
///
/// A distance, in metres, is `distance = d + O + E + N` with the distance d in space, the device's offset O, an excess
/// E and noise N. The excess is 0 along a free path and exponentially distributed along a reflected one. Like a real
/// reflection, it changes from place to place, but not from reading to reading.
package struct RangeSettings: Hashable, Sendable {
    /// Interval between two distances to an anchor in seconds; 0 for none, up to 3600.
    package var interval = 0.0
    /// Standard deviation of N in metres; from 0 to 100.
    package var deviation = 0.1
    /// O in metres; from -100 to 100.
    package var offset = 0.0
    /// Share of reflected paths without a wall in between; from 0 to 1.
    package var excessShare = 0.2
    /// Share of reflected paths with walls in between; from 0 to 1.
    package var hiddenExcessShare = 0.6
    /// Mean of E along a reflected path in metres; from 0 to 100.
    package var excess = 1.0
    /// Edge in metres of the areas within which E is the same; from 0.1 to 1000.
    package var excessDistance = 2.0
    /// Longest distance in metres that the device can measure; from 0.1 to 10,000.
    package var reach = 40.0
    /// Share of lost distances; from 0 to 1.
    package var lossShare = 0.1
    /// Whether the readings state their deviation.
    package var statesDeviation = false

    /// Creates settings with the documented defaults.
    package init() {}
}

/// Settings of the other sensors of a simulated device: their rates and their errors.
package struct SensorSettings: Hashable, Sendable {
    /// Sampling rate of the inertial sensors per second; 0 for none, up to 1000.
    package var motionRate = 0.0
    /// Angle between the device's y axis and the horizon in degrees, as a person holds it; from 0 to 90.
    package var tilt = 40.0
    /// Length of a step in metres; from 0.2 to 1.5.
    package var stepLength = 0.7
    /// Amplitude of the vertical acceleration while walking, in m/s²; from 0 to 10.
    package var bounce = 2.5
    /// Duration of a turn in seconds, if the legs are long enough; from 0.02 to 10.
    package var turnDuration = 0.8
    /// White noise of the acceleration: standard deviation in m/s²; from 0 to 10.
    package var accelerationNoise = 0.15
    /// White noise of the rotation rate: standard deviation in rad/s; from 0 to 1.
    package var rotationNoise = 0.02
    /// Standard deviation of the gyroscope's bias on each axis, in rad/s; from 0 to 1.
    package var rotationBias = 0.005
    /// Standard deviation of the compass's error in degrees; from 0 to 180.
    ///
    /// Iron in the building makes the error a function of the place.
    package var headingDeviation = 6.0
    /// Distance in metres at which the correlation of the compass's error falls to 1/e; from 0.1 to 1000.
    package var headingDistance = 5.0

    /// Whether the device reports the steps that it detects.
    package var reportsSteps = false
    /// Standard deviation of a reported step's length, as a share of it; from 0 to 1.
    package var stepLengthDeviation = 0.05

    /// Interval between two barometer readings in seconds; 0 for none, up to 3600.
    package var pressureInterval = 1.0
    /// White noise of the barometer: standard deviation in hPa; from 0 to 10.
    package var pressureNoise = 0.02
    /// Pressure on the ground floor in hPa; from 800 to 1100.
    package var groundPressure = 1013.25
    /// Pressure change due to the weather, in hPa per hour; from -10 to 10.
    package var pressureDrift = 0.5
    /// Climbing speed on stairs and in elevators in m/s; from 0.05 to 10.
    package var climbingSpeed = 0.3

    /// Interval between two GNSS positions in seconds; 0 for none, up to 3600.
    package var gnssInterval = 1.0
    /// 68 % radius of GNSS positions outdoors in metres; from 0.1 to 1000.
    package var gnssAccuracy = 4.0
    /// 68 % radius of GNSS positions indoors in metres, up to 1000; 0 for none indoors.
    package var gnssIndoorAccuracy = 0.0

    /// Interval between two ground truths while walking, in seconds; from 0.1 to 3600.
    ///
    /// The ends of legs and pauses always have a ground truth.
    package var truthInterval = 1.0

    /// Creates settings with the documented defaults.
    package init() {}
}

/// The reason a walk cannot be simulated.
public enum SimulationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The walk document is not JSON, or a field is missing or has the wrong type.
    case malformedDocument(field: String, reason: String)
    /// The document has another format or a newer version.
    case unsupportedFormat(String)
    /// The path has no points.
    case noPoints
    /// A number is not finite or is outside its range.
    case outOfRange(field: String, value: Double, allowed: String)
    /// A point is on a map that the venue doesn't have.
    case unknownMap(MapID, field: String)
    /// A point is outdoors, but its map has no georeference.
    case noGeoreference(MapID, field: String)
    /// The walk would produce more readings than the limit, or last longer than a day.
    case tooLong(hours: Double, readings: Double)
    /// No setting has that name.
    case unknownSetting(String)
    /// The setting requires another type of value.
    case wrongKindOfSetting(String, expected: String)

    /// The field, the problem and its remedy.
    public var description: String {
        switch self {
        case .malformedDocument(let field, let reason): "\(field): \(reason). Correct the walk document."
        case .unsupportedFormat(let text):
            "\(text) is not a walk document: it requires format \"\(WalkScript.format)\", version 1."
        case .noPoints: "points: the path has no points. Add at least one."
        case .outOfRange(let field, let value, let allowed): "\(field): is \(value); expected \(allowed)."
        case .unknownMap(let id, let field): "\(field): the venue has no map \(id). Use the id of one of its maps."
        case .noGeoreference(let id, let field):
            "\(field): is outdoors, but map \(id) has no usable georeference. Add one to the venue, or stay indoors."
        case .tooLong(let hours, let readings):
            "points: the walk takes \((hours * 10).rounded() / 10) h and has \(Int(min(readings, 1e15))) readings; "
                + "at most \(Int(WalkSimulator.longestWalk / 3600)) h "
                + "and \(Int(WalkSimulator.mostReadings)) are allowed. "
                + "Shorten the walk, increase its speed, or reduce the rates of sensors and beacons."
        case .unknownSetting(let name):
            "settings.\(name): no such setting"
                + (EditDistance.nearestKey(to: name, among: SimulationSettings.names).map { "; did you mean \($0)?" }
                    ?? ". The settings are: \(SimulationSettings.names.joined(separator: ", ")).")
        case .wrongKindOfSetting(let name, let expected): "settings.\(name): is not \(expected)."
        }
    }
}
