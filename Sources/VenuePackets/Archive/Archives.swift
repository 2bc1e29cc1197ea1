import CLibArchive
import Decompression
import Glibc
import IndoorVocabulary

/// Reads the entries of a zip in order.
///
/// A class because it owns libarchive's handle and must free it, even if opening fails.
final class ZipReader {
    /// An entry with its name in the zip, without a leading `./`.
    struct Entry {
        let name: String
        let isFile: Bool
    }

    /// `AE_IFREG`, a macro with a cast, which Swift doesn't import.
    static let regularFile: mode_t = 0o100000

    private let archive: OpaquePointer
    private let name: String

    /// Opens the zip at a path.
    ///
    /// - Parameter name: the path in errors.
    init(path: String, name: String) throws(PacketFileError) {
        guard let archive = archive_read_new() else { throw PacketFileError(message: "out of memory") }
        self.archive = archive
        self.name = name
        // The reader uses only the zip's directory to find entries: read from the start, a truncated zip would look
        // complete.
        archive_read_support_format_zip_seekable(archive)
        let blockSize = 1 << 16
        guard archive_read_open_filename(archive, path, blockSize) == ARCHIVE_OK else { throw failure() }
    }

    deinit { archive_read_free(archive) }

    /// Advances to the next entry; returns nil at the end.
    func next() throws(PacketFileError) -> Entry? {
        let locale = clibarchive_enter_utf8()
        defer { clibarchive_leave_utf8(locale) }
        var entry: OpaquePointer?
        switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: return nil
        // A warning concerns only the characters of the name; the content is readable.
        case ARCHIVE_OK, ARCHIVE_WARN: break
        default: throw failure()
        }
        guard let entry, let name = archive_entry_pathname_utf8(entry) ?? archive_entry_pathname(entry) else {
            throw PacketFileError(message: "the zip has an entry whose name is not UTF-8; pack it again")
        }
        // Some tools pack a folder as ".", with each name below it.
        let text = String(cString: name)
        let relative = text.hasPrefix("./") ? String(text.dropFirst(2)) : text
        return Entry(name: relative, isFile: archive_entry_filetype(entry) == Self.regularFile)
    }

    /// Returns the next bytes of the current entry; nil at its end.
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
            return PacketFileError(message: "\(name) cannot be read: \(String(cString: reason))")
        }
        let reason = archive_error_string(archive).map { String(cString: $0) } ?? "unknown reason"
        return PacketFileError(message: "\(name) cannot be read as a zip: \(reason)")
    }
}

/// The directory at the end of a zip, which libarchive reads completely before it returns the first entry.
///
/// Source: PKWARE, *.ZIP File Format Specification* 6.3.10, 4.3.16.
enum ZipDirectory {
    /// Size of the end record without its comment, and of the longest comment, in bytes.
    private static let (recordSize, longestComment) = (22, 65_535)
    private static let recordSignature: [UInt8] = [0x50, 0x4B, 5, 6]
    private static let zip64Signature: [UInt8] = [0x50, 0x4B, 6, 7]

    /// Throws if a zip's directory is larger than the limit; a file that isn't a zip passes.
    static func check(_ path: String, named name: String, limit: Int) throws(PacketFileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        let size = Int(status.st_size)
        let start = max(0, size - recordSize - longestComment)
        var tail = [UInt8](repeating: 0, count: size - start)
        guard pread(descriptor, &tail, tail.count, off_t(start)) == tail.count, tail.count >= recordSize else { return }
        for index in stride(from: tail.count - recordSize, through: 0, by: -1) {
            guard tail[index...].starts(with: recordSignature) else { continue }
            let isZip64 = index >= 20 && tail[(index - 20)...].starts(with: zip64Signature)
            let directory = start + index - number(in: tail, at: index + 16)
            guard isZip64 || max(directory, number(in: tail, at: index + 12)) > limit else { return }
            throw PacketFileError(
                message: "\(name) has a directory larger than the limit of \(limit) bytes; is it a packet?")
        }
    }

    /// Returns the value of four bytes in little-endian order.
    private static func number(in bytes: [UInt8], at index: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[index + $1]) << (8 * $1) }
    }
}

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

/// Data in the gzip format (RFC 1952).
enum GzipData {
    /// Returns the decompressed bytes, up to `limit` and up to the size that `InputLimits.inflation` allows.
    static func decompressed(_ bytes: [UInt8], limit: Int) throws(PacketFileError) -> [UInt8] {
        let limit = min(limit, InputLimits.standard.inflatedSize(ofCompressed: bytes.count))
        guard bytes.starts(with: Inflater.gzipStart) else {
            throw PacketFileError(message: "is not in the gzip format; pack it again")
        }
        let content: [UInt8]?
        do throws(Inflater.Failure) { content = try Inflater.content(of: bytes, .gzip, limit: limit) } catch {
            throw PacketFileError(message: "is damaged: \(error.reason); pack it again")
        }
        guard let content else {
            throw PacketFileError(message: "unpacks to more than the limit of \(limit) bytes")
        }
        return content
    }

    /// Returns the compressed bytes; the same input gives the same output, because the time is omitted.
    static func compressed(_ bytes: [UInt8]) throws(PacketFileError) -> [UInt8] {
        guard let archive = archive_write_new() else { throw PacketFileError(message: "out of memory") }
        defer { archive_write_free(archive) }
        archive_write_add_filter_gzip(archive)
        archive_write_set_format_raw(archive)
        archive_write_set_options(archive, "gzip:!timestamp")
        archive_write_set_bytes_in_last_block(archive, 1)
        // Incompressible data grows by 5 bytes in 16 kB, and by header and trailer (RFC 1951, 3.2.4).
        var result = [UInt8](repeating: 0, count: bytes.count + bytes.count / 1_000 + (1 << 16))
        var used = 0
        let isWritten = result.withUnsafeMutableBytes { buffer -> Bool in
            guard archive_write_open_memory(archive, buffer.baseAddress, buffer.count, &used) == ARCHIVE_OK,
                let entry = archive_entry_new()
            else { return false }
            defer { archive_entry_free(entry) }
            archive_entry_set_filetype(entry, ZipReader.regularFile)
            return archive_write_header(archive, entry) == ARCHIVE_OK
                && archive_write_data(archive, bytes, bytes.count) == bytes.count
                && archive_write_close(archive) == ARCHIVE_OK
        }
        guard isWritten else { throw PacketFileError(message: "cannot be compressed") }
        result.removeLast(result.count - used)
        return result
    }
}
