import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary

/// The inputs with which a fuzzer begins: valid ones, and those that once broke a decoder.
struct FirstInputs {
    /// The script that writes the inputs failed.
    struct Failure: Error, CustomStringConvertible {
        let name: String
        let status: Int32

        var description: String { ".ci/tools/fuzz-seeds \(name) ended with status \(status)" }
    }

    /// An input and the name of its file.
    typealias Input = (name: String, bytes: [UInt8])

    /// The inputs in the order of their names.
    let valid: [Input]
    /// The files of `Fixtures/crashes`.
    let crashes: [Input]

    /// Reads the inputs of a fuzzer, as `.ci/fuzz` does.
    init(of fuzzer: Fuzzer) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fuzz-seeds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(filePath: try FixtureFolder("../.ci/tools").file("fuzz-seeds"))
        process.arguments = [fuzzer.rawValue, folder.path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(name: fuzzer.rawValue, status: process.terminationStatus)
        }
        valid = try Self.inputs(
            FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { folder.path + "/" + $0 })
        crashes = try Self.inputs(FixtureFolder("crashes").files())
    }

    private static func inputs(_ paths: [String]) throws -> [Input] {
        try paths.map { path in
            let file = URL(filePath: path)
            return (file.lastPathComponent, Array(try Data(contentsOf: file)))
        }
    }
}
