import Glibc

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
