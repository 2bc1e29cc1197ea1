import Glibc
import IndoorVocabulary

/// The directory at the end of a zip, which libarchive reads as a whole before it gives the first entry.
///
/// Source: PKWARE, *.ZIP File Format Specification* 6.3.10, 4.3.16.
enum ZipDirectory {
    /// Bytes of the end record without its comment, and the longest comment.
    private static let (recordSize, longestComment) = (22, 65_535)
    private static let recordSignature: [UInt8] = [0x50, 0x4B, 5, 6]
    private static let zip64Signature: [UInt8] = [0x50, 0x4B, 6, 7]

    /// Refuses a zip whose directory is larger than that of any packet; a file that is no zip passes.
    static func check(_ path: String, limit: Int = InputLimits.standard.zipDirectory) throws(PacketFileError) {
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
                message: "\(path) has a directory larger than the \(limit) bytes that it may have; is it a packet?")
        }
    }

    /// Four bytes, the lowest first.
    private static func number(in bytes: [UInt8], at index: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[index + $1]) << (8 * $1) }
    }
}
