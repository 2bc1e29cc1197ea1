import CLibArchive
import IndoorVocabulary

/// A plain or gzip-compressed file that is read in chunks. The content determines the compression, not the name.
///
/// A class, because it owns a C object that must be freed exactly once.
package final class ArchiveInput {
    /// The number of bytes in a chunk.
    package static let chunkSize = 1 << 16

    private let archive: OpaquePointer
    private let descriptor: Int32

    /// Opens a file.
    ///
    /// - Throws: `ArchiveFailure` with the system's reason.
    package init(path: String) throws(ArchiveFailure) {
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
    /// The bytes that `begins(with:)` has read and `read(into:)` has not returned yet.
    private var ahead: [UInt8] = []
    /// The number of bytes so far, after decompression.
    private var inflated = 0

    deinit {
        archive_read_free(archive)
        _ = clibarchive_close(descriptor)
    }

    /// Returns whether the content begins with these bytes.
    ///
    /// The next call of `read(into:)` returns them again, because a pipe delivers its bytes only once.
    package func begins(with start: [UInt8]) throws(ArchiveFailure) -> Bool {
        while ahead.count < start.count, !isAtEnd { try readBlock(into: &ahead) }
        return ahead.starts(with: start)
    }

    /// Returns the first bytes, at least as many as `isEnough` requires or the file has.
    ///
    /// The next call of `read(into:)` returns them again.
    package func start(until isEnough: ([UInt8]) -> Bool) throws(ArchiveFailure) -> [UInt8] {
        while !isAtEnd, !isEnough(ahead) { try readBlock(into: &ahead) }
        return ahead
    }

    /// Appends the next chunk; appends nothing at the end of the file.
    ///
    /// For a pipe, it appends the bytes that are available: it waits for the first byte, not for a whole chunk.
    package func read(into bytes: inout [UInt8]) throws(ArchiveFailure) {
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
        // Filter -1 is the last filter: it counts the bytes of the file itself.
        let compressed = Int(archive_filter_bytes(archive, -1))
        guard inflated <= InputLimits.standard.inflatedSize(ofCompressed: compressed) else {
            throw ArchiveFailure(
                reason: "\(compressed) bytes unpack to more than \(inflated), which no recording does; record it again")
        }
    }
}

/// An error from libarchive or from the system.
package struct ArchiveFailure: Error, Hashable, Sendable {
    /// The error text of libarchive or of the system.
    package var reason: String

    /// Whether the end of a compressed file is missing.
    var isCutOff: Bool { reason.contains("truncated") }

    init(reason: String) { self.reason = reason }

    /// Creates a failure from the last error of an archive.
    init(of archive: OpaquePointer) {
        reason = clibarchive_reason(archive).map { String(cString: $0) } ?? "unknown error"
    }

    /// Throws if the path is empty. libarchive uses standard input or output for an empty path.
    static func checkPath(_ path: String) throws(ArchiveFailure) {
        if path.isEmpty { throw ArchiveFailure(reason: "the path is empty") }
    }
}
