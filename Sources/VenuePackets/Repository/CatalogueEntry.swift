import IndoorVocabulary
import TextFormats
import VenueModel

/// A file on a venue server, with its size and digest.
package struct PublishedFile: Hashable, Sendable {
    /// The path below the server's folder.
    package var path: String
    /// The size in bytes.
    package var size: Int
    /// The SHA-256 digest as 64 lower-case hexadecimal digits.
    package var digest: String
}

/// A venue's entry in a server's catalogue.
package struct CatalogueEntry: Hashable, Sendable {
    /// The data by which a session recognizes the venue.
    package var summary: VenueSummary
    /// The packet's zip, which may lack the files below.
    package var packet: PublishedFile
    /// The images and tiles that are separate files on the server, by their path within the packet.
    package var files: [String: PublishedFile]

    /// The total size of the venue's files in bytes.
    var size: Int { files.values.reduce(packet.size) { $0 + $1.size } }
}

/// Creates the document tree of a server's catalogue: the reverse of `VenueParser.catalogue`.
enum CatalogueDocument {
    /// The value of `format`.
    static let format = "indoor-localization-catalogue"
    /// The highest supported `formatVersion`.
    static let formatVersion = 1
    /// The largest size of a catalogue in bytes, uncompressed: enough for some 30,000 venues.
    static let limit = InputLimits.standard.catalogue

    /// Returns the document; fields without a value are omitted.
    static func tree(_ entries: [CatalogueEntry]) -> JSONTree {
        .object([
            "format": .string(format), "formatVersion": .number(Double(formatVersion)),
            "venues": .array(entries.sorted { $0.summary.id < $1.summary.id }.map(entry)),
        ])
    }

    private static func entry(_ entry: CatalogueEntry) -> JSONTree {
        var fields = Self.fields(entry.summary)
        fields.merge(Self.fields(entry.packet, pathKey: "packet")) { $1 }
        if !entry.files.isEmpty {
            fields["files"] = .array(
                entry.files.sorted { $0.key < $1.key }.map { name, file in
                    .object(Self.fields(file, pathKey: "path").merging(["name": .string(name)]) { $1 })
                })
        }
        return .object(fields)
    }

    private static func fields(_ file: PublishedFile, pathKey: String) -> [String: JSONTree] {
        [pathKey: .string(file.path), "size": .number(Double(file.size)), "sha256": .string(file.digest)]
    }

    /// Returns the fields of a venue's summary.
    static func fields(_ summary: VenueSummary) -> [String: JSONTree] {
        let center = summary.coordinate.map { coordinate -> JSONTree in
            .object(["latitude": .number(coordinate.latitude), "longitude": .number(coordinate.longitude)])
        }
        let fields: [String: JSONTree?] = [
            "id": .number(Double(summary.id.rawValue)),
            "name": .string(summary.name),
            "version": .number(Double(summary.version)),
            "coordinate": center,
            "radius": summary.radius.map(JSONTree.number),
            "regions": .array(regions(summary.regions)),
            "addresses": summary.addresses.isEmpty ? nil : .array(addresses(summary.addresses)),
        ]
        return fields.compactMapValues(\.self)
    }

    /// Returns the beacons with their addresses, sorted by address.
    private static func addresses(_ addresses: [DeviceAddress: BeaconIdentity]) -> [JSONTree] {
        addresses.sorted { $0.key < $1.key }.map { address, beacon in
            var fields: [String: JSONTree] = [
                "address": .string(address.description), "uuid": .string(beacon.uuid.description),
                "major": .number(Double(beacon.major)), "minor": .number(Double(beacon.minor)),
            ]
            fields["addressType"] = address.kind.map { .string($0.rawValue) }
            return .object(fields)
        }
    }

    /// Returns regions grouped by UUID and major, with their minors in one list, because a venue may have a thousand
    /// beacons.
    private static func regions(_ regions: Set<BeaconRegion>) -> [JSONTree] {
        let groups = Dictionary(grouping: regions) { BeaconRegion(uuid: $0.uuid, major: $0.major) }
        return groups.sorted { ($0.key.uuid, $0.key.major ?? 0) < ($1.key.uuid, $1.key.major ?? 0) }.map { key, group in
            var fields: [String: JSONTree] = ["uuid": .string(key.uuid.description)]
            if let major = key.major { fields["major"] = .number(Double(major)) }
            let minors = group.compactMap(\.minor).sorted()
            // A region without a minor includes all minors.
            if minors.count == group.count { fields["minors"] = .array(minors.map { .number(Double($0)) }) }
            return .object(fields)
        }
    }
}

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
