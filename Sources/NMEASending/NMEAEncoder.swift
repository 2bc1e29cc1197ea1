import CMath
import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// An encoder of a session's outputs as NMEA 0183, the protocol of satellite receivers.
///
///     var encoder = NMEAEncoder()
///     for await output in localizer.outputs {
///         sender.send(encoder.sentences(for: output.content, at: UnixTime(milliseconds: now)))
///     }
///
/// Each position is a cycle of GGA, GSA, GST and RMC. A position in a venue has the quality 6 (estimated), and an
/// outdoor position the quality 1. HDOP is the 68 % radius divided by 19 m, and GST contains the standard deviations.
/// When the session loses the venue or ends, one cycle reports that there is no position. A position on a map without a
/// georeference has no coordinate, and therefore no sentences.
public struct NMEAEncoder: Sendable {
    /// The number of positions that were left out, because their maps have no georeference.
    public private(set) var omitted = 0

    private var transforms: [MapID: GeoTransform] = [:]
    /// Whether the latest sentences have a position.
    private var hasFix = false

    /// Creates an encoder.
    public init() {}

    /// Returns the sentences for an output of the session; empty for outputs without a position.
    ///
    /// - Parameters:
    ///   - content: the output. The encoder needs all states of the session, because they contain the venue.
    ///   - time: the wall-clock time of the output.
    public mutating func sentences(for content: SessionOutput.Content, at time: UnixTime) -> [NMEASentence] {
        switch content {
        case .position(let position):
            guard let transform = transforms[position.mapID], let fix = NMEAFix(position, transform) else {
                omitted += 1
                return end(at: time)
            }
            hasFix = true
            return NMEACycle(at: time).sentences(of: fix)
        case .outdoorPosition(let position):
            guard let fix = NMEAFix(position) else { return [] }
            hasFix = true
            return NMEACycle(at: time).sentences(of: fix)
        case .state(let state):
            observe(state)
            return endsPositions(state) ? end(at: time) : []
        case .motion, .event, .interaction, .downloadedVenue, .error, .diagnosis: return []
        }
    }

    /// Returns the sentences that report the end of the positions; empty if they were returned before.
    public mutating func end(at time: UnixTime) -> [NMEASentence] {
        guard hasFix else { return [] }
        hasFix = false
        return NMEACycle(at: time).withoutFix
    }

    private mutating func observe(_ state: LocalizationState) {
        let venue: Venue
        switch state {
        case .findFloor(let found): venue = found
        case .localizationRunning(let running): venue = running.venue
        case .idle, .started, .searchVenue, .getPacket, .error: return
        }
        transforms = [:]
        for map in venue.maps { transforms[map.id] = try? map.geoTransform() }
    }

    /// Whether the device has left the venue, or the session has ended.
    private func endsPositions(_ state: LocalizationState) -> Bool {
        switch state {
        case .idle, .error, .started, .searchVenue: true
        case .getPacket, .findFloor, .localizationRunning: false
        }
    }
}

/// A position as the sentences of one cycle describe it.
struct NMEAFix: Hashable, Sendable {
    /// The origin of a position.
    enum Origin: Hashable, Sendable {
        /// Estimated: quality 6 of GGA and mode E of RMC, as receivers use them for dead reckoning.
        case estimated
        /// Computed by a satellite receiver: quality 1 and mode A.
        case satellites

        var quality: String { self == .estimated ? "6" : "1" }
        var mode: String { self == .estimated ? "E" : "A" }
    }

    /// The standard deviations of a position in metres.
    struct Deviations: Hashable, Sendable {
        var semiMajor: Double
        var semiMinor: Double
        /// The direction of the major axis in degrees clockwise from true north, in [0, 180).
        var direction: Double
        var latitude: Double
        var longitude: Double
    }

    var origin: Origin
    var coordinate: Coordinate
    /// The 68 % error radius in metres.
    var radius: Double
    var deviations: Deviations
    /// Metres per second; nil if unknown.
    var speed: Double?
    /// Degrees clockwise from true north; nil if unknown.
    var course: Double?

