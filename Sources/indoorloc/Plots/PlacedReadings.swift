import Foundation
import IndoorLocalization
import LocalizationFigures
import ScanRecording

/// RSSI readings at known places.
struct PlacedReadings: Sendable {
    /// The RSSI of a beacon at a place.
    struct Reading: Sendable {
        var beacon: BeaconIdentity
        var mapID: MapID
        var point: MapPoint
        /// The RSSI in dBm.
        var rssi: Double
    }

    private(set) var readings: [Reading] = []

    /// The mean readings at the places of a radio map.
    init(_ map: RadioMap) {
        for place in map.fingerprints {
            for reading in place.readings where map.beacons.indices.contains(reading.beacon) {
                readings.append(
                    Reading(
                        beacon: map.beacons[reading.beacon].identity, mapID: place.mapID, point: place.point,
                        rssi: reading.rssi))
            }
        }
    }

    /// The readings of recordings at the places of their ground truth.
    ///
    /// A reading before the first ground truth, after the last waypoint, or between waypoints on different maps has no
    /// place and is left out.
    /// - Parameter warns: whether skipped and dropped lines are reported; false if they have been.
    /// - Throws: `RecordingError` of the first invalid recording.
    init(
        _ recordings: [String], in venue: Venue, strictness: RecordingReader.Strictness,
        under conditions: EvaluationConditions = EvaluationConditions(), warns: Bool = true, _ progress: ProgressLine
    ) throws {
        for (number, path) in recordings.enumerated() {
            progress.show("recording \(number + 1) of \(recordings.count)")
            let recording =
                warns
                ? try SurveyRecording.reportingWarnings(path, in: venue, strictness: strictness)
                : try SurveyRecording(path: path, in: venue, strictness: strictness)
            let waypoints = recording.waypoints
            var next = 0
            for sighting in recording.sightings where Sighting.isMeasurement(rssi: sighting.rssi) {
                while next < waypoints.count, waypoints[next].instant <= sighting.instant { next += 1 }
                let following = next < waypoints.count ? waypoints[next] : nil
                guard next > 0, let place = waypoints[next - 1].place(at: sighting.instant, before: following) else {
                    continue
                }
                readings.append(
                    Reading(
                        beacon: sighting.beacon, mapID: place.mapID, point: place.point,
                        rssi: sighting.rssi + conditions.shift))
            }
        }
    }

    /// Returns the readings of some beacons; all for an empty set.
    func readings(of beacons: Set<BeaconIdentity>) -> [Reading] {
        beacons.isEmpty ? readings : readings.filter { beacons.contains($0.beacon) }
    }
}

extension Venue {
    /// The places of the beacons: those of the packet, and those that the survey learned.
    var beaconPlaces: [BeaconIdentity: (mapID: MapID, point: MapPoint)] {
        var places: [BeaconIdentity: (mapID: MapID, point: MapPoint)] = [:]
        for beacon in radioMap?.beacons ?? [] { places[beacon.identity] = (beacon.mapID, beacon.point) }
        for beacon in beacons { places[beacon.identity] = (beacon.mapID, beacon.point) }
        return places
    }
}

/// The operands and options of a figure of readings at known places.
struct ReadingPlot: Sendable {
    /// The content of a figure of readings.
    struct Content: Sendable {
        let input: PlotInput
        let readings: PlacedReadings
        let names: BeaconNames
        /// The beacons of `--beacon`; empty for all.
        let chosen: [BeaconIdentity]
        /// The measurement model with the settings of the command and the venue.
        let model: SignalModel
    }

    static let options: [CommandOption] =
        PlotSource.options + [.beacon, .seed, .settings, .set] + PlotOutput.options

    let output: PlotOutput
    private let source: PlotSource
    private let beacons: [String]
    private let seed: UInt64
    private let settings: SettingsStack
    private let command: String

    init(_ arguments: ParsedArguments) throws {
        source = try PlotSource(arguments, needsRecordings: false)
        beacons = arguments.values["beacon"] ?? []
        seed = try arguments.seed()
        settings = try arguments.settings()
        output = try PlotOutput(arguments, isPrivate: false)
        command = arguments.syntax.name
    }

    /// Reads the venue and the readings.
    ///
    /// - Throws: an error before it reads anything if the output can't be written.
    func read(_ progress: ProgressLine) throws -> Content {
        try output.check()
        let input = try source.read(settings, seed: seed, progress)
        let names = BeaconNames(input.venue)
        return Content(
            input: input, readings: try input.placedReadings(strictness: source.strictness, progress), names: names,
            chosen: try beacons.map { try names.beacon($0, command: command) },
            model: settings.resolved(in: input.venue).localization.positioning.signal)
    }
}

/// The residuals of readings at known places.
struct ResidualList: Sendable {
    /// The residuals of each beacon, ordered by identity.
    let beacons: [BeaconResiduals]
    /// The number of readings of beacons that the venue doesn't have, or off the grid of its maps.
    let skipped: Int

    /// - Parameter chosen: the beacons; empty for all.
    init(
        _ placed: PlacedReadings, of chosen: Set<BeaconIdentity>, field: SignalField, _ names: BeaconNames
    ) {
        var values: [BeaconIdentity: [Double]] = [:]
        var skipped = 0
        for reading in placed.readings(of: chosen) {
            guard let index = field.indexes[reading.beacon],
                let expected = field.expectation(of: index, at: reading.point, on: reading.mapID)
            else {
                skipped += 1
                continue
            }
            values[reading.beacon, default: []].append(reading.rssi - expected.rssi)
        }
        beacons = values.sorted { $0.key < $1.key }.map {
            BeaconResiduals(name: names.name(of: $0.key), values: $0.value)
        }
        self.skipped = skipped
    }

