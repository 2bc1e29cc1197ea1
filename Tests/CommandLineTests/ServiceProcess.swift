import Foundation
import IndoorLocalizationTesting
import Synchronization

/// `indoorloc serve` as a process of its own, that a test watches and ends.
final class ServiceProcess {
    /// What stands behind `serve` in every test: the office, and a walk that is heard at its pace.
    static func walk(_ name: String, from start: Double = 0) throws -> [String] {
        [
            "--venue", try FixtureFolder("office").path, "--replay",
            try FixtureFolder("recordings/" + name).file("scan.jsonl.gz"), "--replay-from", "\(start)",
        ]
    }

    struct TooSlow: Error, CustomStringConvertible {
        let awaited: String
        let lines: [String]
        var description: String { "no \(awaited) within \(Int(Tool.bound)) s, but \(lines.suffix(5))" }
    }

    private let process = Process()
    private let output = Pipe()
    private let errorPipe = Pipe()
    private let lines = Lines()
    private let errorLines = Lines()

    /// - Parameters:
    ///   - environment: beside that of the tests.
    ///   - readsOutput: whether somebody takes the lines; otherwise the pipe becomes full.
    init(_ arguments: [String], environment: [String: String] = [:], readsOutput: Bool = true) throws {
        process.executableURL = URL(filePath: try Tool.path())
        process.arguments = ["serve"] + arguments
        process.currentDirectoryURL = try Checkout.root()
        var all = ProcessInfo.processInfo.environment
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "STATE_DIRECTORY"] { all[name] = nil }
        process.environment = all.merging(environment) { _, own in own }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errorPipe
        if !readsOutput {
            // The least that the system allows: a page.
            _ = fcntl(output.fileHandleForWriting.fileDescriptor, F_SETPIPE_SZ, 4096)
        }
        try process.run()
        try? output.fileHandleForWriting.close()
        try? errorPipe.fileHandleForWriting.close()
        if readsOutput { lines.follow(output.fileHandleForReading) }
        errorLines.follow(errorPipe.fileHandleForReading)
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// The lines on standard output so far.
    var told: [String] { lines.all }
    /// Those on standard error.
    var errors: [String] { errorLines.all }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the first line from `index` on that contains all of these texts; returns it.
    @discardableResult func wait(for texts: String..., from index: Int = 0) throws -> String {
        guard let line = lines.first(from: index, where: { line in texts.allSatisfy(line.contains) }) else {
            throw TooSlow(awaited: texts.joined(separator: " with "), lines: told + errors)
        }
        return line
    }

    /// Waits for a line on standard error.
    func waitForError(_ text: String) throws {
        guard errorLines.first(from: 0, where: { $0.contains(text) }) != nil else {
            throw TooSlow(awaited: "error " + text, lines: errors)
        }
    }

    /// Waits for the end; the exit status, or 128 and the number of the signal that ended it.
    func end() throws -> Int32 {
        // All that it has written, and then its end: both pipes close with it.
        guard errorLines.waitForEnd(),
            output.fileHandleForReading.fileDescriptor < 0 || lines.isIdle || lines.waitForEnd()
        else { throw TooSlow(awaited: "end", lines: told + errors) }
        process.waitUntilExit()
        return (process.terminationReason == .uncaughtSignal ? 128 : 0) + process.terminationStatus
    }
}

/// Lines that a thread reads, for others to wait for.
private final class Lines: Sendable {
    private struct State {
        var lines: [String] = []
        var rest: [UInt8] = []
        var isFollowing = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let news = NSCondition()

    var all: [String] { state.withLock { $0.lines } }
    /// Whether nobody reads.
    var isIdle: Bool { state.withLock { !$0.isFollowing } }

    func follow(_ handle: FileHandle) {
        state.withLock { $0.isFollowing = true }
        let descriptor = dup(handle.fileDescriptor)
        Thread.detachNewThread { [self] in
            let reader = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            while let data = try? reader.read(upToCount: 4096), !data.isEmpty { take(data) }
            news.withLock {
                state.withLock { $0.hasEnded = true }
                news.broadcast()
            }
        }
    }

    private func take(_ data: Data) {
        news.withLock {
            state.withLock { state in
                state.rest += data
                while let end = state.rest.firstIndex(of: 10) {
                    state.lines.append(String(decoding: state.rest[..<end], as: UTF8.self))
                    state.rest.removeFirst(end + 1)
                }
            }
            news.broadcast()
        }
    }

    /// Waits for a line from `index` on; nil if it has not come in time, or cannot come any more.
    func first(from index: Int, where isWanted: (String) -> Bool) -> String? {
        let deadline = Date(timeIntervalSinceNow: Tool.bound)
        return news.withLock {
            while true {
                let (found, hasEnded) = state.withLock { state in
                    (state.lines.dropFirst(index).first(where: isWanted), state.hasEnded)
                }
                if found != nil || hasEnded { return found }
                guard news.wait(until: deadline) else { return nil }
            }
        }
    }

    func waitForEnd() -> Bool {
        let deadline = Date(timeIntervalSinceNow: Tool.bound)
        return news.withLock {
            while !state.withLock({ $0.hasEnded }) {
                guard news.wait(until: deadline) else { return false }
            }
            return true
        }
    }
}
