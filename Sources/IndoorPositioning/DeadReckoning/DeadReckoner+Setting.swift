import CMath
import IndoorVocabulary

/// Why something cannot be told to a dead reckoner.
public enum DeadReckoningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A place or a heading is not finite, or a coordinate is none.
    case invalidPlace
    /// A radius is negative or not finite.
    case invalidRadius(Double)
    /// The accuracy of a heading, in degrees, is negative or not finite.
    case invalidAccuracy(Double)
    /// The height of a floor is not in [0.1, 100] m.
    case invalidFloorHeight(Double)
    /// Nobody has said where on Earth the local frame lies.
    case notOnEarth

    public var description: String {
        switch self {
        case .invalidPlace: "the place or heading is none; give finite numbers, latitude and longitude in range"
        case .invalidRadius(let radius): "the radius \(radius) is none; give one from 0 on"
        case .invalidAccuracy(let degrees): "the heading's accuracy of \(degrees)° is none; give degrees from 0 on"
        case .invalidFloorHeight(let height): "the floor height \(height) m is none; give one from 0.1 to 100 m"
        case .notOnEarth: "the local frame is nowhere on Earth; call setGlobalPosition or alignWithSatellites first"
        }
    }
}

// What somebody outside knows better. A setter puts, an offset adds.
extension DeadReckoner {
    /// Puts the device at a place of the local frame, in metres.
    ///
    /// - Parameters:
    ///   - x: metres to the right of the frame's origin.
    ///   - y: metres ahead of it.
    ///   - z: metres above it; nil leaves the height as it is.
    ///   - radius: 68 % radius in metres; from here the uncertainty grows.
    /// - Throws: `DeadReckoningError` if a number is none.
    public mutating func setPosition(x: Double, y: Double, z: Double? = nil, radius: Double = 0)
        throws(DeadReckoningError)
    {
        try Self.check([x, y, z ?? 0], radius)
        place.set(x: x, y: y, radius: radius)
        if let z { setZ(z) }
    }

    /// Moves the device by so many metres in the local frame; it is as uncertain as before.
    ///
    /// - Throws: `DeadReckoningError` if a number is none.
    public mutating func offsetPosition(x: Double, y: Double, z: Double = 0) throws(DeadReckoningError) {
        try Self.check([x, y, z])
        place.offset(x: x, y: y)
        zOffset += z
    }

    /// Believes a place as far as its radius says, against what was reckoned; the way since the last one tells how the device
    /// is held against the way and how long its carrier's steps are.
    ///
    /// - Throws: `DeadReckoningError` if a number is none.
    public mutating func correct(x: Double, y: Double, radius: Double) throws(DeadReckoningError) {
        try Self.check([x, y], radius)
        place.correct(x: x, y: y, radius: radius)
    }

    /// Says where the device points, in degrees clockwise from the local frame's y axis.
    ///
    /// Before any sensor tells how the device is turned, it counts from the first one that does.
    ///
    /// - Parameters:
    ///   - course: degrees clockwise.
    ///   - accuracy: 68 % radius in degrees.
    /// - Throws: `DeadReckoningError` if a number is none.
    public mutating func setHeading(_ course: Double, accuracy: Double = 5) throws(DeadReckoningError) {
        try Self.check(course, accuracy: accuracy)
        compass.set(course: course, accuracy: accuracy)
        place.setBias(0, deviation: accuracy * .pi / 180)
    }

    /// Turns the heading by so many degrees clockwise.
    ///
    /// - Throws: `DeadReckoningError` if it is not finite.
    public mutating func offsetHeading(by degrees: Double) throws(DeadReckoningError) {
        try Self.check([degrees])
        compass.turn(by: degrees)
    }

    /// Says where on Earth the device is; its place in the local frame stays.
    ///
    /// There are coordinates once the frame's bearing is known, too: from a compass, or by ``setGlobalHeading(_:accuracy:)``.
    ///
    /// - Throws: `DeadReckoningError` if it is no coordinate.
    public mutating func setGlobalPosition(_ coordinate: Coordinate) throws(DeadReckoningError) {
        guard coordinate.isValid else { throw .invalidPlace }
        anchor.set(coordinate, x: place.x, y: place.y)
    }

    /// Says where the device points, in degrees clockwise from true north: how the local frame lies on Earth follows.
    ///
    /// - Parameters:
    ///   - trueNorth: degrees clockwise.
    ///   - accuracy: 68 % radius in degrees.
    /// - Throws: `DeadReckoningError` if a number is none.
    public mutating func setGlobalHeading(_ trueNorth: Double, accuracy: Double = 5) throws(DeadReckoningError) {
        try Self.check(trueNorth, accuracy: accuracy)
        let course = (compass.course ?? 0) * 180 / .pi
        compass.set(course: course, accuracy: accuracy)
        anchor.set(bearing: trueNorth - course)
    }

    /// Says how the local frame's y axis lies on Earth, in degrees clockwise from true north; nil if nobody knows.
    ///
    /// In a venue that is the bearing of the plan's top. A compass points along the frame from then on, unless the heading was
    /// set by hand.
    public mutating func setFrameBearing(_ bearing: Double?) {
        let bearing = bearing.flatMap { $0.isFinite ? $0 : nil }
        anchor.set(bearing: bearing)
        compass.setNorth(bearing.map { settings.magneticDeclination - $0 })
    }

    /// Begins to find by satellites where on Earth the local frame lies: it takes some ten metres of walking outdoors.
    public mutating func alignWithSatellites() { anchor.align() }

    /// Believes a coordinate as far as its radius says, as ``correct(x:y:radius:)`` does a place.
    ///
    /// - Throws: `DeadReckoningError` if it is no coordinate, or if the local frame is nowhere on Earth.
    public mutating func correct(_ coordinate: Coordinate, radius: Double) throws(DeadReckoningError) {
        guard coordinate.isValid else { throw .invalidPlace }
        guard let told = earth.place(of: coordinate) else { throw .notOnEarth }
        try correct(x: told.x, y: told.y, radius: radius)
    }

    /// Says on which floor the device is; the barometer counts from there.
    public mutating func setFloor(_ floor: Int) { set(floor: floor) }

    /// Says how many metres it is from a floor up to the next one; the others are ``DeadReckoningSettings/floorHeight`` high.
    ///
    /// Adds what is known of the building, never to a height: said again of the same floor, the later height counts.
    /// - Throws: `DeadReckoningError` if it is not from 0.1 to 100 m.
    public mutating func addFloor(_ floor: Int, height: Double) throws(DeadReckoningError) {
        guard (0.1...100).contains(height) else { throw .invalidFloorHeight(height) }
        floors.setHeight(height, of: floor)
    }

    /// Says how long a step is against what the detector measures, as a session has learned it.
    public mutating func begin(with calibration: Calibration) {
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
