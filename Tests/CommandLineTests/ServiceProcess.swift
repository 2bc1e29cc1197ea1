import Foundation
import IndoorLocalizationTesting
import Synchronization

/// A process of `indoorloc serve`, or of another command that runs until a signal, that a test observes and ends.
final class ServiceProcess {
    /// The options of `serve` in every test: the office, and a walk in real time.
    static func walk(_ name: String, from start: Double = 0) throws -> [String] {
        [
            "--venue", try FixtureFolder("office").path, "--replay",
            try FixtureFolder("recordings/" + name).file("scan.jsonl.gz"), "--replay-from", "\(start)",
        ]
    }

    struct TooSlow: Error, CustomStringConvertible {
        let awaited: String
        let lines: [String]
        var description: String { "no \(awaited) within \(Int(Tool.bound)) s, but \(lines.suffix(40))" }
    }

    /// `F_SETPIPE_SZ` of fcntl, which glibc declares only with `_GNU_SOURCE`.
    private static let setPipeSize: Int32 = 1031

    private let process = Process()
    private let output = Pipe()
    private let errorPipe = Pipe()
    private let lines = ReadTexts()
    private let errorLines = ReadTexts()
    private let readsOutput: Bool

    /// - Parameters:
    ///   - environment: variables in addition to those of the tests.
    ///   - wrapper: a program and its arguments, which start the command line that follows; empty for none.
    ///   - readsOutput: whether the test reads the output; otherwise the pipe becomes full.
    init(
        _ arguments: [String], command: String = "serve", environment: [String: String] = [:], wrapper: [String] = [],
        readsOutput: Bool = true
    ) throws {
        self.readsOutput = readsOutput
        process.executableURL = URL(filePath: try wrapper.first ?? Tool.path())
        process.arguments = wrapper.dropFirst() + [command] + arguments
        process.currentDirectoryURL = try Checkout.root()
        var all = ProcessInfo.processInfo.environment
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "STATE_DIRECTORY"] { all[name] = nil }
        process.environment = all.merging(environment) { _, own in own }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errorPipe
        if !readsOutput {
            // The minimum that the system allows: one page.
            _ = fcntl(output.fileHandleForWriting.fileDescriptor, Self.setPipeSize, 4096)
        }
        try process.run()
        try? output.fileHandleForWriting.close()
        try? errorPipe.fileHandleForWriting.close()
        if readsOutput { lines.follow(lines: output.fileHandleForReading.fileDescriptor) }
        errorLines.follow(lines: errorPipe.fileHandleForReading.fileDescriptor)
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// The lines on standard output so far.
    var told: [String] { lines.all }
    /// The lines on standard error so far.
    var errors: [String] { errorLines.all }

    /// The number of the process.
    var identifier: Int32 { process.processIdentifier }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the first line from `index` on that contains all of these texts, and returns it.
    @discardableResult func wait(for texts: String..., from index: Int = 0) throws -> String {
        guard
            let line = lines.first(from: index, within: Tool.bound, where: { line in texts.allSatisfy(line.contains) })
        else {
            throw TooSlow(awaited: texts.joined(separator: " with "), lines: told + errors)
        }
        return line
    }

    /// Returns whether a line from `index` on contains all of these texts, now or within some seconds.
    func prints(_ texts: String..., from index: Int = 0, within seconds: Double) -> Bool {
        lines.first(from: index, within: seconds, where: { line in texts.allSatisfy(line.contains) }) != nil
    }

    /// Waits for a line on standard error, from `index` on.
    func waitForError(_ text: String, from index: Int = 0) throws {
        guard errorLines.first(from: index, within: Tool.bound, where: { $0.contains(text) }) != nil else {
            throw TooSlow(awaited: "error " + text, lines: errors)
        }
    }

    /// Waits for the end; returns the exit status, or 128 plus the number of the signal that ended the process.
    func end() throws -> Int32 {
        // Both pipes close when the process ends.
        guard errorLines.waitForEnd(), !readsOutput || lines.waitForEnd() else {
            throw TooSlow(awaited: "end", lines: told + errors)
        }
        process.waitUntilExit()
        return (process.terminationReason == .uncaughtSignal ? 128 : 0) + process.terminationStatus
    }
}
