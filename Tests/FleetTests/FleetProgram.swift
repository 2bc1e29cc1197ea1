import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The built program `indoorloc-fleet` in a process.
final class FleetProgram {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The status and the texts of a run.
    struct Result {
        /// The exit status; 128 and the signal's number if a signal ended it.
        var status: Int32
        var output: String
        var errors: String
    }

    private let process = Process()
    private let folder: URL

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - folder: a folder for the texts that the program prints.
    ///   - environment: variables in addition to those of the tests.
    init(_ arguments: [String], folder: String, environment: [String: String] = [:]) throws {
        self.folder = URL(filePath: folder)
        process.executableURL = URL(filePath: try Self.path())
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, own in own }
        process.standardInput = FileHandle.nullDevice
        // Files instead of pipes: the program never waits for a reader.
        for name in ["output", "errors"] { try Data().write(to: self.folder.appending(path: name)) }
        process.standardOutput = try FileHandle(forWritingTo: self.folder.appending(path: "output"))
        process.standardError = try FileHandle(forWritingTo: self.folder.appending(path: "errors"))
        try ProcessSignals.withAll { try process.run() }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// The path of the program, in the folder of the test program.
    static func path() throws -> String {
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let path = program.resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "indoorloc-fleet").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Failure(description: "\(path) is missing: build the product indoorloc-fleet")
        }
        return path
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the end of the program.
    func end() throws -> Result {
        let deadline = ContinuousClock.now + Bounded.longest
        while process.isRunning {
            guard ContinuousClock.now < deadline else {
                kill(process.processIdentifier, SIGKILL)
                throw Failure(description: "indoorloc-fleet did not end; it printed \(text("errors"))")
            }
            poll(nil, 0, 5)
        }
        process.waitUntilExit()
        let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
        return Result(status: signal + process.terminationStatus, output: text("output"), errors: text("errors"))
    }

    /// Waits until standard error has a text.
    func wait(for text: String) throws {
        let deadline = ContinuousClock.now + Bounded.longest
        while true {
            // Before the text is read: the program may print it and then end.
            let isRunning = process.isRunning
            if self.text("errors").contains(text) { return }
            guard isRunning, ContinuousClock.now < deadline else {
                throw Failure(
                    description: "indoorloc-fleet did not report '\(text)'; it printed \(self.text("errors"))")
            }
            poll(nil, 0, 5)
        }
    }

    /// Waits until standard output has a number of lines, and returns all of its whole lines.
    func printedLines(atLeast count: Int) throws -> String {
        let deadline = ContinuousClock.now + Bounded.longest
        while true {
            let isRunning = process.isRunning
            let text = text("output")
            let lines = text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]
            if lines.split(separator: "\n").count >= count { return String(lines) }
            guard isRunning, ContinuousClock.now < deadline else {
                throw Failure(description: "indoorloc-fleet printed no \(count) lines, but \(text)")
            }
            poll(nil, 0, 5)
        }
    }

    private func text(_ name: String) -> String {
        (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
    }
}

extension XCTestCase {
    /// A new empty folder that is removed after the test.
    func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/fleet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }
}
