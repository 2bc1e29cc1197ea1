import Glibc
import IndoorVocabulary
import TextFormats

/// A file with a token, a password or a key, which other users of the machine must not access.
///
/// A regular file is refused if users other than its owner and its group may access it. Access by the group is allowed,
/// because systemd can give a service's user access to a credential (`LoadCredential=`) by an access list, which the
/// file's mode shows as access of the group. Pipes and devices aren't checked, because they store nothing that others
/// could read.
package struct SecretFile: Hashable, Sendable {
    /// The kind of a secret, as errors name it.
    package enum Content: String, Hashable, Sendable {
        case token
        case password
        case login = "user:password"
        case key
    }

    /// The permissions of users other than owner and group.
    private static let others: mode_t = 0o007

    /// The path.
    package let path: String
    /// What the file contains.
    package let content: Content
    /// The name of the command's option that gives the path; nil outside of a command.
    package let option: String?

    package init(_ path: String, _ content: Content, option: String? = nil) {
        self.path = path
        self.content = content
        self.option = option
    }

    /// Returns the first line, without its end. Further lines may be comments; a long file is not read to its end.
    ///
    /// - Throws: `SecretFileError` if the file isn't readable, others may access it, or the line is empty or too long.
    package func line() throws(SecretFileError) -> String {
        let limit = InputLimits.standard.secret
        let bytes = try read(atMost: limit + 1) { $0.contains(where: Self.isLineEnd) }
        let line = bytes.dropFirst(ByteOrderMark.length(in: bytes)).prefix { !Self.isLineEnd($0) }
        guard line.count <= limit else { throw error(.longLine(limit: limit)) }
        guard !line.isEmpty else { throw error(.empty) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Returns the user and the password in the first line; the password may contain colons.
    ///
    /// - Throws: `SecretFileError` as `line()`, or if the line has no colon.
    package func login() throws(SecretFileError) -> (user: String, password: String) {
        let parts = try line().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw error(.empty) }
        return (String(parts[0]), String(parts[1]))
    }

    /// Returns all bytes.
    ///
    /// - Throws: `SecretFileError` if the file isn't readable, others may access it, or it is larger than the limit.
    package func bytes(atMost limit: Int) throws(SecretFileError) -> [UInt8] {
        let bytes = try read(atMost: limit + 1) { _ in false }
        guard bytes.count <= limit else { throw error(.largeFile(limit: limit)) }
        return bytes
    }

    /// Checks the permissions of a file that another library reads.
    ///
    /// - Throws: `SecretFileError` if the file doesn't exist or others may access it.
    package func check() throws(SecretFileError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw error(.unreadable(code: errno)) }
        try check(status)
    }

    private func check(_ status: stat) throws(SecretFileError) {
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & Self.others != 0 else { return }
        throw error(.exposed(mode: status.st_mode & 0o7777))
    }

    /// Reads until the end, until there are `count` bytes, or until a piece ends the reading.
    private func read(
        atMost count: Int, until isLast: (ArraySlice<UInt8>) -> Bool
    ) throws(SecretFileError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw error(.unreadable(code: errno)) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw error(.unreadable(code: errno)) }
        try check(status)
        var bytes = [UInt8](repeating: 0, count: count)
        var end = 0
        while end < count {
            let size = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + end }, count - end) }
            if size < 0, errno == EINTR { continue }
            guard size >= 0 else { throw error(.unreadable(code: errno)) }
            if size == 0 { break }
            end += size
            if isLast(bytes[(end - size)..<end]) { break }
        }
        return Array(bytes.prefix(end))
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private func error(_ reason: SecretFileError.Reason) -> SecretFileError { SecretFileError(self, reason) }
}

/// An error in reading a file with a secret. No description contains the secret.
package struct SecretFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    package enum Reason: Hashable, Sendable {
        /// The file can't be opened or read; `code` is the system's error number.
        case unreadable(code: Int32)
        /// Users other than owner and group may access the file, which has these permissions.
        case exposed(mode: mode_t)
        /// The first line is longer than the limit in bytes.
        case longLine(limit: Int)
        /// The file is larger than the limit in bytes.
        case largeFile(limit: Int)
        /// The first line doesn't contain the secret.
        case empty
    }

    /// The file.
    package let file: SecretFile
    /// The kind of error.
    package let reason: Reason

    init(_ file: SecretFile, _ reason: Reason) {
        self.file = file
        self.reason = reason
    }

    /// What was wrong, without the names of the option and the file.
    package var explanation: String {
        switch reason {
        case .unreadable(let code): strerror(code).map { String(cString: $0) } ?? "error \(code)"
        case .exposed(let mode):
            "its mode \(Self.octal(mode)) lets every user of this machine access the \(file.content.rawValue); use "
                + "'chmod 600 \(file.path)'"
        case .longLine(let limit): "the first line is longer than \(limit) bytes"
        case .largeFile(let limit): "the file is larger than \(limit) bytes"
        case .empty: "the first line has no \(file.content.rawValue)"
        }
    }

    package var description: String { "\(file.option.map { "--\($0) " } ?? "")\(file.path): \(explanation)" }

    /// The mode as `chmod` takes it, such as 0644.
    private static func octal(_ mode: mode_t) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
