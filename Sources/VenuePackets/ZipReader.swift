import CLibArchive

/// Reads a zip's entries one after the other.
///
/// A class, as it owns libarchive's handle and must free it, also when opening fails.
final class ZipReader {
    /// One entry, as the zip names it but for a leading `./`.
    struct Entry {
        let name: String
        let isFile: Bool
    }

    /// `AE_IFREG`, a macro with a cast, which Swift does not import.
    static let regularFile: mode_t = 0o100000

    private let archive: OpaquePointer
    private let path: String

    /// Opens the zip at a path.
    init(path: String) throws(PacketFileError) {
        guard let archive = archive_read_new() else { throw PacketFileError(message: "out of memory") }
        self.archive = archive
        self.path = path
        // Only by the zip's directory: read from its start instead, a zip cut short would look whole.
        archive_read_support_format_zip_seekable(archive)
        let blockSize = 1 << 16
        guard archive_read_open_filename(archive, path, blockSize) == ARCHIVE_OK else { throw failure() }
    }

    deinit { archive_read_free(archive) }

    /// Goes on to the next entry; nil at the end.
    func next() throws(PacketFileError) -> Entry? {
        let locale = clibarchive_enter_utf8()
        defer { clibarchive_leave_utf8(locale) }
        var entry: OpaquePointer?
        switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: return nil
        // A warning is about the name's characters: the bytes are there.
        case ARCHIVE_OK, ARCHIVE_WARN: break
        default: throw failure()
        }
        guard let entry, let name = archive_entry_pathname_utf8(entry) ?? archive_entry_pathname(entry) else {
            throw PacketFileError(message: "the zip has an entry whose name is not UTF-8; pack it anew")
        }
        // Some tools pack a folder as ".", with each name below it.
        let text = String(cString: name)
        let relative = text.hasPrefix("./") ? String(text.dropFirst(2)) : text
        return Entry(name: relative, isFile: archive_entry_filetype(entry) == Self.regularFile)
    }

    /// The next bytes of the current entry; nil at its end.
    func chunk() throws(PacketFileError) -> [UInt8]? {
        let size = 1 << 16
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            count = archive_read_data(archive, buffer.baseAddress, size)
            initialized = max(0, count)
        }
        guard count >= 0 else { throw failure() }
        return count == 0 ? nil : bytes
    }

    private func failure() -> PacketFileError {
        if let reason = clibarchive_system_reason(archive) {
            return PacketFileError(message: "\(path) cannot be read: \(String(cString: reason))")
        }
        let reason = archive_error_string(archive).map { String(cString: $0) } ?? "unknown reason"
        return PacketFileError(message: "\(path) cannot be read as a zip: \(reason)")
    }
}
