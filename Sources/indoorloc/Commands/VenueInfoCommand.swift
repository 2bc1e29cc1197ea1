import IndoorLocalization
import VenuePackets

/// The command `venue info`: summarizes a venue packet.
struct VenueInfoCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue info", operands: "V", operandCount: 1...1, summary: "summarize a venue packet",
        details: "example: indoorloc venue info Fixtures/office")

    private let path: String

    init(_ arguments: ParsedArguments) throws { path = try arguments.input(operand: 0) }

    func run() throws {
        let packet = try VenuePacketReader().read(path)
        let venue = packet.venue
        var lines = ["venue \(venue.id.rawValue): \(venue.name), version \(venue.version)"]
        if let coordinate = venue.coordinate {
            let place = [coordinate.latitude, coordinate.longitude].map { JSONText.number($0, decimals: 6) }
            let radius = venue.radius.map { ", radius \(JSONText.number($0, decimals: 0)) m" } ?? ""
            lines.append("at \(place.joined(separator: ", "))\(radius)")
        }
        lines += venue.maps.map { Self.line(of: $0, in: venue) }
        let isMixed = venue.beacons.contains { $0.naming != .uuid }
        if isMixed, let text = venue.beaconNamingText { lines.append(text) }
        if let paths = venue.paths {
            lines.append("paths: \(paths.nodes.count.counting("node")), \(paths.edges.count.counting("edge"))")
        }
        lines.append(Self.radioMapLine(of: venue))
        let settings = SettingsEntry.entries(of: venue.settings).map(\.key).sorted()
        if !settings.isEmpty { lines.append("settings: " + settings.joined(separator: ", ")) }
        for warning in packet.warnings { lines.append(warning.description) }
        try StandardOutput.write(lines: lines)
    }

    private static func line(of map: VenueMap, in venue: Venue) -> String {
        let size = [map.width, map.height].map { JSONText.number($0, decimals: 1) }.joined(separator: " x ")
        var parts = ["map \(map.id.rawValue): \(map.name), level \(map.level), \(size) m"]
        parts.append(venue.beacons.count { $0.mapID == map.id }.counting("beacon"))
        let receivers = venue.receivers.count { $0.mapID == map.id }
        if receivers > 0 { parts.append(receivers.counting("receiver")) }
        let anchors = venue.anchors.count { $0.mapID == map.id }
        if anchors > 0 { parts.append(anchors.counting("anchor")) }
        parts.append(venue.rooms.count { $0.mapID == map.id }.counting("room"))
        parts.append(venue.fences.count { $0.mapID == map.id }.counting("fence"))
        parts.append(venue.pointsOfInterest.count { $0.mapID == map.id }.counting("POI"))
        parts.append(map.walls.count.counting("wall"))
        if map.georeference != nil { parts.append("georeferenced") }
        if map.imagePath != nil { parts.append("plan image") }
        if map.tilesPath != nil { parts.append("tiles") }
        return parts.joined(separator: ", ")
    }

    private static func radioMapLine(of venue: Venue) -> String {
        guard let map = venue.radioMap else { return "radio map: none; 'indoorloc survey' learns one from recordings" }
        return "radio map: \(map.fingerprints.count.counting("place")), \(map.beacons.count.counting("beacon"))"
    }
}
