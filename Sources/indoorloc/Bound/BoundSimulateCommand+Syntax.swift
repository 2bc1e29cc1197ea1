import IndoorLocalization
import IndoorLocalizationTesting

extension BoundSimulateCommand {
    /// What `simulate` takes, and `--bound` with its options.
    static let boundSyntax: CommandSyntax = {
        var syntax = SimulateCommand.syntax
        let option = CommandOption(
            name: "bound", help: "write nothing: compare the engine with what is possible, standing still")
        syntax.options += [option] + boundOptions
        syntax.details +=
            "\n\n" + """
                With --bound a device is put at places of a map with beacons on a regular grid. Printed are root
                mean square errors in metres: of the engine whose settings know this world, of the exact posterior
                mean on a fine grid, the classical Cramer-Rao bound for unbiased estimators, and of the engine at
                its defaults, which expect a real building. The ratio of the first two is 1 at best.

                example: indoorloc simulate --bound --venue Fixtures/office
                """
        return syntax
    }()

    /// Options that go with `--bound` alone.
    static let boundOptions: [CommandOption] = {
        let usual = StaticHallSettings()
        func number(_ value: Double) -> String { JSONText.number(value, decimals: value < 1 ? 1 : 0) }
        return [
            CommandOption(name: "map", argument: "ID", help: "bound: the venue's map (default the first)"),
            CommandOption(
                name: "area", argument: "M2",
                help: "bound: floor area for each beacon (default \(number(usual.areaPerBeacon)))"),
            CommandOption(
                name: "sigma", argument: "DB", help: "bound: shadowing (default \(number(usual.shadowing)))"),
            CommandOption(
                name: "exponent", argument: "N",
                help: "bound: path-loss exponent (default \(JSONText.number(usual.exponent, decimals: 1)))"),
            CommandOption(
                name: "height", argument: "M",
                help: "bound: height of the beacons above the device (default \(number(usual.height)))"),
            CommandOption(
                name: "seconds", argument: "N", help: "bound: seconds of listening (default \(usual.seconds))"),
            CommandOption(name: "independent", help: "bound: another shadowing each second"),
            CommandOption(name: "places", argument: "N", help: "bound: how many places (default \(usual.places))"),
            CommandOption(
                name: "grid", argument: "M",
                help: "bound: cells of the exact solution (default \(number(usual.gridEdge)))"),
            CommandOption(
                name: "particles", argument: "N",
                help: "bound: particles of the engine (default \(PositioningSettings().particleCount))"),
            CommandOption(name: "json", help: "bound: print one JSON object instead of lines"),
        ]
    }()
}
