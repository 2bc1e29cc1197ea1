import Foundation
import IndoorLocalization
import VenuePackets

/// Where a packet is written: a zip if the name ends in .zip, else a folder.
struct PacketOutput {
    /// A packet that is not written.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "the output \(path) \(reason)" }
    }

    let path: String
    /// Files and folders that the command reads, but for a packet that may be replaced.
    var inputs: [String] = []

    private var isZip: Bool { path.lowercased().hasSuffix(".zip") }

    /// Whether this is where a packet was read from.
    func isThePlace(of packet: VenuePacket) -> Bool {
        let place =
            switch packet.storage {
            case .folder(let path), .zip(let path): path
            }
        return Self.resolved(place) == Self.resolved(path)
    }

    private static func resolved(_ path: String) -> String {
        URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }

    /// Refuses a place that is not for a packet of this kind, or that holds one already.
    func check(mayReplace: Bool) throws(Failure) {
        var isFolder = false
        guard exists(path, &isFolder) else { return }
        let own = FileIdentity(path: path)
        if inputs.contains(where: { FileIdentity(path: $0) == own }) {
            throw Failure(path: path, reason: "is read by this command, too; give another output")
        }
        if isZip, isFolder { throw Failure(path: path, reason: "is a folder; a name that ends in .zip is for a file") }
        if !isZip, !isFolder {
            throw Failure(path: path, reason: "is a file; give a folder, or a name that ends in .zip")
        }
        var isDirectory = false
        guard isZip || exists(path + "/venue.json", &isDirectory), !mayReplace else { return }
        throw Failure(
            path: path,
            reason: "is there already: say --keep \(path) to take over its beacons and what else was added to it, "
                + "or --overwrite to lose them")
    }

    private func exists(_ path: String, _ isFolder: inout Bool) -> Bool {
        var flag: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &flag)
        isFolder = flag.boolValue
        return exists
    }

    /// Writes a venue with the plan images that it has from another packet.
    func write(_ venue: Venue, plansOf packet: VenuePacket?) throws {
        guard isZip else { return try write(venue, plansOf: packet, toFolder: path) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "indoorloc-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write(venue, plansOf: packet, toFolder: folder)
        try VenuePacketWriter().pack(folder: folder, toZip: path)
    }

    private func write(_ venue: Venue, plansOf packet: VenuePacket?, toFolder folder: String) throws {
        // The document comes last: a packet names no file that it does not have yet.
        try packet?.copyPlans(of: venue, toFolder: folder)
        try VenuePacketWriter().write(venue, toFolder: folder)
    }
}