    /// Creates the fix of a position; nil if its map has no georeference.
    ///
    /// - Parameter transform: the transform of the position's map.
    init?(_ position: Position, _ transform: GeoTransform) {
        guard let coordinate = position.coordinate, coordinate.isValid, position.radius.isFinite else { return nil }
        origin = .estimated
        self.coordinate = coordinate
        radius = position.radius
        deviations = position.covariance.flatMap { Deviations($0, transform) } ?? Deviations(radius: radius)
        speed = position.speed
        course = position.course.map(transform.trueCourse)
    }

    /// Creates the fix of an outdoor position; nil if its coordinate is invalid.
    init?(_ position: OutdoorPosition) {
        guard position.coordinate.isValid, position.radius.isFinite else { return nil }
        origin = .satellites
        coordinate = position.coordinate
        radius = position.radius
        deviations = Deviations(radius: radius)
        speed = position.speed
        course = position.course
    }
}

extension NMEAFix.Deviations {
    /// Creates equal deviations in all directions from the 68 % radius of a normal distribution.
    init(radius: Double) {
        let deviation = radius / PositionCovariance.radiusOfDeviation
        self.init(semiMajor: deviation, semiMinor: deviation, direction: 0, latitude: deviation, longitude: deviation)
    }

    /// Creates the deviations of a covariance along the axes of a map; nil if it isn't a valid covariance.
    ///
    /// With the bearing β of the plan's top, a step to the right goes to the true course β + 90°, and a step down to
    /// β + 180°.
    init?(_ covariance: PositionCovariance, _ transform: GeoTransform) {
        // The ellipse of one standard deviation contains a share of 1 − exp(−½) of all errors.
        guard let ellipse = covariance.ellipse(probability: 1 - cmath_exp(-0.5)) else { return nil }
        let scale = transform.scale
        let angle = transform.bearing * .pi / 180
        let (sine, cosine) = (cmath_sin(angle), cmath_cos(angle))
        let (xx, xy, yy) = (covariance.xx, covariance.xy, covariance.yy)
        let east = xx * cosine * cosine - 2 * xy * sine * cosine + yy * sine * sine
        let north = xx * sine * sine + 2 * xy * sine * cosine + yy * cosine * cosine
        self.init(
            semiMajor: ellipse.semiMajorAxis * scale, semiMinor: ellipse.semiMinorAxis * scale,
            direction: cmath_fmod(ellipse.direction + transform.bearing, 180),
            latitude: max(0, north).squareRoot() * scale, longitude: max(0, east).squareRoot() * scale)
    }
}

/// The sentences of one position: GGA, GSA, GST and RMC, in this order.
///
/// gpsd 3.22 reports one position for each cycle if GGA comes before RMC, and no position if RMC comes first. GSA
/// contains the dimensions of the position: 2, because the height above sea level is unknown.
///
/// Sources: E. S. Raymond, *NMEA Revealed*, version 2.23, 2019 (fields of the sentences); u-blox, *u-blox M8 Receiver
/// Description Including Protocol Specification*, 2022, *Position Fix Flags in NMEA* (quality 6, status A and mode E
/// for a position by dead reckoning).
struct NMEACycle {
    /// The largest value of a dilution or deviation, so that a sentence keeps its length.
    private static let largest = 999.0
    private static let knotsPerMeterPerSecond = 3600.0 / 1852
    /// The fields of GSA for the satellites, of which there are none.
    private static let satellites = [String](repeating: "", count: 12)

    private let time: CivilTime

    init(at time: UnixTime) { self.time = CivilTime(time) }

