import Foundation
import VenuePackets

/// The command `venue export`: writes a venue packet as GeoJSON.
struct VenueExportCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue export", operands: "V", operandCount: 1...1, summary: "write a venue packet as GeoJSON",
        details: """
            Writes plan outlines, walkable areas, walls, rooms, fences, beacons, points of interest and paths as one
            FeatureCollection (RFC 7946) for QGIS, geojson.io and web maps. Each feature has the properties kind, level,
            map and mapId. All maps must be georeferenced; with --local-frame, the coordinates are metres on each map, x to
            the right and y up from its lower left corner.

            example: indoorloc venue export -o office.geojson Fixtures/office
            """,
        options: [.output, .localFrame, .overwrite])

    private let path: String
    private let output: OutputFile
    private let frame: GeoJSONWriter.Frame

    init(_ arguments: ParsedArguments) throws {
        path = try arguments.input(operand: 0)
        output = try arguments.requiredOutputFile("output")
        frame = arguments.has("local-frame") ? .local : .geographic
    }

    func run() throws {
        try output.check()
        let packet = try VenuePacketReader().read(path)
        try output.write(try GeoJSONWriter(frame: frame).document(of: packet.venue))
    }
}
