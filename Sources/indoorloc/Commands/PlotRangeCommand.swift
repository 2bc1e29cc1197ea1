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
