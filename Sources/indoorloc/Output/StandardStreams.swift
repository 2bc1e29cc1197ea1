import Foundation

/// What could not be written to standard output.
struct OutputError: Error, CustomStringConvertible {
    let reason: String
    var description: String { "standard output: \(reason)" }
}

/// Standard output, where results go.
enum StandardOutput {
    /// Writes all of the text.
    ///
    /// - Throws: `OutputError` if the system can't, such as on a full disk.
    static func write(_ text: String) throws(OutputError) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw OutputError(reason: String(cString: strerror(errno)))
            }
            bytes = bytes.dropFirst(count)
        }
    }
}

/// Standard error, where errors and progress go.
enum StandardError {
    /// Whether a person looks at it.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes the text; there is nowhere to tell if that fails.
    static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

/// Collects lines for standard output, so that the system is called once for many of them.
struct LineOutput {
    private var pending = ""
    private static let limit = 1 << 16

    /// Writes a line, now or with later ones.
    mutating func line(_ text: String) throws(OutputError) {
        pending += text
        pending += "\n"
        if pending.utf8.count > Self.limit { try flush() }
    }

    /// Writes what is pending.
    mutating func flush() throws(OutputError) {
        try StandardOutput.write(pending)
        pending = ""
    }
}
