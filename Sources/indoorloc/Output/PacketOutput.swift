import Foundation
import IndoorLocalization
import VenuePackets

/// The output of a venue packet: a zip file if the name ends in .zip, otherwise a folder.
struct PacketOutput {
    /// The error of a packet that can't or must not be written.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "the output \(path) \(reason)" }
    }

    let path: String
    /// The files and folders that the command reads, except a packet that may be replaced.
    var inputs: [String] = []

    private var isZip: Bool { path.lowercased().hasSuffix(".zip") }

    /// Whether a packet was read from this path.
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

    /// The name of the file or folder without `.zip`.
    var name: String {
        let name = URL(filePath: path).lastPathComponent
        return isZip ? String(name.dropLast(4)) : name
    }

    /// Checks that a packet of this kind can be written, and that none exists unless it may be replaced.
    ///
    /// - Parameter remedy: what a person can do about an existing packet.
    func check(mayReplace: Bool, remedy: String) throws(Failure) {
        var isFolder = false
        guard exists(path, &isFolder) else { return }
        let own = FileIdentity(path: path)
        if inputs.contains(where: { FileIdentity(path: $0) == own }) {
            throw Failure(path: path, reason: "is also an input of this command; give another output")
        }
        if isZip, isFolder { throw Failure(path: path, reason: "is a folder, but its name ends in .zip") }
        if !isZip, !isFolder {
            throw Failure(path: path, reason: "is a file; give a folder, or a name that ends in .zip")
        }
        var isDirectory = false
        guard isZip || exists(path + "/venue.json", &isDirectory), !mayReplace else { return }
        throw Failure(path: path, reason: "already exists: \(remedy)")
    }

    private func exists(_ path: String, _ isFolder: inout Bool) -> Bool {
        var flag: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &flag)
        isFolder = flag.boolValue
        return exists
    }

    /// Writes a venue with the plan images of another packet.
    func write(_ venue: Venue, plansOf packet: VenuePacket?) throws {
        let plans = venue.maps.flatMap { [$0.imagePath, $0.tilesPath] }.compactMap(\.self)
        try write(plans + VenuePacketWriter.paths(of: venue)) { folder in
            // The document is written last, so that it never names a missing file.
            try packet?.copyPlans(of: venue, toFolder: folder)
            try VenuePacketWriter().write(venue, toFolder: folder)
        }
    }

    /// Writes a packet whose files a closure writes into a folder. After an error, no new part of the packet remains.
    ///
    /// - Parameter paths: the paths of the files within the packet.
    func write(_ paths: [String], _ files: (String) throws -> Void) throws {
        guard isZip else {
            var placed = PlacedFiles()
            for name in paths { placed.note(path + "/" + name) }
            do { return try files(path) } catch {
                placed.remove()
                throw error
            }
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "indoorloc-\(UUID().uuidString)").path
        defer { DiskFolder.remove(folder) }
        // Other users of the machine can't change the files before they are packed.
        try DiskFolder.create(folder)
        try files(folder)
        try VenuePacketWriter().pack(folder: folder, toZip: path)
    }
}
