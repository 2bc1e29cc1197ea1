import IndoorLocalization

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
