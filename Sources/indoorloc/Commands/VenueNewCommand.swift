import IndoorLocalization
import VenuePackets

/// The command `venue new`: begins a venue packet with images of the floor plans.
struct VenueNewCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue new", operands: "", operandCount: 0...0,
        summary: "begin a venue packet with an image of each floor plan",
        details: """
            Writes a packet with a map for each --plan, a PNG, JPEG, GIF or WebP image. --scale gives the distance in the
            building between two points of the image, in pixels from its top left corner, such as the ends of a long wall.
            The packet has no beacons, rooms and walls yet: set them with 'venue edit'.

            For several floors, repeat --plan. --scale, --level and --map-name then apply to the plans in their order; one
            --scale applies to all. By default the first plan is the ground floor, and each other one is a floor higher.

            --georeference gives the coordinate of a point of the image. With at least two, positions also have
            coordinates, and a satellite position leads to the venue. They apply to all plans, which must then have the
            same size and scale.

            example: indoorloc venue new --name Library -o library --plan Fixtures/office/plans/ground.png \\
                         --scale "30,30,1050,30=34"
            """,
        options: [
            .packetOutput,
            CommandOption(name: "plan", argument: "IMAGE", help: "image of a floor plan; may be repeated"),
            CommandOption(
                name: "scale", argument: "\"X1,Y1,X2,Y2=METRES\"",
                help: "two points of the image in pixels and the distance between them in metres"),
            CommandOption(
                name: "name", argument: "NAME", help: "name of the venue (default: the name of PACKET)"),
            CommandOption(name: "id", argument: "N", help: "number of the venue (default: computed from its name)"),
            CommandOption(
                name: "level", argument: "N", help: "ordinal of the plan's floor: 0 for the ground floor"),
            CommandOption(
                name: "map-name", argument: "NAME", help: "name of the plan's map (default: such as \"Floor 1\")"),
            CommandOption(
                name: "georeference", argument: "\"X,Y=LATITUDE,LONGITUDE\"",
                help: "coordinate of a point of the image; give two or more"),
            CommandOption(name: "overwrite", help: "replace an existing packet"),
        ])

    private let output: PacketOutput
    private let mayOverwrite: Bool
    private let name: String
    private let venueID: VenueID?
    private let plans: [PlanOption]

    init(_ arguments: ParsedArguments) throws {
        let path = try arguments.required("output")
        _ = try arguments.required("plan")
        _ = try arguments.required("scale")
        output = PacketOutput(path: path, inputs: arguments.inputs(except: ["output"]))
        mayOverwrite = arguments.has("overwrite")
        name = arguments.value("name") ?? output.name
        venueID = try arguments.venueID()
        plans = try arguments.plans()
    }

    func run() throws {
        try output.check(mayReplace: mayOverwrite, remedy: "use --overwrite to replace it with all its content")
        let drawings = try plans.map { try $0.drawing() }
        try checkFrame(drawings)
        let venue = try NewVenue(id: venueID, name: name, drawings: drawings)
        try output.write(venue.paths) { folder in try venue.write(toFolder: folder) }
        try StandardOutput.write(lines: lines(venue))
    }

    /// Control points of one image apply to the others only if they show the same part of the Earth.
    private func checkFrame(_ drawings: [PlanDrawing]) throws {
        guard let first = drawings.first, !first.controlPoints.isEmpty else { return }
        for (plan, drawing) in zip(plans, drawings) where !drawing.hasFrame(of: first) {
            throw CommandError(
                description: "--georeference applies to all plans, but \(plan.path) has another size or scale than "
                    + "\(plans[0].path); add the georeferences of the other maps to venue.json")
        }
    }

    private func number(_ value: Double, _ decimals: Int) -> String { JSONText.number(value, decimals: decimals) }

    private func lines(_ venue: NewVenue) -> [String] {
        let (id, title) = (venue.venue.id.rawValue, venue.venue.name)
        var lines = ["\(output.path): venue \(id): \(title), \(venue.venue.maps.count.counting("map"))"]
        for (drawing, map) in zip(venue.drawings, venue.venue.maps) {
            let scale = drawing.scale
            lines.append(
                "\(map.name) (level \(map.level)): \(drawing.width) × \(drawing.height) pixels, "
                    + "\(number(map.width, 2)) × \(number(map.height, 2)) m; one pixel is "
                    + "\(number(scale.metersPerPixel * 1000, 1)) mm")
            if scale.errorPerPixel > 0.01 {
                lines.append(
                    "warning: an error of one pixel in --scale changes all distances by "
                        + "\(number(scale.errorPerPixel * 100, 1)) %; give points farther apart")
            }
        }
        lines.append("next: indoorloc venue edit \(output.path)")
        return lines
    }
}
