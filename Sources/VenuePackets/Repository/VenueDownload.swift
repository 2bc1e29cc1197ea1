import CLibArchive
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
        var partials: [PartialFile] = []
        // Ended explicitly, because the thread of a transfer may still hold its file for a moment.
        defer { for partial in partials { partial.end() } }
        let packet = try partialFile(of: entry.packet)
        partials.append(packet)
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
        for (name, file) in entry.files.sorted(by: { $0.key < $1.key }) {
            if let path = storedFile(name, file) {
                parts.files[name] = path
            } else {
                let partial = try partialFile(of: file)
                partials.append(partial)
                let before = done
                _ = try await download.fetch(file, into: partial) { report(before + $0) }
                parts.files[name] = partial.path
            }
            done += file.size
            report(done)
        }
        let installed = try cache.install(parts)
        // Kept until here, so that a later process can resume if this one ends.
        for partial in partials { partial.remove() }
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

/// Downloads a file with retries; an interrupted download resumes where it ended.
struct FileDownload: Sendable {
    let server: VenueServer
    let transport: any PacketTransport
    let retry: RetryPauses
    /// The number of attempts.
    let attempts: Int

    /// Downloads a file whose size and digest are known.
    ///
    /// - Parameters:
    ///   - unless: the file is downloaded only if its entity tag differs from this one.
    ///   - progress: called with the number of bytes so far.
    func fetch(
        _ file: PublishedFile, into partial: PartialFile, unless: EntityTag? = nil,
        progress: @escaping @Sendable (Int) -> Void
    ) async throws(VenueRepositoryError) -> Outcome {
        let url = server.address(of: file.path)
        let outcome = try await retry.run(attempts: attempts) { () throws(VenueRepositoryError) in
            try await attempt(file, url, into: partial, unless: unless, progress)
        }
        guard case .fetched = outcome else { return outcome }
        let digest = try VenueRepositoryError.storing { () throws(FileSystemError) in
            try FileDigest.sha256(of: partial.path)
        }
        guard digest == file.digest else {
            partial.remove()
            throw .broken(
                url, "$", "has the SHA-256 \(digest), not \(file.digest) as in the catalogue; publish it again")
        }
        return outcome
    }

    /// The result of a download.
    enum Outcome: Hashable, Sendable {
        /// The file is complete, with its entity tag if it has one.
        case fetched(EntityTag?)
        /// The file still has the entity tag of `unless`.
        case unchanged
    }

    private func attempt(
        _ file: PublishedFile, _ url: String, into partial: PartialFile, unless: EntityTag?,
        _ progress: @escaping @Sendable (Int) -> Void
    ) async throws(VenueRepositoryError) -> Outcome {
        let start = try VenueRepositoryError.storing(partial.start)
        // The file is already complete: an earlier process ended before it used the file.
        if let start, start.offset == file.size { return .fetched(start.tag) }
        let body = BodyWriter(partial, url: url, start: start, limit: file.size, progress)
        let request = TransferRequest(url: url, unless: start == nil ? unless : nil, rest: start, size: file.size)
        let head: TransferHead
        do throws(TransferFailure) {
            head = try await transport.fetch(request) { body.write($0, $1) }
        } catch {
            if let failure = body.failure { throw failure }
            guard error == .stopped else { throw VenueRepositoryError(error, url: url) }
            if let error = body.unusable { throw try emptied(partial, error) }
            partial.remove()
            throw .broken(url, "$", "has more than the \(file.size) bytes given in the catalogue; publish it again")
        }
        switch head.status {
        case 304 where request.unless != nil: return .unchanged
        case 200, 206: break
        case 416 where request.rest != nil:
            // The server has no bytes after the local ones: only the whole file shows whether the local one is too
            // short.
            try VenueRepositoryError.storing { () throws(FileSystemError) in try partial.begin(nil) }
            return try await attempt(file, url, into: partial, unless: unless, progress)
        default: throw .status(head.status, of: server, url: url)
        }
        let size = try VenueRepositoryError.storing(partial.size)
        if size == file.size { return .fetched(head.tag) }
        if let error = body.unusable { throw try emptied(partial, error) }
        guard head.ends(at: size) else {
            throw .unreachable(url: url, reason: "the response ended after \(size) of \(file.size) bytes")
        }
        partial.remove()
        throw .broken(url, "$", "has \(size) bytes, not \(file.size) as in the catalogue; publish it again")
    }

    /// Empties the file before another attempt writes it, and returns the error of this one.
    private func emptied(
        _ partial: PartialFile, _ error: VenueRepositoryError
    ) throws(VenueRepositoryError) -> VenueRepositoryError {
        try VenueRepositoryError.storing { () throws(FileSystemError) in try partial.begin(nil) }
        return error
    }
}

