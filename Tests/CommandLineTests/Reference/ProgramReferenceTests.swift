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
                XCTAssertTrue(
                    overview.contains { line in
                        let text = line.drop { $0 == " " }
                        return text == words || text.hasPrefix(words + " ")
                    }, words)
                let text = try text(of: "\(folder)/\(name)")
                let section = text.split(separator: "\n").drop { $0 != "OPTIONS" }.prefix { $0 != "EXIT STATUS" }
                    .dropFirst()
                // Versions of groff indent by other widths.
                let indent = section.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                let options = section.filter { $0.dropFirst(indent).hasPrefix("-") }.flatMap { line in
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

/// The completions of both programs, in real shells.
final class CompletionTests: XCTestCase {
    /// The words that bash proposes for the last word of each command line.
    private func bash(_ program: DescribedProgram, _ lines: [[String]], in folder: String) throws -> [[String]] {
        let script = try program.completion(for: "bash", as: program.name, in: folder)
        let function = "_" + program.name.replacing("-", with: "_")
        var text = "source '\(script)'\ncd '\(folder)'\n"
        for line in lines {
            let words = ([program.name] + line).map { "'\($0)'" }.joined(separator: " ")
            text += """
                COMP_WORDS=(\(words)) COMP_CWORD=\(line.count)
                \(function)
                printf '%s\\n' "${COMPREPLY[@]}" ===

                """
        }
        let file = folder + "/lines.bash"
        try Data(text.utf8).write(to: URL(filePath: file))
        let result = try Tool.run(["--norc", file], program: "/bin/bash")
        XCTAssertEqual(result.errors, "")
        let answers = result.output.components(separatedBy: "===\n").dropLast()
        XCTAssertEqual(answers.count, lines.count)
        return answers.map { $0.split(separator: "\n").map(String.init) }
    }

    func testBashProposesEveryCommandAndOptionOfTheHelp() throws {
        for program in try DescribedProgram.all() {
            let folder = try temporaryFolder()
            let first = try bash(program, [[""]], in: folder)[0]
            XCTAssertEqual(
                Set(first), Set(program.commands.map { $0.words[0] } + ["help", "--help", "--version"]), program.name)
            let named = program.commands.filter { $0.words.count == 2 }
            let seconds = try bash(program, named.map { [$0.words[0], ""] }, in: folder)
            for (command, words) in zip(named, seconds) { XCTAssertTrue(words.contains(command.words[1]), "\(words)") }
            let proposed = try bash(program, program.commands.map { $0.words + ["-"] }, in: folder)
            for (command, words) in zip(program.commands, proposed) {
                XCTAssertEqual(words.sorted(), command.options.sorted(), "\(command.words)")
            }
        }
    }

    func testBashCompletesTheArgumentsOfOptionsAndOperands() throws {
        let program = try DescribedProgram.all()[0]
        let folder = try temporaryFolder()
        try FileManager.default.createDirectory(atPath: folder + "/venue one", withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: folder + "/venue.zip"))
        let lines: [([String], Set<String>)] = [
            (["replay", "--venue", "ven"], ["venue one", "venue.zip"]),
            (["replay", "--venue", "=", "ven"], ["venue one", "venue.zip"]),
            (["replay", "ven"], ["venue one", "venue.zip"]),
            (["venue", "check", "venue."], ["venue.zip"]),
            (["track", "--state", "ven"], ["venue one"]),
            (["replay", "--method", "f"], ["fingerprint"]),
            (["replay", "--method", "=", "f"], ["fingerprint"]),
            (["replay", "--seed", ""], []),
            (["serve", "--log-level", ""], ["error", "warning", "notice", "info", "debug"]),
            (["completion", ""], ["bash", "zsh", "fish"]),
            (["help", "conv"], ["convert"]),
            (["venue", "ch"], ["check"]),
        ]
        let answers = try bash(program, lines.map(\.0), in: folder)
        for ((line, expected), answer) in zip(lines, answers) { XCTAssertEqual(Set(answer), expected, "\(line)") }
    }

    func testZshCompletesCommandsOptionsAndArguments() throws {
        let folder = try temporaryFolder()
        try Data().write(to: URL(filePath: folder + "/venue.zip"))
        for program in try DescribedProgram.all() {
            _ = try program.completion(for: "zsh", as: "_" + program.name, in: folder)
        }
        // The interactive shell prints what is on its line when Ctrl-X is pressed.
        let setUp = """
            PS1=
            cd '\(folder)'
            fpath=('\(folder)' $fpath)
            autoload -Uz compinit
            compinit -u -D
            report() { zle -I; print -r -- "LINE<$BUFFER>"; BUFFER=exit; zle accept-line }
            zle -N report
            bindkey '^X' report
            print READY
            """
        try Data(setUp.utf8).write(to: URL(filePath: folder + "/.zshrc"))
        let driver = """
            zmodload zsh/zpty
            for line in "$@"; do
                zpty shell env ZDOTDIR='\(folder)' TERM=dumb zsh -d -i
                zpty -r shell text '*READY*'
                zpty -w -n shell "$line"$'\\t'$'\\x18'
                zpty -r shell text '*LINE<*>*'
                print -r -- ${${text#*LINE<}%>*}
                zpty -d shell
            done
            """
        try Data(driver.utf8).write(to: URL(filePath: folder + "/driver"))
        let lines = [
            "indoorloc repl": "indoorloc replay ", "indoorloc venue ch": "indoorloc venue check ",
            "indoorloc replay --met": "indoorloc replay --method=",
            "indoorloc replay --method fi": "indoorloc replay --method fingerprint ",
            "indoorloc convert --over": "indoorloc convert --overwrite ",
            "indoorloc venue check ven": "indoorloc venue check venue.zip ",
            "indoorloc completion f": "indoorloc completion fish ", "indoorloc --ver": "indoorloc --version ",
            "indoorloc-fleet in": "indoorloc-fleet ingest ",
            "indoorloc-fleet setup --repl": "indoorloc-fleet setup --replicas=",
        ].sorted { $0.key < $1.key }
        let result = try Tool.run(["-f", folder + "/driver"] + lines.map(\.key), program: "/usr/bin/zsh")
        XCTAssertEqual(result.errors, "")
        XCTAssertEqual(result.output.split(separator: "\n").map(String.init), lines.map(\.value))
    }

    func testTheCompletionForZshHasEveryCommandAndOptionOfTheHelp() throws {
        for program in try DescribedProgram.all() {
            let script = try program.run(["completion", "zsh"]).output
            for command in program.commands {
                let start = try XCTUnwrap(script.firstRange(of: "    '\(command.words.joined(separator: " "))')\n"))
                let lines = script[start.upperBound...].prefix(
                    upTo: try XCTUnwrap(script[start.upperBound...].firstRange(of: ";;")).lowerBound)
                let options = lines.matches(of: /(?:^|[ '*{,(])(--?[a-z0-9-]+)[=+]?(?=[\[,}])/).map {
                    String($0.output.1)
                }
                XCTAssertEqual(Set(options), Set(command.options), "\(command.words)")
            }
        }
    }

    func testFishProposesEveryCommandAndOptionOfTheHelp() throws {
        for program in try DescribedProgram.all() {
            let folder = try temporaryFolder()
            let script = try program.completion(for: "fish", as: program.name + ".fish", in: folder)
            let lines = [""] + program.commands.map { $0.words.joined(separator: " ") + " --" }
            let text = ["source '\(script)'"] + lines.map { "complete -C '\(program.name) \($0)'; echo ===" }
            let file = folder + "/lines.fish"
            try Data(text.joined(separator: "\n").utf8).write(to: URL(filePath: file))
            let result = try Tool.run(["--no-config", file], program: "/usr/bin/fish")
            XCTAssertEqual(result.errors, "")
            // Each proposal is a word, a tabulator and its description.
            let answers = result.output.components(separatedBy: "===\n").dropLast().map { answer in
                Set(answer.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) })
            }
            XCTAssertEqual(answers.count, lines.count)
            XCTAssertEqual(answers.first, Set(program.commands.map { $0.words[0] } + ["help"]))
            for (command, answer) in zip(program.commands, answers.dropFirst()) {
                XCTAssertEqual(answer, Set(command.longOptions), "\(command.words)")
            }
        }
    }

    func testFishCompletesArguments() throws {
        let program = try DescribedProgram.all()[0]
        let folder = try temporaryFolder()
        try Data().write(to: URL(filePath: folder + "/venue.zip"))
        let script = try program.completion(for: "fish", as: "indoorloc.fish", in: folder)
        let lines = [
            "replay --venue ven": ["venue.zip"], "venue check ven": ["venue.zip"],
            "replay --method fi": ["fingerprint"],
            "replay --seed ": [], "venue ch": ["check"], "completion f": ["fish"], "help conv": ["convert"],
        ].sorted { $0.key < $1.key }
        let text =
            "cd '\(folder)'; source '\(script)'\n"
            + lines.map { "complete -C 'indoorloc \($0.key)'; echo ===" }.joined(separator: "\n")
        try Data(text.utf8).write(to: URL(filePath: folder + "/lines.fish"))
        let result = try Tool.run(["--no-config", folder + "/lines.fish"], program: "/usr/bin/fish")
        let answers = result.output.components(separatedBy: "===\n").dropLast().map { answer in
            answer.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        }
        XCTAssertEqual(answers, lines.map(\.value))
    }

    func testTheToolReportsAnUnknownShell() throws {
        let result = try Tool.run(["completion", "tcsh"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("SHELL must be one of bash, zsh, fish, not 'tcsh'"), result.errors)
        XCTAssertEqual(try Tool.run(["completion"]).status, 2)
    }
}

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
