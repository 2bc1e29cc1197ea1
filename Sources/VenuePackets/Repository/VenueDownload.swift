import Glibc
import VenueModel

/// Downloads one version of a venue: the packet, then what is a file of its own.
struct VenueDownload: Sendable {
    /// The share of the progress that the download has; checking and storing have the rest.
    private static let downloadShare = 0.95

    let entry: CatalogueEntry
    /// The version that is stored already; its files need not be downloaded again if they are the same.
    let stored: StoredVersion?
    let download: FileDownload
    let cache: VenueCache

    /// Downloads, checks and stores it.
    @concurrent func run(_ progress: MonotoneProgress) async throws(VenueRepositoryError) -> StoredVersion {
        let total = Double(entry.size)
        let tell: @Sendable (Int) -> Void = { progress.reach(Double($0) / total * Self.downloadShare) }
        let packet = try PartialFile(of: entry.packet.digest, in: cache.work)
        let isSamePath = stored?.record.packetPath == entry.packet.path
        let outcome = try await download.fetch(
            entry.packet, into: packet, unless: isSamePath ? stored?.record.tag : nil, progress: tell)
        guard case .fetched(let tag) = outcome else {
            let url = download.server.address(of: entry.packet.path)
            let promise = "is still that of version \(stored?.version ?? 0), the catalogue promises"
            throw .broken(url, "$.version", "\(promise) \(entry.summary.version); publish it anew")
        }
        var done = entry.packet.size
        var parts = VenueCache.Parts(
            packet: packet.path, id: entry.summary.id, version: entry.summary.version,
            source: download.server.address(of: entry.packet.path), packetPath: entry.packet.path, tag: tag,
            digests: entry.files.mapValues(\.digest))
        var partials: [PartialFile] = []
        for (name, file) in entry.files.sorted(by: { $0.key < $1.key }) {
            if let path = storedFile(name, file) {
                parts.files[name] = path
            } else {
                let partial = try PartialFile(of: file.digest, in: cache.work)
                let before = done
                _ = try await download.fetch(file, into: partial) { tell(before + $0) }
                parts.files[name] = partial.path
                partials.append(partial)
            }
            done += file.size
            tell(done)
        }
        let installed = try cache.install(parts)
        // Kept until here: had the process ended before, the next one would not have begun anew.
        for partial in partials + [packet] { partial.remove() }
        return installed
    }

    /// The path of a file that the stored version has with the same bytes; nil if it has none.
    private func storedFile(_ name: String, _ file: PublishedFile) -> String? {
        guard let stored, stored.record.digests[name] == file.digest else { return nil }
        let path = stored.packetPath + "/" + name
        var status = stat()
        guard lstat(path, &status) == 0, status.st_size == file.size else { return nil }
        return path
    }
}
