import XCTest

import IndoorLocalization

/// A device in the surveyed hall: its radio has noise, its own offset and shadows around it, all from one seed.
struct HallReceiver {
    private typealias Stage = PositioningStage

    private(set) var engine: PositioningEngine
    private var generator: SeededGenerator
    private var shadows: [Double] = []
    private let offset: Double
    /// Decibels by which this receiver hears everything stronger than others.
    private let shift: Double
    private(set) var seconds = 0.0
    var place: MapPoint

    init(
        at place: MapPoint, seed: UInt64, method: PositioningMethod = .particle, venue: Venue = Stage.surveyedVenue,
        field: SignalField = Stage.surveyedField, shift: Double = 0,
        change: (inout PositioningSettings) -> Void = { _ in }
    ) {
        var settings = PositioningSettings()
        settings.particleCount = 200
        settings.method = method
        change(&settings)
        engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: seed)
        generator = SeededGenerator(seed: seed &+ 1000)
        offset = 2 * generator.normal()
        self.shift = shift
        self.place = place
        castShadows()
    }

    /// What people and furniture take away: as much as the surveyed field says that it does not know.
    private mutating func castShadows() {
        let field = Stage.surveyedField
        let unknown = field.maps[0].tables.compactMap { table in
            table.map { $0.variance.reduce(0, +) / Float($0.variance.count) }
        }
        shadows = unknown.map { variance in
            (field.readingDeviation * field.readingDeviation + Double(variance)).squareRoot() * generator.normal()
        }
    }

    mutating func observe(_ reading: SensorReading) { engine.observe(reading) }
    mutating func lock(to map: MapID?) { engine.lock(to: map) }
    mutating func begin(asDevice name: String) { engine.begin(asDevice: name) }
    mutating func begin(with calibration: Calibration) { engine.begin(with: calibration) }

    /// Listens for a second: most advertisements of each beacon are heard, one in half a second; `spoil` adds others.
    mutating func listen(spoil: (inout PositioningEngine, Double) -> Void = { _, _ in }) {
        for half in [0.25, 0.5] {
            for (index, beacon) in Stage.beaconPoints.enumerated() where generator.uniform() < 0.8 {
                let level = Stage.rssi(from: beacon, to: place) + shift
                let rssi = level + offset + shadows[index] + 2.5 * generator.normal()
                let instant = Instant(seconds: seconds + half)
                engine.observe(.sighting(Sighting(instant: instant, beacon: Stage.identity(index), rssi: rssi)))
                spoil(&engine, seconds + half)
            }
        }
        seconds += 1
        engine.advance(to: Instant(seconds: seconds))
    }

    /// Lets time pass in which nothing is heard.
    mutating func pass(by silence: Double) {
        seconds += silence
        engine.advance(to: Instant(seconds: seconds))
    }

    mutating func listen(seconds count: Int) { for _ in 0..<count { listen() } }

    var estimate: PositioningEngine.Estimate? { engine.estimate(on: Stage.hall) }

    /// Metres between estimate and truth; infinite without an estimate.
    var error: Double { estimate?.point.distance(to: place) ?? .infinity }
}
