import CMath
import IndoorLocalization

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
    func motionSamples() -> [SensorReading] {
        let sensors = settings.sensors
        guard sensors.motionRate > 0 else { return [] }
        var generator = SeededGenerator.stream(seed, Purpose.motion.rawValue)
        let compass = compassError()
        let bias = Self.noise(sensors.rotationBias, using: &generator)
        let count = Int(timeline.duration * sensors.motionRate)
        return (0...count).map { index in
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
    func steps() -> [SensorReading] {
        let sensors = settings.sensors
        guard sensors.reportsSteps else { return [] }
        var generator = SeededGenerator.stream(seed, Purpose.steps.rawValue)
        let compass = compassError()
        var readings: [SensorReading] = []
        for leg in timeline.legs where leg.cadence > 0 {
            let stepsAfter = leg.stepsBefore + leg.cadence * leg.duration
            var step = leg.stepsBefore.rounded(.down) + 1
            while step <= stepsAfter {
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
