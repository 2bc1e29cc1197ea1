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
    /// The plan images and tiles that are separate files on the server, by their path within the packet.
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
