import IndoorLocalization
import LocalizationFigures
import VenuePackets

/// The command `plot coverage`: draws the expected error of a venue's beacons, and proposes places for more beacons.
struct PlotCoverageCommand: Command {
    static let syntax = CommandSyntax(
        name: "plot coverage", summary: "draw the expected 68 % error of a venue's beacons, as SVG",
        details: """
            Draws the expected 68 % error of a position on each map: the Cramér–Rao bound from the session's
            signal model, with the walls of the map and the packet's radio map. --beacons adds proposed places for more
            beacons, each the place that reduces the mean expected error most. With --target, the proposals reduce the error where it
            exceeds the target. A session on a walk can be more accurate, because it combines successive readings.

            With --output, prints one line per map and per proposed beacon. With --json, prints one object with the errors of all cells
            in metres, cell by cell from the top left corner; null is outside the building.

            example: indoorloc plot coverage --venue Fixtures/office --beacons 3 --target 3 \\
                         --output coverage.svg
            """,
        options: [
            .venue, .radioMap,
            CommandOption(name: "map", argument: "MAP", help: "draw this map only, by its number"),
            CommandOption(name: "beacons", argument: "N", help: "number of proposed beacons (default 1)"),
            CommandOption(name: "target", argument: "METRES", help: "68 % error that positions should have"),
            CommandOption(name: "at-walls", help: "propose places within 1 m of a wall"),
            CommandOption(
                name: "wall-loss", argument: "DB", help: "signal loss through one wall (default 3.4, a light wall)"),
            CommandOption(
                name: "json", help: "print the errors as one JSON object; with --output, also write the drawing"),
        ] + PlotOutput.options)

    private let path: String
    private let radioMap: String?
    private let output: OutputFile?
    private let mapID: MapID?
    private let count: Int
    private let isJSON: Bool
    private let settings: CoverageSettings

    init(_ arguments: ParsedArguments) throws {
        path = try arguments.requiredInput("venue")
        radioMap = try arguments.input("radio-map")
        isJSON = arguments.has("json")
        output = try PlotOutput.file(arguments, isPrivate: false)
        mapID = try arguments.mapOption()
        count = try arguments.number("beacons", in: 0...100, else: 1)
        var settings = CoverageSettings()
        if arguments.has("target") { settings.target = try arguments.decimal("target", in: 0.1...1000, unit: "metres") }
        if arguments.has("wall-loss") {
            settings.wallLoss = try arguments.decimal("wall-loss", in: 0...100, unit: "decibels")
        }
        if arguments.has("at-walls") { settings.placement = .atWalls(within: 1) }
        self.settings = settings
    }

    func run() throws {
        try output?.check()
        let venue = try VenuePacketReader().read(path, radioMap: radioMap).venue
        let maps = try mapID.map { [try $0.checked(in: venue, command: Self.syntax.name)] } ?? venue.maps
        let chosen = Set(maps.map(\.id))
        for map in MapInterior.unknown(in: venue) where chosen.contains(map.id) {
            StandardError.line(
                PrintableText.line(
                    "\(map.name): nothing says where the inside of the building is, so that the whole plan counts; add rooms, "
                        + "walls or walkable areas with 'venue edit'"), .warning)
        }
        let analysis = CoverageAnalysis(venue: venue, settings: settings)
        let coverage = CoverageResult(
            venue: venue, grids: maps.compactMap { analysis.expectedErrors(on: $0.id) },
            proposals: count > 0 ? analysis.proposedBeacons(count: count, on: mapID) : [], target: settings.target)
        try output?.write(Array(coverage.figure.svg.utf8))
        if isJSON {
            try StandardOutput.write(lines: [coverage.json.text])
        } else if output != nil {
            try StandardOutput.write(lines: coverage.lines)
        } else {
            try StandardOutput.write(coverage.figure.svg)
        }
    }
}

extension ParsedArguments {
    /// The value of a given option, a number within `range`.
    func decimal(_ option: String, in range: ClosedRange<Double>, unit: String) throws(UsageError) -> Double {
        let text = try required(option)
        guard let number = Double(text), range.contains(number) else {
            let bounds = [range.lowerBound, range.upperBound].map { bound in
                Int(exactly: bound).map(String.init) ?? "\(bound)"
            }
            throw UsageError(
                message: "--\(option) must be a number of \(unit) from \(bounds[0]) to \(bounds[1]), not '\(text)'",
                command: syntax.name)
        }
        return number
    }
}
