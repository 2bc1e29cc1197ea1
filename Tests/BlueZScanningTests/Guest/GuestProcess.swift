import Foundation
import IndoorLocalizationTesting
import Synchronization

/// A program that runs beside a test, and whose words can be waited for.
///
/// A class because it owns a process; its lines lie behind a lock.
final class GuestProcess: Sendable {
    struct Output: Sendable {
        /// What it said, on standard output and standard error.
        var lines: [String] = []
        /// Its exit status; nil while it runs.
        var status: Int32?
        fileprivate var rest = Data()
    }

    let name: String
    let output = WatchedState(Output())
    private let process: Mutex<Process>
    /// Stays open: BlueZ's tools end when nobody can type any more.
    private let input = Pipe()

    /// Starts a program.
    init(_ path: String, _ arguments: [String] = []) throws {
        name = URL(filePath: path).lastPathComponent
        let child = Process()
        child.executableURL = URL(filePath: path)
        child.arguments = arguments
        child.standardInput = input
        let pipe = Pipe()
        child.standardOutput = pipe
        child.standardError = pipe
        // A thread, as handlers that come and go crash the dispatch library: see `ReadinessWatch`.
        let reading = pipe.fileHandleForReading
        Thread.detachNewThread { [output] in
            while true {
                let data = reading.availableData
                if data.isEmpty { return }
                output.update { $0.take(data) }
            }
        }
        child.terminationHandler = { [output] child in
            let status = child.terminationStatus
            output.update { $0.status = status }
        }
        try child.run()
        process = Mutex(child)
    }

    deinit { if process.withLock({ $0.isRunning }) { kill(process.withLock { $0.processIdentifier }, SIGKILL) } }

    /// Waits until it has said something, among the lines behind the first so many; returns how many there were then.
    @discardableResult
    func wait(
        for awaited: String, after count: Int = 0, until condition: @escaping @Sendable ([String]) -> Bool
    ) async throws -> Int {
        do {
            try await Bounded.waitInGuest(for: "\(name): \(awaited)") { [output] in
                try await output.wait { condition(Array($0.lines.dropFirst(count))) }
            }
        } catch let error as Bounded.Expired {
            throw Bounded.Expired(awaited: "\(error.awaited) (it said: \(output.value.lines.suffix(20)))")
        }
        return output.value.lines.count
    }

    /// Waits until it has ended; returns its exit status.
    @discardableResult
    func waitForEnd() async throws -> Int32 {
        try await Bounded.waitInGuest(for: "the end of \(name)") { [output] in
            try await output.wait { $0.status != nil }
        }
        return output.value.status ?? -1
    }

    /// Sends a signal and waits for the end.
    func end(_ signal: Int32 = SIGTERM) async throws {
        let number = process.withLock { $0.processIdentifier }
        if output.value.status == nil { kill(number, signal) }
        try await waitForEnd()
    }

    /// Runs a program to its end; returns what it said.
    @discardableResult
    static func run(_ path: String, _ arguments: [String] = []) async throws -> [String] {
        let process = try GuestProcess(path, arguments)
        try await process.waitForEnd()
        return process.output.value.lines
    }
}

extension GuestProcess.Output {
    fileprivate mutating func take(_ data: Data) {
        rest.append(data)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
            rest = Data(rest[(end + 1)...])
        }
    }
}
