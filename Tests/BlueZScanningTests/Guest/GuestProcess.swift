import Foundation
import IndoorLocalizationTesting
import Synchronization

/// A program that runs during a test, with output that the test can wait for.
///
/// A class because it owns a process. A lock protects its lines.
final class GuestProcess: Sendable {
    struct Output: Sendable {
        /// The lines of standard output and standard error.
        var lines: [String] = []
        /// The exit status; nil while the program runs.
        var status: Int32?
        fileprivate var rest = Data()
    }

    let name: String
    let output = WatchedState(Output())
    private let process: Mutex<Process>
    /// Standard input, which stays open because BlueZ's tools exit at its end.
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
        // A thread, because creating and canceling handlers crashes the dispatch library: see `ReadinessWatch`.
        let reading = pipe.fileHandleForReading
        Thread.detachNewThread { [output] in
            while true {
                let data = reading.availableData
                if data.isEmpty { return }
                output.update { $0.append(data) }
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

    /// Waits until the lines after the first `count` satisfy a condition. Returns the number of lines at that time.
    @discardableResult
    func wait(
        for awaited: String, after count: Int = 0, until condition: @escaping @Sendable ([String]) -> Bool
    ) async throws -> Int {
        do {
            try await Bounded.waitInGuest(for: "\(name): \(awaited)") { [output] in
                try await output.wait { condition(Array($0.lines.dropFirst(count))) }
            }
        } catch let error as Bounded.Expired {
            throw Bounded.Expired(awaited: "\(error.awaited) (its output:  \(output.value.lines.suffix(20)))")
        }
        return output.value.lines.count
    }

    /// Waits until the program has ended, and returns its exit status.
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

    /// Runs a program to its end and returns its output.
    @discardableResult
    static func run(_ path: String, _ arguments: [String] = []) async throws -> [String] {
        let process = try GuestProcess(path, arguments)
        try await process.waitForEnd()
        return process.output.value.lines
    }
}

extension GuestProcess.Output {
    fileprivate mutating func append(_ data: Data) {
        rest.append(data)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
            rest = Data(rest[(end + 1)...])
        }
    }
}
