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
        options: ReadingPlot.options)

    private let plot: ReadingPlot

    init(_ arguments: ParsedArguments) throws { plot = try ReadingPlot(arguments) }

    func run() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let content = try plot.read(progress)
        let input = content.input
        let ranges = RangeList(
            content.readings, of: content.chosen, in: input.venue, usualExponent: content.model.pathLossExponent,
            content.names)
        progress.clear()
        guard !ranges.beacons.isEmpty else {
            throw CommandError(description: "\(input.name): \(input.reasonForNoReading), on the floor of the beacon")
        }
        try plot.output.write(
            Figure.range(title: "\(input.name): RSSI over distance", of: ranges.beacons, caption: [ranges.caption]))
    }
}
