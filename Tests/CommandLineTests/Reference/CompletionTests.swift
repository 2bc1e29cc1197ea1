import Foundation
import XCTest

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
