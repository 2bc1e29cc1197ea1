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
            the numbers of the packet with the ids of the archive are in the report that --report writes. Beacons come
            from a survey: IMDF has none.

            example: indoorloc venue import --language it -o museum Fixtures/imdf/museum
            """,
        options: [
            CommandOption(
                name: "output", short: "o", argument: "PACKET",
                help: "the packet to write: a zip if the name ends in .zip, else a folder"),
            CommandOption(
                name: "id", argument: "N", help: "number of the venue (default: made of its id in the archive)"),
            CommandOption(name: "edition", argument: "N", help: "version of the packet (default 1)"),
            CommandOption(
                name: "language", argument: "TAG", help: "language of names, such as en (default: the archive's own)"),
            CommandOption(name: "report", argument: "FILE", help: "write the whole report there, as JSON"),
        ])

    private let archive: String
    private let output: String
    private let report: String?
    private let importer: IMDFImporter

    init(_ arguments: ParsedArguments) throws {
        archive = arguments.operands[0]
        output = try arguments.required("output")
        report = arguments.value("report")
        let exact = 9_007_199_254_740_991
        let id = arguments.has("id") ? try arguments.number("id", in: -exact...exact, else: 0) : nil
        importer = IMDFImporter(
            venueID: id.map { VenueID(rawValue: $0) }, version: try arguments.number("edition", in: 0...exact, else: 1),
            language: arguments.value("language"))
    }

    func run() throws {
        let imported = try importer.read(archive)
        try write(imported.venue)
        if let report { try OutputFile.write(imported.report.document(), to: report) }
        let venue = imported.venue
        let counts = [
            "\(venue.maps.count) maps", "\(venue.rooms.count) rooms", "\(venue.pointsOfInterest.count) POIs",
            "\(venue.fences.count) fences", "\(venue.maps.reduce(0) { $0 + $1.walls.count }) walls",
        ]
        var lines = ["\(output): venue \(venue.id.rawValue): \(venue.name), \(counts.joined(separator: ", "))"]
        if !imported.report.remarks.isEmpty { lines.append(imported.report.description) }
        try StandardOutput.write(lines.joined(separator: "\n") + "\n")
    }

    private func write(_ venue: Venue) throws {
        guard output.lowercased().hasSuffix(".zip") else {
            return try VenuePacketWriter().write(venue, toFolder: output)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "indoorloc-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try VenuePacketWriter().write(venue, toFolder: folder)
        try VenuePacketWriter().pack(folder: folder, toZip: output)
    }
}
