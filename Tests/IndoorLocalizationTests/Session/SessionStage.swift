import IndoorLocalization
import IndoorLocalizationTesting

typealias Machine = LocalizationMachine<FixBelief>

/// A belief that takes every fix at its word, so that a test says where the device is.
struct FixBelief: PositioningBelief {
    private var fix: Fix?
    private(set) var observed: [SensorReading] = []
    private let log: WatchedBelief?

    init(log: WatchedBelief? = nil) { self.log = log }

    mutating func observe(_ reading: SensorReading) {
        log?.note(reading)
        if case .fix(let fix) = reading { self.fix = fix }
    }

    mutating func advance(to now: Instant) { log?.note(now) }

    var mapProbabilities: [MapID: Double] { fix.map { [$0.mapID: 1] } ?? [:] }

    func estimate(on map: MapID) -> PositioningEngine.Estimate? {
        guard let fix, fix.mapID == map else { return nil }
        return PositioningEngine.Estimate(at: fix.point, radius: fix.radius)
    }
}

/// Two venues far from each other, and what is heard in them.
enum SessionStage {
    /// Two floors (maps 10 and 11) with a room (1), a fence (2) and three beacons; a coordinate.
    static let office = Venue(
        id: 1, name: "office", coordinate: Coordinate(latitude: 52, longitude: 13), radius: 50,
        maps: [
            VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30, widthPixels: 400, heightPixels: 300),
            VenueMap(id: 11, name: "first", level: 1, width: 40, height: 30),
        ],
        beacons: (1...3).map { VenueBeacon(identity: beacon(1, $0), mapID: 10, point: MapPoint(x: 5, y: 5)) },
        rooms: [Room(id: 1, name: "kitchen", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 2))],
        fences: [Fence(id: 2, name: "door", mapID: 10, area: .circle(center: MapPoint(x: 5, y: 5), radius: 3))])
    /// One floor (map 20) and one beacon; 1.1 km north of the office.
    static let shop = Venue(
        id: 2, name: "shop", coordinate: Coordinate(latitude: 52.01, longitude: 13), radius: 50,
        maps: [VenueMap(id: 20, name: "shop", level: 0, width: 10, height: 10)],
        beacons: [VenueBeacon(identity: beacon(2, 1), mapID: 20, point: MapPoint(x: 5, y: 5))])
    static let summaries = [office, shop].map(VenueSummary.init)

    static func beacon(_ major: UInt16, _ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 0xF00D, low: 0xBEEF), major: major, minor: minor)
    }

    static func heard(_ venue: UInt16, _ minor: UInt16 = 1, at seconds: Double, rssi: Double = -60) -> SensorReading {
        .sighting(Sighting(instant: Instant(seconds: seconds), beacon: beacon(venue, minor), rssi: rssi))
    }

    static func fix(_ map: MapID, _ x: Double = 20, _ y: Double = 20, at seconds: Double) -> SensorReading {
        .fix(Fix(instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: y), radius: 1))
    }

    static func gnss(_ latitude: Double, at seconds: Double, accuracy: Double = 5) -> SensorReading {
        .gnss(
            GNSSFix(
                instant: Instant(seconds: seconds), coordinate: Coordinate(latitude: latitude, longitude: 13),
                accuracy: accuracy))
    }

    /// What is told of a satellite position outdoors.
    static func outdoors(_ latitude: Double, at seconds: Double, radius: Double = 5) -> Machine.Directive {
        .emitOutdoor(
            OutdoorPosition(
                instant: Instant(seconds: seconds), coordinate: Coordinate(latitude: latitude, longitude: 13),
                radius: radius))
    }

    static func motion(at seconds: Double) -> SensorReading {
        .pressure(PressureSample(instant: Instant(seconds: seconds), hectopascals: 1000))
    }

    static let network = LocalizationError(code: .network, message: "the server is away")
    static let credential = LocalizationError(code: .credential, message: "who are you?")

    static func machine(
        _ settings: LocalizationSettings = LocalizationSettings(), seed: UInt64 = 1, hasReceiver: Bool = false,
        reportsDiagnosis: Bool = false, log: WatchedBelief? = nil
    ) -> Machine {
        Machine(settings: settings, seed: seed, hasReceiver: hasReceiver, reportsDiagnosis: reportsDiagnosis) { _ in
            FixBelief(log: log)
        }
    }

    /// A machine that was led into a state; the last event was at second 10, the office's beacon was heard then.
    static func machine(
        in stage: Stage, _ settings: LocalizationSettings = LocalizationSettings(), hasReceiver: Bool = false,
        reportsDiagnosis: Bool = false, log: WatchedBelief? = nil
    ) -> Machine {
        var machine = machine(settings, hasReceiver: hasReceiver, reportsDiagnosis: reportsDiagnosis, log: log)
        for (reached, events) in Stage.way {
            if stage == .idle { break }
            for event in events { _ = machine.handle(event, at: Instant(seconds: 10)) }
            if reached == stage { break }
        }
        if stage == .error { _ = machine.handle(.sourceFailed(Self.credential), at: Instant(seconds: 10)) }
        return machine
    }

    enum Stage: String, CaseIterable {
        case idle, started, searchVenue, getPacket, findFloor, localizationRunning, error

        /// The events that lead from each state to the next.
        static let way: [(Stage, [Machine.Event])] = [
            (.started, [.start]),
            (.searchVenue, [.catalogue(summaries)]),
            (.getPacket, [.reading(heard(1, at: 10))]),
            (.findFloor, [.packet(1, office)]),
            (.localizationRunning, [.reading(fix(10, at: 10)), .tick]),
        ]
    }
}

extension Machine {
    mutating func handle(_ event: Event, at seconds: Double) -> [Directive] {
        handle(event, at: Instant(seconds: seconds))
    }

    /// Delivers all ticks that are due until then, each at its own instant.
    mutating func pass(to seconds: Double) -> [Directive] {
        var directives: [Directive] = []
        while let wake = nextWake, wake <= Instant(seconds: seconds) { directives += handle(.tick, at: wake) }
        return directives
    }
}