/// Writes the body of a response to a file while it arrives.
///
/// A class because the transfer's thread calls it.
private final class BodyWriter: Sendable {
    private struct State: Sendable {
        var hasBegun = false
        var size: Int
        var isPage = false
        var encoding: String?
        var failure: VenueRepositoryError?
    }

    private let partial: PartialFile
    private let url: String
    private let offset: Int?
    private let limit: Int
    private let progress: @Sendable (Int) -> Void
    private let state: Guarded<State>

    init(
        _ partial: PartialFile, url: String, start: TransferRequest.Rest?, limit: Int,
        _ progress: @escaping @Sendable (Int) -> Void
    ) {
        self.partial = partial
        self.url = url
        self.offset = start?.offset
        self.limit = limit
        self.progress = progress
        state = Guarded(State(size: start?.offset ?? 0))
    }

    /// The error that prevented a write; nil if there is none.
    var failure: VenueRepositoryError? { state.withLock { $0.failure } }

    /// The error of a response that isn't the file, if it looks like a web page or is compressed; nil otherwise.
    ///
    /// A server may also give a file the wrong type or encoding, so that the size of the file decides first.
    var unusable: VenueRepositoryError? {
        let (isPage, encoding) = state.withLock { ($0.isPage, $0.encoding) }
        if let encoding {
            let message = "the server compresses it (\(encoding)), although that was not requested"
            let kind = url.split(separator: ".").last.map { ".\($0)" } ?? ""
            return .broken(url, "$", "\(message); switch that off for files such as \(kind)")
        }
        return isPage ? .page(url) : nil
    }

    /// Writes the next bytes; returns whether to continue.
    func write(_ head: TransferHead, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var state = state.withLock { $0 }
        do throws(VenueRepositoryError) {
            if !state.hasBegun {
                state.hasBegun = true
                state.encoding = head.encoding
                state.isPage = head.isPage || Self.beginsLikePage(bytes)
                if head.status != 206 || head.offset != offset {
                    // Status 200 sends the whole file: the file has changed, or the server doesn't support ranges. Any
                    // other range isn't usable.
                    guard head.status == 200 else {
                        throw .unreachable(url: url, reason: "the server sent a range that was not requested")
                    }
                    try VenueRepositoryError.storing { () throws(FileSystemError) in try partial.begin(head.tag) }
                    state.size = 0
                }
            }
            state.size += bytes.count
            let isWithin = state.size <= limit
            if isWithin {
                try VenueRepositoryError.storing { () throws(FileSystemError) in try partial.append(bytes) }
            }
            let known = state
            self.state.withLock { $0 = known }
            if isWithin { progress(state.size) }
            return isWithin
        } catch {
            let failure = error
            self.state.withLock { $0.failure = failure }
            return false
        }
    }
}

extension BodyWriter {
    /// Returns whether a file begins as a web page does.
    private static func beginsLikePage(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let text = String(decoding: bytes.prefix(256), as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        let start = text.prefix(16).lowercased()
        return ["<!doctype html", "<html"].contains { start.hasPrefix($0) }
    }
}

extension VenueRepositoryError {
    /// Returns the error for a web page in place of a file, as networks with a login send it.
    fileprivate static func page(_ url: String) -> VenueRepositoryError {
        .unreachable(
            url: url, reason: "the server answered with a web page; does the network or the server require a login?")
    }
}

/// An incomplete download: its bytes so far, and the entity tag of the file on the server.
///
/// A class because it owns the file's lock. A later process resumes the download that a killed process has left.
final class PartialFile: Sendable {
    private let file: OpenFile
    private let isShared: Bool
    private let work: WorkFolder
    private let hasEnded = Guarded(false)

    /// The path of the downloaded bytes.
    var path: String { file.path }
    private var tagPath: String { file.path + Self.tagEnding }

    private static let ending = ".part"
    private static let tagEnding = ".tag"

    /// Returns the name of the tag's file for a download.
    static func tagName(of name: String) -> String { name + tagEnding }

    /// Returns the name of the download for a tag's file; nil for any other file.
    static func download(ofTag name: String) -> String? {
        name.hasSuffix(ending + tagEnding) ? String(name.dropLast(tagEnding.count)) : nil
    }

    /// Opens the incomplete download of a file with this digest, or a new one if another process uses it.
    init(of digest: String, in work: WorkFolder) throws(FileSystemError) {
        let file = try OpenFile(work.path + "/" + digest + Self.ending, O_RDWR | O_CREAT)
        self.work = work
        isShared = file.lock() && file.isInPlace
        self.file = isShared ? file : try work.makeFile()
    }

