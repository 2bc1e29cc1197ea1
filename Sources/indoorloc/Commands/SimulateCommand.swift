import IndoorLocalization
import IndoorLocalizationTesting

/// The command `simulate`: writes a recording of a simulated walk, or compares the engine with theoretical bounds.
struct SimulateCommand: Command {
    private enum Work: Sendable {
        case walk(SimulatedWalk)
        case comparison(BoundComparison)
    }

    private let work: Work

    init(_ arguments: ParsedArguments) throws {
        let isComparison = arguments.has("bound")
        let excluded = isComparison ? Self.walkOptions : Self.boundOptions.map(\.name)
        if let option = excluded.first(where: arguments.has) {
            let message =
                isComparison ? "--\(option) can't be combined with --bound" : "--\(option) requires --bound"
            throw UsageError(message: message, command: Self.syntax.name)
        }
        work = isComparison ? .comparison(try BoundComparison(arguments)) : .walk(try SimulatedWalk(arguments))
    }

    func run() throws {
        switch work {
        case .walk(let walk): try walk.run()
        case .comparison(let comparison): try comparison.run()
        }
    }
}

extension SimulateCommand {
    static let syntax = CommandSyntax(
        name: "simulate", summary: "write a recording of a simulated walk through a venue",
        details: """
            WALK is a document such as those in Fixtures/office/paths; Fixtures/README.md describes its fields. The
            simulated radio has log-distance path loss, spatially correlated shadowing, fast fading, attenuation by
            body, walls and floors, and lost advertisements. --set changes a setting of WALK, such as
            --set radio.receiverOffset=-4 --set sensors.motionRate=50.

            example: indoorloc simulate --venue Fixtures/office \\
                         --path Fixtures/office/paths/stairs.json -o walk.jsonl

            With --bound, a device stands at places of a map with beacons on a regular grid. Prints root mean square
            errors in metres: of the engine with settings that match this world, of the exact posterior mean on a fine
            grid, the classical Cramer-Rao bound for unbiased estimators, and of the engine with default settings, which
            are made for real buildings. The best ratio of the first two is 1.

            example: indoorloc simulate --bound --venue Fixtures/office
            """,
        options: [
            .venue, CommandOption(name: "path", argument: "WALK", help: "document of the walk"), .output, .overwrite,
            .seed,
            CommandOption(
                name: "set", argument: "NAME=VALUE", help: "change a setting of the simulator; may be repeated"),
            CommandOption(
                name: "bound", help: "compare the engine with theoretical bounds; writes no recording"),
        ] + boundOptions)

    /// The names of the options that can't be combined with `--bound`.
    static let walkOptions = ["path", "output", "overwrite", "set"]

    /// The options that require `--bound`.
    static let boundOptions: [CommandOption] = {
        let usual = StaticHallSettings()
        func number(_ value: Double) -> String { JSONText.number(value, decimals: value < 1 ? 1 : 0) }
        return [
            CommandOption(name: "map", argument: "ID", help: "bound: map of the venue (default: the first)"),
            CommandOption(
                name: "area", argument: "M2",
                help: "bound: floor area per beacon in m² (default \(number(usual.areaPerBeacon)))"),
            CommandOption(
                name: "sigma", argument: "DB", help: "bound: shadowing in dB (default \(number(usual.shadowing)))"),
            CommandOption(
                name: "exponent", argument: "N",
                help: "bound: path-loss exponent (default \(JSONText.number(usual.exponent, decimals: 1)))"),
            CommandOption(
                name: "height", argument: "M",
                help: "bound: height of the beacons above the device in m (default \(number(usual.height)))"),
            CommandOption(
                name: "seconds", argument: "N", help: "bound: seconds of scanning (default \(usual.seconds))"),
            CommandOption(name: "independent", help: "bound: independent shadowing each second"),
            CommandOption(name: "places", argument: "N", help: "bound: number of places (default \(usual.places))"),
            CommandOption(
                name: "grid", argument: "M",
                help: "bound: cell size of the exact solution in m (default \(number(usual.gridEdge)))"),
            CommandOption(
                name: "particles", argument: "N",
                help: "bound: number of particles of the engine (default \(PositioningSettings().particleCount))"),
            CommandOption(name: "json", help: "bound: print one JSON object instead of lines"),
        ]
    }()
}
