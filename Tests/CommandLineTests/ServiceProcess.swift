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

    /// Whether the process has ended.
    var hasEnded: Bool { !process.isRunning }

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

    /// Waits for further lines that contain a text until a condition holds.
    func wait(forLines text: String, until condition: () throws -> Bool) throws {
        let start = ContinuousClock.now
        while try !condition() {
            guard start.duration(to: .now) < Bounded.longest else {
                throw TooSlow(awaited: "condition after lines with " + text, lines: told + errors)
            }
            try wait(for: text, from: told.count)
        }
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

/// The notification socket of a service manager such as systemd.
final class NotifySocket {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The path, for NOTIFY_SOCKET.
    let path: String
    private let descriptor: Int32
    private let texts = ReadTexts()
    /// The number of messages that were returned.
    private var taken = 0

    /// The messages so far, with their lines in order.
    var messages: [String] { texts.all }
    /// The message that was returned last.
    var latest: String? { taken > 0 ? texts.all[taken - 1] : nil }

    init(in folder: String) throws {
        path = folder + "/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let status = try Self.withAddress(path) { bind(descriptor, $0, $1) }
        guard status == 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
        // Read continuously, as a service blocks while the socket is full.
        texts.follow(datagrams: descriptor)
    }

    deinit {
        _ = try? sayEnd()
        close(descriptor)
    }

    /// Waits until all messages are read, and stops reading.
    func finish() throws {
        try sayEnd()
        guard texts.waitForEnd() else { throw Failure(description: "\(path) is not read to its end") }
    }

    /// An empty message ends the thread that reads.
    private func sayEnd() throws {
        _ = try Self.withAddress(path) { sendto(descriptor, nil, 0, Int32(MSG_DONTWAIT), $0, $1) }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> some SignedInteger)
        throws -> Int
    {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Failure(description: "\(path) is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Int(body($0, socklen_t(MemoryLayout<sockaddr_un>.size)))
            }
        }
    }

    /// Waits for the next message; returns nil after the time limit.
    @discardableResult func next(within seconds: Double) -> String? {
        guard let message = texts.first(from: taken, within: seconds, where: { _ in true }) else { return nil }
        taken += 1
        return message
    }

    /// Waits until one of all messages contains a text; later calls return the same messages as without this one.
    func wait(forAny text: String) throws {
        guard texts.first(from: 0, within: Tool.bound, where: { $0.contains(text) }) != nil else {
            throw Failure(description: "no \(text) within \(Int(Tool.bound)) s, but \(messages)")
        }
    }

    /// Waits for a new message with a line that has this prefix.
    func wait(for line: String) throws {
        let deadline = ContinuousClock.now + .seconds(Tool.bound)
        while ContinuousClock.now < deadline, let message = next(within: Tool.bound) {
            if message.split(separator: "\n").contains(where: { $0.hasPrefix(line) }) { return }
        }
        throw Failure(description: "no \(line) within \(Int(Tool.bound)) s, but \(messages)")
    }
}

/// Texts that a thread reads from a descriptor, and for which tests wait.
final class ReadTexts: Sendable {
    private struct State {
        var texts: [String] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let news = NSCondition()

    /// The texts read so far.
    var all: [String] { state.withLock { $0.texts } }

    /// Reads lines until the end.
    func follow(lines descriptor: Int32) {
        let own = dup(descriptor)
        Thread.detachNewThread { [self] in
            var rest: [UInt8] = []
            while let part = Self.read(own) {
                rest += part
                while let end = rest.firstIndex(of: 10) {
                    append(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
            end(own)
        }
    }

    /// Reads datagrams, each as a text, until an empty one.
    func follow(datagrams descriptor: Int32) {
        let own = dup(descriptor)
        Thread.detachNewThread { [self] in
            while let message = Self.read(own) { append(String(decoding: message, as: UTF8.self)) }
            end(own)
        }
    }

    /// Waits for a text from `index` on; returns nil after the time limit or at the end.
    func first(from index: Int, within seconds: Double, where isWanted: (String) -> Bool) -> String? {
        let deadline = Date(timeIntervalSinceNow: seconds)
        return news.withLock {
            while true {
                let (found, hasEnded) = state.withLock { state in
                    (state.texts.dropFirst(index).first(where: isWanted), state.hasEnded)
                }
                if found != nil || hasEnded { return found }
                guard news.wait(until: deadline) else { return nil }
            }
        }
    }

    /// Waits for the end; returns false after the time limit.
    func waitForEnd() -> Bool {
        let deadline = Date(timeIntervalSinceNow: Tool.bound)
        return news.withLock {
            while !state.withLock({ $0.hasEnded }) {
                guard news.wait(until: deadline) else { return false }
            }
            return true
        }
    }

    /// Waits for bytes and returns them; nil at the end.
    private static func read(_ descriptor: Int32) -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return count > 0 ? buffer[..<count] : nil
        }
    }

    private func append(_ text: String) {
        news.withLock {
            state.withLock { $0.texts.append(text) }
            news.broadcast()
        }
    }

    private func end(_ descriptor: Int32) {
        close(descriptor)
        news.withLock {
            state.withLock { $0.hasEnded = true }
            news.broadcast()
        }
    }
}
