import Foundation
import IndoorLocalization
import VenuePackets

/// Turns an archive in the Indoor Mapping Data Format into a venue packet.
struct VenueImportCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue import", operands: "ARCHIVE", operandCount: 1...1,
        summary: "make a venue packet of an IMDF archive",
        details: """
            ARCHIVE is a zip or a folder in the Indoor Mapping Data Format 1.0 (Apple, OGC 20-094). Levels become maps,
            units rooms and walls, openings gaps in the walls, amenities, occupants, kiosks and anchors points of
            interest, geofences fences; ways are found from door to door. Prints what was left out or changed, and why;
            the numbers of the packet with the ids of the archive are in the report that --report writes.

            IMDF has no beacons: they come from a survey or by hand. --keep carries them into the packet of the next
            edition, with the radio map, settings, plan images, heights, and points and fences of one's own. It may be
            the output itself; any other packet that is there already is replaced with --overwrite only.

            example: indoorloc venue import --language it -o museum Fixtures/imdf/museum
                     indoorloc venue import --keep museum -o museum Fixtures/imdf/museum
            """,
        options: [
            CommandOption(
                name: "output", short: "o", argument: "PACKET",
                help: "the packet to write: a zip if the name ends in .zip, else a folder"),
            CommandOption(
                name: "id", argument: "N",
                help: "number of the venue (default: the kept packet's, else made of the archive's id)"),
            CommandOption(
                name: "edition", argument: "N",
                help: "version of the packet (default 1, or the one after the kept packet's)"),
            CommandOption(
                name: "language", argument: "TAG", help: "language of names, such as en (default: the archive's own)"),
            CommandOption(
                name: "keep", argument: "PACKET", help: "take over from it what the archive cannot hold, as beacons"),
            CommandOption(
                name: "overwrite",
                help: "replace the packet that is there, and all that was added to it; the report, too"),
            CommandOption(name: "report", argument: "FILE", help: "write the whole report there, as JSON"),
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
        venueID =
            arguments.has("id") ? VenueID(rawValue: try arguments.number("id", in: -exact...exact, else: 0)) : nil
        edition = arguments.has("edition") ? try arguments.number("edition", in: 0...exact, else: 1) : nil
        language = arguments.value("language")
    }

    func run() throws {
        let old = try kept.map { try VenuePacketReader().read($0) }
        let isKeptPacket = old.map(output.isThePlace) ?? false
        try output.check(mayReplace: mayOverwrite || isKeptPacket)
        try report?.check()
        let importer = IMDFImporter(
            venueID: venueID ?? old?.venue.id, version: edition ?? old.map { $0.venue.version + 1 } ?? 1,
            language: language)
        var imported = try importer.read(archive)
        let handwork = try old.map { try imported.keepHandwork(of: $0.venue) }
        if let handwork, isKeptPacket, !mayOverwrite, !handwork.lost.isEmpty {
            throw PacketOutput.Failure(
                path: output.path,
                reason: "would lose \(handwork.lost.joined(separator: "; ")); give another --output and keep the old "
                    + "packet, or say --overwrite")
        }
        try output.write(imported.venue, plansOf: old)
        try report?.write(imported.report.document())
        try StandardOutput.write(lines: lines(imported, handwork))
    }

    private func lines(_ imported: IMDFImport, _ handwork: IMDFOverrides?) -> [String] {
        let venue = imported.venue
        let counts = [
            venue.maps.count.counting("map"), venue.rooms.count.counting("room"),
            venue.pointsOfInterest.count.counting("POI"), venue.fences.count.counting("fence"),
            venue.maps.reduce(0) { $0 + $1.walls.count }.counting("wall"),
        ]
        var lines = ["\(output.path): venue \(venue.id.rawValue): \(venue.name), \(counts.joined(separator: ", "))"]
        if let kept, let handwork {
            lines.append(
                "kept from \(kept): " + (handwork.kept.isEmpty ? "nothing" : handwork.kept.joined(separator: ", ")))
            lines += handwork.lost.map { "not kept: \($0)" }
        }
        lines += imported.report.description.split(separator: "\n").map(String.init)
        return lines
    }
}
