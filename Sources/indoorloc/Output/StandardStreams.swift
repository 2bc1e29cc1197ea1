import Foundation

/// What could not be written to standard output, or to the file in its place.
struct OutputError: Error, CustomStringConvertible {
    /// The system's error number.
    let number: Int32
    /// Where it was to go.
    var place = "standard output"
    /// Whether nobody reads any more, as behind `| head`.
    var isBrokenPipe: Bool { number == EPIPE }
    private var reason: String { String(cString: strerror(number)) }
    var description: String { "\(place): \(reason)" }
}

/// Standard output, where results go.
enum StandardOutput {
    /// Writes all of the text.
    ///
    /// - Throws: `OutputError` if the system can't, such as on a full disk.
    static func write(_ text: String) throws(OutputError) {
        let error = FileDescriptor.write(text, to: STDOUT_FILENO)
        if error != 0 { throw OutputError(number: error) }
    }
}

/// Standard error, where errors and progress go.
enum StandardError {
    /// Whether a person looks at it.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes the text; there is nowhere to tell if that fails.
    static func write(_ text: String) { _ = FileDescriptor.write(text, to: STDERR_FILENO) }
}

/// What the system can be asked to write to.
private enum FileDescriptor {
    /// Writes all of the text; the system's error number if it can't, else 0.
    ///
    /// Not `FileHandle.write`, which ends the process where it cannot write.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            bytes = bytes.dropFirst(count)
        }
        return 0
    }
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
