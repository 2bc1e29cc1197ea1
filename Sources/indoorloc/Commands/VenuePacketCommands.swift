import Foundation
import IndoorLocalization
import LiveMap
import TextFormats
import VenueExchange
import VenuePackets

/// The command `venue new`: begins a venue packet with images of the floor plans.
struct VenueNewCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue new", operands: "", operandCount: 0...0,
        summary: "begin a venue packet with an image of each floor plan",
        details: """
            Without --plan, opens the page of 'venue edit' in the default browser on an empty plan, for which you choose the
            image and the scale there. The packet is the folder of --output, or 'venue'.

            Otherwise, writes a packet with a map for each --plan, a PNG, JPEG, GIF or WebP image. --scale gives the distance in the
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

    /// The folder of a packet that the editor begins without `--plan`.
    private static let usualFolder = "venue"

    /// The editor of an empty plan; nil if the options have the plans.
    private let editor: VenueEditCommand?
    private let output: PacketOutput
    private let mayOverwrite: Bool
    private let name: String
    private let venueID: VenueID?
    private let plans: [PlanOption]

    init(_ arguments: ParsedArguments) throws {
        let isPlanned = arguments.has("plan")
        if !isPlanned,
            let option = ["scale", "name", "id", "level", "map-name", "georeference", "overwrite"]
                .first(where: arguments.has)
        {
            throw UsageError(
                message: "--plan is missing; to choose images on a page, run 'indoorloc venue new' without --\(option)",
                command: arguments.syntax.name)
        }
        let path = isPlanned ? try arguments.required("output") : arguments.value("output") ?? Self.usualFolder
        if isPlanned { _ = try arguments.required("scale") }
        editor = isPlanned ? nil : try VenueEditCommand(new: path)
        output = PacketOutput(path: path, inputs: arguments.inputs(except: ["output"]))
        mayOverwrite = arguments.has("overwrite")
        name = arguments.value("name") ?? output.name
        venueID = try arguments.venueID()
        plans = try arguments.plans()
    }

    func run() async throws {
        if let editor { return try await editor.run() }
        try output.check(mayReplace: mayOverwrite, remedy: "use --overwrite to replace it with all its content")
        let drawings = try plans.map { try $0.drawing() }
        try checkFrame(drawings)
        try checkPoints(drawings)
        let venue = try NewVenue(id: venueID, name: name, drawings: drawings)
        let kept = imagesInPlace(of: venue)
        try output.write(venue.paths.filter { !kept.contains($0) }, mayReplace: mayOverwrite) { folder in
            try venue.write(toFolder: folder, keeping: kept)
        }
        try StandardOutput.write(lines: lines(venue))
    }

    /// Returns the paths within the packet at which the plan of the same floor already is.
    private func imagesInPlace(of venue: NewVenue) -> Set<String> {
        // A link that leaves the packet is no file of it.
        let packet = PacketFolder(path: output.path)
        let places = zip(plans, venue.paths).filter { plan, path in
            guard packet.contains(path), let file = FileIdentity(path: output.path + "/" + path) else { return false }
            return file == FileIdentity(path: plan.path)
        }
        return Set(places.map(\.1))
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

    /// The points of the options are on the images. Those of one scale for several plans are on one of these.
    private func checkPoints(_ drawings: [PlanDrawing]) throws(CommandError) {
        for (plan, drawing) in zip(plans, drawings) {
            let scaled = zip(plans, drawings).filter { $0.0.scale == plan.scale }.map(\.1)
            if !scaled.contains(where: { plan.scale.points.allSatisfy($0.contains) }) {
                try check(plan.scale.points, of: "scale", on: drawing, plan.path)
            }
            try check(drawing.controlPoints.map(\.pixel), of: "georeference", on: drawing, plan.path)
        }
    }

    private func check(
        _ points: [PixelPoint], of option: String, on drawing: PlanDrawing, _ path: String
    ) throws(CommandError) {
        guard let point = points.first(where: { !drawing.contains($0) }) else { return }
        let place = [point.x, point.y].map(ShortestNumber.digits).joined(separator: ", ")
        throw CommandError(
            description: "--\(option): the point \(place) is outside the image of \(drawing.width) × \(drawing.height) "
                + "pixels, \(path); give pixels from its top left corner")
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
        lines.append("next: indoorloc venue edit \(ShellWord.quoted(output.path))")
        return lines
    }
}

/// The command `venue import`: converts an IMDF archive, a file of OpenStreetMap or a configuration of
/// ESPresense-companion to a venue packet.
struct VenueImportCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue import", operands: "ARCHIVE", operandCount: 1...1,
        summary: "convert an IMDF archive, OpenStreetMap or ESPresense-companion to a venue packet",
        details: """
            ARCHIVE is a zip file or a folder in the Indoor Mapping Data Format 1.0 (Apple, OGC 20-094), or a file of
            OpenStreetMap with Simple Indoor Tagging: .osm, or GeoJSON of JOSM or overpass turbo. Levels become maps;
            units become rooms and walls; openings become gaps in the walls; amenities, occupants, kiosks and anchors
            become points of interest; geofences become fences. Paths are computed from door to door. Prints the items
            that were left out or changed, with the reason. --report writes these, and the ids of the archive with the
            packet's numbers, to a file. An item that breaks a rule of its format is left out, too; with --strict, it
            refuses the file.

            ARCHIVE may also be the config.yaml of ESPresense-companion. Its floors become maps, its nodes become the
            receivers of 'track', and --tags writes the register of its devices. Then 'track' runs on the same gateways.

            IMDF has no beacons: add them with a survey or by hand. An .osm file may have some (indoormark=beacon).
            --keep copies the others to the packet of the next edition, with the powers of all, the radio map, settings,
            plan images, heights, your own points and fences, and walls and paths if ARCHIVE has none. PACKET of --keep
            may be the output. Any other existing packet is replaced only with --overwrite.

            example: indoorloc venue import --language it -o museum Fixtures/imdf/museum
                     indoorloc venue import --keep museum -o museum Fixtures/imdf/museum
                     indoorloc venue import --output library Fixtures/osm/library.osm
                     indoorloc venue import --tags tags.csv -o house Fixtures/espresense/house.yaml
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
                help: "replace an existing packet with all its additions, and existing files of --report and --tags"),
            CommandOption(name: "report", argument: "FILE", help: "write the complete report to this file, as JSON"),
            CommandOption(name: "strict", help: "refuse a file with an item that breaks a rule of its format"),
            CommandOption(
                name: "tags", argument: "FILE",
                help: "write the devices of ESPresense-companion to this register (CSV), for 'track --tags'"),
        ])

    private let archive: String
    private let output: PacketOutput
    private let report: OutputFile?
    private let kept: String?
    private let mayOverwrite: Bool
    private let venueID: VenueID?
    private let edition: Int?
    private let language: String?
    private let isStrict: Bool
    private let register: OutputFile?

    init(_ arguments: ParsedArguments) throws {
        archive = try arguments.input(operand: 0)
        output = PacketOutput(
            path: try arguments.required("output"), inputs: arguments.inputs(except: ["output", "keep"]))
        register = arguments.outputFile("tags")
        report = arguments.outputFile("report")
        kept = try arguments.input("keep")
        mayOverwrite = arguments.has("overwrite")
        let exact = 9_007_199_254_740_991
        venueID = try arguments.venueID()
        edition = arguments.has("edition") ? try arguments.number("edition", in: 0...exact, else: 1) : nil
        language = arguments.value("language")
        isStrict = arguments.has("strict")
    }

    func run() throws {
        let old = try kept.map { try VenuePacketReader().read($0) }
        let isKeptPacket = old.map(output.isThePlace) ?? false
        try output.check(
            mayReplace: mayOverwrite || isKeptPacket,
            remedy: "use --keep \(output.path) to keep its beacons and other additions, or --overwrite to discard them")
        try report?.check()
        try register?.check()
        let (id, version) = (venueID ?? old?.venue.id, edition ?? old.map { $0.venue.version + 1 } ?? 1)
        let house = isCompanion() ? try readCompanion(id: id, version: version, name: old?.venue.name) : nil
        if house == nil, let register {
            throw CommandError(
                description: "--tags \(register.path): only the config.yaml of ESPresense-companion has names of tags")
        }
        var imported = try house?.imported ?? read(id: id, version: version)
        let beacons = imported.venue.beacons.count
        let overrides = try old.map { try imported.keepOverrides(of: $0.venue) }
        if let overrides, isKeptPacket, !mayOverwrite, !overrides.lost.isEmpty {
            throw PacketOutput.Failure(
                path: output.path,
                reason: "would lose \(overrides.lost.joined(separator: "; ")); give another --output to keep the old "
                    + "packet, or use --overwrite")
        }
        try output.write(imported.venue, plansOf: old, mayReplace: mayOverwrite || isKeptPacket)
        try report?.write(imported.report.document())
        if let house { try register?.write(house.register.bytes) }
        try StandardOutput.write(
            lines: lines(imported, beacons: beacons, overrides)
                + (house?.lines(packet: output.path, tags: register?.path) ?? []))
    }

    /// Returns whether the file is a configuration of ESPresense-companion: by its name, or because it is text of
    /// neither XML nor JSON.
    private func isCompanion() -> Bool {
        let name = archive.lowercased()
        if name.hasSuffix(".yaml") || name.hasSuffix(".yml") { return true }
        guard let first = firstCharacter() else { return false }
        return first < 0x7F && !"<{P".utf8.contains(first) && (first > 0x20)
    }

    private func readCompanion(id: VenueID?, version: Int, name: String?) throws -> ImportedHouse {
        ImportedHouse(
            try CompanionImporter(venueID: id, version: version, name: name ?? output.name, isStrict: isStrict)
                .read(archive))
    }

    private func read(id: VenueID?, version: Int) throws -> IMDFImport {
        guard archive.lowercased().hasSuffix(".osm") || isText() else {
            return try IMDFImporter(venueID: id, version: version, language: language, isStrict: isStrict).read(archive)
        }
        return try OSMImporter(venueID: id, version: version, language: language, isStrict: isStrict).read(archive)
    }

    /// Returns whether the file, perhaps the copy of a pipe without a name, begins as XML or as JSON.
    private func isText() -> Bool {
        firstCharacter().map { "<{".utf8.contains($0) } ?? false
    }

    /// Returns the first byte that is no blank; nil for a folder and an empty file.
    private func firstCharacter() -> UInt8? {
        let beginning = (try? FileHandle(forReadingAtPath: archive)?.read(upToCount: 64)) ?? Data()
        let text = beginning.dropFirst(ByteOrderMark.length(in: beginning))
        return text.first { !"\r\n\t ".utf8.contains($0) }
    }

    private func lines(_ imported: IMDFImport, beacons: Int, _ overrides: IMDFOverrides?) -> [String] {
        let venue = imported.venue
        var counts = [
            venue.maps.count.counting("map"), venue.rooms.count.counting("room"),
            venue.pointsOfInterest.count.counting("POI"), venue.fences.count.counting("fence"),
            venue.maps.reduce(0) { $0 + $1.walls.count }.counting("wall"),
        ]
        if beacons > 0 { counts.append(beacons.counting("beacon")) }
        if !venue.receivers.isEmpty { counts.append(venue.receivers.count.counting("receiver")) }
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

/// The command `venue edit`: serves a page on which a person changes a venue packet with a pointer.
struct VenueEditCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue edit", operands: "PACKET", operandCount: 1...1,
        summary: "draw a venue packet in a web browser",
        details: """
            PACKET is the folder of a venue packet. If it is empty or doesn't exist, a new packet begins, of which nothing
            is written before it is saved, except for the files that you choose. The page shows the plan of each floor, on
            which beacons, receivers, rooms, walls, paths and other objects are set, moved and deleted with the mouse, by
            touch or on the keyboard. It also adds floors, images of plans and the radio map, and simulates the accuracy of
            the beacons and walks. Saving checks the packet as 'venue check' does, and replaces its venue.json only if
            there is no error. Fields that the page doesn't know stay as they are. If another program has changed the file
            in the meantime, the page asks before it replaces the file.

            Prints the URL of the page, and serves it until the command is interrupted. The URL has a token: only who
            has the URL can change the packet. Changes that were not saved are in the page only, which warns before it is
            closed.

            example: cp -r Fixtures/office office
                     indoorloc venue edit --open office
                     indoorloc venue edit --open library
            """,
        options: [.loopbackAddress, .open])

    private let packet: String
    private let address: LiveMapAddress
    private let opens: Bool
    /// Whether the packet must not exist.
    private let beginsPacket: Bool

    /// Creates the command that begins a packet in a folder that is empty or doesn't exist, and opens the page.
    init(new packet: String) throws {
        self.packet = packet
        address = try LiveMapAddress("127.0.0.1:0")
        (opens, beginsPacket) = (true, true)
    }

    init(_ arguments: ParsedArguments) throws {
        packet = arguments.operands[0]
        guard packet != ParsedArguments.standardInput else {
            throw UsageError(message: "PACKET is a folder, and can't be standard input", command: Self.syntax.name)
        }
        address = try arguments.loopbackAddress(remedy: "and could change the packet; use 127.0.0.1")
        opens = arguments.has("open")
        beginsPacket = false
    }

    func run() async throws {
        let file = try EditedVenueFile(packet: packet)
        guard file.isNew || !beginsPacket else {
            throw CommandError(
                description:
                    "\(packet): the folder isn't empty; give another one with --output, or change the packet with "
                    + "'indoorloc venue edit \(packet)'")
        }
        // Every user of this host reaches the port, so that a token is required.
        let token = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        let listener = try LiveMapListener(address, token: token)
        let title = URL(filePath: file.folder).lastPathComponent
        let server = try LiveMapServer(routes: VenueEditRoutes(file: file, title: title), listener: listener)
        defer { server.stop() }
        if file.isNew {
            StandardError.line(
                "\(packet): a new packet; nothing is written before you save it, except for the files that you choose",
                .info)
        }
        let url = "\(server.url)?token=\(token)"
        let interruption = PageInterruption()
        try StandardOutput.write(url + "\n")
        let page = opens ? try RedirectingPage(to: url) : nil
        if let page { LocalPage.open(page.path) }
        await interruption.wait()
        page?.remove()
        await file.removeUnusedUploads()
    }
}

