import Foundation
import Glibc
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Options that several commands share, and their values.
extension CommandOption {
    package static let venue = CommandOption(
        name: "venue", argument: "V", help: "venue packet: a folder, a zip file, or a venue.json")
    static let output = CommandOption(name: "output", short: "o", argument: "FILE", help: "output file")
    /// The venue packet that a command writes.
    static let packetOutput = CommandOption(
        name: "output", short: "o", argument: "PACKET",
        help: "the packet to write: a zip file if the name ends in .zip, otherwise a folder")
    static let radioMap = CommandOption(
        name: "radio-map", argument: "MAP", help: "radio map from 'indoorloc survey', used instead of the packet's",
        proposals: .files)
    static let seed = CommandOption(
        name: "seed", argument: "N", help: "random seed (default 0); the same seed gives identical output")
    static let lenient = CommandOption(name: "lenient", help: "skip and count invalid lines of recordings")
    static let method = CommandOption(
        name: "method", argument: "METHOD",
        help: PositioningMethod.allCases.map(\.rawValue).joined(separator: ", ") + " (default particle)",
        proposals: .words(of: PositioningMethod.self))
    /// Layouts of beacons beyond the built-in ones.
    static let beaconLayout = CommandOption(
        name: "beacon-layout", argument: "LAYOUT",
        help: "also decode beacons of this layout, such as m:2-3=beac,i:4-19,p:24-24")
}

extension ParsedArguments {
    var strictness: RecordingReader.Strictness { has("lenient") ? .lenient : .strict }

    /// The number of the venue that a command writes: `--id`; nil without it.
    func venueID() throws(UsageError) -> VenueID? {
        let exact = 9_007_199_254_740_991
        return has("id") ? VenueID(rawValue: try number("id", in: -exact...exact, else: 0)) : nil
    }

    func seed() throws(UsageError) -> UInt64 { try number("seed", in: 0...UInt64.max, else: 0) }

    /// The folder for saved state: `--state-directory`, systemd's state directory, or the user's state folder.
    ///
    /// - Throws: `UsageError` if the option's value is empty.
    func stateDirectory() throws(UsageError) -> String {
        if let folder = try folder("state-directory") { return folder }
        let environment = ProcessInfo.processInfo.environment
        // A unit with several state directories lists them all; the first one is used.
        if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/indoorloc" }
        let home = environment["HOME"] ?? FileManager.default.homeDirectoryForCurrentUser.path
        return home + "/.local/state/indoorloc"
    }

    /// The folder given by an option; nil if the option was not given.
    ///
    /// - Throws: `UsageError` if the option's value is empty.
    func folder(_ option: String) throws(UsageError) -> String? {
        guard value(option) == "" else { return value(option) }
        throw UsageError(message: "--\(option) must be a folder path, not ''", command: syntax.name)
    }

    /// Creates the folder given by an option if it is missing, before work whose result goes there.
    ///
    /// - Throws: `CommandError` if files can't be written in the folder.
    static func createFolder(_ path: String, of option: String) throws(CommandError) {
        do throws(FileSystemError) {
            try DiskFolder.create(path)
            guard access(path, W_OK | X_OK) == 0 else {
                throw FileSystemError(path: path, reason: String(cString: strerror(errno)))
            }
        } catch {
            throw CommandError(description: "--\(option): \(error)")
        }
    }

    /// The layouts given by `--beacon-layout`, which may be repeated.
    func beaconLayouts() throws(UsageError) -> [BeaconLayout] {
        var layouts: [BeaconLayout] = []
        for text in values["beacon-layout"] ?? [] {
            do { layouts.append(try BeaconLayout(text)) } catch {
                throw UsageError(message: "--beacon-layout: \(error)", command: syntax.name)
            }
        }
        return layouts
    }
}

/// Options that give settings, and their values.
extension CommandOption {
    static let settings = CommandOption(
        name: "settings", argument: "FILE", help: "settings file (JSON); a later file overrides earlier ones")
    static let set = CommandOption(
        name: "set", argument: "KEY=VALUE", help: "one setting; overrides files and venues")
}

extension ParsedArguments {
    /// Reads the settings of the files, then of `--method`, then of `--set`, and notes each expert setting of the files on
    /// standard error.
    ///
    /// Call it once: a file may be a pipe, which can't be read again.
    ///
    /// - Throws: `UsageError` for an invalid `--set` or `--method`, otherwise `SettingsFailure` with all problems.
    func settings() throws -> SettingsStack { try settings(method: value("method")) }

