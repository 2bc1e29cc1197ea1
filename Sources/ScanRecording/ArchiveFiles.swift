import CLibArchive
import Decompression
import IndoorVocabulary

/// A plain or gzip-compressed file that is read in chunks. The content determines the compression, not the name.
///
/// A class, because it owns a file descriptor that must be closed exactly once.
package final class ArchiveInput {
    private let descriptor: Int32
    private let block: UnsafeMutableRawBufferPointer
    /// The decoder of a compressed file; nil for a plain one.
    private var inflater: Inflater?
    private var isAtEnd = false
    /// The bytes that `begins(with:)` or `start(until:)` has read and `read(into:)` has not returned yet.
    private var ahead: [UInt8] = []
    /// The number of bytes that were read from the file.
    private var stored = 0
    /// The number of bytes so far, after decompression.
    private var inflated = 0

    /// Opens a file, and waits for its first bytes.
    ///
    /// - Throws: `ArchiveFailure` with the system's reason.
    package init(path: String) throws(ArchiveFailure) {
        try ArchiveFailure.checkPath(path)
        let descriptor = clibarchive_open(path)
        guard descriptor >= 0 else { throw ArchiveFailure.ofSystem }
        self.descriptor = descriptor
        block = .allocate(byteCount: Inflater.chunkSize, alignment: 1)
        var start = 0
        while start < Inflater.gzipStart.count, !isAtEnd {
            start += try fill(UnsafeMutableRawBufferPointer(rebasing: block[start...]))
        }
        let bytes = UnsafeRawBufferPointer(rebasing: block[..<start])
        guard bytes.starts(with: Inflater.gzipStart) else {
            ahead += bytes
            return
        }
        guard let inflater = Inflater(.gzip) else { throw ArchiveFailure(reason: "out of memory") }
        _ = inflater.fill { buffer in
            buffer.copyMemory(from: bytes)
            return start
        }
        self.inflater = inflater
    }

    deinit {
        _ = clibarchive_close(descriptor)
        block.deallocate()
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
        guard let inflater else {
            bytes += UnsafeRawBufferPointer(rebasing: block[..<(try fill(block))])
            return
        }
        let count = bytes.count
        do throws(Inflater.Failure) { _ = try inflater.read(into: &bytes) } catch { throw ArchiveFailure(error) }
        guard bytes.count == count else {
            inflated += bytes.count - count
            return try checkSize(stored - inflater.unread)
        }
        guard try inflater.fill({ (buffer) throws(ArchiveFailure) in try fill(buffer) }) == 0 else { return }
        do throws(Inflater.Failure) { try inflater.finish() } catch { throw ArchiveFailure(error) }
    }

    /// Reads the next bytes of the file into a buffer, and returns their number.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(ArchiveFailure) -> Int {
        let count = clibarchive_read(descriptor, buffer.baseAddress, buffer.count)
        guard count >= 0 else { throw ArchiveFailure.ofSystem }
        isAtEnd = count == 0
        stored += count
        return count
    }

    /// Throws if the content is too long for this number of compressed bytes.
    private func checkSize(_ compressed: Int) throws(ArchiveFailure) {
        guard inflated <= InputLimits.standard.inflatedSize(ofCompressed: compressed) else {
            throw ArchiveFailure(
                reason: "\(compressed) bytes unpack to more than \(inflated), which no recording does; record it again")
        }
    }
}

/// Data in the zlib format (RFC 1950).
package enum ZlibData {
    /// Returns the decompressed bytes, up to the size that `InputLimits` allows.
    package static func decompressed(_ bytes: [UInt8]) throws(ArchiveFailure) -> [UInt8] {
        let limit = InputLimits.standard.inflatedSize(ofCompressed: bytes.count)
        let content: [UInt8]?
        do throws(Inflater.Failure) { content = try Inflater.content(of: bytes, .zlib, limit: limit) } catch {
            throw ArchiveFailure(reason: error.reason)
        }
        guard let content else { throw ArchiveFailure(reason: "the data unpacks to more than \(limit) bytes") }
        return content
    }
}

/// An error from a compressed file, from libarchive or from the system.
package struct ArchiveFailure: Error, Hashable, Sendable {
    /// The error text of libarchive or of the system.
    package var reason: String
    /// Whether the end of a compressed file is missing.
    private(set) var isCutOff = false

    /// The last error of the system.
    fileprivate static var ofSystem: ArchiveFailure {
        ArchiveFailure(reason: String(cString: clibarchive_last_reason()))
    }

    init(reason: String) { self.reason = reason }

    /// Creates a failure from the defect of a compressed file.
    init(_ defect: Inflater.Failure) {
        (reason, isCutOff) = ("the file is damaged: \(defect.reason)", defect.isCutOff)
    }

    /// Creates a failure from the last error of an archive.
    init(of archive: OpaquePointer) {
        reason = clibarchive_reason(archive).map { String(cString: $0) } ?? "unknown error"
    }

    /// Throws if the path is empty. libarchive uses standard input or output for an empty path.
    static func checkPath(_ path: String) throws(ArchiveFailure) {
        if path.isEmpty { throw ArchiveFailure(reason: "the path is empty") }
    }
}

