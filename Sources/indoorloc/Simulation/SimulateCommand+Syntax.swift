import IndoorLocalization
import IndoorLocalizationTesting

extension SimulateCommand {
    static let syntax = CommandSyntax(
        name: "simulate", summary: "write a recording of a simulated walk through a venue",
        details: """
            WALK is a document as in Fixtures/office/paths; Fixtures/README.md tells its fields. The radio has
            log-distance path loss, shadowing correlated in space, fast fading, and loss by body, walls and floors;
            advertisements get lost. Settings of the walk's document can be changed with --set, such as
            --set radio.receiverOffset=-4 --set sensors.motionRate=50.

            example: indoorloc simulate --venue Fixtures/office \\
                         --path Fixtures/office/paths/stairs.json -o walk.jsonl

            With --bound a device is put at places of a map with beacons on a regular grid. Printed are root
            mean square errors in metres: of the engine whose settings know this world, of the exact posterior
            mean on a fine grid, the classical Cramer-Rao bound for unbiased estimators, and of the engine at
            its defaults, which expect a real building. The ratio of the first two is 1 at best.

            example: indoorloc simulate --bound --venue Fixtures/office
            """,
        options: [
            .venue, CommandOption(name: "path", argument: "WALK", help: "where to walk"), .output, .overwrite, .seed,
            CommandOption(name: "set", argument: "NAME=VALUE", help: "change a setting of the simulator; repeatable"),
            CommandOption(
                name: "bound", help: "write nothing: compare the engine with what is possible, standing still"),
        ] + boundOptions)

    /// Names of the options that go with a walk alone.
    static let walkOptions = ["path", "output", "overwrite", "set"]

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
