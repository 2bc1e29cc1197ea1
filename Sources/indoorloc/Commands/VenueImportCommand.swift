import Foundation
import IndoorLocalization
import TextFormats
import VenuePackets

/// The command `venue import`: converts an IMDF archive or a file of OpenStreetMap to a venue packet.
struct VenueImportCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue import", operands: "ARCHIVE", operandCount: 1...1,
        summary: "convert an IMDF archive or an .osm file to a venue packet",
        details: """
            ARCHIVE is a zip file or a folder in the Indoor Mapping Data Format 1.0 (Apple, OGC 20-094), or an .osm file
            of OpenStreetMap with Simple Indoor Tagging. Levels become maps; units become rooms and walls; openings
            become gaps in the walls; amenities, occupants, kiosks and anchors become points of interest; geofences
            become fences. Paths are computed from door to door. Prints the items that were left out or changed, with
            the reason. --report writes these, and the ids of the archive with the packet's numbers, to a file.

            IMDF has no beacons: add them with a survey or by hand. An .osm file may have some (indoormark=beacon).
            --keep copies the others to the packet of the next edition, with the radio map, settings, plan images,
            heights, and your own points and fences. PACKET of --keep may be the output. Any other existing packet is
            replaced only with --overwrite.

            example: indoorloc venue import --language it -o museum Fixtures/imdf/museum
                     indoorloc venue import --keep museum -o museum Fixtures/imdf/museum
                     indoorloc venue import --output library Fixtures/osm/library.osm
            """,
        options: [
            .packetOutput,
            CommandOption(
                name: "id", argument: "N",
                help: "number of the venue (default: that of the kept packet, or computed from the archive's id)"),
            CommandOption(
                name: "edition", argument: "N",
                help: "version of the packet (default: 1, or one more than the kept packet's)"),
            CommandOption(
                name: "language", argument: "TAG", help: "language of names, such as en (default: that of the archive)"),
            CommandOption(
                name: "keep", argument: "PACKET",
                help: "copy data that the format can't store, such as beacons, from this packet"),
            CommandOption(
                name: "overwrite",
                help: "replace an existing packet with all its additions, and an existing report"),
            CommandOption(name: "report", argument: "FILE", help: "write the complete report to this file, as JSON"),
        ])

    private let archive: String
    private let output: PacketOutput
    private let report: OutputFile?
    private let kept: String?
    private let mayOverwrite: Bool
    private let venueID: VenueID?
    private let edition: Int?
    private let language: String?

    init(_ arguments: ParsedArguments) throws {
        archive = try arguments.input(operand: 0)
        output = PacketOutput(
            path: try arguments.required("output"), inputs: arguments.inputs(except: ["output", "keep"]))
        report = arguments.outputFile("report")
        kept = try arguments.input("keep")
        mayOverwrite = arguments.has("overwrite")
        let exact = 9_007_199_254_740_991
        venueID = try arguments.venueID()
        edition = arguments.has("edition") ? try arguments.number("edition", in: 0...exact, else: 1) : nil
        language = arguments.value("language")
    }

    func run() throws {
        let old = try kept.map { try VenuePacketReader().read($0) }
        let isKeptPacket = old.map(output.isThePlace) ?? false
        try output.check(
            mayReplace: mayOverwrite || isKeptPacket,
            remedy: "use --keep \(output.path) to keep its beacons and other additions, or --overwrite to discard them")
        try report?.check()
        var imported = try read(id: venueID ?? old?.venue.id, version: edition ?? old.map { $0.venue.version + 1 } ?? 1)
        let beacons = imported.venue.beacons.count
        let overrides = try old.map { try imported.keepOverrides(of: $0.venue) }
        if let overrides, isKeptPacket, !mayOverwrite, !overrides.lost.isEmpty {
            throw PacketOutput.Failure(
                path: output.path,
                reason: "would lose \(overrides.lost.joined(separator: "; ")); give another --output to keep the old "
                    + "packet, or use --overwrite")
        }
        try output.write(imported.venue, plansOf: old)
        try report?.write(imported.report.document())
        try StandardOutput.write(lines: lines(imported, beacons: beacons, overrides))
    }

    private func read(id: VenueID?, version: Int) throws -> IMDFImport {
        guard archive.lowercased().hasSuffix(".osm") || isXML() else {
            return try IMDFImporter(venueID: id, version: version, language: language).read(archive)
        }
        return try OSMImporter(venueID: id, version: version, language: language).read(archive)
    }

    /// Returns whether the file, perhaps the copy of a pipe without a name, begins as XML.
    private func isXML() -> Bool {
        let beginning = (try? FileHandle(forReadingAtPath: archive)?.read(upToCount: 64)) ?? Data()
        let text = beginning.dropFirst(ByteOrderMark.length(in: beginning))
        return text.first { !"\r\n\t ".utf8.contains($0) } == UInt8(ascii: "<")
    }

    private func lines(_ imported: IMDFImport, beacons: Int, _ overrides: IMDFOverrides?) -> [String] {
        let venue = imported.venue
        var counts = [
            venue.maps.count.counting("map"), venue.rooms.count.counting("room"),
            venue.pointsOfInterest.count.counting("POI"), venue.fences.count.counting("fence"),
            venue.maps.reduce(0) { $0 + $1.walls.count }.counting("wall"),
        ]
        if beacons > 0 { counts.append(beacons.counting("beacon")) }
        var lines = ["\(output.path): venue \(venue.id.rawValue): \(venue.name), \(counts.joined(separator: ", "))"]
        if let kept, let overrides {
            lines.append(
                "kept from \(kept): " + (overrides.kept.isEmpty ? "nothing" : overrides.kept.joined(separator: ", ")))
            lines += overrides.lost.map { "not kept: \($0)" }
        }
        lines += imported.report.description.split(separator: "\n").map(String.init)
        return lines
    }
}