    /// Reads the settings with another positioning method than that of `--method`; nil for none.
    func settings(method: String?) throws -> SettingsStack {
        var stack = SettingsStack()
        var entries: [SettingsEntry] = []
        var problems: [SettingsProblem] = []
        for word in values["settings"] ?? [] {
            let file = try SettingsFile(path: InputFile.keeping(word))
            entries += file.entries
            problems += file.problems
        }
        problems += stack.load(entries, from: .file)
        guard problems.isEmpty else { throw SettingsFailure(problems: problems) }
        if let method { try set("positioning.method", .string(method), "--method", in: &stack) }
        for word in values["set"] ?? [] {
            guard let separator = word.firstIndex(of: "="), separator != word.startIndex else {
                throw UsageError(message: "--set must be KEY=VALUE, not '\(word)'", command: syntax.name)
            }
            let value = Self.value(String(word[word.index(after: separator)...]))
            try set(String(word[..<separator]), value, "--set", in: &stack)
        }
        stack.apply()
        try check(method)
        let contradictions = stack.problems
        if let problem = contradictions.first(where: { $0.source == .override }) {
            throw UsageError(message: "\(problem.place ?? "--set"): \(problem.message)", command: syntax.name)
        }
        guard contradictions.isEmpty else { throw SettingsFailure(problems: contradictions) }
        stack.noteExpertSettings()
        return stack
    }

    /// - Throws: `UsageError` if `--method` and `--set` give different methods.
    private func check(_ method: String?) throws {
        guard let method else { return }
        var stack = SettingsStack()
        for word in values["set"] ?? [] {
            guard let separator = word.firstIndex(of: "=") else { continue }
            try stack.override(String(word[..<separator]), Self.value(String(word[word.index(after: separator)...])))
        }
        stack.apply()
        let other = try stack.setting("positioning.method")
        guard other.source == .override, other.value != .string(method) else { return }
        let message = "--method \(method) contradicts --set, which gives the method \(other.value.summary)"
        throw UsageError(message: message, command: syntax.name)
    }

    private func set(
        _ key: String, _ value: JSONValue, _ option: String, in stack: inout SettingsStack
    ) throws(UsageError) {
        do { try stack.override(key, value, place: option) } catch {
            guard option == "--set" else {
                let all = PositioningMethod.allCases.map(\.rawValue).joined(separator: ", ")
                let name = self.value("method") ?? ""
                throw UsageError(message: "\(option) must be one of \(all), not '\(name)'", command: syntax.name)
            }
            throw UsageError(message: "\(option): \(error.message)", command: syntax.name)
        }
    }

    /// The text as a JSON null, Boolean or number, otherwise as a string.
    private static func value(_ text: String) -> JSONValue {
        switch text {
        case "null": .null
        case "true": true
        case "false": false
        default: Double(text).map(JSONValue.number) ?? .string(text)
        }
    }
}

/// The problems of invalid settings, each with its place.
struct SettingsFailure: Error, CustomStringConvertible {
    let problems: [SettingsProblem]

    /// One problem per line, each with the tool's name.
    var description: String { problems.map(\.description).joined(separator: "\nindoorloc: ") }
}

extension SettingsStack {
    /// Notes on standard error each expert setting that a settings file gives.
    func noteExpertSettings() {
        for note in expertNotes(of: .file) { StandardError.line(PrintableText.line(note)) }
    }

    /// Warns on standard error of each given setting that has no effect in one of the venues.
    func warnOfUselessSettings(in venues: [Venue]) {
        for venue in venues {
            for setting in useless(in: venue) {
                let place = setting.place.map { "\($0): " } ?? ""
                StandardError.line(PrintableText.line("\(place)\(setting.key) \(setting.reason)"), .warning)
            }
        }
    }
}

/// The error of a file that can't be read.
struct InputFailure: Error, CustomStringConvertible {
    let description: String

    /// Describes the system's last error.
    init(_ path: String) { description = "\(path): cannot be read: \(String(cString: strerror(errno)))" }
}

extension ParsedArguments {
    /// The word for standard input on a command line.
    static let standardInput = "-"

    /// The path of an input file; a dash is standard input.
    static func path(_ word: String) -> String { word == standardInput ? "/dev/stdin" : word }

    /// The input file of an option, which may be read more than once; nil if the option was not given.
    package func input(_ option: String) throws -> String? { try value(option).map(InputFile.keeping) }

    /// The input file of a required option, which may be read more than once.
    package func requiredInput(_ option: String) throws -> String { try InputFile.keeping(try required(option)) }

    /// The input file of an operand, which may be read more than once.
    func input(operand index: Int) throws -> String { try InputFile.keeping(operands[index]) }

    /// The input file of an operand that is read once from start to end, such as a pipe.
    func stream(operand index: Int) -> String { Self.path(operands[index]) }

    /// - Throws: `UsageError` if standard input is given for more than one file.
    func checkStandardInput() throws(UsageError) {
        let inputs = operands.enumerated().filter { $0.offset != syntax.standardOutputOperand }.map(\.element)
        let words = inputs + values.values.flatMap(\.self)
        guard words.count(where: { $0 == Self.standardInput }) > 1 else { return }
        throw UsageError(message: "'-' (standard input) can be given only once", command: syntax.name)
    }
}