    var count: Int { beacons.reduce(0) { $0 + $1.values.count } }

    /// The mean and the standard deviation in words.
    var caption: String {
        let all = beacons.flatMap(\.values)
        let mean = all.reduce(0, +) / Double(max(1, all.count))
        let squares = all.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let deviation = (squares / Double(max(1, all.count))).squareRoot()
        func decibels(_ value: Double) -> String {
            JSONText.number(value, decimals: 1).replacing("-", with: "−") + " dB"
        }
        let rest = skipped > 0 ? " \(skipped.counting("reading")) of other beacons or beside the plan not shown." : ""
        return
            "\(all.count.counting("reading")) of \(beacons.count.counting("beacon")): mean \(decibels(mean)), standard "
            + "deviation \(decibels(deviation)).\(rest)"
    }
}

/// The readings of beacons over their distance, with a law each.
struct RangeList: Sendable {
    /// The beacons, ordered by identity.
    let beacons: [BeaconRange]
    /// The number of beacons with readings.
    private let found: Int

    /// The maximum number of beacons, unless they are chosen.
    private static let limit = 12

    /// - Parameter chosen: the beacons; empty for those with the most readings.
    init(
        _ placed: PlacedReadings, of chosen: [BeaconIdentity], in venue: Venue, usualExponent: Double,
        _ names: BeaconNames
    ) {
        let places = venue.beaconPlaces
        var points: [BeaconIdentity: [ChartPoint]] = [:]
        for reading in placed.readings(of: Set(chosen)) {
            guard let place = places[reading.beacon], place.mapID == reading.mapID else { continue }
            points[reading.beacon, default: []].append(
                ChartPoint(x: place.point.distance(to: reading.point), y: reading.rssi))
        }
        found = points.count
        let most = points.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
            .prefix(chosen.isEmpty ? Self.limit : points.count)
        let farthest = most.flatMap(\.value).map(\.x).max() ?? 1
        beacons = most.sorted { $0.key < $1.key }.compactMap { beacon, readings in
            PathLossFit(readings, usualExponent: usualExponent).map { fit in
                BeaconRange(
                    name: "\(names.name(of: beacon)): \(fit.text)", readings: readings,
                    law: fit.curve(to: farthest), deviation: fit.deviation)
            }
        }
    }

    var caption: String {
        let readings = beacons.reduce(0) { $0 + $1.readings.count }
        let rest = found > beacons.count ? ", those with the most readings of \(found)" : ""
        return "\(readings.counting("reading")) of \(beacons.count.counting("beacon"))\(rest). The distance is the "
            + "horizontal one. The law is fitted to the readings of the beacon by least squares; ± is their standard "
            + "deviation from it."
    }
}

/// A path-loss law fitted to readings: RSSI = power − 10 · exponent · log₁₀(distance / 1 m).
///
/// Source: T. S. Rappaport, *Wireless Communications: Principles and Practice*, 2nd edition, 2002, section 4.9.
struct PathLossFit: Sendable {
    /// The RSSI at 1 m in dBm.
    private(set) var power: Double
    /// The path-loss exponent.
    private(set) var exponent: Double
    /// The standard deviation of the readings from the law in dB.
    private(set) var deviation: Double

    /// The shortest distance in metres that is used; at shorter distances, the height of the beacon matters more than
    /// the distance.
    private static let nearest = 0.5
    /// The range of path-loss exponents in buildings, because readings at similar distances can't determine the
    /// exponent.
    private static let exponents = 0.5...6.0

    /// Fits the law by least squares; nil without readings.
    ///
    /// - Parameter readings: the RSSI in dBm (y) at distances in metres (x).
    init?(_ readings: [ChartPoint], usualExponent: Double) {
        guard !readings.isEmpty else { return nil }
        let points = readings.map { (x: -10 * log10(max(Self.nearest, $0.x)), y: $0.y) }
        let count = Double(points.count)
        let meanX = points.reduce(0) { $0 + $1.x } / count
        let meanY = points.reduce(0) { $0 + $1.y } / count
        let spread = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        let product = points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) }
        // Below a decibel of spread along the law, the slope is noise.
        let slope = spread / count > 1 ? product / spread : usualExponent
        let exponent = min(max(slope, Self.exponents.lowerBound), Self.exponents.upperBound)
        let power = meanY - exponent * meanX
        let squares = points.reduce(0) { sum, point in
            let residual = point.y - (power + exponent * point.x)
            return sum + residual * residual
        }
        self.exponent = exponent
        self.power = power
        deviation = (squares / count).squareRoot()
    }

    /// The law up to a distance in metres.
    func curve(to farthest: Double) -> [ChartPoint] {
        (0...60).map { number in
            let share = Double(number) / 60
            // The points are closer together where the law is steep.
            let distance = Self.nearest + (max(farthest, 1) - Self.nearest) * share * share
            return ChartPoint(x: distance, y: power - 10 * exponent * log10(distance))
        }
    }

    /// The parameters in words.
    var text: String {
        "\(number(power)) dBm at 1 m, exponent \(number(exponent)), ± \(number(deviation)) dB"
    }

    private func number(_ value: Double) -> String {
        JSONText.number(value, decimals: 1).replacing("-", with: "−")
    }
}
