import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// A walk around the hall of `PositioningStage`, with readings that can be disturbed.
struct IntegrityWalk {
    /// A disturbance of the readings of one advertisement: returns what the device receives instead.
    typealias Disturbance = (
        _ beacon: Int, _ rssi: Double, _ place: MapPoint, _ seconds: Double
    ) -> [(beacon: Int, rssi: Double)]

    var engine: PositioningEngine
    var seconds = 0.0
    private var noise: SeededGenerator
    /// The errors in metres of all positions so far, and whether each was within the radius.
    private(set) var errors: [Double] = []
    private(set) var isInside: [Bool] = []
    /// The names that were given to faults so far.
    private(set) var named: Set<BeaconIdentity> = []

    /// The settings with the test of the beacons.
    static let testing: PositioningSettings = {
        var settings = PositioningSettings()
        settings.testedBeacons = .all
        return settings
    }()

    /// Creates a walk.
    init(venue: Venue = PositioningStage.surveyedVenue, settings: PositioningSettings = Self.testing, seed: UInt64 = 1)
    {
        engine = PositioningEngine(venue: venue, settings: settings, seed: seed)
        noise = SeededGenerator(seed: seed &+ 1000)
    }

    /// Where the person is: on a circle of 6 m around the centre, with 0.8 m/s.
    static func place(at seconds: Double) -> MapPoint {
        let angle = seconds * 0.8 / 6
        return MapPoint(x: 10 + 6 * cos(angle), y: 10 + 6 * sin(angle))
    }

    /// Walks for some seconds.
    mutating func walk(
        _ duration: Double, standing: Bool = false, deaf: Bool = false,
        disturbance: Disturbance = { beacon, rssi, _, _ in [(beacon, rssi)] }
    ) {
        let end = seconds + duration
        let first = seconds
        while seconds < end {
            seconds += 1
            let place = Self.place(at: standing ? first : seconds)
            for (index, beacon) in PositioningStage.beaconPoints.enumerated() where !deaf {
                let rssi = PositioningStage.rssi(from: beacon, to: place) + 2.5 * noise.normal()
                for (heard, level) in disturbance(index, rssi, place, seconds) {
                    engine.observe(
                        .sighting(
                            Sighting(
                                instant: Instant(seconds: seconds), beacon: PositioningStage.identity(heard),
                                rssi: level)))
                }
            }
            engine.advance(to: Instant(seconds: seconds))
            named.formUnion(engine.beaconFaults.map(\.beacon))
            guard let estimate = engine.estimate(on: PositioningStage.hall), seconds > first + 5 else { continue }
            let error = estimate.point.distance(to: place)
            errors.append(error)
            isInside.append(error <= estimate.radius)
        }
    }

    /// The mean error in metres.
    var meanError: Double { errors.reduce(0, +) / Double(max(1, errors.count)) }

    /// The kind of a beacon's fault; nil without a fault.
    func kind(of beacon: Int) -> BeaconFault.Kind? {
        engine.beaconFaults.first { $0.beacon == PositioningStage.identity(beacon) }?.kind
    }
}
