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
