import Foundation
import IndoorLocalization

/// The sensor readings of a device that a person carries through a test, second by second.
struct CarriedDevice {
    static let gravity = 9.80665
    /// The Earth's field where this device is: 48 µT, dipping by 65° below magnetic north.
    static let field = Vector3(x: 0, y: 48 * cos(65 * Double.pi / 180), z: -48 * sin(65 * Double.pi / 180))

    /// Which sensors it has.
    struct Sensors: OptionSet {
        let rawValue: Int
        static let acceleration = Sensors(rawValue: 1)
        static let rotationRate = Sensors(rawValue: 2)
        static let magneticField = Sensors(rawValue: 4)
        static let attitude = Sensors(rawValue: 8)
    }

    var sensors: Sensors = [.acceleration, .rotationRate, .attitude]
    /// Degrees clockwise from the world's y axis that its top points to.
    var heading = 0.0
    /// Degrees that its top is raised.
    var tilt = 30.0
    /// Error of the gyroscope in rad/s.
    var bias = Vector3(x: 0, y: 0, z: 0)
    /// What iron adds to the field, in the world's frame, in µT.
    var iron = Vector3(x: 0, y: 0, z: 0)
    private(set) var seconds = 0.0
    private var generator: SeededGenerator
    private let rate = 50.0

    init(_ sensors: Sensors = [.acceleration, .rotationRate, .attitude], heading: Double = 0, seed: UInt64 = 5) {
        self.sensors = sensors
        self.heading = heading
        generator = SeededGenerator(seed: seed)
    }

    var now: Instant { Instant(seconds: seconds) }

    /// From the device's frame to the world's.
    var attitude: Quaternion {
        let (yaw, raise) = (-heading * .pi / 360, tilt * .pi / 360)
        return Quaternion(
            w: cos(yaw) * cos(raise), x: cos(yaw) * sin(raise), y: sin(yaw) * sin(raise), z: sin(yaw) * cos(raise))
    }

    /// The samples of a while.
    ///
    /// - Parameters:
    ///   - seconds: how long.
    ///   - turn: degrees a second that it turns clockwise.
    ///   - steps: steps a second of its carrier.
    ///   - shake: standard deviation in m/s² of what shakes it.
    mutating func samples(_ seconds: Double, turn: Double = 0, steps: Double = 0, shake: Double = 0.05)
        -> [SensorReading]
    {
        (0..<Int(seconds * rate)).map { _ in
            self.seconds += 1 / rate
            heading += turn / rate
            let inverse = attitude.inverse
            let bounce = steps > 0 ? 2.5 * cos(2 * Double.pi * steps * self.seconds) : 0
            let up = Vector3(
                x: shake * generator.normal(), y: shake * generator.normal(),
                z: Self.gravity + bounce + shake * generator.normal())
            let rotation = Vector3(x: 0, y: 0, z: -turn * .pi / 180)
            var sample = MotionSample(instant: now)
            if sensors.contains(.acceleration) { sample.acceleration = inverse.rotate(up) }
            if sensors.contains(.rotationRate) { sample.rotationRate = inverse.rotate(rotation) + bias }
            if sensors.contains(.magneticField) { sample.magneticField = inverse.rotate(Self.field + iron) }
            if sensors.contains(.attitude) { sample.attitude = attitude }
            return .motion(sample)
        }
    }
}

extension DeadReckoner {
    /// Takes in all of these.
    mutating func observe(_ readings: [SensorReading]) { for reading in readings { observe(reading) } }
}

/// A barometer that is carried up and down.
struct CarriedBarometer {
    private(set) var seconds = 0.0
    private(set) var height = 0.0
    private var generator: SeededGenerator
    /// Standard deviation of a reading in hPa.
    var noise = 0.02
    let ground = 1013.25

    init(seed: UInt64 = 3) { generator = SeededGenerator(seed: seed) }

    /// The pressure in hPa that a standard atmosphere has at a height above the ground.
    func pressure(at height: Double) -> Double { ground * pow(1 - height / 44_330.8, 5.255_88) }

    /// Two readings a second for a while, at a rate in metres a second.
    mutating func readings(_ seconds: Double, rate: Double = 0, weather: Double = 0) -> [SensorReading] {
        (0..<Int(seconds * 2)).map { _ in
            self.seconds += 0.5
            height += rate / 2
            let hectopascals = pressure(at: height) + weather * self.seconds + noise * generator.normal()
            return .pressure(PressureSample(instant: Instant(seconds: self.seconds), hectopascals: hectopascals))
        }
    }
}
