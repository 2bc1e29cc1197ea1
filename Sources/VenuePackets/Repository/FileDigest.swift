import CLibArchive
import Glibc

/// SHA-256 digests of files (FIPS 180-4), computed by libarchive for the mtree format.
enum FileDigest {
    /// The text before the digest in mtree.
    private static let keyword = "sha256digest="

    /// Returns the digest of a file as 64 lower-case hexadecimal digits.
    ///
    /// - Throws: `FileSystemError` if the file cannot be read.
    static func sha256(of path: String) throws(FileSystemError) -> String {
        try sha256(of: try OpenFile(regular: path))
    }

    /// Returns the digest of an open file that wasn't read yet.
    static func sha256(of file: OpenFile) throws(FileSystemError) -> String {
        let path = file.path
        guard let archive = archive_write_new() else { throw FileSystemError(path: path, reason: "out of memory") }
        defer { archive_write_free(archive) }
        var text = [UInt8](repeating: 0, count: 4_096)
        var used = 0
        // libarchive writes into the buffer until it is closed, so the whole operation runs within this closure.
        let isWritten = try text.withUnsafeMutableBufferPointer { buffer throws(FileSystemError) -> Bool in
            try write(file, to: archive, into: UnsafeMutableRawBufferPointer(buffer), used: &used)
        }
        let lines = String(decoding: text.prefix(used), as: UTF8.self)
        guard isWritten, let word = lines.split(whereSeparator: \.isWhitespace).last(where: { $0.hasPrefix(keyword) })
        else { throw FileSystemError(path: path, reason: "its digest cannot be computed") }
        return String(word.dropFirst(keyword.count))
    }

    private static func write(
        _ file: OpenFile, to archive: OpaquePointer, into buffer: UnsafeMutableRawBufferPointer, used: inout Int
    ) throws(FileSystemError) -> Bool {
        archive_write_set_format_mtree(archive)
        archive_write_set_options(archive, "mtree:!all,mtree:sha256")
        archive_write_set_bytes_in_last_block(archive, 1)
        guard archive_write_open_memory(archive, buffer.baseAddress, buffer.count, &used) == ARCHIVE_OK,
            let entry = archive_entry_new()
        else { return false }
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname(entry, "file")
        archive_entry_set_filetype(entry, ZipReader.regularFile)
        archive_entry_set_size(entry, la_int64_t(try file.size()))
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { return false }
        while let chunk = try file.read() {
            guard archive_write_data(archive, chunk, chunk.count) == chunk.count else { return false }
        }
        return archive_write_close(archive) == ARCHIVE_OK
    }
}
