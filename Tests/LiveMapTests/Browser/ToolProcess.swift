import Foundation
import IndoorLocalizationTesting
import LoopbackServers

/// A process of the built command line tool.
final class ToolProcess {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let output = Pipe()

    /// Starts the tool in the root of the checkout.
    init(_ arguments: [String]) throws {
        // The tool is in the folder of the test program.
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let tool = program.resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "indoorloc")
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            throw Failure(description: "\(tool.path) is missing: build the product indoorloc")
        }
        process.executableURL = tool
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: try FixtureFolder(".").path).appending(path: "..")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try ProcessSignals.withAll { try process.run() }
        try? output.fileHandleForWriting.close()
    }

    deinit { kill() }

    /// Ends the process at once, without a chance for it to close anything.
    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for the first line of the output.
    func firstLine() throws -> String {
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Waits for the end, and returns the exit status.
    func end() throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(DevToolsPipe.bound)
        while process.isRunning {
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "indoorloc \(process.arguments ?? []) has not ended")
            }
            poll(nil, 0, 5)
        }
        return process.terminationStatus
    }
}
