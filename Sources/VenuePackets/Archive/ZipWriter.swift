import CLibArchive

/// Writes a zip without times, owners or other data that differs between runs.
///
/// A class because it owns libarchive's handle and must free it. The file gets its name when it is complete.
final class ZipWriter {
    private let archive: OpaquePointer
    private let path: String
    private let draft: FileDraft

    init(path: String) throws(PacketFileError) {
        guard let archive = archive_write_new() else { throw PacketFileError(message: "out of memory") }
        do throws(FileSystemError) { draft = try FileDraft(of: path, mode: DiskFile.openMode) } catch {
            archive_write_free(archive)
            throw Self.unwritable(path, error.reason)
        }
        self.archive = archive
        self.path = path
        // libarchive reads the locale when the option is set, and when an entry is added.
        let locale = clibarchive_enter_utf8()
        defer { clibarchive_leave_utf8(locale) }
        archive_write_set_format_zip(archive)
        archive_write_set_options(archive, "zip:hdrcharset=UTF-8")
        // Disables the padding to the block size of a tape.
        archive_write_set_bytes_in_last_block(archive, 1)
        guard archive_write_open_fd(archive, draft.descriptor) == ARCHIVE_OK else { throw failure() }
    }

    deinit { archive_write_free(archive) }

    /// Adds a file with its path in the zip.
    func add(_ name: String, bytes: [UInt8]) throws(PacketFileError) {
        let locale = clibarchive_enter_utf8()
        defer { clibarchive_leave_utf8(locale) }
        guard let entry = archive_entry_new() else { throw PacketFileError(message: "out of memory") }
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname_utf8(entry, name)
        archive_entry_set_size(entry, la_int64_t(bytes.count))
        archive_entry_set_filetype(entry, ZipReader.regularFile)
        archive_entry_set_perm(entry, 0o644)
        // Without a time, the entry has the earliest zip time, 1980, in every time zone: zip times are local.
        archive_entry_unset_mtime(entry)
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw failure() }
        let written = bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
        guard written == bytes.count else { throw failure() }
    }

    /// Writes the zip's directory and renames the file to its final name.
    func finish() throws(PacketFileError) {
        guard archive_write_close(archive) == ARCHIVE_OK else { throw failure() }
        do throws(FileSystemError) { try draft.finish() } catch { throw Self.unwritable(path, error.reason) }
    }

    private static func unwritable(_ path: String, _ reason: String) -> PacketFileError {
        PacketFileError(
            message: "cannot be written: \(reason); check the folder, its permissions and the free space",
            storage: FileSystemError(path: path, reason: reason))
    }

    private func failure() -> PacketFileError {
        Self.unwritable(path, clibarchive_reason(archive).map { String(cString: $0) } ?? "unknown reason")
    }
}
