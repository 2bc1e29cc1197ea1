import Foundation

/// Debian's `promtool`, which checks metrics and configurations of Prometheus.
enum Promtool {
    struct Result {
        let status: Int32
        /// Standard output and standard error.
        let output: String
    }

    /// Runs the tool with a text on standard input.
    ///
    /// - Throws: if the tool isn't installed.
    static func run(_ arguments: [String], input: String = "") throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/promtool")
        process.arguments = arguments
        let (source, sink) = (Pipe(), Pipe())
        process.standardInput = source
        process.standardOutput = sink
        process.standardError = sink
        try process.run()
        // The text fits into the pipe's buffer.
        try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try source.fileHandleForWriting.close()
        let output = try sink.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }
}
