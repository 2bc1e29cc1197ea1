import Foundation
import IndoorLocalization

/// Where a service's lines go: standard output, or behind the end of a file.
struct ServiceOutput {
    /// The file; nil for standard output.
    private let path: String?
    private var lines = LineOutput()

    /// Opens the file.
    ///
    /// - Throws: `OutputFile.Failure` if the system can't.
    init(path: String?) throws(OutputFile.Failure) {
        self.path = path
        try open()
    }

    /// Writes a line, with the time of day: what one run after the other tells counts from its own start.
    mutating func line(_ told: SessionReplay.Output) throws(OutputError) {
        var time = JSONText()
        time.add("time", Date().timeIntervalSince1970, decimals: 3)
        let text: String = time.text.dropLast() + "," + told.json.dropFirst()
        try naming { lines throws(OutputError) in
            try lines.line(text)
            try lines.flush()
        }
    }

    /// Writes what is pending.
    mutating func flush() throws(OutputError) {
        try naming { lines throws(OutputError) in try lines.flush() }
    }

    /// Writes; an error names the file.
    private mutating func naming(_ body: (inout LineOutput) throws(OutputError) -> Void) throws(OutputError) {
        do { try body(&lines) } catch {
            throw OutputError(number: error.number, place: path ?? error.place)
        }
    }

    /// Begins the file anew, if it was moved away.
    mutating func reopen() throws {
        try flush()
        try open()
    }

    private func open() throws(OutputFile.Failure) {
        guard let path else { return }
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw OutputFile.Failure(path: path, reason: String(cString: strerror(errno))) }
        dup2(descriptor, STDOUT_FILENO)
        close(descriptor)
    }
}