    /// Returns the sentences of a position.
    func sentences(of fix: NMEAFix) -> [NMEASentence] {
        let dilution = Self.number(HorizontalDilution.ofRadius(fix.radius), 3)
        let place = Self.place(fix.coordinate)
        let deviations = fix.deviations
        return [
            NMEASentence(
                "GGA", [clock] + place + [fix.origin.quality, "00", dilution, "", "M", "", "M", "", ""]),
            NMEASentence("GSA", ["A", "2"] + Self.satellites + [dilution, dilution, ""]),
            NMEASentence(
                "GST",
                [
                    clock, "", Self.number(deviations.semiMajor, 2), Self.number(deviations.semiMinor, 2),
                    Self.number(deviations.direction, 1), Self.number(deviations.latitude, 2),
                    Self.number(deviations.longitude, 2), "",
                ]),
            NMEASentence(
                "RMC",
                [clock, "A"] + place + [
                    fix.speed.map { Self.number($0 * Self.knotsPerMeterPerSecond, 2) } ?? "",
                    fix.course.map(Self.course) ?? "", date, "", "", fix.origin.mode,
                ]),
        ]
    }

    /// The sentences that report the time and no position.
    var withoutFix: [NMEASentence] {
        [
            NMEASentence("GGA", [clock, "", "", "", "", "0", "00", "", "", "M", "", "M", "", ""]),
            NMEASentence("GSA", ["A", "1"] + Self.satellites + ["", "", ""]),
            NMEASentence("RMC", [clock, "V", "", "", "", "", "", "", date, "", "", "N"]),
        ]
    }

    /// The time of day in UTC: `hhmmss.ss`.
    private var clock: String {
        [time.hour, time.minute, time.second].map { FixedDecimals.padded($0, 2) }.joined() + "."
            + FixedDecimals.padded(time.millisecond / 10, 2)
    }

    /// The date: `ddmmyy`.
    private var date: String {
        [time.day, time.month, time.year % 100].map { FixedDecimals.padded($0, 2) }.joined()
    }

    /// Returns a number that isn't negative, at most `largest`.
    private static func number(_ value: Double, _ decimals: Int) -> String {
        FixedDecimals.text(min(max(value, 0), largest), decimals) ?? ""
    }

    /// Returns a course in [0, 360).
    private static func course(_ degrees: Double) -> String {
        let text = FixedDecimals.text(degrees, 1) ?? ""
        return text == "360.0" ? "0.0" : text
    }

    /// Returns latitude, hemisphere, longitude and hemisphere.
    private static func place(_ coordinate: Coordinate) -> [String] {
        [
            angle(coordinate.latitude, degreeDigits: 2), coordinate.latitude < 0 ? "S" : "N",
            angle(coordinate.longitude, degreeDigits: 3), coordinate.longitude < 0 ? "W" : "E",
        ]
    }

    /// Returns an angle as degrees and minutes with six decimals, which are 2 mm.
    private static func angle(_ degrees: Double, degreeDigits: Int) -> String {
        // Round the whole angle, so that the minutes never become 60.
        let millionths = Int64((degrees.magnitude * 60e6).rounded())
        let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 60_000_000)
        return FixedDecimals.padded(whole, degreeDigits) + FixedDecimals.padded(rest / 1_000_000, 2) + "."
            + FixedDecimals.padded(rest % 1_000_000, 6)
    }
}

/// A sentence of NMEA 0183, such as `$GPGGA,…*5C`.
///
/// The text has at most 82 characters, which is the limit of NMEA 0183.
public struct NMEASentence: Hashable, Sendable, CustomStringConvertible {
    /// The talker and the type, such as `GPGGA`.
    package let address: String
    /// The fields after the address; an empty text is an unknown value.
    package let fields: [String]

    /// The talker of all sentences, that of a satellite receiver: many readers accept no other one.
    static let talker = "GP"

    package init(_ type: String, _ fields: [String]) {
        address = Self.talker + type
        self.fields = fields
    }

    /// The sentence with its checksum, and without a line end.
    public var description: String {
        let content = ([address] + fields).joined(separator: ",")
        return "$\(content)*\(Self.checksum(content))"
    }

    /// The sentence with its checksum and the line end CR LF, as a reader receives it.
    public var bytes: [UInt8] { Array(description.utf8) + [13, 10] }

    /// Returns the exclusive or of the characters between `$` and `*`, as two hexadecimal digits.
    static func checksum(_ content: String) -> String {
        HexDigits.text(content.utf8.reduce(0, ^), 2, uppercase: true)
    }
}
