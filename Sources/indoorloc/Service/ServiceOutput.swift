import Foundation
import IndoorLocalization

/// Where a service's lines go: standard output, or behind the end of a file.
///
/// Neither a full disk nor a reader who takes nothing ends the service. Lines for which there is no room are lost;
/// standard error tells when that begins, and when it is over how many they were.
struct ServiceOutput {
    /// The file; nil for standard output.
    private let file: OutputFile?
    private var lines = LiveOutput()
    /// What has been told of a trouble that goes on.
    private var trouble: String?

    /// Opens the file.
    ///
    /// - Throws: `OutputFile.Failure` if the system can't, or if it is a file that is read.
    init(_ file: OutputFile?) throws(OutputFile.Failure) {
        self.file = file
        try open()
    }

    private var place: String { file?.path ?? "standard output" }

    /// Writes a line, with the time of day: what one run after the other tells counts from its own start.
    ///
    /// - Throws: if nobody will ever read it.
    mutating func line(_ told: SessionReplay.Output) throws(OutputError) {
        var time = JSONText()
        time.add("time", Date().timeIntervalSince1970, decimals: 3)
        let text: String = time.text.dropLast() + "," + told.json.dropFirst()
        try attempt { lines throws(OutputError) in
            try lines.line(text)
            try lines.write()
        }
    }

    /// Writes what is pending, as far as it is taken.
    mutating func write() throws(OutputError) {
        try attempt { lines throws(OutputError) in try lines.write() }
    }

    /// Writes what is left, as long as it is taken, and tells what was lost.
    mutating func end() throws(OutputError) {
        try attempt { lines throws(OutputError) in try lines.finish() }
        lines.drop()
        let losses = lines.takeLosses()
        if losses > 0 { StandardError.line("\(place): \(LiveOutput.text(losses))") }
    }

    /// Begins the file anew, if it was moved away; where that is not possible, the earlier one stays.
    mutating func reopen() throws(OutputError) {
        try write()
        do throws(OutputFile.Failure) { try open() } catch {
            StandardError.line("\(error); the earlier file stays")
        }
    }

    /// Writes; that it can't is told once.
    private mutating func attempt(_ body: (inout LiveOutput) throws(OutputError) -> Void) throws(OutputError) {
        do { try body(&lines) } catch {
            if error.isBrokenPipe { throw error }
            begin("\(OutputError(number: error.number, place: place))")
            return
        }
        if lines.lost > 0, !lines.isWritten { begin("\(place): nobody takes the lines") }
        guard trouble != nil, lines.isWritten else { return }
        trouble = nil
        StandardError.line("\(place): written again; \(LiveOutput.text(lines.takeLosses()))")
    }

    private mutating func begin(_ text: String) {
        guard trouble == nil else { return }
        trouble = text
        StandardError.line("\(text); the service goes on, and lines are lost")
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
