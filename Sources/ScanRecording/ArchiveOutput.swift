import CLibArchive

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
        guard descriptor >= 0 else { throw ArchiveFailure(reason: String(cString: clibarchive_last_reason())) }
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
