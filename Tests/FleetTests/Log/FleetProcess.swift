import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers

/// The built program `indoorloc-fleet` in a process that a test stops, continues or kills, and whose lines it awaits.
final class FleetProcess: Sendable {
    private struct Output: Sendable {
        var lines: [String] = []
        /// Whether all lines were read: the process may end before.
        var isRead = false
        var status: Int32?
    }

    private let number: Int32
    private let output: WatchedState<Output>

    /// Starts the program.
    ///
    /// - Parameter program: the path of another program.
    init(_ arguments: [String], program: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(filePath: try program ?? FleetProgram.path())
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        let output = WatchedState(Output())
        self.output = output
        process.terminationHandler = { process in
            let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
            output.update { $0.status = signal + process.terminationStatus }
        }
        try ProcessSignals.withAll { try process.run() }
        number = process.processIdentifier
        let reader = pipe.fileHandleForReading
        Thread.detachNewThread {
            var rest = ""
            while case let data = reader.availableData, !data.isEmpty {
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    let line = String(rest[..<end])
                    output.update { $0.lines.append(line) }
                    rest = String(rest[rest.index(after: end)...])
                }
            }
            output.update { $0.isRead = true }
        }
    }

    deinit { send(SIGKILL) }

    /// The lines on standard output and standard error so far.
    var lines: [String] { output.value.lines }

    /// Sends a signal, unless the process has ended.
    func send(_ signal: Int32) {
        if output.value.status == nil { kill(number, signal) }
    }

    /// Waits for a line that contains the text, from the given number of lines on.
    func wait(forLine text: String, after count: Int = 0) async throws {
        let output = output
        try await Bounded.wait(for: "the line '\(text)'") {
            try await output.wait { $0.lines.dropFirst(count).contains { $0.contains(text) } }
        }
    }

    /// Waits for the end of the process and of its output; returns its status.
    @discardableResult func end() async throws -> Int32? {
        let output = output
        try await Bounded.wait(for: "the end of indoorloc-fleet") {
            try await output.wait { $0.status != nil && $0.isRead }
        }
        return output.value.status
    }
}
