import CLibArchive
import IndoorLocalization

/// Reads a plain or gzip-compressed file in chunks; the content decides which it is, not the name.
///
/// A class because it owns a C object that must be freed once.
final class ArchiveInput {
    /// Bytes asked for at once.
    static let chunkSize = 1 << 16

    private let archive: OpaquePointer

    /// Opens a file.
    ///
    /// - Throws: the system's reason.
    init(path: String) throws(ArchiveFailure) {
        try ArchiveFailure.checkPath(path)
        guard let archive = archive_read_new() else { throw ArchiveFailure(reason: "out of memory") }
        self.archive = archive
        archive_read_support_filter_gzip(archive)
        archive_read_support_format_raw(archive)
        archive_read_support_format_empty(archive)
        guard archive_read_open_filename(archive, path, Self.chunkSize) == ARCHIVE_OK else {
            throw ArchiveFailure(of: archive)
        }
        var entry: OpaquePointer?
        let status = archive_read_next_header(archive, &entry)
        guard status == ARCHIVE_OK || status == ARCHIVE_EOF else { throw ArchiveFailure(of: archive) }
        isAtEnd = status == ARCHIVE_EOF
    }

    private var isAtEnd = false
    /// Bytes up to here, after inflation.
    private var inflated = 0

    deinit { archive_read_free(archive) }

    /// Appends the next chunk; appends nothing at the end of the file.
    func read(into bytes: inout [UInt8]) throws(ArchiveFailure) {
        guard !isAtEnd else { return }
        let count = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Self.chunkSize))
        let read = bytes.withUnsafeMutableBytes { buffer in
            archive_read_data(archive, buffer.baseAddress?.advanced(by: count), Self.chunkSize)
        }
        bytes.removeLast(Self.chunkSize - max(0, read))
        guard read >= 0 else { throw ArchiveFailure(of: archive) }
        isAtEnd = read == 0
        inflated += read
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
