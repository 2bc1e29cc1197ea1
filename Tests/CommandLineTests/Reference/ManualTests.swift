import Foundation
import XCTest

/// The manual pages of both programs, with the formatters of Debian.
final class ManualTests: XCTestCase {
    /// Writes the pages of a program; returns the folder.
    private func pages(of program: DescribedProgram) throws -> String {
        let folder = try temporaryFolder() + "/man1"
        let result = try program.run(["manual", "--folder", folder, "--date", "2026-03-04"])
        XCTAssertEqual(result.status, 0, result.errors)
        return folder
    }

    /// The text of a page as a reader with a very wide terminal sees it, without hyphenation.
    private func text(of page: String) throws -> String {
        let result = try Tool.run(
            ["-man", "-Tutf8", "-P-c", "-P-b", "-P-u", "-rLL=3000n", "-rHY=0", page], program: "/usr/bin/groff")
        XCTAssertEqual(result.status, 0, result.errors)
        return result.output
    }

    func testThePagesHaveEveryCommandAndOptionOfTheHelp() throws {
        for program in try DescribedProgram.all() {
            let folder = try pages(of: program)
            let names = program.commands.map { "\(program.name)-\($0.words.joined(separator: "-")).1" }
            XCTAssertEqual(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted(),
                ([program.name + ".1"] + names).sorted())
            let overview = try text(of: "\(folder)/\(program.name).1").split(separator: "\n")
            for (command, name) in zip(program.commands, names) {
                let words = command.words.joined(separator: " ")
                XCTAssertTrue(overview.contains { $0 == "       \(words)" || $0.hasPrefix("       \(words) ") }, words)
                let text = try text(of: "\(folder)/\(name)")
                let section = text.split(separator: "\n").drop { $0 != "OPTIONS" }.prefix { $0 != "EXIT STATUS" }
                let options = section.filter { $0.hasPrefix("       -") }.flatMap { line in
                    line.split(separator: " ", omittingEmptySubsequences: true).map {
                        $0.hasSuffix(",") ? String($0.dropLast()) : String($0)
                    }.prefix { $0.hasPrefix("-") }
                }
                XCTAssertEqual(options.sorted(), command.options.sorted(), words)
            }
        }
    }

    func testAPageContainsTheTextAndTheExamplesOfTheHelp() throws {
        let programs = try DescribedProgram.all()
        for program in programs {
            let folder = try pages(of: program)
            for command in program.commands {
                let text = try text(of: "\(folder)/\(program.name)-\(command.words.joined(separator: "-")).1")
                func words(_ text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }
                // Formatters break and justify lines, so that only the words can be compared.
                let page = words(text)
                let paragraphs = command.help.split(separator: "\n\n").map(String.init)
                // The usage, the summary and the options have other forms in the page.
                for paragraph in paragraphs.drop(while: { !$0.hasPrefix("options:") }).dropFirst() {
                    let text = words(paragraph).drop { $0 == "example:" }
                    XCTAssertTrue(page.contains(Array(text)), "\(command.words): \(paragraph)")
                }
                XCTAssertTrue(text.contains("2026-03-04"), "\(command.words)")
            }
        }
    }

    func testTheFormattersReportNoMistakes() throws {
        for program in try DescribedProgram.all() {
            let folder = try pages(of: program)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
            let lint = try Tool.run(["-T", "lint", "-W", "warning"] + files, program: "/usr/bin/mandoc")
            XCTAssertEqual(lint.output + lint.errors, "")
            XCTAssertEqual(lint.status, 0)
            let groff = try Tool.run(["-man", "-Tutf8", "-ww", "-z"] + files, program: "/usr/bin/groff")
            XCTAssertEqual(groff.output + groff.errors, "")
            XCTAssertEqual(groff.status, 0)
        }
    }

    func testTheToolPrintsThePageOfACommand() throws {
        let folder = try pages(of: try DescribedProgram.all()[0])
        for (words, name) in [
            ([], "indoorloc"), (["replay"], "indoorloc-replay"), (["venue", "check"], "indoorloc-venue-check"),
        ] {
            let result = try Tool.run(["manual", "--date", "2026-03-04"] + words)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertEqual(result.output, String(decoding: try bytes("\(folder)/\(name).1"), as: UTF8.self), name)
        }
    }

    func testAnExistingPageIsReplacedOnlyOnRequest() throws {
        let folder = try temporaryFolder()
        let page = URL(filePath: folder + "/indoorloc-replay.1")
        try Data("mine".utf8).write(to: page)
        let refused = try Tool.run(["manual", "--folder", folder])
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("indoorloc-replay.1 already exists"), refused.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["indoorloc-replay.1"])
        XCTAssertEqual(try Tool.run(["manual", "--folder", folder, "--overwrite"]).status, 0)
        XCTAssertNotEqual(try Data(contentsOf: page), Data("mine".utf8))
    }

    func testTheToolReportsWrongArguments() throws {
        for (arguments, message) in [
            (["nothing"], "there is no page of 'nothing'"), (["--date", "tomorrow"], "--date must be a date"),
            (["--folder", "x", "replay"], "leave out 'replay'"), (["--overwrite"], "--overwrite requires --folder"),
            (["--folder", ""], "--folder must be a folder path"),
        ] {
            let result = try Tool.run(["manual"] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
    }
}
