import CLibArchive

/// Writes a plain or gzip-compressed file; equal input gives equal bytes.
///
/// A class because it owns a C object that must be freed once.
final class ArchiveOutput {
    /// Bytes that are gathered before they are written.
    private static let bufferSize = 1 << 16

    private let archive: OpaquePointer
    /// The file, if it is opened and closed here.
    private let ownDescriptor: Int32?
    private var pending: [UInt8] = []
    private var isClosed = false

    /// Creates the file, which its owner alone may read, or empties the one that is there.
    convenience init(path: String, isCompressed: Bool) throws(ArchiveFailure) {
        try ArchiveFailure.checkPath(path)
        let descriptor = clibarchive_create_private(path)
        guard descriptor >= 0 else { throw ArchiveFailure(reason: String(cString: clibarchive_last_reason())) }
        try self.init(descriptor: descriptor, isOwn: true, isCompressed: isCompressed)
    }

    /// Writes to an open file, or creates the one at the path; a name that ends in `.gz` has it compressed.
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
    /// - Parameter isOwn: whether the file is closed with the output.
    init(descriptor: Int32, isOwn: Bool, isCompressed: Bool) throws(ArchiveFailure) {
        ownDescriptor = isOwn ? descriptor : nil
        guard let archive = archive_write_new() else {
            if isOwn { _ = clibarchive_close(descriptor) }
            throw ArchiveFailure(reason: "out of memory")
        }
        self.archive = archive
        archive_write_set_format_raw(archive)
        if isCompressed {
            archive_write_add_filter_gzip(archive)
            // No time in the file: the same recording gives the same bytes.
            archive_write_set_filter_option(archive, "gzip", "timestamp", nil)
        } else {
            archive_write_add_filter_none(archive)
        }
        // Neither held back in blocks nor padded to whole ones.
        archive_write_set_bytes_per_block(archive, 0)
        archive_write_set_bytes_in_last_block(archive, 1)
        guard archive_write_open_fd(archive, descriptor) == ARCHIVE_OK else { throw ArchiveFailure(of: archive) }
        guard let entry = archive_entry_new() else { throw ArchiveFailure(reason: "out of memory") }
        defer { archive_entry_free(entry) }
        archive_entry_set_filetype(entry, 0o100000)
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw ArchiveFailure(of: archive) }
    }

    deinit {
        // Nobody is there to hear of an error: who wants to know calls `close()`.
        try? close()
        archive_write_free(archive)
        if let ownDescriptor { _ = clibarchive_close(ownDescriptor) }
    }

    /// Takes in bytes, and hands them on when they are many.
    func write(_ bytes: [UInt8]) throws(ArchiveFailure) {
        pending.append(contentsOf: bytes)
        if pending.count >= Self.bufferSize { try flush() }
    }

    /// Hands on what was gathered.
    func flush() throws(ArchiveFailure) {
        var written = 0
        defer { pending.removeFirst(written) }
        while written < pending.count {
            let count = pending.withUnsafeBytes { buffer in
                archive_write_data(archive, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            guard count > 0 else { throw ArchiveFailure(of: archive) }
            written += count
        }
    }

    /// Hands on what is held back and closes the file; a second call does nothing.
    func close() throws(ArchiveFailure) {
        guard !isClosed else { return }
        try flush()
        isClosed = true
        guard archive_write_close(archive) == ARCHIVE_OK else { throw ArchiveFailure(of: archive) }
    }
}
