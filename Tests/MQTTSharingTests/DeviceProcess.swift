import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

/// A device in a separate process. Its executable is in the folder of the test executable.
final class DeviceProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = ""

    convenience init(_ name: String, in room: String, _ broker: MosquittoBroker) throws {
        try self.init(name, in: room, port: broker.port)
    }

    init(_ name: String, in room: String, port: UInt16) throws {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "KilledProcess")
        process.arguments = ["sharing", "\(port)", name, room]
        process.standardInput = input
        process.standardOutput = output
        try ProcessSignals.withAll { try process.run() }
    }

    deinit { kill() }

    /// Waits for a line with a prefix within the time limit, and returns the rest of the line.
    func line(_ start: String) throws -> String {
        let deadline = ContinuousClock.now + Bounded.longest
        while true {
            while let end = rest.firstIndex(of: "\n") {
                let line = String(rest[..<end])
                rest = String(rest[rest.index(after: end)...])
                if line.hasPrefix(start) { return String(line.dropFirst(start.count)) }
            }
            var watched = pollfd(
                fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, 1000) > 0 || ContinuousClock.now < deadline else {
                throw StageError("no line '\(start)'")
            }
            if watched.revents == 0 { continue }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw StageError("the process ended before a line '\(start)'") }
            rest += String(decoding: data, as: UTF8.self)
        }
    }

    func share(x: Double) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(x)\n".utf8)) }

    /// Ends the process as a person would, and returns its exit status.
    func end() throws -> Int32 {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }

    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The largest memory that the process has had so far, in bytes: `VmHWM` of proc(5).
    func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        guard let kilobytes else { throw StageError("the process reports no peak of its memory") }
        return kilobytes << 10
    }
}
