import Foundation
import XCTest

/// A program with the commands and options that its `--help` lists.
struct DescribedProgram: Sendable {
    /// A command of a program.
    struct Command: Sendable {
        /// The words of its name, such as `venue` and `check`.
        let words: [String]
        /// The spellings of its options, such as `-o` and `--output`.
        let options: [String]
        /// The text that its `--help` prints.
        let help: String

        /// The long spellings.
        var longOptions: [String] { options.filter { $0.hasPrefix("--") } }
    }

    let name: String
    let path: String
    let commands: [Command]

    /// Both programs of the package, in the folder of the test program.
    static func all() throws -> [DescribedProgram] { try described.get() }

    /// Read once, because that runs the help of each command.
    private static let described = Result {
        try ["indoorloc", "indoorloc-fleet"].map { name in
            let folder = URL(filePath: try Tool.path()).deletingLastPathComponent()
            return try DescribedProgram(name: name, path: folder.appending(path: name).path)
        }
    }

    private init(name: String, path: String) throws {
        self.name = name
        self.path = path
        // The summary follows the name after two spaces or more.
        let names = try Tool.run(["--help"], program: path).lines.filter { $0.hasPrefix("  ") }.map { line in
            line.dropFirst(2).firstRange(of: "  ").map { line.dropFirst(2)[..<$0.lowerBound] } ?? line
        }
        commands = try names.map { name in
            let words = name.split(separator: " ").map(String.init)
            let help = try Tool.run(words + ["--help"], program: path).output
            return Command(words: words, options: Self.options(in: help), help: help)
        }
    }

    /// The options in a help, between the line "options:" and the next empty line.
    private static func options(in help: String) -> [String] {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0 != "options:" }.dropFirst().prefix { !$0.isEmpty }.flatMap { line in
            guard let match = line.prefixMatch(of: #/  (?:(-[a-z]), |    )(--[a-z0-9-]+)/#) else { return [String]() }
            return [match.output.1, match.output.2].compactMap { $0.map(String.init) }
        }
    }

    /// Runs the program.
    func run(_ arguments: [String]) throws -> Tool.Result { try Tool.run(arguments, program: path) }

    /// The folder with the completion of a shell, as a file with this name.
    func completion(for shell: String, as file: String, in folder: String) throws -> String {
        let result = try run(["completion", shell])
        XCTAssertEqual(result.status, 0, result.errors)
        let path = folder + "/" + file
        try Data(result.output.utf8).write(to: URL(filePath: path))
        return path
    }
}

final class DescribedProgramTests: XCTestCase {
    func testThisReadsCommandsAndOptionsFromTheHelp() throws {
        let programs = try DescribedProgram.all()
        let check = try XCTUnwrap(programs[0].commands.first { $0.words == ["venue", "check"] })
        XCTAssertEqual(check.options, ["-h", "--help"])
        let simulate = try XCTUnwrap(programs[0].commands.first { $0.words == ["simulate"] })
        for option in ["--venue", "-o", "--output", "--seed"] {
            XCTAssertTrue(simulate.options.contains(option), option)
        }
        XCTAssertTrue(programs[1].commands.contains { $0.words == ["ingest"] })
        for program in programs {
            for command in program.commands { XCTAssertTrue(command.options.contains("--help"), "\(command.words)") }
        }
    }
}