/// A file that can be read several times, even if it is a pipe.
enum InputFile {
    /// Returns the path of a file with the content of the one at `word`: the same file, or a copy of a pipe.
    ///
    /// The content of a pipe is copied to an unnamed file, which the system deletes when the process ends. If the
    /// process received the pipe as an open descriptor, such as standard input, the copy replaces it at the same path.
    static func keeping(_ word: String) throws(InputFailure) -> String {
        let path = ParsedArguments.path(word)
        guard let file = FileIdentity(path: path), file.isPipe || path == "/dev/stdin" && !file.isRegular else {
            return path
        }
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw InputFailure(path) }
        defer { close(source) }
        let kept = try nameless(path)
        try copy(source, to: kept, path)
        guard let given = OpenDescriptor.named(path) else { return "/dev/fd/\(kept)" }
        dup2(kept, given)
        close(kept)
        return path
    }

    /// The maximum size of a copied pipe in bytes.
    private static let limit = 4 << 30

    private static func nameless(_ path: String) throws(InputFailure) -> Int32 {
        var template = Array((FileManager.default.temporaryDirectory.path + "/indoorloc-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw InputFailure(path) }
        unlink(template)
        return descriptor
    }

    private static func copy(_ source: Int32, to target: Int32, _ path: String) throws(InputFailure) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(source, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputFailure(path) }
            guard count > 0 else { return }
            total += count
            errno = EFBIG
            guard total <= limit else { throw InputFailure(path) }
            let error = FileDescriptor.write(bytes[..<count], to: target)
            errno = error
            guard error == 0 else { throw InputFailure(path) }
        }
    }
}

extension CommandOption {
    static let overwrite = CommandOption(name: "overwrite", help: "replace the output if it exists")
    /// GeoJSON without a georeference.
    static let localFrame = CommandOption(
        name: "local-frame", help: "write GeoJSON in metres on each map, which needs no georeference")
}

extension ParsedArguments {
    /// The output file of an option, with all other paths of the command line as its inputs; nil if it was not given.
    ///
    /// - Parameters:
    ///   - isPrivate: whether the file contains locations of a person.
    ///   - except: an option whose file may be the output.
    ///   - others: files that the command reads from the folders on the command line.
    func outputFile(
        _ option: String, isPrivate: Bool = false, except: String? = nil, reading others: [String] = []
    ) -> OutputFile? {
        guard let path = value(option) else { return nil }
        return outputFile(path, inputs: inputs(except: [option, except ?? option]) + others, isPrivate: isPrivate)
    }

    /// The output file of a required option, as `outputFile(_:isPrivate:except:)` returns it.
    func requiredOutputFile(
        _ option: String, isPrivate: Bool = false, except: String? = nil
    ) throws(UsageError) -> OutputFile {
        _ = try required(option)
        return outputFile(option, isPrivate: isPrivate, except: except) ?? OutputFile(path: "")
    }

    /// The output file of an operand.
    func outputFile(operand index: Int, isPrivate: Bool = false) -> OutputFile {
        let others = operands.enumerated().filter { $0.offset != index }.map { Self.path($0.element) }
        return outputFile(operands[index], inputs: optionValues(except: []) + others, isPrivate: isPrivate)
    }

    /// The operands and the values of all options but some; they include all files that the command reads.
    func inputs(except options: Set<String>) -> [String] { optionValues(except: options) + operands.map(Self.path) }

    private func optionValues(except options: Set<String>) -> [String] {
        values.filter { !options.contains($0.key) }.flatMap(\.value).map(Self.path)
    }

    private func outputFile(_ path: String, inputs: [String], isPrivate: Bool) -> OutputFile {
        OutputFile(path: path, existing: has("overwrite") ? .replaced : .kept, inputs: inputs, isPrivate: isPrivate)
    }
}

extension CommandOption {
    static let logLevel = CommandOption(
        name: "log-level", argument: "LEVEL",
        help: "least severe lines on standard error: error, warning, notice, info or debug (default info)",
        proposals: .words(of: LogLevel.self))
    static let logFormat = CommandOption(
        name: "log-format", argument: "FORMAT", help: "form of these lines: text, logfmt or journald (default text)",
        proposals: .words(of: LogFormat.self))
    /// The options of the commands that run until they are ended.
    package static let log = [logLevel, logFormat]
}

extension ParsedArguments {
    /// The settings of log lines.
    ///
    /// - Throws: `UsageError` for an unknown level or format.
    func logSettings() throws(UsageError) -> LogSettings {
        var settings = LogSettings()
        if let name = value("log-level") {
            guard let level = LogLevel(rawValue: name) else {
                throw UsageError(
                    message: "--log-level must be error, warning, notice, info or debug, not '\(name)'",
                    command: syntax.name)
            }
            settings.level = level
        }
        if let name = value("log-format") {
            guard let format = LogFormat(rawValue: name) else {
                throw UsageError(
                    message: "--log-format must be text, logfmt or journald, not '\(name)'", command: syntax.name)
            }
            settings.format = format
        }
        settings.isDetailed = has("log-level") || has("log-format")
        return settings
    }
}
