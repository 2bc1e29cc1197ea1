import IndoorLocalization
import LocalizationFigures
import ScanRecording

/// The command `plot residuals`: draws the differences between measured and expected RSSI.
struct PlotResidualsCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot residuals", operands: "DATASET|RECORDING...", operandCount: 0...Int.max,
        summary: "draw measured minus expected RSSI, of all readings and of each beacon, as SVG",
        details: """
            \(PlotSource.details) With --venue and no recording, the readings are those of the survey in the radio map.

            The expected RSSI is that of the engine's tables at the place of the ground truth. The mean difference is the
            offset of the receiver; a beacon that differs from the others was moved, or its power was changed.

            example: indoorloc plot residuals --output residuals.svg Fixtures/office
                     indoorloc plot residuals --venue Fixtures/real/openhps --output survey.svg
            """,
        options: ReadingPlot.options)

    private let plot: ReadingPlot

    init(_ arguments: ParsedArguments) throws { plot = try ReadingPlot(arguments) }

    func run() async throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        let content = try plot.read(progress)
        let input = content.input
        progress.show("tables of \(input.name)")
        let residuals = ResidualList(
            content.readings, of: Set(content.chosen),
            field: SignalField(venue: input.venue, model: content.model), content.names)
        progress.clear()
        guard residuals.count > 0 else {
            throw CommandError(description: "\(input.name): \(input.reasonForNoReading)")
        }
        try plot.output.write(
            Figure.residuals(
                title: "\(input.name): measured minus expected RSSI", of: residuals.beacons,
                caption: [residuals.caption] + (input.recordings.isEmpty ? [Self.remark] : [])))
    }

    /// The caption of a radio map's own readings.
    private static let remark =
        "The radio map was learned from these readings, so the differences on new recordings are larger."
}
