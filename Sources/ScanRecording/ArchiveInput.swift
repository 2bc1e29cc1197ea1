import CLibArchive
import IndoorVocabulary

/// Reads a plain or gzip-compressed file in chunks; the content decides which it is, not the name.
///
/// A class because it owns a C object that must be freed once.
final class ArchiveInput {
    /// Bytes asked for at once.
    static let chunkSize = 1 << 16

    private let archive: OpaquePointer
    private let descriptor: Int32

    /// Opens a file.
    ///
    /// - Throws: the system's reason.
    init(path: String) throws(ArchiveFailure) {
        try ArchiveFailure.checkPath(path)
        let descriptor = clibarchive_open(path)
        guard descriptor >= 0 else { throw ArchiveFailure(reason: String(cString: clibarchive_last_reason())) }
        guard let archive = archive_read_new() else {
            _ = clibarchive_close(descriptor)
            throw ArchiveFailure(reason: "out of memory")
        }
        self.archive = archive
        self.descriptor = descriptor
        archive_read_support_filter_gzip(archive)
        archive_read_support_format_raw(archive)
        archive_read_support_format_empty(archive)
        guard archive_read_open_fd(archive, descriptor, Self.chunkSize) == ARCHIVE_OK else {
            throw ArchiveFailure(of: archive)
        }
        var entry: OpaquePointer?
        let status = archive_read_next_header(archive, &entry)
        guard status == ARCHIVE_OK || status == ARCHIVE_EOF else { throw ArchiveFailure(of: archive) }
        isAtEnd = status == ARCHIVE_EOF
    }

    private var isAtEnd = false
    /// What was looked at before somebody read it.
    private var ahead: [UInt8] = []
    /// Bytes up to here, after inflation.
    private var inflated = 0

    deinit {
        archive_read_free(archive)
        _ = clibarchive_close(descriptor)
    }

    /// Whether the content begins with these bytes. They are still to be read: a pipe gives them only once.
    func begins(with start: [UInt8]) throws(ArchiveFailure) -> Bool {
        while ahead.count < start.count, !isAtEnd { try readBlock(into: &ahead) }
        return ahead.starts(with: start)
    }

    /// Appends the next chunk; appends nothing at the end of the file.
    ///
    /// Of a pipe it appends what is there: it waits for the first bytes alone, not for a whole chunk.
    func read(into bytes: inout [UInt8]) throws(ArchiveFailure) {
        guard ahead.isEmpty else {
            bytes += ahead
            ahead = []
            return
        }
        let count = bytes.count
        while bytes.count == count, !isAtEnd { try readBlock(into: &bytes) }
    }

    private func readBlock(into bytes: inout [UInt8]) throws(ArchiveFailure) {
        var block: UnsafeRawPointer?
        var count = 0
        var offset: la_int64_t = 0
        switch archive_read_data_block(archive, &block, &count, &offset) {
        case ARCHIVE_OK: bytes += UnsafeRawBufferPointer(start: block, count: count)
        case ARCHIVE_EOF: isAtEnd = true
        default: throw ArchiveFailure(of: archive)
        }
        guard !isAtEnd else { return }
        inflated += count
        // The bytes behind all filters are those of the file itself.
        let compressed = Int(archive_filter_bytes(archive, -1))
        guard inflated <= InputLimits.standard.inflatedSize(ofCompressed: compressed) else {
            throw ArchiveFailure(
                reason: "\(compressed) bytes unpack to more than \(inflated), as no recording does; record it anew")
        }
    }
}

/// Why libarchive could not do what it was asked.
struct ArchiveFailure: Error, Hashable, Sendable {
    /// The library's text, or the system's.
    var reason: String

    init(reason: String) { self.reason = reason }

    /// The last error of an archive.
    init(of archive: OpaquePointer) {
        reason = clibarchive_reason(archive).map { String(cString: $0) } ?? "unknown error"
    }

    /// Refuses an empty path, by which the library means standard input and output.
    static func checkPath(_ path: String) throws(ArchiveFailure) {
        if path.isEmpty { throw ArchiveFailure(reason: "the path is empty") }
    }
}
