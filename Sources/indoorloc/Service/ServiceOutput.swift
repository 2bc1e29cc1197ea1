import Foundation
import IndoorLocalization

/// The output of a service: standard output, or a file to which lines are appended.
///
/// Neither a full disk nor a stopped reader ends the service. Lines that don't fit in the buffer are lost. Standard
/// error reports when this begins, and the number of lost lines when it ends.
struct ServiceOutput {
    /// The file; nil for standard output.
    private let file: OutputFile?
    private var lines = LiveOutput()
    /// The reported problem; nil while lines are written.
    private var trouble: String?

    /// Opens the file.
    ///
    /// - Throws: `OutputFile.Failure` if the file can't be opened, or if it is an input.
    init(_ file: OutputFile?) throws(OutputFile.Failure) {
        self.file = file
        try open()
    }

    private var place: String { file?.path ?? "standard output" }

    /// Writes a line with the time of day, as the instants of each run count from its own start.
    ///
    /// - Throws: `OutputError` if the reader has closed the pipe.
    mutating func line(_ output: SessionReplay.Output) throws(OutputError) {
        var time = JSONText()
        time.add("time", Date().timeIntervalSince1970, decimals: 3)
        let text: String = time.text.dropLast() + "," + output.json.dropFirst()
        try attempt { lines throws(OutputError) in
            try lines.line(text)
            try lines.write()
        }
    }

    /// Writes as many pending lines as the reader accepts.
    mutating func write() throws(OutputError) {
        try attempt { lines throws(OutputError) in try lines.write() }
    }

    /// Writes the remaining lines, and reports lost ones.
    mutating func end() throws(OutputError) {
        try attempt { lines throws(OutputError) in try lines.finish() }
        lines.drop()
        let losses = lines.drainLosses()
        if losses > 0 { StandardError.line("\(place): \(LiveOutput.text(losses))", .warning) }
    }

    /// Opens the file again, in case it was renamed. If this fails, the earlier file stays open.
    mutating func reopen() throws(OutputError) {
        try write()
        do throws(OutputFile.Failure) { try open() } catch {
            StandardError.line("\(error); the earlier file stays open", .warning)
        }
    }

    /// Writes; a failure is reported once.
    private mutating func attempt(_ body: (inout LiveOutput) throws(OutputError) -> Void) throws(OutputError) {
        do { try body(&lines) } catch {
            if error.isBrokenPipe { throw error }
            begin("\(OutputError(number: error.number, place: place))")
            return
        }
        if lines.lost > 0, !lines.isWritten { begin("\(place): the reader doesn't accept lines") }
        guard trouble != nil, lines.isWritten else { return }
        trouble = nil
        StandardError.line("\(place): writing resumed; \(LiveOutput.text(lines.drainLosses()))", .notice)
    }

    private mutating func begin(_ text: String) {
        guard trouble == nil else { return }
        trouble = text
        StandardError.line("\(text); the service continues, and lines are lost", .warning)
    }

    private func open() throws(OutputFile.Failure) {
        guard let file else { return }
        try file.check()
        let descriptor = Foundation.open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutputFile.Failure(path: file.path) }
        dup2(descriptor, STDOUT_FILENO)
        close(descriptor)
    }
}
