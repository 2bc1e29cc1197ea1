import FoundationEssentials
import IndoorVocabulary
import VenueModel

extension VenuePacket {
    /// Copies the images and tiles that a venue's maps name from this packet into a folder; files that are there
    /// already are replaced, but for those that are this packet's own.
    ///
    /// - Throws: `VenuePacketError` if a file cannot be copied.
    public func copyPlans(of venue: Venue, toFolder folder: String) throws(VenuePacketError) {
        let names = Set(venue.maps.flatMap { [$0.imagePath, $0.tilesPath] }.compactMap(\.self))
        guard !names.isEmpty else { return }
        switch storage {
        case .zip(let path):
            do throws(PacketFileError) {
                try PacketArchive(path: path).unpack(names, into: LocalPath.absolute(folder))
            } catch {
                throw VenuePacketError(file: path, message: error.message)
            }
        case .folder(let path):
            for name in names.sorted() {
                try Self.copy(path + "/" + name, to: LocalPath.absolute(folder) + "/" + name)
            }
        }
    }

    private static func copy(_ source: String, to target: String) throws(VenuePacketError) {
        let (from, to) = (URL(filePath: source), URL(filePath: target))
        guard from.resolvingSymlinksInPath().path != to.resolvingSymlinksInPath().path else { return }
        do {
            let folder = to.deletingLastPathComponent().path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let size = try FileManager.default.attributesOfItem(atPath: from.path)[.size] as? Int ?? 0
            guard size <= InputLimits.standard.image else {
                throw VenuePacketError(file: source, message: "has \(size) bytes, more than a plan may have")
            }
            try Data(contentsOf: from, options: .mappedIfSafe).write(to: to, options: .atomic)
        } catch let error as VenuePacketError {
            throw error
        } catch {
            throw VenuePacketError(file: target, message: "cannot be written: \(error.systemReason)")
        }
    }
}
