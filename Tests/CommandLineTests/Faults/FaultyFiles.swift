import Foundation
import XCTest

/// Failing file operations of a program: a plan that a test can change while the program runs.
///
/// The library in `Tests/FaultyFiles` makes the operations fail. Each line of a plan is: OPERATION ERROR COUNT PART.
final class FaultyFiles {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The library, compiled once for all tests.
    private static let library = Result { try compiled() }

    /// The variables that load the library into a program.
    let environment: [String: String]
    private let plan: URL
    private let log: URL

    /// Creates an empty plan in a folder, which contains no other files.
    init(in folder: String, _ lines: String...) throws {
        plan = URL(filePath: folder + "/plan")
        log = URL(filePath: folder + "/log")
        environment = [
            "LD_PRELOAD": try Self.library.get(), "FAULTY_FILES": plan.path, "FAULTY_FILES_LOG": log.path,
            // Coverage counts are discarded: the library would have to let them pass.
            "LLVM_PROFILE_FILE": "/dev/null",
        ]
        try set(lines)
    }

    /// Replaces the plan.
    func set(_ lines: [String]) throws {
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: plan, options: .atomic)
    }

    /// The failures so far.
    var failures: [String] {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Runs the tool with the plan.
    func run(_ arguments: [String]) throws -> Tool.Result {
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return try Tool.run(variables + [try Tool.path()] + arguments, program: "/usr/bin/env")
    }

    /// Compiles the library with the compiler that comes with Swift, or that of the system.
    private static func compiled() throws -> String {
        let source = try Checkout.root().appending(path: "Tests/FaultyFiles/FaultyFiles.c").path
        let folder = FileManager.default.temporaryDirectory.appending(path: "faulty-files-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let library = folder + "/libfaultyfiles.so"
        var texts: [String] = []
        for compiler in ["clang", "cc", "gcc"] {
            let result = try Tool.run(
                [compiler, "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", library, source],
                program: "/usr/bin/env")
            if result.status == 0 { return library }
            texts.append(result.errors)
        }
        throw Failure(description: "no compiler: \(texts)")
    }
}
