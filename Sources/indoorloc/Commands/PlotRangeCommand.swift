import IndoorLocalization
import LocalizationFigures

/// The command `plot range`: draws the RSSI over the distance with the fitted path-loss law.
struct PlotRangeCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot range", operands: "DATASET|RECORDING...", operandCount: 0...Int.max,
        summary: "draw the RSSI over the distance with the fitted path-loss law, as SVG",
        details: """
            \(PlotSource.details) With --venue and no recording, the readings are those of the survey in the radio map.

            Draws a chart for each of the twelve beacons with the most readings, or for those of --beacon. The distance is
            the horizontal one on the plan; readings on another floor are left out. The path-loss law RSSI = power - 10 *
            exponent * log10(distance) is fitted by least squares to the readings of each beacon.

            example: indoorloc plot range --output range.svg Fixtures/office
                     indoorloc plot range --venue Fixtures/real/openhps --output survey.svg
            """,
        options: PlotSource.options + [.beacon, .seed, .settings, .set] + PlotOutput.options)

    private let source: PlotSource
    private let beacons: [String]
    private let seed: UInt64
    private let settings: SettingsStack
    private let output: PlotOutput

    init(_ arguments: ParsedArguments) throws {
        source = try PlotSource(arguments, needsRecordings: false)
        beacons = arguments.values["beacon"] ?? []
        seed = try arguments.seed()
        settings = try arguments.settings()
        output = PlotOutput(arguments, isPrivate: false)
    }

    func run() async throws {
        try output.check()
        let progress = ProgressLine()
        defer { progress.clear() }
        let input = try source.read(settings, seed: seed, progress)
        let placed = try input.placedReadings(strictness: source.strictness, progress)
        let names = BeaconNames(input.venue)
        let chosen = try beacons.map { try names.beacon($0, command: Self.syntax.name) }
        let model = settings.resolved(in: input.venue).localization.positioning.signal
        let ranges = RangeList(
            placed, of: chosen, in: input.venue, usualExponent: model.pathLossExponent, names)
        progress.clear()
        guard !ranges.beacons.isEmpty else {
            throw CommandError(description: "\(input.name): \(input.reasonForNoReading), on the floor of the beacon")
        }
        try output.write(
            Figure.range(title: "\(input.name): RSSI over distance", of: ranges.beacons, caption: [ranges.caption]))
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
