import Glibc
import IndoorVocabulary
import VenueModel

/// The download of one version of a venue: the packet, then its separate files.
struct VenueDownload: Sendable {
    /// The share of the download in the progress; checking and storing have the rest.
    private static let downloadShare = 0.95

    let entry: CatalogueEntry
    /// The version that is already stored; files that haven't changed aren't downloaded again.
    let stored: StoredVersion?
    let download: FileDownload
    let cache: VenueCache

    /// Downloads, checks and stores the version.
    @concurrent func run(_ progress: MonotonicProgress) async throws(VenueRepositoryError) -> StoredVersion {
        let total = Double(entry.size)
        let report: @Sendable (Int) -> Void = { progress.report(Double($0) / total * Self.downloadShare) }
        let packet = try partialFile(of: entry.packet)
        let isSamePath = stored?.record.packetPath == entry.packet.path
        let outcome = try await download.fetch(
            entry.packet, into: packet, unless: isSamePath ? stored?.record.tag : nil, progress: report)
        guard case .fetched(let tag) = outcome else {
            let url = download.server.address(of: entry.packet.path)
            let mismatch = "is still version \(stored?.version ?? 0), but the catalogue has version"
            throw .broken(url, "$.version", "\(mismatch) \(entry.summary.version); publish it again")
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
                let partial = try partialFile(of: file)
                let before = done
                _ = try await download.fetch(file, into: partial) { report(before + $0) }
                parts.files[name] = partial.path
                partials.append(partial)
            }
            done += file.size
            report(done)
        }
        let installed = try cache.install(parts)
        // Kept until here, so that a later process can resume if this one ends.
        for partial in partials + [packet] { partial.remove() }
        return installed
    }

    private func partialFile(of file: PublishedFile) throws(VenueRepositoryError) -> PartialFile {
        try VenueRepositoryError.storing { () throws(FileSystemError) in
            try PartialFile(of: file.digest, in: cache.work)
        }
    }

    /// Returns the path of a file of the stored version with the same bytes; nil if there is none.
    private func storedFile(_ name: String, _ file: PublishedFile) -> String? {
        guard let stored, stored.record.digests[name] == file.digest else { return nil }
        let path = stored.packetPath + "/" + name
        var status = stat()
        guard lstat(path, &status) == 0, status.st_size == file.size else { return nil }
        return path
    }
}

/// Reports a progress that never decreases, from any thread.
///
/// A class because those threads share it.
final class MonotonicProgress: Sendable {
    private let reported = Guarded(-1.0)
    private let handler: @Sendable (Double) -> Void

    init(_ handler: @escaping @Sendable (Double) -> Void) { self.handler = handler }

    /// Reports the fraction, clamped to 0…1, unless the same or a larger fraction was already reported.
    func report(_ fraction: Double) {
        let fraction = min(1, max(0, fraction))
        // Reported under the lock, so that two threads cannot report in the wrong order.
        reported.withLock { reported in
            guard fraction > reported else { return }
            reported = fraction
            handler(fraction)
        }
    }
}
