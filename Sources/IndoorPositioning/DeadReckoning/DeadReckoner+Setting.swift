import CMath
import IndoorVocabulary

/// The reason why a dead reckoner rejects a value.
public enum DeadReckoningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A place or a heading is not finite, or a coordinate is invalid.
    case invalidPlace
    /// A radius is negative or not finite.
    case invalidRadius(Double)
    /// The accuracy of a heading, in degrees, is negative or not finite.
    case invalidAccuracy(Double)
    /// The height of a floor is not in [0.1, 100] m.
    case invalidFloorHeight(Double)
    /// The position of the local frame on Earth is unknown.
    case notOnEarth

    public var description: String {
        switch self {
        case .invalidPlace: "the place or heading is invalid; give finite numbers, latitude and longitude in range"
        case .invalidRadius(let radius): "the radius \(radius) is invalid; give one of 0 m or more"
        case .invalidAccuracy(let degrees): "the heading accuracy \(degrees)° is invalid; give 0° or more"
        case .invalidFloorHeight(let height): "the floor height \(height) m is invalid; give one from 0.1 to 100 m"
        case .notOnEarth:
            "the local frame has no position on Earth; call setGlobalPosition or alignWithSatellites first"
        }
    }
}

// Corrections by the program. `set…` replaces a value, `offset…` changes it by an amount.
extension DeadReckoner {
    /// Sets the place of the device in the local frame, in metres.
    ///
    /// - Parameters:
    ///   - x: metres to the right of the frame's origin.
    ///   - y: metres ahead of it.
    ///   - z: metres above it; nil keeps the height.
    ///   - radius: the 68 % radius in metres, from which the uncertainty grows.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func setPosition(x: Double, y: Double, z: Double? = nil, radius: Double = 0)
        throws(DeadReckoningError)
    {
        try Self.check([x, y, z ?? 0], radius)
        place.set(x: x, y: y, radius: radius)
        if let z { setZ(z) }
    }

    /// Moves the device in the local frame, in metres; its uncertainty stays.
    ///
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func offsetPosition(x: Double, y: Double, z: Double = 0) throws(DeadReckoningError) {
        try Self.check([x, y, z])
        place.offset(x: x, y: y)
        zOffset += z
    }

    /// Corrects the estimate with a measured place, weighted by its radius.
    ///
    /// The displacement since the previous correction also corrects the angle between the device and the direction of
    /// walking, and the step length.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func correct(x: Double, y: Double, radius: Double) throws(DeadReckoningError) {
        try Self.check([x, y], radius)
        place.correct(x: x, y: y, radius: radius)
    }

    /// Sets the heading of the device, in degrees clockwise from the local frame's y axis.
    ///
    /// Before the first attitude, the reckoner stores the heading and applies it to that attitude.
    ///
    /// - Parameters:
    ///   - course: degrees clockwise.
    ///   - accuracy: the 68 % radius in degrees.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func setHeading(_ course: Double, accuracy: Double = 5) throws(DeadReckoningError) {
        try Self.check(course, accuracy: accuracy)
        compass.set(course: course, accuracy: accuracy)
        place.setBias(0, deviation: accuracy * .pi / 180)
    }

    /// Turns the heading clockwise by a number of degrees.
    ///
    /// - Throws: `DeadReckoningError` if the number is not finite.
    public mutating func offsetHeading(by degrees: Double) throws(DeadReckoningError) {
        try Self.check([degrees])
        compass.turn(by: degrees)
    }

    /// Sets the coordinate of the device; its place in the local frame stays.
    ///
    /// Estimates have coordinates once the frame's bearing is known, too: from a compass, or from
    /// ``setGlobalHeading(_:accuracy:)``.
    ///
    /// - Throws: `DeadReckoningError` if the coordinate is invalid.
    public mutating func setGlobalPosition(_ coordinate: Coordinate) throws(DeadReckoningError) {
        guard coordinate.isValid else { throw .invalidPlace }
        anchor.set(coordinate, x: place.x, y: place.y)
    }

    /// Sets the heading of the device in degrees clockwise from true north, which determines the bearing of the local
    /// frame.
    ///
    /// - Parameters:
    ///   - trueNorth: degrees clockwise.
    ///   - accuracy: the 68 % radius in degrees.
    /// - Throws: `DeadReckoningError` if a number is invalid.
    public mutating func setGlobalHeading(_ trueNorth: Double, accuracy: Double = 5) throws(DeadReckoningError) {
        try Self.check(trueNorth, accuracy: accuracy)
        let course = (compass.course ?? 0) * 180 / .pi
        compass.set(course: course, accuracy: accuracy)
        anchor.set(bearing: trueNorth - course)
    }

    /// Sets the bearing of the local frame's y axis, in degrees clockwise from true north; nil if it is unknown.
    ///
    /// In a venue, this is the bearing of the plan's top. From then on, a compass gives headings relative to the
    /// frame, unless the heading was set explicitly.
    package mutating func setFrameBearing(_ bearing: Double?) {
        let bearing = bearing.flatMap { $0.isFinite ? $0 : nil }
        anchor.set(bearing: bearing)
        compass.setNorth(bearing.map { settings.magneticDeclination - $0 })
    }

    /// Begins to determine the frame's position on Earth from satellites, which takes some ten metres of walking
    /// outdoors.
    public mutating func alignWithSatellites() { anchor.align() }

    /// Corrects the estimate with a coordinate, weighted by its radius, as ``correct(x:y:radius:)`` does with a place.
    ///
    /// - Throws: `DeadReckoningError` if the coordinate is invalid, or if the local frame has no position on Earth.
    public mutating func correct(_ coordinate: Coordinate, radius: Double) throws(DeadReckoningError) {
        guard coordinate.isValid else { throw .invalidPlace }
        guard let point = earth.place(of: coordinate) else { throw .notOnEarth }
        try correct(x: point.x, y: point.y, radius: radius)
    }

    /// Sets the floor that the device is on, from which the barometer counts.
    public mutating func setFloor(_ floor: Int) { set(floor: floor) }

    /// Sets the height in metres from a floor up to the next one; the other floors use
    /// ``DeadReckoningSettings/floorHeight``.
    ///
    /// A later height of the same floor replaces the earlier one.
    /// - Throws: `DeadReckoningError` if the height is not from 0.1 to 100 m.
    public mutating func addFloor(_ floor: Int, height: Double) throws(DeadReckoningError) {
        guard (0.1...100).contains(height) else { throw .invalidFloorHeight(height) }
        floors.setHeight(height, of: floor)
    }

    /// Sets the step length relative to the detector's measurement, from the calibration of a session.
    package mutating func begin(with calibration: Calibration) {
        place.setScale(calibration.stepScale, deviation: calibration.stepDeviation)
    }

    private static func check(_ heading: Double, accuracy: Double) throws(DeadReckoningError) {
        try check([heading])
        guard accuracy >= 0, accuracy.isFinite else { throw .invalidAccuracy(accuracy) }
    }

    private static func check(_ numbers: [Double], _ radius: Double = 0) throws(DeadReckoningError) {
        guard numbers.allSatisfy({ abs($0) <= 1e9 }) else { throw .invalidPlace }
        guard radius >= 0, radius.isFinite else { throw .invalidRadius(radius) }
    }
}
