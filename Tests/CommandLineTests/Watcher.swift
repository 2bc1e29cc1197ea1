import Foundation
import IndoorLocalizationTesting
import LoopbackServers

/// A process of `indoorloc share watch` whose lines are read while it runs.
final class Watcher {
    private let process = Process()
    private let output = Pipe()
    private var rest = ""
    /// Lines that were read but not returned yet.
    private var lines: [String] = []

    init(_ words: [String]) throws {
        process.executableURL = URL(filePath: try Tool.path())
        process.arguments = ["share", "watch"] + words
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try ProcessSignals.withAll { try process.run() }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Waits for a new line with this prefix, up to a time limit.
    func line(_ start: String) throws -> String {
        let deadline = ContinuousClock.now + Bounded.longest
        while ContinuousClock.now < deadline {
            if let index = lines.firstIndex(where: { $0.hasPrefix(start) }) { return lines.remove(at: index) }
            var watched = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, 1000) > 0 else { continue }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Bounded.Expired(awaited: "\(start) (it has ended)") }
            rest += String(decoding: data, as: UTF8.self)
            while let end = rest.firstIndex(of: "\n") {
                lines.append(String(rest[..<end]))
                rest = String(rest[rest.index(after: end)...])
            }
        }
        throw Bounded.Expired(awaited: start)
    }

    /// All lines that were not returned yet, after the process has ended.
    func remainingLines() throws -> [String] {
        rest += String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        return lines + rest.split(separator: "\n").map(String.init)
    }

    /// Sends SIGINT and returns the exit status.
    func interrupt() throws -> Int32 {
        process.interrupt()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
