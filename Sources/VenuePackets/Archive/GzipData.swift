import CLibArchive
import IndoorVocabulary

/// Data in the gzip format (RFC 1952).
enum GzipData {
    /// Returns the decompressed bytes, up to `limit` and up to the size that `InputLimits.inflation` allows.
    static func decompressed(_ bytes: [UInt8], limit: Int) throws(PacketFileError) -> [UInt8] {
        let limit = min(limit, InputLimits.standard.inflatedSize(ofCompressed: bytes.count))
        guard let archive = archive_read_new() else { throw PacketFileError(message: "out of memory") }
        defer { archive_read_free(archive) }
        archive_read_support_filter_gzip(archive)
        archive_read_support_format_raw(archive)
        let size = 1 << 16
        var result: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: size)
        // libarchive reads from the buffer until the handle is freed, so the whole operation runs within this closure.
        let isWhole = bytes.withUnsafeBytes { buffer -> Bool in
            var entry: OpaquePointer?
            guard archive_read_open_memory(archive, buffer.baseAddress, buffer.count) == ARCHIVE_OK,
                archive_read_next_header(archive, &entry) == ARCHIVE_OK,
                archive_filter_code(archive, 0) == ARCHIVE_FILTER_GZIP
            else { return false }
            while result.count <= limit {
                let count = archive_read_data(archive, &chunk, size)
                if count <= 0 { return count == 0 }
                result += chunk.prefix(count)
            }
            return true
        }
        guard isWhole else {
            throw PacketFileError(message: "is not in the gzip format, or is truncated; pack it again")
        }
        guard result.count <= limit else {
            throw PacketFileError(message: "unpacks to more than the limit of \(limit) bytes")
        }
        return result
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
