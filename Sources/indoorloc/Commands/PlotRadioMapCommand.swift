import IndoorLocalization
import LocalizationFigures
import ScanRecording
import VenuePackets

/// The command `plot radiomap`: draws the expected RSSI on the floor plan.
struct PlotRadioMapCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot radiomap", operands: "V", operandCount: 1...1,
        summary: "draw the expected RSSI of beacons on the floor plan, as SVG",
        details: """
            V is a venue packet, or a data set, whose radio map is learned from its survey. Draws the expected RSSI of the
            engine's tables and the survey points: of the beacons given by --beacon, of each beacon with --each, and
            otherwise of the strongest beacon at each point. Places where no beacon can be received are left blank. Without
            a radio map, the expected RSSI is that of the path-loss law.

            example: indoorloc plot radiomap --output map.svg Fixtures/office
                     indoorloc plot radiomap --beacon 1/3 --map 1 --output beacon.svg Fixtures/office
            """,
        options: [
            .radioMap, .beacon, CommandOption(name: "each", help: "draw a plan for each beacon"),
            CommandOption(name: "map", argument: "MAP", help: "draw this map only, by its number"),
            .settings, .set, .lenient,
        ] + PlotOutput.options)

    private let path: String
    private let radioMap: String?
    private let beacons: [String]
    private let isEach: Bool
    private let map: MapID?
    private let settings: SettingsStack
    private let strictness: RecordingReader.Strictness
    private let output: PlotOutput

    init(_ arguments: ParsedArguments) throws {
        path = try arguments.input(operand: 0)
        radioMap = try arguments.input("radio-map")
        beacons = arguments.values["beacon"] ?? []
        isEach = arguments.has("each")
        map = try arguments.mapOption()
        settings = try arguments.settings()
        strictness = arguments.strictness
        output = try PlotOutput(arguments, isPrivate: false)
        guard !isEach || beacons.isEmpty else {
            throw UsageError(message: "--each and --beacon can't be combined", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try output.check()
        let progress = ProgressLine()
        defer { progress.clear() }
        var venue = try VenuePacketReader().read(path, radioMap: radioMap).reportingWarnings(path).venue
        let model = settings.resolved(in: venue).localization.positioning.signal
        let surveys = radioMap == nil && venue.radioMap == nil ? DataSet.surveys(in: path) : []
        if !surveys.isEmpty {
            var learning = SurveyLearning(venue: venue, model: model)
            try learning.add(surveys, strictness: strictness, progress: progress)
            venue.radioMap = learning.learner.finish()
        }
        let maps = try map.map { [try $0.checked(in: venue, command: Self.syntax.name)] } ?? venue.maps
        let names = BeaconNames(venue)
        let field = SignalField(venue: venue, model: model)
        let chosen =
            try isEach ? field.beacons.sorted() : beacons.map { try names.beacon($0, command: Self.syntax.name) }
        let contents: [Figure.RadioMapContent] =
            chosen.isEmpty ? [.strongest] : chosen.map { .beacon($0, name: names.name(of: $0)) }
        progress.show("expected RSSI of \(venue.name)")
        let figure = Figure.radioMap(
            title: chosen.isEmpty
                ? "\(venue.name): expected RSSI of the strongest beacon" : "\(venue.name): expected RSSI",
            venue: venue, field: field, maps: maps, contents: contents, caption: [venue.radioMapCaption])
        progress.clear()
        guard let figure else {
            throw CommandError(description: "'\(venue.name)' has no beacon that can be received on these maps")
        }
        try output.write(figure)
    }
}
