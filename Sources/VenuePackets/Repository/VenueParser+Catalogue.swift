import IndoorVocabulary
import TextFormats
import VenueModel

/// The content of a catalogue.
struct CatalogueContent: Sendable {
    /// The entries without an error.
    var entries: [VenueID: CatalogueEntry] = [:]
    /// The problems of the other entries, by venue if the entry's venue is known.
    var broken: [VenueID: [VenueProblem]] = [:]
    /// All problems.
    var problems: [VenueProblem] = []
}

extension VenueParser {
    /// Returns the content of a catalogue's document; nil if the whole document has an error.
    mutating func catalogue(_ document: JSONTree) -> CatalogueContent? {
        guard case .object(let fields) = document else {
            report(.error, "$", "the document is \(document.summary); give an object with the fields of a catalogue")
            return nil
        }
        let root = JSONObject(fields: fields, path: "$")
        let wanted = CatalogueDocument.format
        let format = string("format", of: root, wanted: "\"\(wanted)\"")
        if let format, format != wanted {
            report(.error, "$.format", "is \"\(format)\"; a catalogue has \"\(wanted)\" here")
        }
        let version = integer("formatVersion", of: root, .edition)
        if let version, !(1...CatalogueDocument.formatVersion).contains(version) {
            report(
                .error, "$.formatVersion",
                "is \(version), but this reader supports 1; use a newer reader or write version 1")
        }
        guard problemCount == 0, required("venues", of: root, wanted: "an array"), case .array? = root["venues"] else {
            if problemCount == 0 { report(.error, "$.venues", "is not an array; give the venues") }
            return nil
        }
        var seen: [Int: String] = [:]
        var content = CatalogueContent()
        for entry in objects("venues", of: root) {
            let id = uniqueID(of: entry, among: &seen)
            let (problemsBefore, reportedBefore) = (problemCount, problems.count)
            let parsed = catalogueEntry(entry, id: id)
            guard let venue = id.map({ VenueID(rawValue: $0) }), content.entries[venue] == nil else { continue }
            if problemCount > problemsBefore {
                content.broken[venue] = Array(problems.dropFirst(reportedBefore))
            } else {
                content.entries[venue] = parsed
            }
        }
        content.problems = problems
        return content
    }

    private mutating func catalogueEntry(_ entry: JSONObject, id: Int?) -> CatalogueEntry? {
        let summary = summary(of: entry, id: id)
        let packet = publishedFile(of: entry, pathKey: "packet")
        var files: [String: PublishedFile] = [:]
        for object in objects("files", of: entry) {
            let name = publishedPath("name", of: object)
            let file = publishedFile(of: object, pathKey: "path")
            guard let name, let file else { continue }
            if files.updateValue(file, forKey: name) != nil {
                report(.error, object.path(of: "name"), "is \"\(name)\", which is a duplicate; give each file once")
            }
        }
        guard let summary, let packet else { return nil }
        return CatalogueEntry(summary: summary, packet: packet, files: files)
    }

    /// Returns a venue's summary, by which a session recognizes it.
    mutating func summary(of entry: JSONObject, id: Int?) -> VenueSummary? {
        let name = string("name", of: entry, wanted: "the venue's name")
        let version = integer("version", of: entry, .edition)
        let coordinate = optionalObject("coordinate", of: entry).flatMap { self.coordinate(of: $0) }
        let radius = optionalNumber("radius", of: entry, .length)
        var regions: Set<BeaconRegion> = []
        for object in objects("regions", of: entry, isRequired: true) { regions.formUnion(self.regions(of: object)) }
        var addresses: [DeviceAddress: BeaconIdentity] = [:]
        for object in objects("addresses", of: entry) {
            guard let address = address(of: object), let beacon = identity(of: object) else { continue }
            addresses[address] = beacon
        }
        guard let id, let name, let version else { return nil }
        return VenueSummary(
            id: VenueID(rawValue: id), name: name, version: version, coordinate: coordinate, radius: radius,
            regions: regions, addresses: addresses)
    }

    private mutating func regions(of object: JSONObject) -> [BeaconRegion] {
        let wanted = "32 hexadecimal digits as 8-4-4-4-12"
        let text = string("uuid", of: object, wanted: wanted)
        let uuid = text.flatMap { BeaconUUID($0) }
        if let text, uuid == nil { report(.error, object.path(of: "uuid"), "is \"\(text)\"; give \(wanted)") }
        let major = optionalInteger("major", of: object, .beaconNumber).map { UInt16(truncatingIfNeeded: $0) }
        guard let minors = optionalArray("minors", of: object) else {
            return uuid.map { [BeaconRegion(uuid: $0, major: major)] } ?? []
        }
        if major == nil { report(.error, object.path(of: "minors"), "needs a major; give the major, too") }
        return minors.compactMap { value, path in
            guard case .number(let number) = value, let minor = UInt16(exactly: number) else {
                report(.error, path, "is \(value.summary); give \(IntegerRule.beaconNumber.wanted)")
                return nil
            }
            return uuid.map { BeaconRegion(uuid: $0, major: major, minor: minor) }
        }
    }

    private mutating func publishedFile(of object: JSONObject, pathKey: String) -> PublishedFile? {
        let path = publishedPath(pathKey, of: object)
        let size = integer("size", of: object, .fileSize)
        let wanted = "64 lower-case hexadecimal digits"
        let digest = string("sha256", of: object, wanted: wanted)
        if let digest, digest.utf8.count != 64 || !digest.utf8.allSatisfy(Self.isHexadecimal) {
            report(.error, object.path(of: "sha256"), "is \"\(digest.prefix(80))\"; give \(wanted)")
        }
        guard let path, let size, let digest else { return nil }
        return PublishedFile(path: path, size: size, digest: digest)
    }

    private mutating func publishedPath(_ key: String, of object: JSONObject) -> String? {
        guard let path = string(key, of: object, wanted: "a path") else { return nil }
        guard PacketPath.isInside(path) else {
            report(
                .error, object.path(of: key), "\"\(path)\" is not a path below the folder; give one without . and ..")
            return nil
        }
        return path
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

extension IntegerRule {
    /// The size of a venue's file: at most the unpacked size of a packet.
    fileprivate static let fileSize = IntegerRule(
        range: 1...InputLimits.standard.unpacked,
        wanted: "a whole number of bytes from 1 to \(InputLimits.standard.unpacked)")
}