/// A plain or gzip-compressed file that is being written. The same input gives identical output.
///
/// A class, because it owns a C object that must be freed exactly once.
final class ArchiveOutput {
    /// The number of bytes that are buffered before they are written.
    private static let bufferSize = 1 << 16

    private var archive: OpaquePointer
    private let descriptor: Int32
    private let isCompressed: Bool
    /// Whether bytes were passed to libarchive that the file may not have yet.
    private var isBehind = false
    /// The file descriptor, if this output opened it and therefore closes it.
    private let ownDescriptor: Int32?
    private var pending: [UInt8] = []
    private var isClosed = false

    /// Creates the file with read and write access for its owner only, or truncates an existing file.
    convenience init(path: String, isCompressed: Bool) throws(ArchiveFailure) {
        try ArchiveFailure.checkPath(path)
        let descriptor = clibarchive_create_private(path)
        guard descriptor >= 0 else { throw ArchiveFailure.ofSystem }
        try self.init(descriptor: descriptor, isOwn: true, isCompressed: isCompressed)
    }

    /// Writes to an open file, or creates one at the path. The output is compressed if the path ends in `.gz`.
    convenience init(path: String, descriptor: Int32?) throws(ArchiveFailure) {
        let isCompressed = path.hasSuffix(".gz")
        if let descriptor {
            try self.init(descriptor: descriptor, isOwn: false, isCompressed: isCompressed)
        } else {
            try self.init(path: path, isCompressed: isCompressed)
        }
    }

    /// Writes to an open file.
    ///
    /// - Parameter isOwn: whether `close()` closes the file descriptor too.
    init(descriptor: Int32, isOwn: Bool, isCompressed: Bool) throws(ArchiveFailure) {
        ownDescriptor = isOwn ? descriptor : nil
        self.descriptor = descriptor
        self.isCompressed = isCompressed
        guard let archive = archive_write_new() else {
            if isOwn { _ = clibarchive_close(descriptor) }
            throw ArchiveFailure(reason: "out of memory")
        }
        self.archive = archive
        try Self.open(archive, descriptor, isCompressed: isCompressed)
    }

    private static func open(
        _ archive: OpaquePointer, _ descriptor: Int32, isCompressed: Bool
    ) throws(ArchiveFailure) {
        archive_write_set_format_raw(archive)
        if isCompressed {
            archive_write_add_filter_gzip(archive)
            // The file contains no time stamp, so that the same recording gives identical bytes.
            archive_write_set_filter_option(archive, "gzip", "timestamp", nil)
        } else {
            archive_write_add_filter_none(archive)
        }
        // libarchive neither holds bytes back in blocks nor pads the last block.
        archive_write_set_bytes_per_block(archive, 0)
        archive_write_set_bytes_in_last_block(archive, 1)
        guard archive_write_open_fd(archive, descriptor) == ARCHIVE_OK else { throw ArchiveFailure(of: archive) }
        guard let entry = archive_entry_new() else { throw ArchiveFailure(reason: "out of memory") }
        defer { archive_entry_free(entry) }
        archive_entry_set_filetype(entry, 0o100000)
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw ArchiveFailure(of: archive) }
    }

    deinit {
        // A deinitializer cannot report an error. A caller that needs the error calls `close()`.
        try? close()
        archive_write_free(archive)
        if let ownDescriptor { _ = clibarchive_close(ownDescriptor) }
    }

    /// Adds bytes to the buffer, and writes the buffer once it is full.
    func write(_ bytes: [UInt8]) throws(ArchiveFailure) {
        pending.append(contentsOf: bytes)
        if pending.count >= Self.bufferSize { try flush() }
    }

    /// Writes the buffered bytes.
    func flush() throws(ArchiveFailure) {
        var written = 0
        defer { pending.removeFirst(written) }
        while written < pending.count {
            let count = pending.withUnsafeBytes { buffer in
                archive_write_data(archive, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            guard count > 0 else { throw ArchiveFailure(of: archive) }
            written += count
            isBehind = isCompressed
        }
    }

    /// Writes the buffered bytes so that a reader can read all of them, even if the program is killed later.
    ///
    /// A compressed file continues with a new member, as gzip allows. Each new member adds about 20 bytes.
    func checkpoint() throws(ArchiveFailure) {
        guard !isClosed else { return }
        try flush()
        guard isBehind else { return }
        guard archive_write_close(archive) == ARCHIVE_OK else { throw ArchiveFailure(of: archive) }
        guard let next = archive_write_new() else { throw ArchiveFailure(reason: "out of memory") }
        archive_write_free(archive)
        archive = next
        isBehind = false
        try Self.open(archive, descriptor, isCompressed: isCompressed)
    }

    /// Writes the remaining bytes and closes the file; a second call does nothing.
    func close() throws(ArchiveFailure) {
        guard !isClosed else { return }
        try flush()
        isClosed = true
        guard archive_write_close(archive) == ARCHIVE_OK else { throw ArchiveFailure(of: archive) }
    }
}
