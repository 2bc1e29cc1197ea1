import Foundation
import IndoorLocalizationTesting
import Synchronization
import XCTest

/// The built command line tool in a process.
enum Tool {
    /// The status and the output of a run.
    struct Result: Sendable {
        /// The exit status; 128 and the signal's number if a signal ended it, as shells count.
        var status: Int32
        var output: String
        var errors: String

        /// The lines on standard output.
        var lines: [Substring] { output.split(separator: "\n") }
    }

    enum Failure: Error, CustomStringConvertible {
        case notBuilt(String)
        case tooSlow(String)

        var description: String {
            switch self {
            case .notBuilt(let path): "\(path) is missing: build the product indoorloc"
            case .tooSlow(let call): "indoorloc \(call) has not ended within \(Int(Tool.bound)) s"
            }
        }
    }

    /// The time limit of a run in seconds: many times the longest run.
    static let bound = 180.0

    /// The tool is in the folder of the test program.
    static func path() throws -> String {
        let program = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let path = program.resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "indoorloc").path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Failure.notBuilt(path) }
        return path
    }

    /// Runs the tool in the root of the checkout, so that paths print the same everywhere.
    ///
    /// - Parameters:
    ///   - program: another program to run in its place.
    ///   - device: where standard output goes instead of into the result.
    ///   - errorDevice: where standard error goes instead of into the result.
    ///   - closesEarly: close standard output after the first bytes, as `head` does.
    static func run(
        _ arguments: [String], program: String? = nil, device: String? = nil, errorDevice: String? = nil,
        closesEarly: Bool = false
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: try program ?? path())
        process.arguments = arguments
        process.currentDirectoryURL = try Checkout.root()
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = try device.map { try FileHandle(forWritingTo: URL(filePath: $0)) } ?? output
        process.standardError = try errorDevice.map { try FileHandle(forWritingTo: URL(filePath: $0)) } ?? errors
        // Both pipes are read while the tool runs, as it would block on a full pipe.
        let group = DispatchGroup()
        process.terminationHandler = { _ in group.leave() }
        group.enter()
        try process.run()
        let outputBytes = collect(device == nil ? output : nil, group, onlyFirst: closesEarly)
        let errorBytes = collect(errorDevice == nil ? errors : nil, group, onlyFirst: false)
        guard group.wait(timeout: .now() + bound) == .success else {
            kill(process.processIdentifier, SIGKILL)
            throw Failure.tooSlow(arguments.joined(separator: " "))
        }
        let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
        return Result(
            status: signal + process.terminationStatus, output: String(decoding: outputBytes.value, as: UTF8.self),
            errors: String(decoding: errorBytes.value, as: UTF8.self))
    }

    /// Runs the tool in a shell with limits.
    ///
    /// - Parameter limits: commands of the shell, as `ulimit -v 500000`.
    static func run(_ arguments: [String], under limits: String) throws -> Result {
        // Coverage counts are discarded: written under a limit, they could be truncated and not be merged.
        let line = "export LLVM_PROFILE_FILE=/dev/null; \(limits); exec \"$0\" \"$@\""
        return try run(["-c", line, try path()] + arguments, program: "/bin/sh")
    }

    /// The content of a pipe. A class, as the reading thread shares it.
    private final class Bytes: Sendable {
        private let bytes = Mutex(Data())
        var value: Data { bytes.withLock { $0 } }
        func set(_ data: Data) { bytes.withLock { $0 = data } }
    }

    private static func collect(_ pipe: Pipe?, _ group: DispatchGroup, onlyFirst: Bool) -> Bytes {
        let bytes = Bytes()
        guard let handle = pipe?.fileHandleForReading else { return bytes }
        let descriptor = dup(handle.fileDescriptor)
        try? handle.close()
        // A separate thread, as a queue could delay it behind other work.
        group.enter()
        Thread.detachNewThread {
            let reader = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            let data = try? onlyFirst ? reader.read(upToCount: 1) : reader.readToEnd()
            try? reader.close()
            bytes.set(data ?? Data())
            group.leave()
        }
        return bytes
    }
}

/// The checkout that the tests run in.
enum Checkout {
    /// The package's root folder: that with `Fixtures`.
    static func root() throws -> URL { URL(filePath: try FixtureFolder(".").path).standardizedFileURL.parent }
}

extension URL {
    fileprivate var parent: URL { deletingLastPathComponent() }
}

extension XCTestCase {
    /// A new empty folder that is removed after the test.
    func temporaryFolder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/command-line-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    /// The bytes of a file; a path that is not absolute begins at the checkout's root.
    func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path, relativeTo: Checkout.root()))
    }
}

/// The first seconds of a walk through the office as editable lines, which a debug build replays quickly.
struct ShortRecording {
    /// The lines, the header first.
    var lines: [String]

    /// Reads the header and `lines` lines after it; a hundred lines are about seven seconds.
    init(lines count: Int) throws {
        let path = try FixtureFolder("office/tracks").file("ground.jsonl")
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        lines = text.split(separator: "\n").prefix(count + 1).map(String.init)
    }

    /// Writes the lines into a folder.
    ///
    /// - Returns: the file's path.
    func write(to folder: String, as name: String = "short.jsonl") throws -> String {
        let path = folder + "/" + name
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        return path
    }
}

/// A data set without survey: the office's packet and the first seconds of a track.
enum ShortDataSet {
    /// Options of commands that locate the device, which save time where the accuracy is not tested.
    static let light = ["--set", "positioning.particleCount=100", "--set", "positioning.globalUpdateInterval=5"]

    /// Writes it as `set` into a folder.
    ///
    /// - Returns: its path.
    static func write(to folder: String) throws -> String {
        let set = folder + "/set"
        try FileManager.default.createDirectory(atPath: set + "/tracks", withIntermediateDirectories: true)
        for name in ["venue.json", "plans", "tiles"] {
            let source = try FixtureFolder("office").path + "/" + name
            try FileManager.default.copyItem(atPath: source, toPath: set + "/" + name)
        }
        _ = try ShortRecording(lines: 250).write(to: set + "/tracks")
        return set
    }

    /// The output of `evaluate --json`.
    static func figures(_ text: String) throws -> [String: Any] {
        try XCTUnwrap(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], text)
    }
}