    /// Returns the size and tag from which to resume; nil if the download begins from the start.
    func start() throws(FileSystemError) -> TransferRequest.Rest? {
        let size = try file.size()
        guard size > 0, let bytes = try? BoundedFile.read(tagPath, limit: InputLimits.standard.secret),
            let tag = EntityTag(String(decoding: bytes, as: UTF8.self)), tag.isStrong
        else {
            try clear()
            return nil
        }
        try file.truncate(to: size)
        return TransferRequest.Rest(offset: size, tag: tag)
    }

    /// Returns the number of bytes so far.
    func size() throws(FileSystemError) -> Int { try file.size() }

    /// Restarts the download for a file with this tag; without a strong tag, it cannot be resumed.
    func begin(_ tag: EntityTag?) throws(FileSystemError) {
        // The order matters: a process killed in between must not leave bytes of one file with the tag of another.
        try clear()
        guard let tag, tag.isStrong else { return }
        try work.write(Array(tag.text.utf8), to: tagPath)
    }

    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) { try file.write(bytes) }

    private func clear() throws(FileSystemError) {
        try file.truncate(to: 0)
        unlink(tagPath)
    }

    /// Removes the download when it is used, or not usable.
    ///
    /// After that, a later download of the same file may already have the path; it stays.
    func remove() {
        guard file.isInPlace else { return }
        unlink(tagPath)
        unlink(file.path)
    }

    /// Removes the download if it can't be resumed, and otherwise leaves it to the next one of the same file. A second
    /// call has no effect, because the next one may then use the file.
    func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        if !isShared || access(tagPath, F_OK) != 0 { remove() }
        file.unlock()
    }

    deinit { end() }

    /// Returns the name of the resumable download that was modified last; nil if there is none.
    static func newest(in folder: String) -> String? {
        let names = Set(DiskFolder.names(in: folder))
        let resumable = names.filter { $0.hasSuffix(ending) && names.contains(tagName(of: $0)) }
        return resumable.max { age(folder + "/" + $0) < age(folder + "/" + $1) }
    }

    /// Returns the modification time of a file in seconds and nanoseconds.
    private static func age(_ path: String) -> (Int, Int) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return (0, 0) }
        return (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}

/// SHA-256 digests of files (FIPS 180-4), computed by libarchive for the mtree format.
enum FileDigest {
    /// The text before the digest in mtree.
    private static let keyword = "sha256digest="

    /// Returns the digest of a file as 64 lower-case hexadecimal digits.
    ///
    /// - Throws: `FileSystemError` if the file cannot be read.
    static func sha256(of path: String) throws(FileSystemError) -> String {
        try sha256(of: try OpenFile(regular: path))
    }

    /// Returns the digest of an open file that wasn't read yet.
    static func sha256(of file: OpenFile) throws(FileSystemError) -> String {
        let path = file.path
        guard let archive = archive_write_new() else { throw FileSystemError(path: path, reason: "out of memory") }
        defer { archive_write_free(archive) }
        var text = [UInt8](repeating: 0, count: 4_096)
        var used = 0
        // libarchive writes into the buffer until it is closed, so the whole operation runs within this closure.
        let isWritten = try text.withUnsafeMutableBufferPointer { buffer throws(FileSystemError) -> Bool in
            try write(file, to: archive, into: UnsafeMutableRawBufferPointer(buffer), used: &used)
        }
        let lines = String(decoding: text.prefix(used), as: UTF8.self)
        guard isWritten, let word = lines.split(whereSeparator: \.isWhitespace).last(where: { $0.hasPrefix(keyword) })
        else { throw FileSystemError(path: path, reason: "its digest cannot be computed") }
        return String(word.dropFirst(keyword.count))
    }

    private static func write(
        _ file: OpenFile, to archive: OpaquePointer, into buffer: UnsafeMutableRawBufferPointer, used: inout Int
    ) throws(FileSystemError) -> Bool {
        archive_write_set_format_mtree(archive)
        archive_write_set_options(archive, "mtree:!all,mtree:sha256")
        archive_write_set_bytes_in_last_block(archive, 1)
        guard archive_write_open_memory(archive, buffer.baseAddress, buffer.count, &used) == ARCHIVE_OK,
            let entry = archive_entry_new()
        else { return false }
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname(entry, "file")
        archive_entry_set_filetype(entry, ZipReader.regularFile)
        archive_entry_set_size(entry, la_int64_t(try file.size()))
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { return false }
        while let chunk = try file.read() {
            guard archive_write_data(archive, chunk, chunk.count) == chunk.count else { return false }
        }
        return archive_write_close(archive) == ARCHIVE_OK
    }
}