/// A file that leads a browser to an address with a secret, which the arguments of a process would show to all users.
private struct RedirectingPage {
    let path: String

    /// Writes the file, which only its owner can read.
    ///
    /// - Throws: `CommandError` if the file can't be written.
    init(to url: String) throws(CommandError) {
        let folder = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? NSTemporaryDirectory()
        path = folder + "/indoorloc-\(UUID().uuidString).html"
        let html = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=\(url)\"><title>indoorloc</title>"
        do throws(FileSystemError) {
            try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600).write(Array(html.utf8))
        } catch {
            throw CommandError(description: "--open: \(error); open the printed address in a browser")
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// The command `venue check`: lists the problems of a venue packet.
struct VenueCheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue check", operands: "V", operandCount: 1...1, summary: "list all problems of a venue packet",
        details: """
            Prints one line per problem: error, warning or note, the JSON path, the problem and advice. The exit status
            is 1 if there is an error; warnings and notes alone are a success. A note names an expert setting, which may
            change or go in any release. If a map has paths, rooms and points of interest that no
            path reaches are listed. Before the last line, the command prints the kinds of names of the packet's beacons with
            their numbers, and the beacons that are also known by their address.

            example: indoorloc venue check Fixtures/office
            """)

    private let path: String

    init(_ arguments: ParsedArguments) throws { path = try arguments.input(operand: 0) }

