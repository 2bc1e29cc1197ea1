import Foundation
import VenuePackets

/// Writes a venue packet as GeoJSON.
struct VenueExportCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue export", operands: "V", operandCount: 1...1, summary: "write a venue packet as GeoJSON",
        details: """
            Writes plan outlines, walkable areas, walls, rooms, fences, beacons, points of interest and paths as one
            FeatureCollection (RFC 7946) for QGIS, geojson.io and web maps. Each feature has the properties kind, level,
            map and mapId. All maps must be georeferenced.

            example: indoorloc venue export -o office.geojson Fixtures/office
            """,
        options: [.output])

    private let path: String
    private let output: String

    init(_ arguments: ParsedArguments) throws {
        path = arguments.operands[0]
        output = try arguments.required("output")
    }

    func run() throws {
        let packet = try VenuePacketReader().read(path)
        try OutputFile.write(try GeoJSONWriter().document(of: packet.venue), to: output)
    }
}