    func run() throws {
        let (venue, problems) = VenuePacketReader().checked(path)
        let errors = problems.count { $0.severity == .error }
        var lines = problems.map(\.description)
        let notes = problems.count { $0.severity == .note }
        var counts = errors.counting("error") + ", " + (problems.count - errors - notes).counting("warning")
        if notes > 0 { counts += ", " + notes.counting("note") }
        if let text = venue.flatMap(\.beaconNamingText) { lines.append("\(path): \(text)") }
        if let text = venue.flatMap(Self.addresses) { lines.append("\(path): \(text)") }
        lines.append("\(path): " + (problems.isEmpty ? "no problems" : counts))
        try StandardOutput.write(lines: lines)
        if errors > 0 { throw ReportedFailure() }
    }

    /// The beacons that are also known by their address, in words; nil if there are none.
    private static func addresses(of venue: Venue) -> String? {
        let addressed = venue.beacons.filter { $0.address != nil && $0.naming != .address }
        guard !addressed.isEmpty else { return nil }
        let named = addressed.prefix(5).map { beacon in
            "\(beacon.address.map(\.description) ?? "") is \(beacon.name)"
        }
        let rest = addressed.count > 5 ? ", and \(addressed.count - 5) more" : ""
        return "beacons also known by their address: \(addressed.count) of \(venue.beacons.count): "
            + named.joined(separator: ", ") + rest
    }
}

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
